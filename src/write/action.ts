/** An action: a command that is no plain create, update or delete, declared once with its path. */

import type { Rule } from '#model/policy.ts'
import type { Command } from '#write/command.ts'
import type { Writing } from '#write/derived.ts'
import type { Done } from '#write/write.ts'

export type Action = {
  readonly method: 'POST' | 'PUT' | 'DELETE'
  /** What it does, as a refusal and a log say it: `liking comments`. */
  readonly name: string
  /** Who may, as far as that can be said without the thing. */
  readonly rule: Rule | undefined
  /** Below the version's prefix, with `:id` for the thing it is about. */
  readonly path: string
  /** The entity that `:id` names, for its 404. */
  readonly about: string
  /** The entity it answers with, or null for an empty 204. */
  readonly answers: string | null
  /** The status of an answer with a body. */
  readonly status: (done: Done) => number
  readonly command: (writing: Writing, id: number, now: number) => Command
}
