/** Who asks in a check: callers of each role, and what they ask for. */

import type { Content } from '#content.ts'
import { rowCount } from '#kit/check/rows.ts'
import type { Model } from '#model/model.ts'
import type { Viewer } from '#model/policy.ts'
import type { Route } from '#rest/routes.ts'

export const anonymous: Viewer = { id: null, role: 'anonymous' }

/** The callers of a content: of each of its roles one, and more of the default one. */
export const callersOf = ({ content }: { readonly content: Content }) => {
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
    /** Undefined where the content blocks nobody. */
    blocked: content.viewers.blocked && someone(rowCount),
    callers: [anonymous, someone(2), someone(3), ...others, admin],
  }
}

export const named = ({ id, role }: Viewer): string => (id === null ? role : `${role} ${id}`)

/** The path of a route below the prefix of a version. */
export const pathOf = (
  { path }: Route,
  prefix: string,
  ids: { id?: unknown; parentId?: unknown } = {},
): string =>
  `${prefix}${path.replace(':parentId', String(ids.parentId)).replace(':id', String(ids.id))}`

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
