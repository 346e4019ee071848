/** What both engines say of slow reads. */
import { ApiError } from '#errors.ts'

/** What waits in the lane of slow reads, and how many of them may in one process. */
export const slowReads = { what: 'long reads', waiting: 64 } as const

/** The error for a read that ran until its time was up. */
export const tookTooLong = () =>
  new ApiError('TIMEOUT', 'Reading took too long; ask for less', { retryAfter: 5 })
