/** A world of any content with rows of all its entities, and who asks in it. */

import assert from 'node:assert/strict'
import { anonymous, callersOf, isHeld, named, pathOf } from '#check/callers.ts'
import { type ReferenceRow, type RowsReference, referenceOver, rowsOf } from '#check/reference.ts'
import { fillWith } from '#check/rows.ts'
import type { OpenStore } from '#content.ts'
import type { Model } from '#model/model.ts'
import type { Rule, Viewer } from '#model/policy.ts'
import { type Route, routesOf } from '#rest/routes.ts'
import { createWorld, modelAsUsual, type World, type WorldOptions } from '../world.ts'
import type { Subject } from './contents.ts'

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
export const filled = async ({ content }: Subject, options: WorldOptions = {}): Promise<Filled> => {
  const model = options.model ?? modelAsUsual(content)
  const also = async (store: OpenStore) => assert.deepEqual(await fillWith(model, store), [])
  const world = await createWorld({ content, model, rows: {}, also, ...options })
  return {
    world,
    model,
    routes: routesOf(model),
    reference: async () => referenceOver(model, await rowsOf(world)),
  }
}

/** A route as a test names it. */
export const nameOf = ({ method, path }: Route): string => `${method} ${path}`

/** A row that the rule says is the viewer's, or one that is not; undefined where there is none. */
export const targetFor = (wanted: {
  readonly model: Model
  readonly reference: RowsReference
  readonly entity: string
  readonly rule: Rule | undefined
  readonly viewer: Viewer
  readonly mine: boolean
}): ReferenceRow | undefined => {
  const { model, reference, entity, rule, viewer, mine } = wanted
  return reference.rowsIn(entity).find(
    row =>
      reference.isMine(entity, row, rule, viewer) === mine &&
      // The first viewer goes on asking.
      !(entity === model.viewers.entity && row.id === 1),
  )
}

export { anonymous, callersOf, isHeld, named, pathOf }
