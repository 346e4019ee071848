/** How far a PostgreSQL server's log has come: an LSN, such as `16/B374D848` (PostgreSQL manual, pg_lsn). */
import { ApiError } from '#errors.ts'
import type { Position } from '#sql/engine.ts'

const form = /^([0-9A-F]{1,8})\/([0-9A-F]{1,8})$/i

/** The LSN of a position as a number; throws `MALFORMED_REQUEST` for any other text. */
export const lsnOf = (position: Position): bigint => {
  const [, high, low] = form.exec(position) ?? []
  if (high === undefined || low === undefined)
    throw new ApiError(
      'MALFORMED_REQUEST',
      'Duet-Position must be as an earlier answer had it, such as 16/B374D848',
    )
  return (BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`)
}
