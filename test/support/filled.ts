/** A world of any content with rows of all its entities. */
import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import type { Content, OpenStore } from '#content.ts'
import { type RowsReference, referenceOver, rowsOf } from '#kit/check/reference.ts'
import { fillWith } from '#kit/check/rows.ts'
import { fileBytes } from '#kit/check/values.ts'
import type { Model } from '#model/model.ts'
import type { Viewer } from '#model/policy.ts'
import { type Route, routesOf } from '#rest/routes.ts'
import { createWorld, modelAsUsual, type World, type WorldOptions } from '../world.ts'

/** Asks as that caller. */
export const asOf = ({ id, role }: Viewer): { as?: number; role?: string } =>
  id === null ? {} : { as: id, role }

export type Filled = {
  readonly world: World
  readonly model: Model
  readonly routes: readonly Route[]
  /** The reference over the rows that are there now. */
  readonly reference: () => Promise<RowsReference>
}

/** The content served over rows of all entities. */
export const filled = async (
  { content }: { readonly content: Content },
  options: WorldOptions = {},
): Promise<Filled> => {
  const model = options.model ?? modelAsUsual(content)
  const also = async (store: OpenStore) => assert.deepEqual(await fillWith(model, store), [])
  const world = await createWorld({ content, model, rows: {}, also, ...options })
  // Rows with files name these bytes.
  await world.core.files?.store.put(Readable.from([fileBytes]))
  return {
    world,
    model,
    routes: routesOf(model),
    reference: async () => referenceOver(model, await rowsOf(world)),
  }
}
