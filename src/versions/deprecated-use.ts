/** Uses of what is deprecated in the REST API: requests that name a member, a filter, an order or a route that is ending are counted, for the metrics. */
import { isObject, type JsonObject, own } from '#base/object.ts'
import { parametersIn } from '#base/text.ts'
import { parametersOf } from '#http/request.ts'
import { groupParameters } from '#model/aggregate.ts'
import type { Model } from '#model/model.ts'
import { type Resource, resourceOf } from '#model/resource.ts'
import type { Lifetime, Version } from '#model/version.ts'
import type { VersionedRoute } from '#versions/differences.ts'
import type { RestHandler } from '#versions/negotiation.ts'

/** What a use is of: the version of an API, or a member of it that is deprecated. */
export type Used = {
  /** The API and its version: `v1`, `graphql`. */
  readonly api: string
  /** The deprecated member; without it the use is of the whole version. */
  readonly member?: string
}

export type CountUse = (used: Used) => void

/** The name of a version's API in counts. */
export const apiOf = (version: Version): string => `v${version}`

/** Whether callers should use something else: it is deprecated, or a later version does not have it. */
const isEnding = ({ last, deprecated }: Lifetime): boolean =>
  last !== undefined || deprecated !== undefined

/** What a version of an entity has that is ending, by the names that requests have for it, each with the member that is counted. */
const namesEnding = (resource: Resource) => {
  const { name, entity, nameOf } = resource
  const lifetimes = entity.rest.listing.sort?.lifetimes ?? {}
  const endsAt = (field: string) => isEnding(entity.fields[field] ?? {})
  const memberOf = (field: string) => `${name}.${nameOf(field)}`
  const members = new Map<string, string>()
  for (const field of Object.keys(entity.fields))
    if (endsAt(field) && resource.fieldNamed(nameOf(field)) === field)
      members.set(nameOf(field), memberOf(field))
  for (const [key, embedded] of Object.entries(entity.rest.embedded))
    if (isEnding(embedded)) members.set(key, `${name}.${key}`)
  const sorts = new Map<string, string>()
  for (const { name: term, field, descending } of resource.sorts)
    if (endsAt(field)) sorts.set(term, memberOf(field))
    else if (isEnding(lifetimes[descending ? `-${field}` : field] ?? {}))
      sorts.set(term, `${name}?sort=${term}`)
  const filters = new Map<string, string>()
  for (const [parameter, filter] of Object.entries(resource.filters))
    if (endsAt(filter.field)) filters.set(parameter, memberOf(filter.field))
    else if (isEnding(filter)) filters.set(parameter, `${name}?${parameter}`)
  return { members, sorts, filters }
}

const known = new WeakMap<Resource, ReturnType<typeof namesEnding>>()

/** The same, found once for each resource: a condition asks for each member that it names. */
const endingOf = (resource: Resource) => known.getOrInsertComputed(resource, namesEnding)

const none: ReadonlyMap<string, string> = new Map()
const nothingEnding = { members: none, sorts: none, filters: none }

/** How deep a condition is looked into: deeper ones are refused. */
const mostDepth = 20

/** The members that conditions name, in parameters and in the JSON of `where`. */
const conditionsIn = (parameters: URLSearchParams): readonly unknown[] => {
  const named = [...parameters.keys()].map(name =>
    name
      .replace(/\[.*/, '')
      .split('.')
      .reduceRight<unknown>((of, step) => ({ [step]: of }), undefined),
  )
  try {
    return [...named, JSON.parse(parameters.get('where') ?? 'null')]
  } catch {
    return named
  }
}

/** The ending members that a condition on the rows of a resource names. */
const endingIn = (
  model: Model,
  resource: Resource,
  condition: unknown,
  depth = 0,
): readonly (string | undefined)[] => {
  if (depth > mostDepth) return []
  if (Array.isArray(condition))
    return condition.flatMap(one => endingIn(model, resource, one, depth + 1))
  if (!isObject(condition)) return []
  return Object.entries(condition).flatMap(([key, of]) => {
    const relation = own(resource.entity.relations, key)
    const isOfRows = ['and', 'or', 'not', 'some', 'none'].includes(key)
    if (!relation)
      return isOfRows
        ? endingIn(model, resource, of, depth + 1)
        : [endingOf(resource).members.get(key)]
    const to = resourceOf(model, relation.to, resource.version)
    const crossed = isEnding(relation) ? [`${resource.name}.${key}`] : []
    return [...crossed, ...endingIn(model, to, of, depth + 1)]
  })
}

/** Where uses are counted, for the version that was asked. */
type CountedIn = {
  readonly core: { readonly model: Model; readonly countUse: CountUse | undefined }
  readonly version: Version
}

/** Counts each of these members once for a request, however often it names it. */
const countEach = (
  { core, version }: CountedIn,
  members: readonly (string | undefined)[],
): void => {
  for (const member of new Set(members))
    if (member !== undefined) core.countUse?.({ api: apiOf(version), member })
}

/** Whether requests of a version may name something that ends, of whichever entity. */
const isAnyEnding = (model: Model, version: Version): boolean =>
  Object.keys(model.entities).some(
    name => endingOf(resourceOf(model, name, version)).members.size > 0,
  )

/** The same handler, with its uses counted if its route is ending, or something that requests may name of its entity. */
export const countingUses = (
  handle: RestHandler,
  mount: CountedIn,
  route: VersionedRoute & { readonly entity?: string },
): RestHandler => {
  const { model, countUse } = mount.core
  if (!countUse) return handle
  const { version } = mount
  const resource = route.entity === undefined ? undefined : resourceOf(model, route.entity, version)
  const { members, sorts, filters } = resource ? endingOf(resource) : nothingEnding
  // Strict versions take conditions, which name members of other rows too.
  const isFiltered = route.method === 'GET' && model.versions.styleOf(version).isStrict
  const filtered = isFiltered && isAnyEnding(model, version) ? resource : undefined
  const isNothing = !filtered && members.size + sorts.size + filters.size === 0
  const own = isEnding(route) ? [`${route.method}:${route.path}`] : []
  if (isNothing && own.length === 0) return handle
  return (c, viewer, requested) => {
    const query = isNothing ? '' : parametersOf(c)
    if (query === '') countEach(mount, own)
    else {
      const parameters = parametersIn(query)
      const listed = (name: string) =>
        (parameters.get(name) ?? '').split(',').map(one => one.trim())
      countEach(mount, [
        ...own,
        ...listed('fields').map(name => members.get(name)),
        ...listed('sort').map(name => sorts.get(name) ?? members.get(name.replace(/^-/, ''))),
        ...[...parameters.keys()].map(name => filters.get(name)),
        ...(filtered
          ? [
              ...groupParameters.flatMap(name => listed(name).map(member => members.get(member))),
              ...conditionsIn(parameters).flatMap(one => endingIn(model, filtered, one)),
            ]
          : []),
      ])
    }
    return handle(c, viewer, requested)
  }
}

/** Counts the members of a body that are ending in an entity; undefined if none are. */
export const countingBody = (
  mount: CountedIn,
  entity: string,
): ((body: JsonObject) => void) | undefined => {
  const { members } = endingOf(resourceOf(mount.core.model, entity, mount.version))
  if (!mount.core.countUse || members.size === 0) return undefined
  return body =>
    countEach(
      mount,
      Object.keys(body).map(name => members.get(name)),
    )
}
