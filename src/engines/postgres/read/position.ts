/** A position in the log of a cluster, parsed: a timeline and an LSN on it, such as `2-16/B374D848` (PostgreSQL manual, pg_lsn and section 26.3.6). */
import { ApiError } from '#errors.ts'
import type { Position } from '#sql/engine.ts'

export type LogPosition = {
  /** Undefined in a position of an older release. */
  readonly timeline: number | undefined
  readonly lsn: bigint
}

const form = /^(?:(\d{1,10})-)?([0-9A-F]{1,8})\/([0-9A-F]{1,8})$/i

/** A position as its timeline and its LSN; throws `MALFORMED_REQUEST` for any other text. */
export const logPositionOf = (position: Position): LogPosition => {
  const [, timeline, high, low] = form.exec(position) ?? []
  if (high === undefined || low === undefined)
    throw new ApiError(
      'MALFORMED_REQUEST',
      'Duet-Position must be as an earlier answer had it, such as 1-16/B374D848',
    )
  return {
    timeline: timeline === undefined ? undefined : Number(timeline),
    lsn: (BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`),
  }
}

/** The LSN of a text of the server; 0 where it has none. */
export const lsnOf = (text: unknown): bigint =>
  text == null ? 0n : logPositionOf(String(text)).lsn
