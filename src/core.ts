/** The read core and the write core as the APIs use them: one model on one database. */
import type { formerFiles } from '#files/former.ts'
import type { FileStore } from '#files/store.ts'
import type { Model } from '#model/model.ts'
import type { Role, Viewer } from '#model/policy.ts'
import type { Services } from '#model/services.ts'
import { plan } from '#read/planner.ts'
import { type PlanReader, type Prepared, prepare } from '#read/read.ts'
import type { Selection } from '#read/selection.ts'
import type { Limits } from '#read/stitch.ts'
import type { Dialect } from '#sql/dialect.ts'
import type { CountUse } from '#versions/deprecated-use.ts'
import type { Writing } from '#write/command.ts'
import type { Writer } from '#write/job.ts'
import type { RuledAction } from '#write/steps/action.ts'

export type Core = {
  readonly model: Model
  /** Those of the content. */
  readonly actions: readonly RuledAction[]
  readonly dialect: Dialect
  readonly reader: PlanReader
  readonly writer: Writer
  readonly limits: Limits
  /** The key that signs cursors; it belongs to the store. */
  readonly cursorKey: Uint8Array
  readonly services: Services
  /** Where the bytes of files are, and how many there may be in all; absent where no entity has a file. */
  readonly files?:
    | {
        readonly store: FileStore
        readonly most: number
        /** Those that are in a table of an earlier release yet, where the model names one. */
        readonly former?: ReturnType<typeof formerFiles>
      }
    | undefined
  /** Has what a write put into the outbox done soon. */
  readonly wakeOutbox: () => void
  /** Counts uses of what is deprecated; undefined without metrics. */
  readonly countUse: CountUse | undefined
  /** The current time, milliseconds since 1970. */
  readonly now: () => number
}

/** The prepared read of a selection for viewers of a role; throws what `plan` throws. */
export const prepareFor = (core: Core, selection: Selection, role: Role): Prepared =>
  prepare(
    plan(selection, core.model, role),
    core.dialect,
    core.model.settings.currency.digits,
    core.limits,
    { isAtOnce: true },
  )

/** The context of the commands of a viewer. */
export const writingFor = ({ model, dialect, now }: Core, viewer: Viewer): Writing => ({
  model,
  dialect,
  viewer,
  now: now(),
})
