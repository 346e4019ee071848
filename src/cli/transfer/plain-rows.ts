/** Puts in rows of an import that are one row of a table each, checked by the model's rules. */
import { inserter } from '#cli/fill.ts'
import type { ContentStore, InputRow } from '#cli/row-sources.ts'
import type { FieldFault } from '#errors.ts'
import type { Entity } from '#model/entity.ts'
import { checkInput, type InputContext } from '#write/input.ts'
import { type LateFaults, ownReferences } from './own-kind.ts'
import { dangling, orTaken } from './rows.ts'

/** How the rows of a file are put in. */
export type Putting = {
  /** Puts the row of a line in; gives its faults, and puts nothing in where there are any. */
  readonly put: (row: InputRow, line: number) => Promise<readonly FieldFault[]>
  /** After the last row: gives the faults that only then are seen, and takes their rows out. */
  readonly settle: () => Promise<readonly LateFaults[]>
}

/** Puts rows of an entity in, each of which is one row of its table, and may refer to one that comes later. */
export const plainRows = (store: ContentStore, entity: Entity, use: InputContext): Putting => {
  const insert = inserter(store, entity)
  const { mayWait, wasPut, settle } = ownReferences(store, entity)
  const put: Putting['put'] = async (row, line) => {
    const { values, faults } = checkInput(entity, row, use)
    if (faults.length > 0) return faults
    const missing = await dangling(store, entity, values)
    const lasting = missing.filter(({ field }) => !mayWait(field))
    if (lasting.length > 0) return lasting
    const later = new Map(missing.map(({ field }) => [field, values.get(field) ?? null]))
    const first = new Map([...values].map(([key, value]) => [key, later.has(key) ? null : value]))
    return orTaken(store, entity, async () => wasPut(await insert(first), line, values, later))
  }
  return { put, settle }
}
