/** The deprecation of version 1 by the settings, and what the store remembers of it. */
import { closing } from '#base/closing.ts'
import { dayNumber, dayNumbered } from '#base/dates.ts'
import type { Config } from '#config.ts'
import type { Store } from '#engines/shared/store.ts'
import type { Observe } from '#observe.ts'
import { queryWith } from '#sql/engine.ts'
import type { Announced, Usage } from '#versions/deprecated-use.ts'
import {
  createNotices,
  type DeprecationDays,
  type Notices,
  shortNotice,
} from '#versions/deprecation.ts'

/** The deprecation that the settings say; undefined where they say none. */
export const deprecationOf = ({ values }: Config): DeprecationDays | undefined => {
  const { DUET_V1_DEPRECATED: from, DUET_V1_SUNSET: sunset, DUET_NOTICE: notice } = values
  if (from === undefined) return undefined
  const header = values.DUET_DEPRECATION
  return { version: 1, from, sunset, header, holds: notice === 'kept' ? 'notice' : 'sunset' }
}

/** Since when the deprecations of versions are announced, as the store remembers it. */
export const announcedIn = async (store: Store): Promise<Announced> => {
  const query = queryWith('select version, first_day from version_notices')
  const rows = await closing(store.session('reading'), session => session.query(query))
  return new Map(rows.map(([version, day]) => [Number(version), String(day)]))
}

/** The notices that the settings ask for; a notice that is too short is reported. */
export const noticesOf = (config: Config, usage: Usage, observe: Observe): Notices | undefined => {
  const deprecation = deprecationOf(config)
  if (!deprecation) return undefined
  const today = dayNumbered(dayNumber(Date.now()))
  const message = shortNotice(deprecation, today, usage.firstAnnounced(deprecation.version))
  if (message !== undefined) observe({ kind: 'notice', message })
  return createNotices(deprecation, Date.now, usage)
}
