/** Faults of names: duplicates, words that databases or GraphQL reserve, and references in a circle. */
import { takenNames } from '#model/faults/lists.ts'
import { type CheckedEntity, type Faults, nestedLists } from '#model/faults/relations.ts'
import { enumName } from '#model/field.ts'
import { columnName, tableForm, typeName } from '#model/names.ts'

/** Words that SQLite or PostgreSQL does not accept as the bare name of a column, and columns that each table has. */
const reserved = new Set(
  `add all alter analyse analyze and any array as asc asymmetric authorization autoincrement between binary
  both case cast check collate collation column commit concurrently constraint create cross default deferrable
  delete desc distinct do drop else end escape except exists false fetch for foreign freeze from full grant group
  having if ilike in index initially inner insert intersect into is isnull join lateral leading left like limit
  localtime localtimestamp natural not nothing notnull null offset on only or order outer overlaps placing primary
  raise references returning right select set similar some symmetric table tablesample then to trailing transaction true
  union unique update user using values variadic verbose when where window with
  current_catalog current_date current_role current_schema current_time current_timestamp current_user session_user system_user
  cmax cmin ctid tableoid xmax xmin oid rowid`.split(/\s+/),
)

/** Whether the column of a field of that name would be refused by a database. */
export const isReserved = (field: string): boolean => reserved.has(columnName(field)) || field in {}

/** Tables of the machine itself. */
export const machineTables =
  'admin_views auth_accounts auth_keys auth_rates auth_sessions auth_verifications counts counts_part files migrations moves outbox rates replies secrets timelines uploads version_notices version_uses viewer_subjects'.split(
    ' ',
  )

const graphqlTypes =
  'Query Mutation Subscription ID Int Float String Boolean Date DateTime JSON PageInfo SortDirection BulkWrite ExpectedRevision StoredFile'.split(
    ' ',
  )

/** The schemas that documents of the REST API have beside those of entities. */
export const documentSchemas = [
  'BulkWrite',
  'ComparedNumber',
  'ComparedText',
  'ComparedTime',
  'CursorPagination',
  'Error',
  'Link',
  'Pagination',
  'Problem',
  'StoredFile',
]

/** Whether GraphQL itself has a type of that name. */
export const isGraphqlType = (name: string): boolean => graphqlTypes.includes(name)

const tableName = new RegExp(`^${tableForm}$`)

const isName = (name: string): boolean => /^[a-z][a-zA-Z0-9]*$/.test(name) && !(name in {})

const sharedFaults = function* (
  what: string,
  names: readonly (readonly [name: string, of: string])[],
): Faults {
  const owners = new Map<string, string>()
  for (const [name, of] of names) {
    const owner = owners.get(name)
    if (owner !== undefined)
      yield `${owner} and ${of} have one ${what}, ${name}: give one of them another`
    owners.set(name, of)
  }
}

/** The faults of the names of all entities. */
export const nameFaults = function* (entities: CheckedEntity['entities']): Faults {
  const all = Object.entries(entities)
  for (const [name, { table, plural }] of all) {
    if (!isName(name) || isGraphqlType(typeName(name)))
      yield `${name} cannot name an entity: use letters and digits, such as lineItem, and no type of GraphQL's own`
    if (documentSchemas.includes(typeName(name)))
      yield `${name} cannot name an entity, since the documents of the REST API have a schema ${typeName(name)} for something else: give it another name`
    if (!isName(plural))
      yield `${name} has the plural ${plural}: use letters and digits, such as lineItems`
    if (/^v\d+$/.test(plural))
      yield `${name} has the plural ${plural}, whose path is that of a version of the REST API: give it another one`
    const isTable = tableName.test(table) && table.length <= 40 && !/^(sqlite|pg)_/.test(table)
    if (!isTable || reserved.has(table) || machineTables.includes(table))
      yield `${name} has the table ${table}: use at most 40 small letters, digits and _, and no name that a database or Duet itself uses`
  }

  yield* sharedFaults(
    'table',
    all.map(([name, { table }]) => [table, name]),
  )
  // A table may also be called as an index or another part of one.
  const owners = new Map<string, readonly [name: string, table: string]>()
  for (const [name, self] of all)
    for (const taken of takenNames(self)) {
      const [owner, table] = owners.get(taken) ?? [name, self.table]
      if (table !== self.table)
        yield `${owner} and ${name} both take the name ${taken} in a database: give one of them another table`
      owners.set(taken, [name, self.table])
    }
  yield* sharedFaults(
    'plural',
    all.map(([name, { plural }]) => [plural, name]),
  )
  const roots = all.filter(([, { graphql }]) => graphql.type && graphql.roots)
  yield* sharedFaults(
    'name in a GraphQL query',
    roots.flatMap(([name, { plural }]) => [
      [name, name],
      [plural, `the list of ${name}`],
      [`${plural}Connection`, `the connection of ${name}`],
      [`${plural}Aggregate`, `the groups of ${name}`],
    ]),
  )
  yield* sharedFaults(
    'GraphQL type',
    all.flatMap(([name, { graphql, fields, relations, bulk, plural }]) => [
      [typeName(name), name] as const,
      ...['Order', 'Where', 'Match', 'Edge', 'Connection', 'Aggregate'].map(
        suffix => [`${typeName(name)}${suffix}`, `the ${suffix.toLowerCase()} of ${name}`] as const,
      ),
      ...graphql.mutations.map(
        kind => [`${typeName(kind)}${typeName(name)}Input`, `${kind} ${name}`] as const,
      ),
      ...(bulk ? [[`Update${typeName(plural)}Input`, `update ${plural}`] as const] : []),
      ...Object.entries(relations).flatMap(([key, { nestedWrites }]) =>
        nestedWrites
          ? [[`${typeName(name)}${typeName(key)}CreateInput`, `the parts ${name}.${key}`] as const]
          : [],
      ),
      ...Object.entries(fields).flatMap(([key, field]) => {
        const named = enumName(name, key, field)
        return named === undefined ? [] : [[named, `${name}.${key}`] as const]
      }),
    ]),
  )
  yield* sharedFaults(
    'schema in the documents of the REST API',
    all.flatMap(([name, self]) => {
      const isListed = self.rest.list || nestedLists({ entities, name, self }).length > 0
      const list = [`${typeName(name)}List`, `the list of ${name}`] as const
      const groups = [`${typeName(name)}Aggregate`, `the groups of ${name}`] as const
      const partial = [
        [`Partial${typeName(name)}`, `the chosen members of ${name}`] as const,
        ...(isListed
          ? [[`Partial${typeName(name)}List`, `the chosen members of a list of ${name}`] as const]
          : []),
      ]
      return [
        [typeName(name), name] as const,
        ...(isListed ? [list] : []),
        ...(self.rest.list ? [groups] : []),
        ...(self.rest.selectable ? partial : []),
      ]
    }),
  )
  if (all.length > 0 && roots.length === 0)
    yield 'no entity is at the root of the GraphQL API: let one have graphql.type and graphql.roots'
}

/** The entities of a circle of references from `start` back to it; undefined if there is none. An entity may refer to itself. */
const circleFrom = (
  entities: CheckedEntity['entities'],
  start: string,
  path: readonly string[] = [start],
): readonly string[] | undefined => {
  for (const { references } of Object.values(entities[path.at(-1) ?? '']?.fields ?? {})) {
    const to = references?.entity
    if (to === undefined || to === path.at(-1)) continue
    if (to === start) return path
    const circle = path.includes(to) ? undefined : circleFrom(entities, start, [...path, to])
    if (circle) return circle
  }
  return undefined
}

/** The faults of references in a circle: none of its tables could be made first. */
export const cycleFaults = function* (entities: CheckedEntity['entities']): Faults {
  for (const name of Object.keys(entities)) {
    const circle = circleFrom(entities, name)
    if (circle)
      yield `${[...circle, name].join(' refers to ')}, so that no table can be made first: make one of these references an int`
  }
}
