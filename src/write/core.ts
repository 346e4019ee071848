/** The read and the write core as the voices use them: one model on one database. */
import type { Model } from '#model/model.ts'
import type { Role } from '#model/viewer.ts'
import { plan } from '#read/plan.ts'
import { type Prepared, prepare } from '#read/read.ts'
import type { Selection } from '#read/selection.ts'
import type { Limits } from '#read/stitch.ts'
import type { Services } from '#services.ts'
import type { Dialect } from '#sql/dialect.ts'
import type { Reader } from '#sql/engine.ts'
import type { Writer } from '#write/job.ts'

export type Core = {
  readonly model: Model
  readonly dialect: Dialect
  readonly reader: Reader
  readonly writer: Writer
  readonly limits: Limits
  /** What cursors are signed with; it moves with the store. */
  readonly cursorKey: Uint8Array
  readonly services: Services
  /** The moment, milliseconds since 1970. */
  readonly now: () => number
}

/** A selection planned for viewers of a role and made ready; throws what `plan` throws. */
export const prepareFor = (core: Core, selection: Selection, role: Role): Prepared =>
  prepare(
    plan(selection, core.model, role),
    core.dialect,
    core.model.settings.currency.digits,
    core.limits,
  )

/** A cache of so many things by their keys; the longest unused one goes first. */
export const lru = <Value>(size: number) => {
  const kept = new Map<string, Value>()
  return {
    get: (key: string): Value | undefined => {
      const value = kept.get(key)
      if (value !== undefined && kept.size > size / 2) {
        kept.delete(key)
        kept.set(key, value)
      }
      return value
    },
    set: (key: string, value: Value): Value => {
      if (kept.size >= size) kept.delete(kept.keys().next().value as string)
      kept.set(key, value)
      return value
    },
    size: () => kept.size,
  }
}
