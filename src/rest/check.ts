/** Checks the routes of a content, its actions among them: each alone, and all of them together. */
import { lifetimeFault } from '#model/check/versions.ts'
import type { Described } from '#model/described.ts'
import type { Entities } from '#model/model.ts'
import { isIn, type Lifetime, versions } from '#model/version.ts'
import type { Action } from '#write/action.ts'

type Checked = Lifetime & {
  readonly method: string
  readonly path: string
  readonly described: Pick<Described, 'operationId'>
}

const nameOf = ({ method, path }: Checked): string => `${method} ${path}`

/** Two of these routes that have the same key, and a version in which both are; undefined where there are none. */
const twins = (routes: readonly Checked[], keyOf: (route: Checked) => string) => {
  for (const [key, same] of Map.groupBy(routes, keyOf))
    for (const version of versions) {
      const [one, other] = same.filter(route => isIn(route, version))
      if (one && other) return { key, version, one, other }
    }
  return undefined
}

/** Throws a plain error, one sentence, where a route is at fault, or two of one version have one path or one operationId. */
export const checkRoutes = (routes: readonly Checked[]): void => {
  for (const route of routes) {
    const fault = lifetimeFault(route)
    if (fault !== undefined) throw new Error(`The route ${nameOf(route)} ${fault}`)
    if (!route.path.startsWith('/'))
      throw new Error(`The route ${nameOf(route)} has a path that does not begin with /`)
  }
  const twice = twins(routes, nameOf)
  if (twice)
    throw new Error(
      `The route ${twice.key} is there twice in version ${twice.version}: leave one out of it`,
    )
  const namesakes = twins(routes, ({ described }) => described.operationId)
  if (!namesakes) return
  const [one, other] = [nameOf(namesakes.one), nameOf(namesakes.other)]
  throw new Error(`${one} and ${other} are both the operation ${namesakes.key}: rename one of them`)
}

const pathFault = ({ about, path }: Action): string | undefined => {
  const ids = path.match(/:\w+/g) ?? []
  if (about === null)
    return ids.length > 0 ? `has ${ids[0]} in its path and is about nothing` : undefined
  return ids.join() === ':id' ? undefined : `is about ${about}, so its path has :id, and only that`
}

/** Throws a plain error, one sentence, where an action names an entity that is not there, or its path has not what it is about. */
export const checkActions = (entities: Entities, actions: readonly Action[]): void => {
  for (const action of actions)
    for (const key of ['about', 'answers'] as const) {
      const name = action[key]
      const isUnknown = name !== null && !Object.hasOwn(entities, name)
      const fault = isUnknown
        ? `${key === 'about' ? 'is about' : 'answers with'} ${name}, which is no entity: there are ${Object.keys(entities).join(', ')}`
        : pathFault(action)
      if (fault !== undefined) throw new Error(`The action ${nameOf(action)} ${fault}`)
    }
}
