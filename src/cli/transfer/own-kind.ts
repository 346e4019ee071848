/** References of imported rows to rows of their own entity, of which some come later in the file: these are set in the end. */
import { ask } from '#cli/ask.ts'
import type { ContentStore } from '#cli/row-sources.ts'
import { absent, dangling, orTaken } from '#cli/transfer/rows.ts'
import type { FieldFault } from '#errors.ts'
import type { Entity } from '#model/entity.ts'
import { columnName } from '#model/model.ts'
import { selfReferences } from '#model/references.ts'
import { comma, join, name, sql } from '#sql/sql.ts'
import type { Values } from '#write/input.ts'

/** A row of a file that turned out to be at fault after it was put in, and was taken out again. */
export type LateFaults = { readonly line: number; readonly faults: readonly FieldFault[] }

/** A row that was put in without the references in `values`. */
type Waiting = { readonly id: number; readonly line: number; readonly values: Values }

/** Sets the references of a row that waited for others; gives its faults. */
const setReferences = async (store: ContentStore, entity: Entity, { id, values }: Waiting) => {
  const missing = await dangling(store, entity, values)
  if (missing.length > 0) return missing
  const sets = [...values].map(([key, value]) => sql`${name(columnName(key))} = ${value}`)
  return orTaken(store, entity, () =>
    ask(store, sql`update ${name(entity.table)} set ${join(sets, comma)} where id = ${id}`),
  )
}

/** Takes rows out that only one another refer to. */
const takeOut = async (
  store: ContentStore,
  { table }: Entity,
  keys: readonly string[],
  ids: readonly number[],
): Promise<void> => {
  const sets = keys.map(key => sql`${name(columnName(key))} = null`)
  for (const id of ids)
    await ask(store, sql`update ${name(table)} set ${join(sets, comma)} where id = ${id}`)
  for (const id of ids) await ask(store, sql`delete from ${name(table)} where id = ${id}`)
}

/** Keeps count of references to rows of the same entity while rows of it are put in. */
export const ownReferences = (store: ContentStore, entity: Entity) => {
  const keys = selfReferences(store.model.entities, entity)
  const waiting: Waiting[] = []
  /** The lines of the rows that refer to others, by their ids. */
  const lines = new Map<number, number>()
  const referringTo = async (key: string, id: number): Promise<readonly number[]> => {
    const { table } = entity
    const found = await ask(
      store,
      sql`select id from ${name(table)} where ${name(columnName(key))} = ${id}`,
    )
    return found.map(([id]) => Number(id))
  }
  return {
    /** Whether a row may be put in without this reference first: rows that are never changed may not. */
    mayWait: (key: string): boolean => keys.includes(key) && !entity.appendOnly,
    /** Takes down a row that was put in, with the values of which it was put in without those in `later`. */
    wasPut: (id: number, line: number, values: Values, later: Values): void => {
      if (keys.some(key => (values.get(key) ?? null) !== null)) lines.set(id, line)
      if (later.size > 0) waiting.push({ id, line, values: later })
    },
    /** Sets the references that waited; rows that refer to missing ones are taken out, and so are those that refer to these. */
    settle: async (): Promise<readonly LateFaults[]> => {
      const bad = new Map<number, LateFaults>()
      for (const row of waiting) {
        const faults = await setReferences(store, entity, row)
        if (faults.length > 0) bad.set(row.id, { line: row.line, faults })
      }
      // A map gives what is added on the way too.
      for (const [id] of bad)
        for (const key of keys)
          for (const other of await referringTo(key, id)) {
            const line = lines.get(other)
            if (line === undefined || bad.has(other)) continue
            bad.set(other, { line, faults: [absent(entity, key, id)] })
          }
      await takeOut(store, entity, keys, [...bad.keys()])
      return [...bad.values()].sort((one, other) => one.line - other.line)
    },
  }
}
