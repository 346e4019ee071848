/** Who still uses what is deprecated: counted by what requests name, and written to the store now and then, with the first day of each announcement. */
import { addMonths, dayNumber, dayNumbered } from '#base/dates.ts'
import type { JsonObject } from '#base/object.ts'
import { parametersIn } from '#base/parameters.ts'
import { parametersOf } from '#http/request.ts'
import type { Entity } from '#model/entity.ts'
import type { Model } from '#model/model.ts'
import { callerOf, type Viewer } from '#model/policy.ts'
import { type Resource, resourceOf } from '#model/resource.ts'
import type { Lifetime, Version } from '#model/version.ts'
import type { Dialect } from '#sql/dialect.ts'
import { type Sql, sql } from '#sql/sql.ts'
import type { VersionedRoute } from '#versions/differences.ts'
import type { RestHandler } from '#versions/negotiation.ts'
import { type Job, jobStatement, type Writer } from '#write/job.ts'

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
  /** Adds what was counted to the store; rejects where it cannot, and the next one tries again. */
  readonly flush: () => Promise<void>
}

type Options = {
  readonly writer: Writer
  readonly dialect: Dialect
  readonly now: () => number
  /** What the store remembers. */
  readonly announced?: Announced
  /** The most counts in memory; what comes above it is not counted before the next flush. */
  readonly most?: number
}

/** How long the store keeps counts, in months. */
const retention = 13

/** The most counts in one write, so that other writes run in between. */
const batch = 200

/** A key of a count: the day's number, the API, the caller and the member, a line each. */
const keyOf = (day: number, { api, member = '' }: Used, viewer: Viewer): string =>
  `${day}\n${api}\n${callerOf(viewer) ?? 'anonymous'}\n${member}`

const addition = (key: string, n: number): Sql => {
  const [day, api = '', viewer = '', member = ''] = key.split('\n')
  return sql`insert into version_uses as u (day, api, member, viewer, n)
    values (${dayNumbered(Number(day))}, ${api}, ${member}, ${viewer}, ${n})
    on conflict (day, api, member, viewer) do update set n = u.n + excluded.n`
}

/**
 * The uses that the store has, from a day on: API, member (empty for the whole version), caller, number and last day; who
 * uses something most comes first.
 */
export const usesSince = (day: string): Sql =>
  sql`select api, member, viewer, sum(n) as uses, max(day) from version_uses where day >= ${day}
    group by api, member, viewer order by api, member, uses desc, viewer`

/** Of two processes that were first on different days the earlier day stays. */
const announcement = (version: number, day: string): Sql =>
  sql`insert into version_notices as v (version, first_day) values (${version}, ${day})
    on conflict (version) do update set first_day =
      case when excluded.first_day < v.first_day then excluded.first_day else v.first_day end
    returning first_day`

/** Writes pieces in one job; gives the rows of each. */
const perform = async ({ writer, dialect }: Options, pieces: readonly Sql[]) => {
  const steps = pieces.map(piece => ({
    statement: jobStatement(piece, dialect),
    expect: 'any' as const,
  }))
  const job: Job = { steps, status: 200, answer: null }
  const outcome = await writer.write(job)
  if (outcome.kind !== 'done') throw new Error(`the uses were not written: ${outcome.kind}`)
  return outcome.rows
}

/** The days on which deprecations were first announced, in memory and in the store. */
const createAnnounced = (options: Options) => {
  const announced = new Map(options.announced)
  const unwritten = new Set<number>()
  const announce = (version: number) => {
    if (announced.has(version)) return
    announced.set(version, dayNumbered(dayNumber(options.now())))
    unwritten.add(version)
  }
  const flush = async () => {
    for (const version of unwritten) {
      const [[row] = []] = await perform(options, [
        announcement(version, announced.get(version) ?? ''),
      ])
      announced.set(version, String(row?.[0]))
      unwritten.delete(version)
    }
  }
  return { announce, flush, first: (version: number) => announced.get(version) }
}

/** The counts since the last flush. */
const createCounts = (options: Options) => {
  const { now, most = 50_000 } = options
  let counts = new Map<string, number>()
  let cleared = 0
  const add = (key: string, n: number) => {
    const known = counts.get(key)
    if (known !== undefined || counts.size < most) counts.set(key, (known ?? 0) + n)
  }
  /** Once a day, with the first counts of it. */
  const clearing = (day: number): readonly Sql[] => {
    const oldest = addMonths(dayNumbered(day), -retention)
    return day === cleared ? [] : [sql`delete from version_uses where day < ${oldest}`]
  }
  const flush = async () => {
    // Sorted alike in all processes, so that none waits for another in a circle.
    const waiting = [...counts].sort(([one], [other]) => (one < other ? -1 : 1))
    counts = new Map()
    try {
      while (waiting.length > 0) {
        const day = dayNumber(now())
        const pieces = waiting.slice(0, batch).map(([key, n]) => addition(key, n))
        await perform(options, [...clearing(day), ...pieces])
        cleared = day
        waiting.splice(0, batch)
      }
    } finally {
      for (const [key, n] of waiting) add(key, n)
    }
  }
  return { add, flush }
}

/** The usage of a store's deprecated parts, as this process counts it. */
export const createUsage = (options: Options): Usage => {
  const { now } = options
  const announced = createAnnounced(options)
  const counts = createCounts(options)
  let last = Promise.resolve()
  const flush = async () => {
    await announced.flush()
    await counts.flush()
  }
  return {
    count: (used, viewer) => counts.add(keyOf(dayNumber(now()), used, viewer), 1),
    announce: announced.announce,
    firstAnnounced: announced.first,
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

/** What is counted in: the model of the requests' members, the counts, and the version that is asked. */
type CountedIn = {
  readonly core: { readonly model: Model; readonly usage: Usage }
  readonly version: Version
}

const counting =
  ({ core, version }: CountedIn) =>
  (named: readonly string[], viewer: Viewer): void => {
    // Once for each request, however often it names a member.
    for (const member of new Set(named)) core.usage.count({ api: apiOf(version), member }, viewer)
  }

/** The same handler, with its uses counted where its route is ending, or what requests may name of its entity. */
export const counted = (
  serve: RestHandler,
  mount: CountedIn,
  route: VersionedRoute & { readonly entity?: string },
): RestHandler => {
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
  mount: CountedIn,
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
