/** Who still uses deprecated parts of the APIs: the parts that requests name are counted, and the counts written to the store each minute, with the first day of each announcement. */
import { addMonths, dayNumber, dayNumbered } from '#base/dates.ts'
import { isObject, type JsonObject, own } from '#base/object.ts'
import { parametersIn } from '#base/text.ts'
import { parametersOf } from '#http/request.ts'
import { groupParameters } from '#model/aggregate.ts'
import type { Model } from '#model/model.ts'
import { callerOf, type Viewer } from '#model/policy.ts'
import { type Resource, resourceOf } from '#model/resource.ts'
import type { Lifetime, Version } from '#model/version.ts'
import type { Dialect } from '#sql/dialect.ts'
import { type Sql, sql } from '#sql/sql.ts'
import type { VersionedRoute } from '#versions/differences.ts'
import type { RestHandler } from '#versions/negotiation.ts'
import { type Writer, writePieces } from '#write/job.ts'

/** What a use is of: the version of an API, or a member of it that is deprecated. */
export type Used = {
  /** The API and its version: `v1`, `graphql`. */
  readonly api: string
  /** The deprecated member; without it the use is of the whole version. */
  readonly member?: string
}

/** The first day on which the deprecation of a version was announced to callers, by version. */
export type Announced = ReadonlyMap<number, string>

export type Usage = {
  readonly count: (used: Used, viewer: Viewer) => void
  /** Remembers that the deprecation of a version is announced from today on, unless it was before. */
  readonly announce: (version: number) => void
  /** The first day on which any process of the store announced the deprecation of a version. */
  readonly firstAnnounced: (version: number) => string | undefined
  /** Adds the counts to the store; rejects if it cannot, and the next flush tries again. */
  readonly flush: () => Promise<void>
}

type UsageOptions = {
  readonly writer: Writer
  readonly dialect: Dialect
  readonly now: () => number
  /** What the store remembers. */
  readonly announced?: Announced
  /** The most counts in memory; further uses are not counted before the next flush. */
  readonly most?: number
}

/** How long the store keeps counts, in months. */
const retention = 13

/** The most counts in one write, so that other writes run in between. */
const batch = 200

/**
 * The uses that the store has, from a day on: API, member (empty for the whole version), caller, number and last day; who
 * uses something most comes first.
 */
export const usesSince = (day: string): Sql =>
  sql`select api, member, viewer, sum(n) as uses, max(day) from version_uses where day >= ${day}
    group by api, member, viewer order by api, member, uses desc, viewer`

/** The usage of a store's deprecated parts, as this process counts it. */
export const createUsage = (options: UsageOptions): Usage => {
  const { now, most = 50_000 } = options
  const announced = new Map(options.announced)
  const unwritten = new Set<number>()
  /** The counts since the last flush by the day's number, the API, the caller and the member, a line each. */
  let counts = new Map<string, number>()
  let cleared = 0
  let last = Promise.resolve()

  const add = (key: string, n: number) => {
    const known = counts.get(key)
    if (known !== undefined || counts.size < most) counts.set(key, (known ?? 0) + n)
  }
  const flush = async () => {
    for (const version of unwritten) {
      // Of two processes that were first on different days the earlier day stays.
      const [[row] = []] = await writePieces(
        options,
        sql`insert into version_notices as v (version, first_day)
          values (${version}, ${announced.get(version) ?? ''})
          on conflict (version) do update set first_day =
            case when excluded.first_day < v.first_day then excluded.first_day else v.first_day end
          returning first_day`,
      )
      announced.set(version, String(row?.[0]))
      unwritten.delete(version)
    }
    // Sorted alike in all processes, so that none waits for another in a circle.
    const waiting = [...counts].sort(([one], [other]) => (one < other ? -1 : 1))
    counts = new Map()
    try {
      while (waiting.length > 0) {
        const today = dayNumber(now())
        const oldest = addMonths(dayNumbered(today), -retention)
        const additions = waiting.slice(0, batch).map(([key, n]) => {
          const [day, api = '', viewer = '', member = ''] = key.split('\n')
          return sql`insert into version_uses as u (day, api, member, viewer, n)
            values (${dayNumbered(Number(day))}, ${api}, ${member}, ${viewer}, ${n})
            on conflict (day, api, member, viewer) do update set n = u.n + excluded.n`
        })
        // Once a day, with its first counts, the old ones are deleted.
        if (today !== cleared)
          additions.unshift(sql`delete from version_uses where day < ${oldest}`)
        await writePieces(options, ...additions)
        cleared = today
        waiting.splice(0, batch)
      }
    } finally {
      for (const [key, n] of waiting) add(key, n)
    }
  }
  return {
    count: ({ api, member = '' }, viewer) =>
      add(`${dayNumber(now())}\n${api}\n${callerOf(viewer) ?? 'anonymous'}\n${member}`, 1),
    announce: version => {
      if (announced.has(version)) return
      announced.set(version, dayNumbered(dayNumber(now())))
      unwritten.add(version)
    },
    firstAnnounced: version => announced.get(version),
    flush: () => {
      last = last.then(flush, flush)
      return last
    },
  }
}

/** Flushes each minute, or as often as given in milliseconds; gives a function that ends it after a last flush. */
export const startFlushing = ({ flush }: Usage, every = 60_000): (() => Promise<void>) => {
  // A failure is ignored: the next flush tries again, and at the end the counts of a minute are lost.
  const timer = setInterval(() => flush().catch(() => {}), every)
  timer.unref()
  return async () => {
    clearInterval(timer)
    await flush().catch(() => {})
  }
}

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

/** Where uses are counted: by the model, into the counts, for the version that was asked. */
type CountedIn = {
  readonly core: { readonly model: Model; readonly usage: Usage }
  readonly version: Version
}

/** Counts each of these members once for a request, however often it names it. */
const countEach = (
  { core, version }: CountedIn,
  viewer: Viewer,
  members: readonly (string | undefined)[],
): void => {
  for (const member of new Set(members))
    if (member !== undefined) core.usage.count({ api: apiOf(version), member }, viewer)
}

const ending = new WeakMap<Model, Map<Version, boolean>>()

/** Whether requests of a version may name something that ends, of whichever entity; each route asks for it. */
const isAnyEnding = (model: Model, version: Version): boolean =>
  ending
    .getOrInsertComputed(model, () => new Map())
    .getOrInsertComputed(version, () =>
      Object.keys(model.entities).some(
        name => endingOf(resourceOf(model, name, version)).members.size > 0,
      ),
    )

/** The same handler, with its uses counted if its route is ending, or something that requests may name of its entity. */
export const countingUses = (
  handle: RestHandler,
  mount: CountedIn,
  route: VersionedRoute & { readonly entity?: string },
): RestHandler => {
  const { model } = mount.core
  const none = new Map<string, string>()
  const { members, sorts, filters } =
    route.entity === undefined
      ? { members: none, sorts: none, filters: none }
      : endingOf(resourceOf(model, route.entity, mount.version))
  // Strict versions take conditions, which name members of other rows too.
  const asked =
    route.entity !== undefined &&
    route.method === 'GET' &&
    model.versions.styleOf(mount.version).isStrict &&
    isAnyEnding(model, mount.version)
      ? resourceOf(model, route.entity, mount.version)
      : undefined
  const isNothing = !asked && members.size + sorts.size + filters.size === 0
  const own = isEnding(route) ? [`${route.method}:${route.path}`] : []
  if (isNothing && own.length === 0) return handle
  return (c, viewer, requested) => {
    const query = isNothing ? '' : parametersOf(c)
    if (query === '') countEach(mount, viewer, own)
    else {
      const parameters = parametersIn(query)
      const listed = (name: string) =>
        (parameters.get(name) ?? '').split(',').map(one => one.trim())
      countEach(mount, viewer, [
        ...own,
        ...listed('fields').map(name => members.get(name)),
        ...listed('sort').map(name => sorts.get(name) ?? members.get(name.replace(/^-/, ''))),
        ...[...parameters.keys()].map(name => filters.get(name)),
        ...(asked
          ? [
              ...groupParameters.flatMap(name => listed(name).map(member => members.get(member))),
              ...conditionsIn(parameters).flatMap(one => endingIn(model, asked, one)),
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
): ((body: JsonObject, viewer: Viewer) => void) | undefined => {
  const { members } = endingOf(resourceOf(mount.core.model, entity, mount.version))
  if (members.size === 0) return undefined
  return (body, viewer) =>
    countEach(
      mount,
      viewer,
      Object.keys(body).map(name => members.get(name)),
    )
}
