/** Compares what a store has with what its model needs: each difference in a sentence with its remedy. */
import {
  type Catalogue,
  checksIn,
  gistOf,
  type StoredTable,
  textsIn,
} from '#engines/shared/catalogue.ts'
import {
  columnDdl,
  type Ddl,
  type Definition,
  definitionsOf,
  valuesCheck,
  valuesName,
} from '#engines/shared/schema.ts'
import { machineTables } from '#model/check/names.ts'
import type { Entity } from '#model/entity.ts'
import type { Field } from '#model/field.ts'
import { indexesOf } from '#model/indexes.ts'
import { columnName, type Entities } from '#model/model.ts'
import { and, comma, join, name as quotedName, type Sql, sql } from '#sql/sql.ts'

/** What a draft can change in a table that is there, beside adding what is missing. */
export type Change = {
  readonly table: string
} /** `isLocked`: its rows are kept as they are by a trigger. */ & (
  | {
      readonly kind: 'required'
      readonly column: string
      readonly field: Field
      readonly isLocked: boolean
    }
  | { readonly kind: 'nullable'; readonly column: string }
  /** `check` is the constraint to be made; `isThere`: another one has its name. */
  | {
      readonly kind: 'values'
      readonly column: string
      readonly check: string
      readonly isThere: boolean
    }
  /** `ddl` is the definition of the column with the reference or the collation that is wanted. */
  | { readonly kind: 'reference' | 'compared'; readonly column: string; readonly ddl: string }
  | { readonly kind: 'index' | 'trigger'; readonly name: string }
)

/** Rows that a migration to the model would break on: whether a row is one, and what is wrong with it. */
type BrokenRows = { readonly table: string; readonly where: Sql; readonly fault: string }

export type Difference = {
  /** Whether the store is served all the same. */
  readonly isServed: boolean
  readonly text: string
  /** What a draft changes to remove it. */
  readonly change?: Change
  /** Whether a draft adds what is missing. */
  readonly isAdded?: boolean
  readonly broken?: BrokenRows
}

const draft = 'run duet migrate --draft NAME, read what it writes, and start again'
const byHand = 'as CONTRIBUTING.md shows under "Change the store"'

/** The type of the column of a field, as catalogues have it. */
const typeOf = (ddl: Ddl, field: Field): string =>
  ddl.typeOf(field).replaceAll('"', '').toLowerCase()

/** The columns of a table that no field has. */
export const leftOver = ({ fields }: Entity, { columns }: StoredTable): readonly string[] => {
  const known = new Set(Object.keys(fields).map(columnName))
  return [...columns.keys()].filter(column => !known.has(column))
}

/** The columns that a new field may be the new name of: left over, of its type, and not claimed by another field. */
export const formerNames = (
  ddl: Ddl,
  entity: Entity,
  field: Field,
  stored: StoredTable,
): readonly string[] => {
  const claimed = Object.values(entity.fields).map(({ renamed }) => renamed && columnName(renamed))
  return leftOver(entity, stored).filter(
    column => stored.columns.get(column)?.type === typeOf(ddl, field) && !claimed.includes(column),
  )
}

const missingColumn = (
  ddl: Ddl,
  of: string,
  entity: Entity,
  key: string,
  field: Field,
  stored: StoredTable,
): Difference => {
  const begin = `${of}.${key} is in the model, and no migration makes its column: `
  const { renamed } = field
  if (entity.view)
    return {
      isServed: false,
      text: `${begin}write one that makes the view ${entity.table} with it`,
    }
  const [former] = renamed === undefined ? formerNames(ddl, entity, field, stored) : []
  const hint = former === undefined ? '' : ` (if it is ${former} by another name, give it renamed)`
  return { isServed: false, isAdded: true, text: `${begin}${draft}${hint}` }
}

/** The differences of a column that is there. */
const columnDifferences = function* (
  ddl: Ddl,
  entities: Entities,
  [of, entity]: readonly [string, Entity],
  [key, field]: readonly [string, Field],
  stored: StoredTable,
): Generator<Difference> {
  const { table } = entity
  const column = columnName(key)
  const there = stored.columns.get(column)
  const subject = `${of}.${key}`
  const cell = quotedName(column)
  const stops = (text: string, change?: Change, where?: Sql, fault = ''): Difference => ({
    isServed: false,
    text: `${subject} ${text}`,
    ...(change && { change }),
    ...(where && { broken: { table, where, fault } }),
  })
  if (!there) return yield missingColumn(ddl, of, entity, key, field, stored)
  const type = typeOf(ddl, field)
  // PostgreSQL shows no type of a view's column where a draft has only the text that makes it.
  if (there.type !== type && there.type !== '')
    if (there.type.split(' ')[0] !== type.split(' ')[0])
      yield stops(
        `is stored as ${type}, and its column is ${there.type}: take its former kind back, or add a field of this kind under another name, fill it and drop the old one, ${byHand}`,
      )
    else if (!entity.view)
      yield stops(
        `is stored as ${type}, and its column is ${there.type}, which sorts texts otherwise: ${draft}`,
        { kind: 'compared', table, column, ddl: columnDdl(ddl, entities, key, field) },
      )
  if (entity.view) return
  if (there.isRequired && field.nullable)
    yield stops(
      `may be null in the model, and its column may not: ${draft}, or take nullable back`,
      { kind: 'nullable', table, column },
    )
  if (!there.isRequired && !field.nullable)
    yield stops(
      `is needed in the model, and its column may be null: ${draft}, or make it nullable`,
      { kind: 'required', table, column, field, isLocked: entity.appendOnly },
      sql`${cell} is null`,
      `without ${key}`,
    )
  const { values, references } = field
  const check = valuesCheck(column, field)
  const kept = stored.checks.find(({ name }) => name === valuesName(column))
  if (values && (!kept || textsIn(kept.text) !== textsIn(check)))
    yield stops(
      `is one of ${values.join(', ')} in the model, and its column takes other values: ${draft}`,
      { kind: 'values', table, column, check, isThere: kept !== undefined },
      sql`${cell} is not null and ${cell} not in (${join(values, comma)})`,
      `with a ${key} that is none of ${values.join(', ')}`,
    )
  const target = entities[references?.entity ?? '']
  const named = stored.references.filter(reference => reference.column === column)
  const isLed = (one: (typeof named)[number]) =>
    one.table === target?.table && one.onDelete === references?.onDelete
  const isKey = references !== undefined && target?.view === false
  const found = named
    .map(({ table, onDelete }) => `${table} on delete ${onDelete}`)
    .join(' and to ')
  if (isKey ? named.length !== 1 || !named.every(isLed) : named.length > 0)
    yield stops(
      isKey
        ? `refers to ${target.table} on delete ${references.onDelete} in the model, and its column ${found ? `to ${found}` : 'to nothing'}: ${draft}`
        : `refers to nothing in the model, and its column to ${found}: make it a reference, or ${draft}`,
      { kind: 'reference', table, column, ddl: columnDdl(ddl, entities, key, field) },
      isKey
        ? sql`${cell} is not null and ${cell} not in (select id from ${quotedName(target.table)})`
        : undefined,
      `with a ${key} that names no row of ${target?.table}`,
    )
}

/** Whether an object has a name that the machine gives to parts of tables: it has made it for an earlier model. */
export const isMadePart = (name: string): boolean =>
  /_(?:by|count)_|_(?:append_only|no_update|no_delete)$|_search(?:_\w+)?$/.test(name)

/** The differences of the indexes, triggers and checks of a table. */
const partDifferences = function* (
  ddl: Ddl,
  entities: Entities,
  [of, entity]: readonly [string, Entity],
  stored: StoredTable,
  definitions: readonly Definition[],
): Generator<Difference> {
  const { table, own } = entity
  const unknown = (what: 'unique index' | 'trigger', name: string): Difference => {
    const kind = what === 'trigger' ? 'trigger' : 'index'
    const isOurs = isMadePart(name)
    return {
      isServed: false,
      text: `${table} has the ${what} ${name}, which ${of} does not know: ${isOurs ? draft : 'drop it in a migration'}, or list it in own: ['${name}']`,
      ...(isOurs && { change: { kind, table, name } }),
    }
  }
  const wanted = new Map(indexesOf(entity).map(index => [index.name, index]))
  for (const [name, index] of wanted) {
    const found = stored.indexes.find(one => one.name === name)
    if (!index.unique) {
      if (!found)
        yield { isServed: true, isAdded: true, text: `${table} lacks the index ${name}: ${draft}` }
      continue
    }
    const terms = ddl.indexTerms(index)
    if (found?.isUnique && found.terms === terms.join(', ')) continue
    const cells = index.terms.map(({ column }) => quotedName(column))
    const [all, rows] = [join(cells, comma), quotedName(table)]
    const filled = and(cells.map(cell => sql`${cell} is not null`))
    yield {
      isServed: false,
      isAdded: true,
      text: `${index.of} of ${of} is unique in the model, and not in ${table}: ${draft}`,
      broken: {
        table,
        where: sql`(${all}) in (select ${all} from ${rows} where ${filled} group by ${all} having count(*) > 1)`,
        fault: `with the ${terms.join(' and ')} of another`,
      },
    }
  }
  const triggers = new Set(
    definitions.flatMap(({ name, text }) => (/^create trigger /.test(text) ? [name] : [])),
  )
  for (const trigger of triggers)
    if (!stored.triggers.includes(trigger))
      yield {
        isServed: false,
        isAdded: true,
        text: `${table} lacks the trigger ${trigger}: ${draft}`,
      }
  for (const trigger of stored.triggers)
    if (!triggers.has(trigger) && !own.includes(trigger)) yield unknown('trigger', trigger)

  const indexes = new Set(definitions.map(({ name }) => name))
  for (const { name, isUnique } of stored.indexes) {
    if (indexes.has(name) || own.includes(name)) continue
    if (isUnique) yield unknown('unique index', name)
    else yield { isServed: true, text: `the index ${name} of ${table}` }
  }

  const columns = Object.entries(entity.fields)
  const known = new Set(
    columns.flatMap(([key, field]) =>
      checksIn(columnDdl(ddl, entities, key, field)).map(({ text }) => gistOf(text)),
    ),
  )
  const kept = [...stored.columns.keys()].map(valuesName)
  for (const { name, text } of stored.checks)
    if (!known.has(gistOf(text)) && !kept.includes(name) && !own.includes(name))
      yield {
        isServed: false,
        text: `${table} has the check ${name}, which ${of} does not know: drop it in a migration, or list it in own: ['${name}']`,
      }
}

/** The differences between a store and its model: first those that stop the service, then what else the store has. */
export const differencesIn = (
  ddl: Ddl,
  entities: Entities,
  catalogue: Catalogue,
): readonly Difference[] => {
  const found: Difference[] = []
  const definitions = definitionsOf(ddl, entities)
  for (const [of, entity] of Object.entries(entities)) {
    const { table, view, own } = entity
    const stops = (text: string, more: Partial<Difference> = {}) =>
      found.push({ isServed: false, text, ...more })
    const stored = catalogue.get(table)
    if (!stored) {
      if (view) stops(`${of} is on a view, and no migration makes ${table}: write one that does`)
      else
        stops(`${of} is in the model, and no migration makes its table: ${draft}`, {
          isAdded: true,
        })
      continue
    }
    if (stored.isView !== view) {
      stops(
        view
          ? `${of} says view: true, and ${table} is a table: leave it out`
          : `${of} is on ${table}, which is a view: say view: true`,
      )
      continue
    }
    if (view && stored.columns.size === 0) continue
    for (const field of Object.entries(entity.fields))
      found.push(...columnDifferences(ddl, entities, [of, entity], field, stored))
    for (const column of leftOver(entity, stored)) {
      const { isRequired, hasValue } = stored.columns.get(column) ?? {}
      if (own.includes(column)) continue
      if (view || !isRequired || hasValue)
        found.push({ isServed: true, text: `the column ${column} of ${table}` })
      else
        stops(
          `${table}.${column} has no field in ${of} and takes no row without a value: give renamed to the field that it is now, or ${draft}`,
          { change: { kind: 'nullable', table, column } },
        )
    }
    if (view) continue
    const parts = definitions.filter(one => one.of === table)
    found.push(...partDifferences(ddl, entities, [of, entity], stored, parts))
  }
  const tables = definitions.filter(({ text }) => /^create (virtual )?table /.test(text))
  for (const { name, of } of tables)
    if (of !== undefined && !catalogue.has(name))
      found.push({
        isServed: false,
        isAdded: true,
        text: `${of} lacks the search ${name}: ${draft}`,
      })
  const known = new Set([...machineTables, ...Object.values(entities).map(({ table }) => table)])
  const isPart = (table: string) => tables.some(({ name, of }) => of && table.startsWith(name))
  for (const [table, { isView }] of catalogue)
    if (!known.has(table) && !isPart(table) && !table.startsWith('sqlite_'))
      found.push({ isServed: true, text: `the ${isView ? 'view' : 'table'} ${table}` })
  return found
}
