/** The tables, indexes and triggers of a model in PostgreSQL: what migrations are drafted from and compared with. */
import { dialect, wordsVector } from '#engines/postgres/dialect.ts'
import {
  addPart,
  addTable,
  checkName,
  type MadeObject,
  type MadeObjects,
  outsideTexts,
  splitByCommas,
  typeForm,
  withoutCheck,
} from '#engines/shared/catalogue.ts'
import type { Drafting } from '#engines/shared/differences.ts'
import { statementsOf } from '#engines/shared/migrations.ts'
import {
  type Ddl,
  type Definition,
  defaultValue,
  fillValue,
  recount,
  shareOf,
  valuesCheck,
} from '#engines/shared/schema.ts'
import { valuesName } from '#model/model.ts'
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

/** A trigger with the function that it calls. */
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
    from (select c.${by} as id, ${sums.join(', ')} from ${rows} c where c.${by} is not null group by c.${by} order by c.${by}) s
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

/** Words and signs that do not change which objects a statement is about. */
const fillers =
  /"|\b(?:if not exists|if exists|or replace|unlogged|concurrently|only|column)\s|\bunique (?=index\b)/gi

const identityForm = / generated (?:always|by default|otherwise) as identity(?: ?\([^()]*\))?/i

/** What statements do to the objects that were made before them. */
const changesOf = (objects: Map<string, MadeObject>) => {
  const rename = (from: string, to: string) => {
    const object = objects.get(from)
    if (!object) return
    objects.delete(from)
    objects.set(to, object)
  }
  const renameTable = (from: string, to: string) => {
    rename(from, to)
    for (const [name, object] of [...objects]) {
      if (object.of !== from) continue
      objects.set(name, { ...object, of: to })
      if (/^\w+[.#]/.test(name)) rename(name, to + name.slice(from.length))
    }
  }
  const create = (name: string, of: string, text: string) => void objects.set(name, { text, of })
  /** Changes the text of a column. */
  const rewrite = (table: string, column: string, change: (text: string) => string) => {
    const object = objects.get(`${table}.${column}`)
    if (object) create(`${table}.${column}`, table, change(object.text))
  }
  const alterColumn = (table: string, column: string, action: string) => {
    const [, type] = /^(?:set data )?type (.*?)(?: using\b.*)?$/i.exec(action) ?? []
    const [, value] = /^set (default .*)$/i.exec(action) ?? []
    rewrite(table, column, text => {
      if (type !== undefined) return text.replace(typeForm, `$1 ${type}`)
      if (value !== undefined) return `${text} ${value}`
      if (/^set not null/i.test(action)) return `${text} not null`
      const [, identity] =
        /^(?:add|set) (generated (?:always|by default)( as identity)?)/i.exec(action) ?? []
      if (identity !== undefined)
        return `${text.replace(identityForm, '')} ${identity.replace(/ as identity$/i, '')} as identity`
      if (/^drop identity/i.test(action)) return text.replace(identityForm, '')
      return text.replace(
        /^drop not null/i.test(action) ? / not null\b/i : / default ('.*?'|\S+)/i,
        '',
      )
    })
  }
  const dropConstraint = (table: string, name: string) => {
    objects.delete(`${table}#${name}`)
    for (const [key, { of }] of objects) {
      if (name === `${table}_pkey` && key.startsWith(`${table}#primary key`)) objects.delete(key)
      if (name === checkName(table, '') && key.startsWith(`${table}#check`)) objects.delete(key)
      if (of !== table || !key.startsWith(`${table}.`)) continue
      const column = key.slice(table.length + 1)
      rewrite(table, column, text => {
        const left = withoutCheck(text, name === checkName(table, column) ? '' : name)
        if (name === `${table}_pkey`) return left.replace(/ primary key\b/i, '')
        return name === `${table}_${column}_fkey` ? left.replace(/ references \w+.*$/i, '') : left
      })
    }
  }
  const drop = (names: string, suffix = '') => {
    for (const part of splitByCommas(names)) {
      const dropped = `${part.split(/[\s(]/)[0]}${suffix}`
      objects.delete(dropped)
      for (const [name, { of }] of objects) if (of === dropped) objects.delete(name)
    }
  }
  return { objects, rename, renameTable, create, rewrite, alterColumn, dropConstraint, drop }
}

/** Statements or parts of them by their form, with the change of the objects, given the two words that the form has matched. */
type StatementForms = readonly (readonly [
  form: RegExp,
  act: (first: string, second: string, text: string) => void,
])[]
/** Acts by the first form that matches; false if none does. */
const actOn = (forms: StatementForms, plain: string, text: string): boolean =>
  forms.some(([form, act]) => {
    const found = form.exec(plain)
    if (found) act(found[1] ?? '', found[2] ?? '', text)
    return found !== null
  })

/** The actions of `alter table`; others change no names. */
const actionsOn = (made: ReturnType<typeof changesOf>, table: string): StatementForms => {
  const { objects, rename, renameTable, rewrite } = made
  return [
    [/^add ([\s\S]*)$/i, part => addPart(objects, table, part)],
    [/^drop constraint (\w+)/i, name => made.dropConstraint(table, name)],
    [/^drop (\w+)/i, name => objects.delete(`${table}.${name}`)],
    [/^alter (\w+) ([\s\S]*)$/i, (column, action) => made.alterColumn(table, column, action)],
    [/^rename to (\w+)/i, to => renameTable(table, to)],
    [
      /^rename constraint (\w+) to (\w+)/i,
      (from, to) => rename(`${table}#${from}`, `${table}#${to}`),
    ],
    [
      /^rename (\w+) to (\w+)/i,
      (from, to) => {
        rename(`${table}.${from}`, `${table}.${to}`)
        // Its type may be a word that is also its name, such as text.
        const [name, own] = [new RegExp(`\\b${from}\\b`, 'g'), new RegExp(`^${from} (\\w+)`)]
        rewrite(table, to, text => {
          const [, type = ''] = own.exec(text) ?? []
          const rest = type === '' ? text : text.slice(from.length + 1 + type.length)
          return `${type && `${to} ${type}`}${rest.replaceAll(name, to)}`
        })
        // Formulas name the column as it is called now; what is in quotes stays.
        const named = new RegExp(`'(?:[^']|'')*'|\\b${from}\\b`, 'g')
        const renamed = (formula: string) =>
          formula.replace(named, piece => (piece === from ? to : piece))
        for (const [key, { of }] of objects)
          if (of === table && key.startsWith(`${table}.`) && key !== `${table}.${to}`)
            rewrite(table, key.slice(table.length + 1), text =>
              text.replace(/ generated always as \([\s\S]*/i, renamed),
            )
      },
    ],
  ]
}

/** The statements that make, rename or drop objects, and those that change none. */
const formsFor = (made: ReturnType<typeof changesOf>): StatementForms => {
  const { objects, create, rename, drop } = made
  const alter = (table: string, text: string) => {
    const actions = actionsOn(made, table)
    for (const part of splitByCommas(text)) actOn(actions, part, part)
  }
  return [
    [
      /^create table (\w+)\s*\(([\s\S]*)$/i,
      (table, body, text) => addTable(objects, table, body, text),
    ],
    [
      /^create rule (\w+) as [\s\S]*? to (\w+)/i,
      (name, of, text) => create(`${of}?${name}`, of, text),
    ],
    [/^drop rule (\w+) on (\w+)/i, (name, of) => objects.delete(`${of}?${name}`)],
    [/^create (?:view|sequence|extension) (\w+)/i, create],
    [/^create function (\w+\(\))/i, create],
    [/^create (?:index|trigger) (\w+)[\s\S]*?\son (\w+)/i, create],
    [/^alter table (\w+)\s+([\s\S]*)$/i, alter],
    [/^alter index (\w+) rename to (\w+)/i, rename],
    [/^drop (?:table|view|index|sequence|extension|trigger) ([\s\S]*)$/i, names => drop(names)],
    [
      /^drop function ([\s\S]*)$/i,
      names => {
        const called = splitByCommas(names).map(part => part.split(/[\s(]/)[0])
        const form = new RegExp(
          `^create .*\\btrigger\\b.* execute function (?:${called.join('|')})\\(`,
          'is',
        )
        if (/\bcascade\b/i.test(names))
          for (const [name, { text }] of [...objects]) if (form.test(text)) drop(name)
        drop(names, '()')
      },
    ],
    [/^(insert|update|delete|select|with|lock|set|analyze|vacuum|comment)\b/i, () => {}],
    [/^do\b(?![\s\S]*\b(?:create|alter|drop)\b)/i, () => {}],
  ]
}

/** Reads from the text of the migrations what they make, so that drafting needs no server; flaws are only seen in a store. */
const madeBy: Drafting['madeBy'] = (migrations, base = new Map()) => {
  const objects = new Map<string, MadeObject>(base)
  const forms = formsFor(changesOf(objects))
  for (const { name, text } of migrations)
    for (const statement of statementsOf(text)) {
      const isFunction = /^(?:create (?:or replace )?function|do)\b/i.test(statement)
      const plain = isFunction ? statement.replace(fillers, '') : outsideTexts(statement, fillers)
      if (actOn(forms, plain, statement)) continue
      const [line] = statement.split('\n')
      throw new Error(`a draft cannot tell what the migration ${name} makes by: ${line}`)
    }
  return objects
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

/** A statement that fails where a unique index could not be made; none for another index. */
const guardsOf = (table: string, name: string, text: string): readonly string[] => {
  const [, columns] = /^create unique index \w+ on \w+ \((.*)\)$/.exec(text) ?? []
  if (columns === undefined) return []
  const filled = columns.split(', ').map(column => `${column} is not null`)
  return [
    `do $$\nbegin\n  if exists (select from ${table} where ${filled.join(' and ')} group by ${columns} having count(*) > 1) then
    raise unique_violation using message = 'rows of ${table} break the constraint ${name}';\n  end if;\nend\n$$`,
  ]
}

const change: Drafting['change'] = asked => {
  const { table, name } = asked
  const alter = `alter table ${table}`
  switch (asked.kind) {
    case 'required': {
      const value = fillValue(asked.field, '(extract(epoch from now()) * 1000)::bigint')
      const given = defaultValue(asked.field)
      const fill = `update ${table} set ${name} = ${value} where ${name} is null`
      const lock = `trigger ${appendOnlyTrigger(table)}`
      const filled = asked.isLocked
        ? [`${alter} disable ${lock}`, fill, `${alter} enable ${lock}`]
        : [fill]
      const set = `alter column ${name} set not null`
      const last = given
        ? `${alter} alter column ${name} set default ${given}, ${set}`
        : `-- breaks: the release before must be stopped, if it leaves ${name} out\n${alter} ${set}`
      return { inside: [...(value ? filled : []), last] }
    }
    case 'nullable':
      return { inside: [`${alter} alter column ${name} drop not null`] }
    case 'compared':
      return {
        inside: [
          `-- breaks: the release before waits while its indexes are made anew\n${alter} alter column ${name} type ${ddl.typeOf(asked.field)}`,
        ],
      }
    case 'values':
    case 'reference': {
      const [target] = /references .*$/.exec(asked.ddl) ?? []
      const isValues = asked.kind === 'values'
      const constraint = isValues ? valuesName(name) : `${table}_${name}_fkey`
      const key = target && `constraint ${constraint} foreign key (${name}) ${target}`
      const added = isValues ? valuesCheck(name, asked.field) : key
      const drop = `drop constraint if exists ${constraint}`
      if (!added) return { inside: [`${alter} ${drop}`] }
      // At once, so that nothing stays where rows are in the way.
      if (asked.isNarrower)
        return {
          inside: [
            `-- breaks: the release before may write what ${constraint} refuses, and waits while all rows are read\n${alter} ${drop}, add ${added}`,
          ],
        }
      return {
        inside: [`${alter} ${drop}, add ${added} not valid`],
        outside: [`${alter} validate constraint ${constraint}`],
      }
    }
    case 'mended': {
      const { statements } = asked
      // It reads all rows beside all work.
      const validates = statements.some(one => / validate constraint /.test(one))
      return validates ? { outside: statements } : { inside: statements }
    }
    case 'index':
      return { outside: [`drop index concurrently if exists ${name}`] }
    // Searches are tables on SQLite alone.
    case 'table':
      return {}
    case 'trigger':
      return { inside: [`drop trigger ${name} on ${table}`, `drop function ${name}()`] }
    default: {
      const { definition, kind } = asked
      const { text, fill = [] } = definition
      const isOther = kind === 'other'
      if (!/^create (unique )?index /.test(text))
        return {
          inside: isOther ? [text.replace(/^create /, 'create or replace ')] : [text, ...fill],
        }
      const made = text.replace(' index ', ' index concurrently if not exists ')
      const guards = guardsOf(table, name, text)
      if (!isOther) return { outside: [made], guards }
      // The new one first, so that its readers are never without.
      const next = `next_${name}`
      const dropped = `drop index concurrently if exists ${name}`
      const renamed = `alter index ${next} rename to ${name}`
      return { outside: [made.replace(` ${name} `, ` ${next} `), dropped, renamed], guards }
    }
  }
}

export const postgresDrafting: Drafting = { engine: 'postgres', madeBy, ddl, change }
