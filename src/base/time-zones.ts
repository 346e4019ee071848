/** Time zones as numbers, for databases that know none: the moments at which the clocks of one change, and how far from UTC they are then. */
import { lru } from '#base/cache.ts'

/** How far the clocks of a zone are ahead of UTC: `offsets[0]` before `starts[0]`, `offsets[1]` from then on; all in milliseconds. */
export type ZoneOffsets = {
  readonly starts: readonly number[]
  readonly offsets: readonly number[]
}

const nanosecondsPerMillisecond = 1e6

// No zone had rules before; what is known of a time so far ahead is not worth a list of changes twice as long.
const first = Date.UTC(1800, 0)
const last = Date.UTC(2100, 0)

/** Whether a text names a time zone of the IANA database. */
export const isTimeZone = (text: string): boolean => {
  if (!/^[A-Za-z][\w+-]*(?:\/[\w+-]+)*$/.test(text) || text.length > 50) return false
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text }) !== undefined
  } catch {
    return false
  }
}

const known = lru<ZoneOffsets>(100)

/** The offsets of a zone until the year 2100, from which on it keeps the one that it then has. */
export const zoneOffsets = (zone: string): ZoneOffsets => {
  const before = known.get(zone)
  if (before) return before
  let at: Temporal.ZonedDateTime | null =
    Temporal.Instant.fromEpochMilliseconds(first).toZonedDateTimeISO(zone)
  const starts: number[] = []
  const offsets: number[] = []
  while (at && at.epochMilliseconds < last) {
    const offset = at.offsetNanoseconds / nanosecondsPerMillisecond
    // Some changes are of the name alone.
    if (offset !== offsets.at(-1)) {
      if (offsets.length > 0) starts.push(at.epochMilliseconds)
      offsets.push(offset)
    }
    at = at.getTimeZoneTransition('next')
  }
  return known.set(zone, { starts, offsets })
}
