/** What the main thread and the writer thread say to each other. */

import type { Durability } from '#engines/sqlite/connection.ts'
import type { Limits } from '#read/stitch.ts'
import type { Job, Outcome } from '#write/job.ts'

export type WriterSetup = {
  readonly file: string
  readonly sync: Durability
  readonly digits: number
  readonly limits: Limits
}

/** A job with its number, and the number of its plan, which the writer keeps ready. */
export type Sent = { readonly id: number; readonly plan: number | null; readonly job: Job }

/** The jobs of one moment; `forget`: the plans that are kept ready are to be dropped first. */
export type Batch = { readonly forget: boolean; readonly jobs: readonly Sent[] }

export type Reply =
  | { readonly kind: 'ready' }
  | { readonly kind: 'outcomes'; readonly outcomes: readonly (readonly [number, Outcome])[] }
  /**
   * No room on the disk, another program writes, or the store failed before the commit: nothing was done, and the
   * next group may try.
   */
  | {
      readonly kind: 'full' | 'busy' | 'broken'
      readonly ids: readonly number[]
      readonly message: string
    }
  /** It is not known whether the group is on the disk; the writer has stopped. */
  | { readonly kind: 'unknown'; readonly ids: readonly number[]; readonly message: string }
