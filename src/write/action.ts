/** An action: a command that is no plain create, update or delete, declared once with its path. */

import { keys, must, words } from '#base/shape.ts'
import { entityOf, type Model } from '#model/model.ts'
import { type OperationDocs, operationDocsShape } from '#model/operation-docs.ts'
import { type Rule, ruleShape } from '#model/policy.ts'
import { type Lifetime, lifetimeShape } from '#model/version.ts'
import type { Command, Services, Writing } from '#write/command.ts'

export type Action = Lifetime & {
  readonly method: 'POST' | 'PUT' | 'DELETE'
  /** Its verb phrase in refusals and logs: `pay invoices`. */
  readonly name: string
  /** The rule for who may do it; its steps check the rest. */
  readonly rule: Rule | undefined
  /** Its path below the version's prefix, with `:id` for the row it is about. */
  readonly path: string
  /** The entity that `:id` names, for its 404. */
  readonly about: string | null
  /** The entity it answers with, or null for an empty 204. */
  readonly answers: string | null
  /** Only if the body is bytes instead of a JSON object: the most bytes it may have. */
  readonly bytes?: number
  /** Whether the thing at its path has an ETag of its own, of 16 or more letters, digits, `-` and `_`, which its command compares with `ifMatch` and `ifNoneMatch`. */
  readonly ownTag?: true
  /** Checks whether the row exists and the viewer may do this to it; run before the faults of a body are reported. */
  readonly precheck?: (writing: Writing, id: number) => Command
  /** How the documents of the API describe it. */
  readonly described: OperationDocs
  /** Its steps and the status of its answer; throws `VALIDATION_ERROR` for a bad body. */
  readonly command: (writing: Writing, given: Given) => Command
}

export const actionShape = keys<Action>({
  ...lifetimeShape.keys,
  method: must(words<Action['method']>({ POST: 1, PUT: 1, DELETE: 1 })),
  name: must('text'),
  rule: ruleShape,
  path: must('text'),
  about: must({ either: ['null', 'text'] }),
  answers: must({ either: ['null', 'text'] }),
  bytes: 'number',
  ownTag: 'flag',
  precheck: 'function',
  described: must(operationDocsShape),
  command: must('function'),
})

/** The entity whose revision `If-Match` and `If-None-Match` are compared with: the one that an action is about, if it answers with it; else null. */
export const guardedBy = (
  { about, answers }: Pick<Action, 'about' | 'answers'>,
  model: Model,
): string | null =>
  about !== null && about === answers && entityOf(model, about).fields.revision ? about : null

/** The input of an action: the id in its path (0 if there is none), the body in one of two forms, the moment, the services. */
export type Given = {
  readonly id: number
  readonly body: Readonly<Record<string, unknown>>
  /** False if the request had no body, which is not the same as an empty object. */
  readonly hasBody: boolean
  readonly bytes: Uint8Array
  /** These headers; if the action answers with the row it is about, its revision is compared already. */
  readonly ifMatch: string | undefined
  readonly ifNoneMatch: string | undefined
  readonly now: number
  readonly services: Services
}
