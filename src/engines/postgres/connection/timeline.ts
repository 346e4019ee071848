/** The number of a timeline, in SQL: PostgreSQL's own, plus that of the systems on which the store was before. */

/** The number of the last timeline of earlier systems; set in a database that was moved into a new one, as by a major upgrade. */
export const earlierTimelines = `coalesce(nullif(current_setting('duet.earlier_timelines', true), '')::int, 0)`

/** The number of the timeline on which a primary writes an LSN: it is in the first eight digits of the name of the log's file. */
export const timelineAt = (lsn: string): string =>
  `('x' || substr(pg_walfile_name(${lsn}), 1, 8))::bit(32)::int + ${earlierTimelines}`
