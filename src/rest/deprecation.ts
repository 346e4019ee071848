/** A deprecated version of the REST API: what its answers say about it, and when it ends. */
import { after } from '#base/after.ts'
import { dayNumber, dayNumbered, daysBetween, noticeMonths, soonestEnd } from '#base/dates.ts'
import { versionsPath } from '#base/paths.ts'
import { ApiError } from '#errors.ts'
import type { Fail, Handle } from '#http/edge.ts'
import type { Reply } from '#http/reply.ts'
import type { Http } from '#http/request.ts'
import { newest, type Version } from '#model/version.ts'
import type { Viewer } from '#model/viewer.ts'
import { fail } from '#rest/fail.ts'
import { isBelowApi, type Successor } from '#rest/successor.ts'
import { apiOf } from '#rest/usage.ts'
import type { Usage } from '#write/usage.ts'

/** The days of a version's end, as the operator decided; days are written `2027-01-31` and begin at 00:00 UTC. */
export type Deprecation = {
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
const endOf = ({ from, sunset, holds }: Deprecation, announced: string): string | undefined => {
  if (sunset === undefined || holds === 'sunset') return sunset
  const soonest = soonestEnd(announced > from ? announced : from)
  return sunset > soonest ? sunset : soonest
}

/** The lifecycle of a version as it is on a day; `announced` is the first day on which the deprecation was announced. */
export const lifecycleOn = (
  deprecation: Deprecation,
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
  deprecation: Deprecation,
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
const noticeNow = (deprecation: Deprecation, now: () => number, usage: Usage) => {
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
export const createNotices = (deprecation: Deprecation, now: () => number, usage: Usage) => {
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

/** How the answers of a route carry notices: what prints its errors, and what is put around its handler. */
export type Announcing = { readonly fail: Fail; readonly around: (handle: Handle) => Handle }

/** The REST API's way to answer, with notices where there are any; without them nothing is in between. */
export const announcing = (notices: Notices | undefined, successor: Successor): Announcing => {
  if (!notices) return { fail, around: handle => handle }
  const announced = (c: Http, reply: Reply) => notices.announce(c, reply, successor)
  return {
    fail: (error, requestId, c) => announced(c, fail(error, requestId, c)),
    around: handle => (c, viewer, requestId) =>
      after(handle(c, viewer, requestId), reply => announced(c, reply)),
  }
}
