/** Rows that come in by the command line, checked by the rules of the model and of the store: of a file, or one by its options. */

import { UsageError } from '#cli/arguments.ts'
import type { Content, ContentStore, InputRow, OpenStore } from '#content.ts'
import type { FieldFault } from '#errors.ts'
import type { Entity } from '#model/entity.ts'
import { choiceOf, columnName, entityOf, uniqueOf } from '#model/model.ts'
import { selfReferences } from '#model/references.ts'
import { inserter } from '#serve/insert.ts'
import { ask, withStore } from '#serve/store.ts'
import { ConstraintError } from '#sql/engine.ts'
import { comma, join, name, type SqlValue, sql } from '#sql/sql.ts'
import { checkInput, type InputContext, type Values } from '#write/input.ts'

/** The fault of a row whose reference names a row that is not there. */
const absent = (entity: Entity, field: string, value: SqlValue): FieldFault => ({
  field,
  message: `names ${entity.fields[field]?.references?.entity} ${value}, which does not exist`,
})

/** The faults of a row that refers to missing rows; it may refer to itself. */
export const dangling = async (
  store: ContentStore,
  entity: Entity,
  values: Values,
): Promise<readonly FieldFault[]> => {
  const faults: FieldFault[] = []
  for (const [key, value] of values) {
    const { references } = entity.fields[key] ?? {}
    if (!references || value === null) continue
    const target = entityOf(store.model, references.entity)
    if (target === entity && value === values.get('id')) continue
    const found = await ask(store, sql`select 1 from ${name(target.table)} where id = ${value}`)
    if (found.length === 0) faults.push(absent(entity, key, value))
  }
  return faults
}

/** Puts a checked row in; a constraint of the store is a fault of the row, and nothing of it stays. */
export const orTaken = async (
  { session }: OpenStore,
  entity: Entity,
  put: () => Promise<unknown>,
): Promise<readonly FieldFault[]> => {
  try {
    await session.attempt(put)
    return []
  } catch (error) {
    if (!(error instanceof ConstraintError)) throw error
    const columns = error.target.split('.').at(-1) ?? ''
    const choice = choiceOf(entity, columns)
    const { fields } = uniqueOf(entity, columns)
    const keys = choice === undefined ? fields : [choice]
    const message = error.kind === 'unique' ? 'is in use already' : 'is out of range'
    const named = keys.length > 0 ? keys : [columns]
    return named.map(key => ({ field: entity.fields[key]?.foldedFrom ?? key, message }))
  }
}

/** A row of a file that turned out to be at fault after it was put in, and was taken out again. */
type LateFaults = { readonly line: number; readonly faults: readonly FieldFault[] }

/** How the rows of a file are put in. */
export type Putting = {
  /** Puts the row of a line in; gives its faults, and puts nothing in if there are any. */
  readonly put: (row: InputRow, line: number) => Promise<readonly FieldFault[]>
  /** After the last row: gives the faults that only then are seen, and takes their rows out. */
  readonly settle: () => Promise<readonly LateFaults[]>
}

/**
 * Puts rows of an entity in, each of which is one row of its table, checked by the model's rules. It may refer to a row of the same entity
 * that comes later in the file: such references are set in the end.
 */
export const plainRows = (store: ContentStore, entity: Entity, use: InputContext): Putting => {
  const table = name(entity.table)
  const keys = selfReferences(store.model.entities, entity)
  const insert = inserter(store, entity)
  /** Rows that were put in without the references in `values`. */
  const waiting: { readonly id: number; readonly line: number; readonly values: Values }[] = []
  /** The lines of the rows that refer to others of the same entity, by their ids. */
  const lines = new Map<number, number>()

  const put: Putting['put'] = async (row, line) => {
    const { values, faults } = checkInput(entity, row, use)
    if (faults.length > 0) return faults
    const missing = await dangling(store, entity, values)
    // Rows that are never changed cannot wait for a reference.
    const lasting = missing.filter(({ field }) => !keys.includes(field) || entity.appendOnly)
    if (lasting.length > 0) return lasting
    const later = new Map(missing.map(({ field }) => [field, values.get(field) ?? null]))
    const first = new Map([...values].map(([key, value]) => [key, later.has(key) ? null : value]))
    return orTaken(store, entity, async () => {
      const id = await insert(first)
      if (keys.some(key => (values.get(key) ?? null) !== null)) lines.set(id, line)
      if (later.size > 0) waiting.push({ id, line, values: later })
    })
  }

  const setReferences = async (id: number, values: Values): Promise<readonly FieldFault[]> => {
    const missing = await dangling(store, entity, values)
    if (missing.length > 0) return missing
    const sets = [...values].map(([key, value]) => sql`${name(columnName(key))} = ${value}`)
    return orTaken(store, entity, () =>
      ask(store, sql`update ${table} set ${join(sets, comma)} where id = ${id}`),
    )
  }

  const settle: Putting['settle'] = async () => {
    const bad = new Map<number, LateFaults>()
    for (const { id, line, values } of waiting) {
      const faults = await setReferences(id, values)
      if (faults.length > 0) bad.set(id, { line, faults })
    }
    // Rows that refer to bad ones are bad too; a map also gives what is added on the way.
    for (const [id] of bad)
      for (const key of keys) {
        for (const [other] of await ask(
          store,
          sql`select id from ${table} where ${name(columnName(key))} = ${id}`,
        )) {
          const line = lines.get(Number(other))
          if (line === undefined || bad.has(Number(other))) continue
          bad.set(Number(other), { line, faults: [absent(entity, key, id)] })
        }
      }
    // Only bad rows refer to bad ones now: without their references they can be deleted in any order.
    const sets = keys.map(key => sql`${name(columnName(key))} = null`)
    for (const id of bad.keys())
      await ask(store, sql`update ${table} set ${join(sets, comma)} where id = ${id}`)
    for (const id of bad.keys()) await ask(store, sql`delete from ${table} where id = ${id}`)
    return [...bad.values()].sort((one, other) => one.line - other.line)
  }

  return { put, settle }
}

const sentence = (faults: readonly FieldFault[]): string =>
  faults.map(({ field, message }) => `--${field} ${message}`).join('; ')

/**
 * The id of the new row of an entity, whose fields are given as options. Throws UsageError for values that the model
 * refuses, and a plain error for one that another row has.
 */
export const addRow = (content: Content, name: string, row: InputRow): Promise<number> =>
  withStore(content, 'filling', async store => {
    const { model, session } = store
    const entity = entityOf(model, name)
    const { values, faults } = checkInput(entity, row, {
      mode: 'create',
      viewer: { id: 0, role: model.viewers.roles.superuser },
      model,
      now: Date.now(),
      what: name,
    })
    if (faults.length > 0) throw new UsageError(sentence(faults))
    return session.transaction(async () => {
      let id = 0
      const taken = await orTaken(store, entity, async () => {
        id = await inserter(store, entity)(values)
      })
      if (taken.length > 0) throw new Error(sentence(taken))
      return id
    })
  })
