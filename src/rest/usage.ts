/** Counts the requests that name what is deprecated: in `fields`, `sort`, a filter, a body, or by their route. */
import type { JsonObject } from '#base/object.ts'
import { parametersIn } from '#base/parameters.ts'
import { parametersOf } from '#http/request.ts'
import type { Entity } from '#model/entity.ts'
import { type Resource, resourceOf } from '#model/resource.ts'
import type { Lifetime, Version } from '#model/version.ts'
import type { Viewer } from '#model/viewer.ts'
import type { Mount, Serve } from '#rest/mount.ts'
import type { Offered } from '#rest/routes.ts'

/** The name of a version's API in counts. */
export const apiOf = (version: Version): string => `v${version}`

/** Whether callers should use something else: it is deprecated, or a later version does not have it. */
const isEnding = ({ last, deprecated }: Lifetime): boolean =>
  last !== undefined || deprecated !== undefined

/** What a version of an entity has that is ending, by the names that requests have for it: the member that is counted. */
type Ending = {
  readonly members: ReadonlyMap<string, string>
  readonly sorts: ReadonlyMap<string, string>
  readonly filters: ReadonlyMap<string, string>
}

const endsIn = ({ fields }: Entity, field: string): boolean => isEnding(fields[field] ?? {})

const endingOf = (resource: Resource): Ending => {
  const { name, entity, nameOf } = resource
  const { sort } = entity.rest.listing
  const member = (field: string) => `${name}.${nameOf(field)}`
  const fields = Object.keys(entity.fields).filter(
    field => endsIn(entity, field) && resource.fieldNamed(nameOf(field)) === field,
  )
  const embedded = Object.entries(entity.rest.embedded).filter(([, of]) => isEnding(of))
  const sorts = resource.sorts.flatMap(({ name: term, field, descending }) => {
    if (endsIn(entity, field)) return [[term, member(field)] as const]
    const lifetime = sort?.lifetimes?.[descending ? `-${field}` : field]
    return lifetime && isEnding(lifetime) ? [[term, `${name}?sort=${term}`] as const] : []
  })
  const filters = Object.entries(resource.filters).flatMap(([parameter, filter]) => {
    if (endsIn(entity, filter.field)) return [[parameter, member(filter.field)] as const]
    return isEnding(filter) ? [[parameter, `${name}?${parameter}`] as const] : []
  })
  return {
    members: new Map([
      ...fields.map(field => [nameOf(field), member(field)] as const),
      ...embedded.map(([key]) => [key, `${name}.${key}`] as const),
    ]),
    sorts: new Map(sorts),
    filters: new Map(filters),
  }
}

const listIn = (parameters: URLSearchParams, name: string): readonly string[] =>
  (parameters.get(name) ?? '').split(',').map(one => one.trim())

/** The members that are counted for a query string. */
const namedIn = ({ members, sorts, filters }: Ending, query: string): readonly string[] => {
  const parameters = parametersIn(query)
  return [
    ...listIn(parameters, 'fields').map(name => members.get(name)),
    ...listIn(parameters, 'sort').map(name => sorts.get(name)),
    ...[...parameters.keys()].map(name => filters.get(name)),
  ].filter(found => found !== undefined)
}

const counting =
  ({ core, version }: Mount) =>
  (named: readonly string[], viewer: Viewer): void => {
    // Once for each request, however often it names a member.
    for (const member of new Set(named)) core.usage.count({ api: apiOf(version), member }, viewer)
  }

/** The same handler, with its uses counted where its route is ending, or what requests may name of its entity. */
export const counted = (
  serve: Serve,
  mount: Mount,
  route: Offered & { readonly entity?: string },
): Serve => {
  const ending =
    route.entity === undefined
      ? undefined
      : endingOf(resourceOf(mount.core.model, route.entity, mount.version))
  const own = isEnding(route) ? [`${route.method}:${route.path}`] : []
  const isNothing = !ending || ending.members.size + ending.sorts.size + ending.filters.size === 0
  if (isNothing && own.length === 0) return serve
  const count = counting(mount)
  return (c, viewer, named) => {
    const query = parametersOf(c)
    count(query === '' || isNothing ? own : [...own, ...namedIn(ending, query)], viewer)
    return serve(c, viewer, named)
  }
}

/** Counts the members of a body that are ending in an entity; does nothing where none are. */
export const countingBody = (
  mount: Mount,
  entity: string,
): ((body: JsonObject, viewer: Viewer) => void) => {
  const { members } = endingOf(resourceOf(mount.core.model, entity, mount.version))
  if (members.size === 0) return () => {}
  const count = counting(mount)
  return (body, viewer) =>
    count(
      Object.keys(body).flatMap(name => members.get(name) ?? []),
      viewer,
    )
}
