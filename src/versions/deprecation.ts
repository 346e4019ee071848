/** A deprecated version of the REST API: when it ends, how its answers announce that, and the same request in the newest version. */
import { dayNumber, dayNumbered, daysBetween, noticeMonths, soonestEnd } from '#base/dates.ts'
import { own } from '#base/object.ts'
import { restPath, versionPath, versionsPath } from '#base/paths.ts'
import { ApiError } from '#errors.ts'
import type { Reply } from '#http/reply.ts'
import { type Http, queryString } from '#http/request.ts'
import type { Model } from '#model/model.ts'
import { resourceOf } from '#model/resource.ts'
import type { Version } from '#model/version.ts'
import type { Dialect } from '#sql/dialect.ts'
import { sql } from '#sql/sql.ts'
import { apiOf, type CountUse } from '#versions/deprecated-use.ts'
import { type Writer, writePieces } from '#write/job.ts'

/** The days of a version's end, as the operator decided; days are written `2027-01-31` and begin at 00:00 UTC. */
export type DeprecationDays = {
  readonly version: Version
  /** The day from which the deprecation is announced. */
  readonly from: string
  /** The day from which the version is no longer served; undefined while that is not decided. */
  readonly sunset: string | undefined
  /** What the header `Deprecation` says: `true`, or the date of RFC 9745. */
  readonly header: 'true' | 'date'
  /** What holds if the version was announced for less than six months: the sunset, or the six months. */
  readonly holds: 'sunset' | 'notice'
}

/** The lifecycle of a version: its days, and whether it is deprecated or withdrawn today. */
export type Lifecycle = {
  readonly version: Version
  readonly state: 'offered' | 'deprecated' | 'withdrawn'
  readonly from: string
  /** The day on which it ends, which is later than decided if the notice holds. */
  readonly end: string | undefined
}

/** The lifecycle of a version as it is on a day; `announced` is the first day on which the deprecation was announced. */
export const lifecycleOn = (
  { version, from, sunset, holds }: DeprecationDays,
  today: string,
  announced: string = today,
): Lifecycle => {
  const soonest = soonestEnd(announced > from ? announced : from)
  const isKept = sunset === undefined || holds === 'sunset' || sunset > soonest
  const end = isKept ? sunset : soonest
  const isOver = end !== undefined && today >= end
  const state = isOver ? 'withdrawn' : today >= from ? 'deprecated' : 'offered'
  return { version, state, from, end }
}

/**
 * A sentence for the operator if the deprecation is announced for too few days before the version ends, in the past tense once that
 * is over; undefined if the notice is long enough, or no end is decided.
 */
export const shortNotice = (
  { version, from, sunset, holds }: DeprecationDays,
  today: string,
  since: string = today,
): string | undefined => {
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

/** Since when callers are told that a version is deprecated. */
export type Announcement = {
  /** The first day on which any process of the store told them; undefined before. */
  readonly firstDay: () => string | undefined
  /** Remembers in the store that they are told from today on, unless they were before. */
  readonly begin: () => void
}

/** How long after an attempt that failed the day is written again, in milliseconds. */
const writtenAgain = 60_000

/** The announcement of a version's deprecation; `known` is the first day if the store has it already. */
export const createAnnouncement = (
  store: { readonly writer: Writer; readonly dialect: Dialect },
  version: Version,
  now: () => number,
  known?: string,
): Announcement => {
  let first = known
  let isWritten = known !== undefined
  let tried = Number.NEGATIVE_INFINITY
  const write = async (day: string) => {
    // Two processes may be first on different days: the earlier day stays.
    const [[row] = []] = await writePieces(
      store,
      sql`insert into version_notices as v (version, first_day) values (${version}, ${day})
        on conflict (version) do update set first_day =
          case when excluded.first_day < v.first_day then excluded.first_day else v.first_day end
        returning first_day`,
    )
    first = String(row?.[0])
    isWritten = true
  }
  return {
    firstDay: () => first,
    begin: () => {
      if (isWritten || now() < tried + writtenAgain) return
      tried = now()
      first ??= dayNumbered(dayNumber(tried))
      // The next answer after a minute tries again what failed.
      write(first).catch(() => {})
    },
  }
}

/** The notices of a version, by the clock and by the announcement that the store remembers, whose first day is `known` if there is one. */
export const createNotices = (
  days: DeprecationDays,
  core: {
    readonly model: Model
    readonly writer: Writer
    readonly dialect: Dialect
    readonly now: () => number
    readonly countUse: CountUse | undefined
  },
  known?: string,
) => {
  const { version } = days
  const { now, countUse } = core
  const { newest } = core.model.versions
  const announcement = createAnnouncement(core, version, now, known)
  const number = String(version)
  const noticeOf = (day: number, announced: string | undefined) => {
    const lifecycle = lifecycleOn(days, dayNumbered(day), announced)
    const { from, end } = lifecycle
    const headers: Readonly<Record<string, string>> = {
      // The structured date of RFC 9745, and the HTTP date (RFC 9110, section 5.6.7) of RFC 8594.
      Deprecation: days.header === 'true' ? 'true' : `@${Date.parse(from) / 1000}`,
      ...(end !== undefined && { Sunset: new Date(end).toUTCString() }),
    }
    return { day, announced, lifecycle, headers }
  }
  let last: ReturnType<typeof noticeOf> | undefined
  /** What answers carry today, made anew when the day or the first day of the announcement changes. */
  const present = () => {
    const day = dayNumber(now())
    const announced = announcement.firstDay()
    if (last?.day !== day || last.announced !== announced) last = noticeOf(day, announced)
    return last
  }
  /** Counts a request of this version, and throws `VERSION_WITHDRAWN` when it has ended. */
  const admit = (requested: Version) => {
    if (requested !== version) return
    countUse?.({ api: apiOf(version) })
    const { state, end } = present().lifecycle
    if (state !== 'withdrawn') return
    const message = `Version ${version} of the API ended on ${end}; use version ${newest}`
    throw new ApiError('VERSION_WITHDRAWN', message)
  }
  /** Adds the notice to an answer of this version; `successor` is the same request in the newest one. */
  const announce = (c: Http, reply: Reply, successor: Successor): Reply => {
    if (reply.headers['API-Version'] !== number || !prefix.test(c.req.path)) return reply
    const { lifecycle, headers } = present()
    if (lifecycle.state === 'offered') return reply
    if (lifecycle.state === 'deprecated') announcement.begin()
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

/** The target of a request in the newest version, escaped for a `Link`; undefined if that version does not have it. */
export type Successor = (c: Http) => string | undefined

const prefix = new RegExp(`^${restPath}(?:/v\\d+)?(?=/)`)

const successorPath = (path: string, newest: Version): string =>
  path.replace(prefix, versionPath(newest))

/** The names that the newest version has for values of parameters that list members. */
type Renames = Readonly<Record<string, (name: string) => string>>

/** What may not stand between angle brackets (RFC 3986, section 2). */
const unsafe = /[^\x21-\x7e]|[<>"\\^`{|}]/gu

/** The request without the parameter that names a version; parameters in which no member is called differently stay as they were sent. */
const targetOf = (c: Http, newest: Version, renames: Renames): string => {
  const query = queryString(c)
  const parts = (query === '' ? [] : query.split('&'))
    .filter(part => !/^version(?:=|$)/.test(part))
    .map(part => {
      const [[name, text] = ['', '']] = new URLSearchParams(part)
      const rename = own(renames, name)
      const renamed = rename ? text.split(',').map(rename).join(',') : text
      if (renamed === text) return part
      return `${name}=${encodeURIComponent(renamed).replaceAll('%2C', ',')}`
    })
  const target = `${successorPath(c.req.path, newest)}${parts.length > 0 ? `?${parts.join('&')}` : ''}`
  return target.replace(unsafe, encodeURIComponent)
}

/** The successor of the requests of a route that the newest version has; with an entity, the members that they name are renamed. */
export const successorOf = (
  model: Model,
  version: Version,
  entity: string | undefined,
): Successor => {
  const { newest } = model.versions
  if (entity === undefined) return c => targetOf(c, newest, {})
  const older = resourceOf(model, entity, version)
  const newer = resourceOf(model, entity, newest)
  const renames: Renames = {
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
  }
  return c => targetOf(c, newest, renames)
}

/** The successor of requests that no route takes, by the methods that `allowedAt` gives for a path. */
export const successorAmong =
  (newest: Version, allowedAt: (path: string) => string | undefined): Successor =>
  c => {
    const methods = allowedAt(successorPath(c.req.path, newest))?.split(', ') ?? []
    return methods.includes(c.req.method) ? targetOf(c, newest, {}) : undefined
  }
