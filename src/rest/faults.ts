/** Refuses faulty routes of a content, its actions among them: each alone, and all of them together. */
import { lifetimeFault } from '#model/faults/versions.ts'
import { type Entities, typeName } from '#model/model.ts'
import type { OperationDocs } from '#model/operation-docs.ts'
import { isIn, type Lifetime, type Versions } from '#model/version.ts'
import {
  type DescribedRoute,
  documentedIn,
  groupsNameOf,
  listNameOf,
  operationIdOf,
  partialNameOf,
  routesOf,
} from '#rest/routes.ts'
import type { VersionedRoute } from '#versions/differences.ts'
import type { RuledAction } from '#write/steps/action.ts'

type NamedRoute = VersionedRoute & { readonly described: Pick<OperationDocs, 'operationId'> }

const nameOf = ({ method, path }: VersionedRoute): string => `${method} ${path}`

/** Two of these that have the same key, and a version in which both are; undefined if there are none. */
const twins = <Part extends Lifetime>(
  { all }: Versions,
  routes: readonly Part[],
  keyOf: (part: Part) => string,
) => {
  for (const [key, same] of Map.groupBy(routes, keyOf))
    for (const version of all) {
      const [one, other] = same.filter(route => isIn(route, version))
      if (one && other) return { key, version, one, other }
    }
  return undefined
}

/** Throws if two routes of one version have the same path, or their operations the same name. */
const checkTwins = (versions: Versions, routes: readonly NamedRoute[]): void => {
  // A router does not see the names of the ids in a path.
  const twice = twins(versions, routes, route => nameOf(route).replaceAll(/:\w+/g, ':'))
  if (twice) {
    const [one, other] = [nameOf(twice.one), nameOf(twice.other)]
    const both =
      one === other ? `The route ${one} is there twice` : `${one} and ${other} are one route`
    throw new Error(`${both} in version ${twice.version}: leave one out of it`)
  }
  const namesakes = twins(versions, routes, ({ described }) => described.operationId)
  if (!namesakes) return
  const [one, other] = [nameOf(namesakes.one), nameOf(namesakes.other)]
  throw new Error(`${one} and ${other} are both the operation ${namesakes.key}: rename one of them`)
}

/** Throws a plain error, one sentence, if a route is at fault, or two of one version have one path or one operationId. */
export const checkRoutes = (versions: Versions, routes: readonly NamedRoute[]): void => {
  for (const route of routes) {
    const fault = lifetimeFault(route, versions)
    if (fault !== undefined) throw new Error(`The route ${nameOf(route)} ${fault}`)
    if (!route.path.startsWith('/'))
      throw new Error(`The route ${nameOf(route)} has a path that does not begin with /`)
  }
  checkTwins(versions, routes)
}

/**
 * Throws a plain error, one sentence, if two operations of a version have one path or one name in its document, or two schemas have
 * one name; `others` are the operations that no entity gives.
 */
export const checkDocument = (
  entities: Entities,
  versions: Versions,
  others: readonly DescribedRoute[],
): void => {
  const named = routesOf({ entities, versions }).map(route => ({
    ...route.lifetime,
    method: route.method,
    path: route.path,
    described: { operationId: operationIdOf({ entities }, route) },
  }))
  checkTwins(versions, [...named, ...others])
  for (const version of versions.all) {
    const { objects, lists, chosen, groups, inputs, bodies } = documentedIn(
      { entities, versions },
      others,
      version,
    )
    /** The schemas of the document: each name, and the thing it is the schema of. */
    const schemas = [
      ...objects.map(name => ({ name: typeName(name), of: `the entity ${name}` })),
      ...lists.map(name => ({ name: listNameOf(name), of: `the list of ${name}` })),
      ...[...chosen].map(([name, { entity, isList }]) => ({
        name: partialNameOf(name),
        of: `the chosen members of ${isList ? `a list of ${entity}` : entity}`,
      })),
      ...groups.map(name => ({ name: groupsNameOf(name), of: `the groups of ${name}` })),
      ...inputs.map(({ name, route }) => ({ name, of: `what ${nameOf(route)} takes` })),
      ...bodies.map(({ name, route, does }) => ({ name, of: `what ${nameOf(route)} ${does}` })),
    ]
    for (const [name, [one, other]] of Map.groupBy(schemas, ({ name }) => name))
      if (one && other)
        throw new Error(
          `${one.of} and ${other.of} have one schema in the documents of the REST API, ${name}: rename one of them`,
        )
  }
}

/** Throws a plain error, one sentence, if an action names an entity that is not there, or its path lacks the thing that it is about. */
export const checkActions = (entities: Entities, actions: readonly RuledAction[]): void => {
  const all = Object.keys(entities).join(', ')
  for (const action of actions) {
    const { about, answers, path, graphql, input = {}, described } = action
    const named = graphql ? [described.operationId, ...Object.keys(input)] : []
    const unnamed = named.find(name => !/^(?!__)[A-Za-z_]\w*$/.test(name))
    const isUnknown = (name: string | null) => name !== null && !Object.hasOwn(entities, name)
    const ids = path.match(/:\w+/g) ?? []
    let fault: string | undefined
    if (isUnknown(about)) fault = `is about ${about}, which is no entity: there are ${all}`
    else if (about === null && ids.length > 0)
      fault = `has ${ids[0]} in its path and is about nothing`
    else if (about !== null && ids.join() !== ':id')
      fault = `is about ${about}, so its path has :id, and only that`
    else if (isUnknown(answers))
      fault = `answers with ${answers}, which is no entity: there are ${all}`
    else if (unnamed !== undefined)
      fault = `is a mutation and has the name ${JSON.stringify(unnamed)}, which GraphQL cannot take: use letters and digits, such as dueDate`
    if (fault !== undefined) throw new Error(`The action ${nameOf(action)} ${fault}`)
  }
}
