/** The tables, indexes and triggers of a model in PostgreSQL: what migrations are drafted from and compared with. */
import { dialect, wordsVector } from '#engines/postgres/dialect.ts'
import { type MadeObject, type MadeObjects, outsideTexts } from '#engines/shared/catalogue.ts'
import { type Ddl, type Definition, recount, shareOf } from '#engines/shared/schema.ts'
import { queryWith, type Session } from '#sql/engine.ts'
import { trusted } from '#sql/sql.ts'

/** A count is the sum of so many rows, so that writers seldom wait for each other. */
const countParts = 16

/**
 * The part that a statement adds to: one of `countParts`, or while a store is filled a new one for each statement. A row that
 * is changed many times in one transaction is slower to find each time; a filling session folds the parts in the end.
 */
const countPart = `case current_setting('duet.counting', true) when 'apart' then nextval('counts_part') else pg_backend_pid() % ${countParts} end`

const addition = (table: string, rows: string): string =>
  `insert into counts as c (entity, field, value, part, n)
    select '${table}', s.field, s.value, ${countPart}, sum(s.n)
    from (${rows}) as s (field, value, n)
    group by s.field, s.value having sum(s.n) <> 0 order by s.field, s.value
    on conflict (entity, field, value, part) do update set n = c.n + excluded.n;`

/** Words and variables of the language in which the functions of triggers are written. */
const ofFunctions = /^(begin|by|declare|execute|found|new|old|strict|tg_.*)$/

/** A column of a row in the function of a trigger, with quotes if the language would take its name for a word of its own. */
const columnOf = (row: 'old' | 'new' | 'changed', column: string): string => {
  if (ofFunctions.test(column)) return `${row}."${column}"`
  return row === 'changed' ? column : `${row}.${column}`
}

const trigger = (
  table: string,
  name: string,
  when: string,
  body: string,
  fill?: Definition['fill'],
): readonly Definition[] => [
  {
    name: `${name}()`,
    text: `create function ${name}() returns trigger language plpgsql as $$\nbegin\n  ${body}\n  return null;\nend\n$$`,
  },
  {
    name,
    of: table,
    text: `create trigger ${name} ${when} execute function ${name}()`,
    ...(fill && { fill }),
  },
]

/** A trigger for all rows that a statement adds or deletes, which its function has as `changed`. */
const forAll = (
  event: 'insert' | 'delete',
  table: string,
  name: string,
  body: string,
  fill?: Definition['fill'],
): readonly Definition[] => {
  const rows = event === 'insert' ? 'new' : 'old'
  const when = `after ${event} on ${table} referencing ${rows} table as changed for each statement`
  return trigger(table, `${name}_${event}`, when, body, fill)
}

/** A trigger for each row in which one of these columns is changed. */
const forMoved = (
  columns: readonly string[],
  table: string,
  name: string,
  body: string,
  fill?: Definition['fill'],
): readonly Definition[] => {
  const isMoved = columns.map(column => `old.${column} is distinct from new.${column}`).join(' or ')
  const when = `after update of ${columns.join(', ')} on ${table} for each row when (${isMoved})`
  return trigger(table, name, when, body, fill)
}

/** Counts the existing rows; the trigger, made before, has locked the table against writes until the commit. */
const fillOf = (table: string, column: string | null) =>
  recount(table, column, { cast: '::text', part: 0 })

/** The triggers that count rows: once for each statement, so that many rows cost one addition. */
const countTriggers: Ddl['countTriggers'] = (table, columns) => {
  const changed = (sign: '' | '-') => {
    const own = columns.map(
      column => `select '${column}', ${columnOf('changed', column)}::text, ${sign}1 from changed`,
    )
    return addition(
      table,
      [`select '', '', ${sign}1 from changed`, ...own].join('\n      union all '),
    )
  }
  const moved = (column: string) =>
    `values ('${column}', ${columnOf('old', column)}::text, -1), ('${column}', ${columnOf('new', column)}::text, 1)`
  return [
    ...forAll('insert', table, `${table}_count`, changed(''), fillOf(table, null)),
    ...forAll('delete', table, `${table}_count`, changed('-')),
    ...columns.flatMap(column => {
      const body = addition(table, moved(column))
      return forMoved([column], table, `${table}_count_${column}`, body, fillOf(table, column))
    }),
  ]
}

/**
 * The triggers that keep totals of the rows below a row. While a store is filled its revisions stay: they come with the rows, and
 * nobody has read any.
 */
const keptTriggers: Ddl['keptTriggers'] = kept => {
  const { name, table, below, by, totals, fill } = kept
  const raising = `revision = k.revision + case when current_setting('duet.counting', true) in ('apart', 'moved') then 0 else 1 end`
  const add = (rows: string, sign: '+' | '-') => {
    const sums = totals.map((total, index) => `sum(${shareOf(total, 'c.')}) as n${index}`)
    const sets = totals.map(({ column }, index) => `${column} = k.${column} ${sign} s.n${index}`)
    return `update ${table} k set ${[...sets, ...(kept.hasRevision ? [raising] : [])].join(', ')}
    from (select c.${by} as id, ${sums.join(', ')} from ${rows} c where c.${by} is not null${kept.holds('c.')} group by c.${by} order by c.${by}) s
    where k.id = s.id;`
  }
  const moved = `${add('(select old.*)', '-')}\n  ${add('(select new.*)', '+')}`
  return [
    ...forAll('insert', below, name, add('changed', '+'), fill),
    ...forAll('delete', below, name, add('changed', '-')),
    ...forMoved(kept.columns, below, `${name}_update`, moved),
  ]
}

/** The trigger that keeps the rows of an append-only table as they are. */
export const appendOnlyTrigger = (table: string): string => `${table}_append_only`

/** How PostgreSQL writes its DDL. */
export const ddl: Ddl = {
  id: 'bigint generated by default as identity primary key',
  idParts: [
    { words: 'primary key', mend: table => [`alter table ${table} add primary key (id)`] },
    {
      words: 'generated by default as identity',
      // This form does no harm where it is an identity already.
      mend: table => [
        `alter table ${table} alter column id drop identity if exists`,
        `alter table ${table} alter column id drop default`,
        `alter table ${table} alter column id add generated by default as identity`,
        `select setval(pg_get_serial_sequence('${table}', 'id'), coalesce(max(id), 0) + 1, false) from ${table}`,
      ],
    },
  ],
  // Texts are compared and sorted by their bytes, as in SQLite, whatever the database's own locale.
  typeOf: ({ scalar }) => {
    const type = dialect.columnType[scalar]
    return type === 'text' ? 'text collate "C"' : type
  },
  checkOf: (column, { scalar }) => (scalar === 'flag' ? `check (${column} in (0, 1))` : ''),
  // Free space on each page: a changed row can stay on its page, and its indexes need no new entries (HOT).
  tableEnd: 'with (fillfactor = 90)',
  // Every sort order ends with the id, and so does every index that serves one.
  indexTerms: ({ terms, unique }) => {
    const columns = terms.map(({ column, descending }) => `${column}${descending ? ' desc' : ''}`)
    return unique ? columns : [...columns, 'id']
  },
  searchDdl: ({ name, table, columns, by }) => {
    const vector = wordsVector(columns.map(trusted)).texts.join('')
    const what = by === 'words' ? `(${vector})` : `${columns[0]} gin_trgm_ops`
    return [{ name, of: table, text: `create index ${name} on ${table} using gin (${what})` }]
  },
  computed: 'stored',
  keptTriggers,
  countTriggers,
  appendOnlyTriggers: table =>
    trigger(
      table,
      appendOnlyTrigger(table),
      `before update or delete or truncate on ${table} for each statement`,
      `raise exception '${table} are only ever added';`,
    ),
}

/** Rows of flaws: the table, what is wrong, its text, and the `alter table` that mends it; `%s` in them is the name, an expression of SQL. */
const flawRows = (what: string, text: string, action: string, from: string, name = "''") => {
  const of = (words: string) => `replace('${words}', '%s', ${name})`
  return `union all select o.relname || '!' || ${of(what)}, o.relname, ${of(text)}, 'alter table ' || o.relname || ' ' || ${of(action)}
    from own o ${from}`
}

// In the form of statements; an invalid index is none. Printed prettily, names of this schema are bare.
const catalogueText = `with own as (
    select oid, relname, relkind, relpersistence from pg_class c where relkind in ('r', 'p', 'v', 'm', 'f')
      and relnamespace = (select relnamespace from pg_class where oid = to_regclass('migrations'))
      and not exists (select from pg_depend where objid = c.oid and deptype = 'e'))
  select relname::text, '', 'create ' || case when relkind in ('v', 'm') then 'view ' else 'table ' end || relname, null from own
  union all select o.relname || '.' || a.attname, o.relname, concat_ws(' ', a.attname,
      format_type(a.atttypid, a.atttypmod), 'collate ' || c.collname, case when a.attnotnull then 'not null' end,
      case when a.attgenerated <> '' then 'generated always as (' || pg_get_expr(d.adbin, d.adrelid) || ') stored'
        when a.attidentity = 'd' and exists (select from pg_sequence where seqrelid = pg_get_serial_sequence(o.oid::regclass::text, a.attname)::regclass
          and not seqcycle and seqincrement > 0 and seqmax >= 9007199254740991) then 'generated by default as identity'
        when a.attidentity <> '' then 'generated otherwise as identity'
        when a.atthasdef then 'default …' end), null
    from own o join pg_attribute a on a.attrelid = o.oid and a.attnum > 0 and not a.attisdropped
    left join pg_attrdef d on d.adrelid = o.oid and d.adnum = a.attnum
    left join pg_collation c on c.oid = a.attcollation and c.collname <> 'default'
  union all select x.relname, o.relname, pg_get_indexdef(i.indexrelid, 0, true) || case when i.indimmediate then '' else ' deferrable' end, null
    from own o join pg_index i on i.indrelid = o.oid and i.indisvalid and not i.indisprimary and not i.indisexclusion
    join pg_class x on x.oid = i.indexrelid
  union all select o.relname || '#' || conname, o.relname, 'constraint ' || conname || ' ' || pg_get_constraintdef(k.oid, true), null
    from own o join pg_constraint k on k.conrelid = o.oid and k.contype in ('c', 'f', 'p', 'x') and k.convalidated >= $1
  union all select tgname, o.relname, pg_get_triggerdef(t.oid, true), null
    from own o join pg_trigger t on t.tgrelid = o.oid and not t.tgisinternal
  union all select distinct p.proname || '()', '', 'create function ' || p.proname || '() returns trigger language ' || l.lanname ||
      ' as $$' || p.prosrc || '$$' || coalesce(' set ' || array_to_string(p.proconfig, ', '), ''), null
    from own o join pg_trigger t on t.tgrelid = o.oid and not t.tgisinternal
    join pg_proc p on p.oid = t.tgfoid and pg_function_is_visible(p.oid) join pg_language l on l.oid = p.prolang
  union all select o.relname || '?' || r.rulename, o.relname, pg_get_ruledef(r.oid), null
    from own o join pg_rewrite r on r.ev_class = o.oid and r.rulename <> '_RETURN' and o.relkind = 'r'
  union all select relname || '!hidden', relname, 'is hidden by another table of its name', '-- name its schema alone in the URL, as docs/scaling.md shows'
    from own where not pg_table_is_visible(oid)
  union all select relname || '!role', relname, 'is written without its triggers', '-- reset session_replication_role, which is replica'
    from own where relkind = 'r' and current_setting('session_replication_role') = 'replica'
  union all select o.relname || '!child ' || inhrelid::regclass, o.relname, 'has the rows of ' || inhrelid::regclass || ' too, which inherits from it',
      'alter table ' || inhrelid::regclass || ' no inherit ' || o.relname
    from own o join pg_inherits on inhparent = o.oid where relkind = 'r'
  union all select relname || '!kind', relname, case relkind when 'p' then 'is divided into partitions' else 'is on another server' end, null
    from own where relkind in ('p', 'f')
  ${flawRows('unlogged', 'is unlogged: a crash empties it, and replicas have none of it', 'set logged', "where relpersistence = 'u'")}
  ${flawRows('security', 'has row level security, which hides rows from this user of the database', 'disable row level security', "where relkind in ('r', 'p') and row_security_active(oid)")}
  ${flawRows('references', 'has disabled the triggers that check its references', 'enable trigger all', "where exists (select from pg_trigger where tgrelid = o.oid and tgisinternal and tgenabled in ('D', 'R'))")}
  ${flawRows('trigger %s', 'has disabled its trigger %s', 'enable trigger %s', "join pg_trigger t on tgrelid = o.oid and not tgisinternal and tgenabled in ('D', 'R')", 'tgname')}
  ${flawRows('constraint %s', 'has the constraint %s, which was never compared with its rows', 'validate constraint %s', 'join pg_constraint k on conrelid = o.oid and not convalidated', 'conname')}
  ${flawRows('inherits %s', 'inherits from %s, which has its rows too', 'no inherit %s', 'join pg_inherits i on i.inhrelid = o.oid', 'i.inhparent::regclass::text')}`

/** What a database has; `validated`: without constraints that may not hold for the rows of before. */
export const objectsIn = async (
  query: Session['query'],
  validated = false,
): Promise<MadeObjects> => {
  const rows = await query(queryWith(catalogueText, validated ? 'true' : 'false'))
  const objects = new Map<string, MadeObject>()
  for (const row of rows) {
    // A check has texts of the model in it, and a function may have comments.
    const isConstraint = String(row[0]).includes('#')
    const [name = '', of = '', text = '', mend] = row.map(part => {
      if (!part) return part
      return isConstraint ? outsideTexts(String(part), /"/) : String(part).replaceAll('"', '')
    }) as string[]
    // Triggers of several tables may have one name.
    objects.set(objects.has(name) ? `${of} ${name}` : name, { of, text, ...(mend && { mend }) })
  }
  return objects
}
