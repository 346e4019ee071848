/** The messages between the main thread and the writer thread. */

import type { SqliteOptions } from '#engines/sqlite/options.ts'
import type { Job, Outcome } from '#write/job.ts'

export type WriterSetup = Required<Pick<SqliteOptions, 'file' | 'sync' | 'digits' | 'limits'>>

/** A job with its number, and the number of its plan, which the writer caches. */
export type Sent = { readonly id: number; readonly plan: number | null; readonly job: Job }

/** Jobs that are sent together; `dropPlans`: the writer drops its cached plans first. */
export type Batch = { readonly dropPlans: boolean; readonly jobs: readonly Sent[] }

export type Reply =
  | { readonly kind: 'ready' }
  | {
      readonly kind: 'outcomes'
      readonly outcomes: readonly (readonly [number, Outcome])[]
      /** How long the commit took, in milliseconds. */
      readonly milliseconds: number
    }
  /**
   * `full`, `busy`, `broken`: the disk is full, another program writes, or the store failed before the commit.
   * Nothing was done, and the next group may try. `unknown`: whether the group is on the disk is not known; the writer
   * has stopped. `gone`: the file was deleted or replaced, so the group is lost; the writer has stopped too.
   */
  | {
      readonly kind: 'full' | 'busy' | 'broken' | 'unknown' | 'gone'
      readonly ids: readonly number[]
      readonly message: string
    }
