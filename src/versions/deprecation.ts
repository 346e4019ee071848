/** A deprecated version of the REST API: when it ends, what its answers say about that, and the same request in the newest version. */
import { dayNumber, dayNumbered, daysBetween, noticeMonths, soonestEnd } from '#base/dates.ts'
import { own } from '#base/object.ts'
import { restPath, versionPath, versionsPath } from '#base/paths.ts'
import { ApiError } from '#errors.ts'
import type { Reply } from '#http/reply.ts'
import { type Http, queryString } from '#http/request.ts'
import type { Model } from '#model/model.ts'
import type { Viewer } from '#model/policy.ts'
import { type Resource, resourceOf } from '#model/resource.ts'
import { newest, type Version } from '#model/version.ts'
import { apiOf, type Usage } from '#versions/deprecated-use.ts'

/** The days of a version's end, as the operator decided; days are written `2027-01-31` and begin at 00:00 UTC. */
export type DeprecationDays = {
  readonly version: Version
  /** The day from which the deprecation is announced. */
  readonly from: string
  /** The day from which the version is not served any more; undefined where that is not decided. */
  readonly sunset: string | undefined
  /** What the header `Deprecation` says: `true`, or the date of RFC 9745. */
  readonly header: 'true' | 'date'
  /** What holds where the announcement is younger than six months: the sunset, or the six months. */
  readonly holds: 'sunset' | 'notice'
}

/** The lifecycle of a version: its days, and whether it is deprecated or withdrawn today. */
export type Lifecycle = {
  readonly version: Version
  readonly state: 'offered' | 'deprecated' | 'withdrawn'
  readonly from: string
  /** The day on which it ends, later than decided where the notice holds. */
  readonly end: string | undefined
}

/** The day on which a version ends whose deprecation is announced since a day. */
const endOf = ({ from, sunset, holds }: DeprecationDays, announced: string): string | undefined => {
  if (sunset === undefined || holds === 'sunset') return sunset
  const soonest = soonestEnd(announced > from ? announced : from)
  return sunset > soonest ? sunset : soonest
}

/** The lifecycle of a version as it is on a day; `announced` is the first day on which the deprecation was announced. */
export const lifecycleOn = (
  deprecation: DeprecationDays,
  today: string,
  announced: string = today,
): Lifecycle => {
  const { version, from } = deprecation
  const end = endOf(deprecation, announced)
  const isOver = end !== undefined && today >= end
  const state = isOver ? 'withdrawn' : today >= from ? 'deprecated' : 'offered'
  return { version, state, from, end }
}

/**
 * A sentence for the operator where the deprecation is announced for too few days before the version ends, in the past tense of what
 * is over; undefined where that is long enough, or no end is decided.
 */
export const shortNotice = (
  deprecation: DeprecationDays,
  today: string,
  since: string = today,
): string | undefined => {
  const { version, from, sunset, holds } = deprecation
  const first = since > from ? since : from
  const soonest = soonestEnd(first)
  if (sunset === undefined || sunset >= soonest) return undefined
  const days = `${Math.max(0, daysBetween(first, sunset))} days of the ${daysBetween(first, soonest)}`
  const notice = `callers ${today < sunset ? 'will have been' : 'had been'} told for ${days} that ${noticeMonths} months have`
  return holds === 'sunset'
    ? `version ${version} ${today < sunset ? 'ends' : 'ended'} on ${sunset}, and ${notice}: set DUET_V${version}_SUNSET to ${soonest} or a later day, or DUET_NOTICE to kept`
    : `version ${version} was to end on ${sunset}, when ${notice}: it ${today < soonest ? 'goes' : 'went'} on until ${soonest}, as DUET_NOTICE=kept says`
}

const aboutVersions = `<${versionsPath}>; rel="deprecation"; type="text/html"`

/** What the answers of a deprecated version carry today, made anew when the day or the first day of its announcement changes. */
const noticeNow = (deprecation: DeprecationDays, now: () => number, usage: Usage) => {
  const noticeOf = (day: number, announced: string | undefined) => {
    const lifecycle = lifecycleOn(deprecation, dayNumbered(day), announced)
    const { from, end } = lifecycle
    const headers: Readonly<Record<string, string>> = {
      // The structured date of RFC 9745, and the HTTP date (RFC 9110, section 5.6.7) of RFC 8594.
      Deprecation: deprecation.header === 'true' ? 'true' : `@${Date.parse(from) / 1000}`,
      ...(end !== undefined && { Sunset: new Date(end).toUTCString() }),
    }
    return { day, announced, lifecycle, headers }
  }
  let known: ReturnType<typeof noticeOf> | undefined
  return () => {
    const day = dayNumber(now())
    const announced = usage.firstAnnounced(deprecation.version)
    if (known?.day !== day || known.announced !== announced) known = noticeOf(day, announced)
    return known
  }
}

/** The notices of a version, by the clock and by what the store remembers. */
export const createNotices = (deprecation: DeprecationDays, now: () => number, usage: Usage) => {
  const { version } = deprecation
  const number = String(version)
  const present = noticeNow(deprecation, now, usage)
  /** Counts a request of this version, and throws `VERSION_WITHDRAWN` when it has ended. */
  const admit = (asked: Version, viewer: Viewer) => {
    if (asked !== version) return
    usage.count({ api: apiOf(version) }, viewer)
    const { state, end } = present().lifecycle
    if (state !== 'withdrawn') return
    const message = `Version ${version} of the API ended on ${end}; use version ${newest}`
    throw new ApiError('VERSION_WITHDRAWN', message)
  }
  /** Adds the notice to an answer of this version; `successor` is the same request in the newest one. */
  const announce = (c: Http, reply: Reply, successor: Successor): Reply => {
    if (reply.headers['API-Version'] !== number || !isBelowApi(c.req.path)) return reply
    const { lifecycle, headers } = present()
    if (lifecycle.state === 'offered') return reply
    if (lifecycle.state === 'deprecated') usage.announce(version)
    const target = successor(c)
    const { Link } = reply.headers
    const next = target === undefined ? '' : `<${target}>; rel=successor-version, `
    Object.assign(reply.headers, headers)
    reply.headers.Link = `${next}${aboutVersions}${Link === undefined ? '' : `, ${Link}`}`
    return reply
  }
  /** Its lifecycle today. */
  const lifecycle = (): Lifecycle => present().lifecycle
  return { version, lifecycle, admit, announce }
}

export type Notices = ReturnType<typeof createNotices>

/** The target of a request in the newest version, escaped for a `Link`; undefined where that version does not have it. */
export type Successor = (c: Http) => string | undefined

const prefix = new RegExp(`^${restPath}(?:/v\\d+)?(?=/)`)

/** Whether a path is one of the REST API's. */
export const isBelowApi = (path: string): boolean => prefix.test(path)

const successorPath = (path: string): string => path.replace(prefix, versionPath(newest))

/** The names that the newest version has, of the values of parameters that list members. */
type Renames = Readonly<Record<string, (name: string) => string>>

const renamesOf = (older: Resource, newer: Resource): Renames => ({
  fields: name => {
    const field = older.fieldNamed(name)
    return field === undefined ? name : newer.nameOf(field)
  },
  sort: name => {
    const term = older.sorts.find(sort => sort.name === name)
    const same = newer.sorts.find(
      sort => sort.field === term?.field && sort.descending === term.descending,
    )
    return same?.name ?? name
  },
})

/** A parameter with its members renamed; as it was sent where none is called differently. */
const renamed = (part: string, renames: Renames): string => {
  const [[name, text] = ['', '']] = new URLSearchParams(part)
  const rename = own(renames, name)
  if (!rename) return part
  const found = text.split(',').map(rename).join(',')
  return found === text ? part : `${name}=${encodeURIComponent(found).replaceAll('%2C', ',')}`
}

/** The query, with its question mark, without the parameter that names a version. */
const successorQuery = (query: string, renames: Renames): string => {
  const parts = query
    .split('&')
    .filter(part => !/^version(?:=|$)/.test(part))
    .map(part => renamed(part, renames))
  return parts.length === 0 ? '' : `?${parts.join('&')}`
}

/** What may not stand between angle brackets (RFC 3986, section 2). */
const unsafe = /[^\x21-\x7e]|[<>"\\^`{|}]/gu

const targetOf = (c: Http, renames: Renames): string => {
  const query = queryString(c)
  const target = `${successorPath(c.req.path)}${query && successorQuery(query, renames)}`
  return target.replace(unsafe, encodeURIComponent)
}

/** The successor of the requests of a route of the newest version; those about an entity name its members. */
export const successorOf = (
  model: Model,
  older: Version,
  entity: string | undefined,
): Successor => {
  const renames =
    entity === undefined
      ? {}
      : renamesOf(resourceOf(model, entity, older), resourceOf(model, entity, newest))
  return c => targetOf(c, renames)
}

/** The successor of requests that no route takes, by the methods that `allowedAt` gives for a path. */
export const successorAmong =
  (allowedAt: (path: string) => string | undefined): Successor =>
  c => {
    const methods = allowedAt(successorPath(c.req.path))?.split(', ') ?? []
    return methods.includes(c.req.method) ? targetOf(c, {}) : undefined
  }
