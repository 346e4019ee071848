/** Who still uses what is deprecated, and since when it is announced: counted in memory, written to the store now and then. */
import { addMonths, dayNumber, dayNumbered } from '#base/dates.ts'
import { callerOf, type Viewer } from '#model/viewer.ts'
import type { Dialect } from '#sql/dialect.ts'
import { type Sql, sql } from '#sql/sql.ts'
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
