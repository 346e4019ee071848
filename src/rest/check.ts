/** Checks the routes of a content, its actions among them: each alone, and all of them together. */
import { lifetimeFault } from '#model/check/versions.ts'
import { type Entities, entityOf, typeName } from '#model/model.ts'
import type { OperationDocs } from '#model/operation-docs.ts'
import { isIn, type Lifetime, type Version, versions } from '#model/version.ts'
import { answerNameOf, bodyNameOf, inputNameOf, listNameOf, operationIdOf } from '#rest/names.ts'
import { type Route, routesOf } from '#rest/routes.ts'
import type { VersionedRoute } from '#versions/differences.ts'
import type { Action } from '#write/action.ts'

type Checked = VersionedRoute & { readonly described: Pick<OperationDocs, 'operationId'> }

/** One that says of itself what it takes and answers. */
type Describing = Checked & { readonly described: OperationDocs; readonly answers?: string | null }

const nameOf = ({ method, path }: VersionedRoute): string => `${method} ${path}`

/** Two of these that have the same key, and a version in which both are; undefined where there are none. */
const twins = <Part extends Lifetime>(routes: readonly Part[], keyOf: (part: Part) => string) => {
  for (const [key, same] of Map.groupBy(routes, keyOf))
    for (const version of versions) {
      const [one, other] = same.filter(route => isIn(route, version))
      if (one && other) return { key, version, one, other }
    }
  return undefined
}

/** What a router tells routes apart by: it does not see what the ids in a path are called. */
const patternOf = ({ method, path }: VersionedRoute): string =>
  `${method} ${path.replaceAll(/:\w+/g, ':')}`

const checkPaths = (routes: readonly VersionedRoute[]): void => {
  const twice = twins(routes, patternOf)
  if (!twice) return
  const [one, other] = [nameOf(twice.one), nameOf(twice.other)]
  const both =
    one === other ? `The route ${one} is there twice` : `${one} and ${other} are one route`
  throw new Error(`${both} in version ${twice.version}: leave one out of it`)
}

/** Throws a plain error, one sentence, where a route is at fault, or two of one version have one path or one operationId. */
export const checkRoutes = (routes: readonly Checked[]): void => {
  for (const route of routes) {
    const fault = lifetimeFault(route)
    if (fault !== undefined) throw new Error(`The route ${nameOf(route)} ${fault}`)
    if (!route.path.startsWith('/'))
      throw new Error(`The route ${nameOf(route)} has a path that does not begin with /`)
  }
  checkPaths(routes)
  checkOperations(routes)
}

const checkOperations = (routes: readonly Checked[]): void => {
  const namesakes = twins(routes, ({ described }) => described.operationId)
  if (!namesakes) return
  const [one, other] = [nameOf(namesakes.one), nameOf(namesakes.other)]
  throw new Error(`${one} and ${other} are both the operation ${namesakes.key}: rename one of them`)
}

/** The schema of a document: its name, and what it is of. */
type Schema = { readonly name: string; readonly of: string }

/** What a version has: its routes, and those that no entity gives. */
type Offer = {
  readonly entities: Entities
  readonly version: Version
  readonly routes: readonly Route[]
  readonly others: readonly Describing[]
}

/** The entities whose objects are answered: by a route, by an action, or within others. */
const shownOf = ({ entities, version, routes, others }: Offer): ReadonlySet<string> => {
  const answered = others.flatMap(({ answers }) => answers ?? [])
  const shown = new Set([...routes.map(({ entity }) => entity), ...answered])
  // A set goes on with what is added to it meanwhile.
  for (const name of shown) {
    const { rest, relations } = entityOf({ entities }, name)
    for (const [key, embedded] of Object.entries(rest.embedded))
      if (isIn(embedded, version)) shown.add(relations[key]?.to ?? name)
  }
  return shown
}

const schemasOfEntities = (offer: Offer): readonly Schema[] => {
  const { entities, routes } = offer
  const lists = routes.filter(({ kind }) => kind === 'list').map(({ entity }) => entity)
  return [
    ...[...shownOf(offer)].map(name => ({ name: typeName(name), of: `the entity ${name}` })),
    ...[...new Set(lists)].map(name => ({ name: listNameOf(name), of: `the list of ${name}` })),
    ...routes.flatMap(route => {
      const name = inputNameOf({ entities }, route)
      return name === undefined ? [] : [{ name, of: `what ${nameOf(route)} takes` }]
    }),
  ]
}

const schemasOfOthers = ({ others }: Offer): readonly Schema[] =>
  others.flatMap(({ described: { operationId, body, forms }, method, path }) => {
    const json = 'application/json'
    const label = nameOf({ method, path })
    return [
      ...(body?.[json] ? [{ name: bodyNameOf(operationId), of: `what ${label} takes` }] : []),
      ...(forms?.[json] ? [{ name: answerNameOf(operationId), of: `what ${label} answers` }] : []),
    ]
  })

const checkSchemas = (offer: Offer): void => {
  const schemas = [...schemasOfEntities(offer), ...schemasOfOthers(offer)]
  for (const [name, [one, other]] of Map.groupBy(schemas, ({ name }) => name))
    if (one && other)
      throw new Error(
        `${one.of} and ${other.of} have one schema in the documents of the REST API, ${name}: rename one of them`,
      )
}

/**
 * Throws a plain error, one sentence, where two operations of a version have one path or one name in its document, or two schemas have
 * one name; `others` are those that no entity gives.
 */
export const checkDocument = (entities: Entities, others: readonly Describing[]): void => {
  const routes = routesOf({ entities })
  const own = routes.map(route => ({
    ...route.lifetime,
    ...{ method: route.method, path: route.path },
    described: { operationId: operationIdOf({ entities }, route) },
  }))
  checkPaths([...own, ...others])
  checkOperations([...own, ...others])
  for (const version of versions)
    checkSchemas({
      entities,
      version,
      routes: routes.filter(({ lifetime }) => isIn(lifetime, version)),
      others: others.filter(other => isIn(other, version)),
    })
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
