/** A command: a write by its name, with its steps and the errors for those that fail. */
import type { ApiError } from '#errors.ts'
import type { Rows } from '#sql/engine.ts'
import type { Status, Step } from '#write/job.ts'
import type { Services } from '#write/services.ts'

export type Command = {
  /** For logs and messages: `create` and the entity. */
  readonly name: string
  readonly steps: readonly Step[]
  /** The step that returns the id of what was written, as its first column; null: there is none. */
  readonly makes: number | null
  /** The status of its answer. */
  readonly status: Status
  /** The text of its answer where nothing is read. */
  readonly text?: string
  /** What may refer to the row that it deletes and keep it so, by plurals. */
  readonly heldBy?: readonly string[]
  /** Runs after the commit, given the rows of its steps; not for a replay. Never throws or waits. */
  readonly effect?: (rows: readonly Rows[], services: Services) => void
  /** The error for a step whose expectation failed, from what its `explain` found. */
  readonly refused: (step: number, rows: Rows) => ApiError
}
