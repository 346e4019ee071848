/** The schema that a model needs, shared by all engines: its tables, indexes, search and counts as definitions. */
import { meanDigits, partsOf, termType } from '#model/computed.ts'
import type { Entity } from '#model/entity.ts'
import type { Field, Formula, Term } from '#model/field.ts'
import { type Index, indexesOf, searchesOf } from '#model/indexes.ts'
import { columnName, type Entities, fieldOf, valuesName } from '#model/model.ts'
import { parseMinor } from '#model/money.ts'
import { dependenciesFirst } from '#model/references.ts'
import type { SearchIndex } from '#model/words.ts'

/** One object of the schema: its name and the statement that makes it. */
export type Definition = {
  readonly name: string
  readonly text: string
  /** The table that it belongs to; undefined for a table. */
  readonly of?: string
  /** Statements that bring it up to date with the rows that exist before it does. */
  readonly fill?: readonly string[]
}

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`

/** The default that lets a column be added to a table that has rows; empty if it has none. */
const defaultOf = ({ initial }: Field): string => {
  if (typeof initial !== 'object' || 'slugOf' in initial || initial.value === null) return ''
  const { value } = initial
  return `default ${typeof value === 'string' ? quoted(value) : value}`
}

/** The value that a field gives to rows that exist before its column does, as SQL; empty if it has none. */
export const defaultValue = (field: Field): string => defaultOf(field).slice('default '.length)

/** What a draft puts into rows without a value; `now` is the moment in milliseconds as the engine writes it. */
export const fillValue = (field: Field, now: string): string =>
  field.initial === 'now' ? now : defaultValue(field)

/** The constraint that keeps the column of a choice to its values; empty for any other field. */
export const valuesCheck = (column: string, { values, nullable }: Field): string => {
  if (!values) return ''
  // Said of null too: SQLite takes a check that is added later to be broken by it.
  const isNull = nullable ? `${column} is null or ` : ''
  return `constraint ${valuesName(column)} check (${isNull}${column} in (${values.map(quoted).join(', ')}))`
}

/** The SQL of a term with so many decimals, which all databases read alike. */
const termSql = (fields: Entity['fields'], term: Term, scale: number): string => {
  const raised = (text: string, by: number) => (by > 0 ? `(${text} * ${10 ** by})` : text)
  if (typeof term === 'string')
    return raised(columnName(term), scale - termType(fields, term).scale)
  if ('value' in term) return `(${parseMinor(String(term.value), scale)?.minor})`
  if ('text' in term) return quoted(term.text)
  const [by, terms] = partsOf(term as Formula)
  const types = terms.map(term => termType(fields, term))
  const alike = () => terms.map(term => termSql(fields, term, scale))
  switch (by) {
    case 'plus':
      return `(${alike().join(' + ')})`
    case 'minus':
      return `(${alike().join(' - ')})`
    case 'times': {
      const all = types.reduce((sum, { scale }) => sum + scale, 0)
      const factors = terms.map((term, index) => termSql(fields, term, types[index]?.scale ?? 0))
      return raised(`(${factors.join(' * ')})`, scale - all)
    }
    case 'concat': {
      const texts = terms.map((term, index) => {
        const text = termSql(fields, term, 0)
        return types[index]?.kind === 'number' ? `cast(${text} as text)` : text
      })
      return `(${texts.join(' || ')})`
    }
    case 'coalesce':
      return `coalesce(${alike().join(', ')})`
    case 'mean': {
      const [sum, n] = terms.map(term => columnName(String(term)))
      const rest = `(2 * ${10 ** meanDigits} * (${sum} % ${n}) + case when ${sum} < 0 then -${n} else ${n} end) / (2 * ${n})`
      return `case when ${n} > 0 then ${sum} / ${n} * ${10 ** meanDigits} + ${rest} else null end`
    }
    default:
      return by satisfies never
  }
}

/** The formula of a computed field as SQL. */
export const formulaSql = (fields: Entity['fields'], { computed, scale }: Field): string =>
  computed ? termSql(fields, computed, scale) : ''

/** What a table keeps of the rows of another one that refer to it, for triggers on that one. */
export type Kept = {
  /** The trigger's name without its event. */
  readonly name: string
  readonly table: string
  readonly below: string
  /** The column there that refers to the row. */
  readonly by: string
  /** Columns of the row, each with the column below that it is the sum of, or whose values it counts; null: it counts rows. */
  readonly totals: readonly {
    readonly column: string
    readonly of: string | null
    readonly as: 'count' | 'sum'
  }[]
  /** What else holds of the rows below that count, whose columns stand behind this prefix. */
  readonly holds: (row: string) => string
  /** The columns below that it depends on. */
  readonly columns: readonly string[]
  readonly hasRevision: boolean
  /** Brings it up to date with the rows that exist. */
  readonly fill: readonly string[]
}

/** What rows of an entity add to a total; each value stands behind this prefix. */
export const shareOf = ({ of, as }: Kept['totals'][number], row: string): string => {
  if (of === null) return '1'
  return as === 'sum'
    ? `coalesce(${row}${of}, 0)`
    : `case when ${row}${of} is null then 0 else 1 end`
}

/** What other entities keep of the rows of this one. */
const keptOf = (entities: Entities, name: string): readonly Kept[] =>
  Object.values(entities).flatMap(entity => {
    const { table, fields, relations } = entity
    return Object.entries(fields).flatMap(([key, { kept }]): Kept[] => {
      const relation = relations[kept?.relation ?? '']
      const child = entities[name]
      // A mean is of a sum and a count, which are fields of the machine's own.
      const isOwn = kept?.as === 'mean' || (kept?.as === 'count' && kept.of === undefined)
      if (!kept || !isOwn || !child || relation?.to !== name) return []
      const by = columnName(relation.by)
      const of = kept.of === undefined ? null : columnName(kept.of)
      const column = columnName(key)
      const { where = {} } = kept
      const holds = (row: string) =>
        Object.entries(where)
          .map(([key, value]) => {
            // PostgreSQL would take two of these signs for the end of the trigger's function.
            const stored =
              typeof value === 'string'
                ? quoted(value).replaceAll('$', () => "' || '$' || '")
                : Number(value)
            return ` and ${row}${columnName(key)} = ${stored}`
          })
          .join('')
      const columns = [by, ...(of === null ? [] : [of]), ...Object.keys(where).map(columnName)]
      const totals: Kept['totals'] =
        kept.as === 'mean'
          ? [
              { column: columnName(`${key}Sum`), of, as: 'sum' },
              { column: columnName(`${key}Count`), of, as: 'count' },
            ]
          : [{ column, of, as: 'count' }]
      const found = totals.map(
        total =>
          `${total.column} = (select coalesce(sum(${shareOf(total, 'below.')}), 0) from ${child.table} below where below.${by} = ${table}.id${holds('below.')})`,
      )
      return [
        {
          name: `${table}_${column}_kept`,
          table,
          below: child.table,
          by,
          totals,
          holds,
          columns,
          hasRevision: fields.revision !== undefined,
          fill: [`update ${table} set ${found.join(', ')}`],
        },
      ]
    })
  })

/** How an engine writes the parts of its DDL. */
export type Ddl = {
  readonly id: string
  /** What makes an id of it, each with the statements that add it to a table that is there, if some do. */
  readonly idParts: readonly {
    readonly words: string
    readonly mend?: (table: string) => readonly string[]
  }[]
  readonly typeOf: (field: Field) => string
  /** The check constraint of a column; empty if it has none. */
  readonly checkOf: (column: string, field: Field) => string
  /** What follows the columns of a table. */
  readonly tableEnd: string
  readonly indexTerms: (index: Index) => readonly string[]
  readonly searchDdl: (search: SearchIndex) => readonly Definition[]
  /** Where a computed column has its values. */
  readonly computed: 'virtual' | 'stored'
  readonly keptTriggers: (kept: Kept) => readonly Definition[]
  readonly countTriggers: (table: string, columns: readonly string[]) => readonly Definition[]
  readonly appendOnlyTriggers: (table: string) => readonly Definition[]
}

/** The definition of a column, for `create table` and for `add column`. */
export const columnDdl = (ddl: Ddl, entities: Entities, entity: Entity, key: string): string => {
  if (key === 'id') return `id ${ddl.id} check (id between 1 and 9007199254740991)`
  const field = fieldOf(entity, key)
  const { references, nullable, computed } = field
  const column = columnName(key)
  const target = references && entities[references.entity]
  const parts = [
    column,
    ddl.typeOf(field),
    computed ? `generated always as (${formulaSql(entity.fields, field)}) ${ddl.computed}` : '',
    nullable ? '' : 'not null',
    computed ? '' : defaultOf(field),
    ddl.checkOf(column, field),
    target && !target.view
      ? `references ${target.table} (id) on delete ${references.onDelete}`
      : '',
  ]
  return parts.filter(part => part !== '').join(' ')
}

/** The definitions of all entities but those on views, without the machine's own tables, in an order in which they can be made. */
export const definitionsOf = (ddl: Ddl, entities: Entities): readonly Definition[] =>
  dependenciesFirst(entities).flatMap(([name, entity]) => {
    const { table, fields, counted, appendOnly, view } = entity
    if (view) return []
    const columns = Object.keys(fields).map(key => columnDdl(ddl, entities, entity, key))
    const checks = Object.entries(fields).flatMap(
      ([key, field]) => valuesCheck(columnName(key), field) || [],
    )
    const indexes = indexesOf(entity).map(index => ({
      name: index.name,
      of: table,
      text: `create ${index.unique ? 'unique ' : ''}index ${index.name} on ${table} (${ddl.indexTerms(index).join(', ')})`,
    }))
    return [
      {
        name: table,
        text: `create table ${table} (\n  ${[...columns, ...checks].join(',\n  ')}\n) ${ddl.tableEnd}`,
      },
      ...indexes,
      ...(counted === null ? [] : ddl.countTriggers(table, counted.map(columnName))),
      ...keptOf(entities, name).flatMap(ddl.keptTriggers),
      ...(appendOnly ? ddl.appendOnlyTriggers(table) : []),
      ...searchesOf(entity).flatMap(ddl.searchDdl),
    ]
  })

/** The statements that count existing rows, all or by a column; `part` if a count is split into parts. */
export const recount = (
  table: string,
  column: string | null,
  { cast = '', part }: { readonly cast?: string; readonly part?: number } = {},
): readonly string[] => {
  const field = column ?? ''
  const [value, end] =
    column === null ? ["''", 'having count(*) > 0'] : [`${column}${cast}`, `group by ${column}`]
  const [partColumn, partValue] = part === undefined ? ['', ''] : [' part,', ` ${part},`]
  return [
    `delete from counts where entity = '${table}' and field = '${field}'`,
    `insert into counts (entity, field, value,${partColumn} n)
  select '${table}', '${field}', ${value},${partValue} count(*) from ${table} ${end}`,
  ]
}
