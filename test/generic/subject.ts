/** A world of any content with rows of all its entities, and who asks in it. */
import type { Model } from '#model/model.ts'
import type { Rule, Viewer } from '#model/policy.ts'
import { type Route, routesOf } from '#rest/routes.ts'
import { createWorld, modelAsUsual, type World, type WorldOptions } from '../world.ts'
import type { Subject } from './contents.ts'
import { type Reference, type Row, referenceOver, rowsOf } from './reference.ts'
import { fillWith, rowCount } from './rows.ts'

export const anonymous: Viewer = { id: null, role: 'anonymous' }

/** The callers of a content: of each of its roles one, and more of the default one. */
export const callersOf = ({ content }: Subject) => {
  const { names, default: usual, superuser } = content.viewers.roles
  const someone = (id: number): Viewer => ({ id, role: usual })
  const admin: Viewer = { id: 1, role: superuser }
  const others = names
    .filter(role => role !== usual && role !== superuser)
    .map((role, index): Viewer => ({ id: 4 + index, role }))
  return {
    /** The first viewer may do everything, as in every world. */
    admin,
    someone,
    /** Undefined where the content bars nobody. */
    barred: content.viewers.barred && someone(rowCount),
    callers: [anonymous, someone(2), someone(3), ...others, admin],
  }
}

export const asOf = ({ id, role }: Viewer): { as?: number; role?: string } =>
  id === null ? {} : { as: id, role }

export const named = ({ id, role }: Viewer): string => (id === null ? role : `${role} ${id}`)

export type Filled = {
  readonly world: World
  readonly model: Model
  readonly routes: readonly Route[]
  /** The reference over the rows that are there now. */
  readonly reference: () => Promise<Reference>
}

/** The content served over rows of all entities. */
export const filled = async ({ content }: Subject, options: WorldOptions = {}): Promise<Filled> => {
  const model = options.model ?? modelAsUsual(content)
  const world = await createWorld({ content, model, rows: {}, also: fillWith(model), ...options })
  return {
    world,
    model,
    routes: routesOf(model),
    reference: async () => referenceOver(model, await rowsOf(world)),
  }
}

/** The path of a route below the prefix of a version. */
export const pathOf = (
  { path }: Route,
  prefix: string,
  ids: { id?: unknown; parentId?: unknown } = {},
): string =>
  `${prefix}${path.replace(':parentId', String(ids.parentId)).replace(':id', String(ids.id))}`

/** A route as a test names it. */
export const nameOf = ({ method, path }: Route): string => `${method} ${path}`

/** Whether what refers to an entity can keep its rows from being deleted. */
export const isHeld = (model: Model, entity: string, above: readonly string[] = []): boolean =>
  Object.entries(model.entities).some(([name, { fields }]) =>
    Object.values(fields).some(({ references }) => {
      if (references?.entity !== entity) return false
      if (references.onDelete === 'restrict') return true
      const goesOn = references.onDelete === 'cascade' && !above.includes(name)
      return goesOn && isHeld(model, name, [...above, name])
    }),
  )

/** A row that the rule says is the viewer's, or one that is not; undefined where there is none. */
export const targetFor = (wanted: {
  readonly model: Model
  readonly reference: Reference
  readonly entity: string
  readonly rule: Rule | undefined
  readonly viewer: Viewer
  readonly mine: boolean
}): Row | undefined => {
  const { model, reference, entity, rule, viewer, mine } = wanted
  return reference.rowsIn(entity).find(
    row =>
      reference.isMine(entity, row, rule, viewer) === mine &&
      // The first viewer goes on asking.
      !(entity === model.viewers.entity && row.id === 1),
  )
}
