/** `duet/actions`: writes beyond create, update and delete, with their errors and effects. */

export { html, raw } from 'hono/html'
export type { Check } from '#base/check.ts'
export { isDay } from '#base/dates.ts'
export { isObject, type JsonObject } from '#base/object.ts'
export { clipped } from '#base/text.ts'
export { ApiError, defineErrors, type ErrorKind, type FieldFault } from '#errors.ts'
// A file that an action makes, or takes in a way of its own.
export { giveFile } from '#files/by-hand.ts'
// If-Match and If-None-Match, for an action on a thing with an ETag of its own.
export { allowedTags, excludedTags, isOfRow, mismatchOf } from '#http/conditional.ts'
export { notFound } from '#model/model.ts'
export type { Letter, MadeFile, Mailer, Message, Services } from '#model/services.ts'
export { comparedMoment, isMoment } from '#model/values.ts'
export { textTag } from '#rest/represent.ts'
export type { Rows } from '#sql/engine.ts'
export { comma, join, type Sql, type SqlValue, sql } from '#sql/sql.ts'
// For an action whose command is made by hand of guarded steps.
export {
  type Command,
  commandOf,
  conditionOf,
  type GuardedStep,
  goneViewer,
  preparedCommand,
  result,
  type Writing,
} from '#write/command.ts'
export { precheck } from '#write/entity-commands.ts'
export { changedSince, stillThat, targetSteps } from '#write/guard.ts'
// Checks of a body: every fault at once.
export {
  checkMembers,
  inputValues,
  invalid,
  noMembers,
  reportOf,
} from '#write/input.ts'
export { effectSteps } from '#write/outbox.ts'
export type { Action, Given } from '#write/steps/action.ts'
export { add, change, insert, type Otherwise, remove, require } from '#write/steps/steps.ts'
