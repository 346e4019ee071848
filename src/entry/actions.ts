/** `duet/actions`: writes beyond create, update and delete, their errors and effects, and routes by hand. */

// For what `served` loads: routes and pages by hand.
export type { Core } from '#core.ts'
export { prepareFor } from '#core.ts'
// Errors.
export { ApiError, defineErrors, type ErrorKind, type FieldFault } from '#errors.ts'
// Headers of requests, and entity tags.
export { preferred } from '#http/accept.ts'
export { jsonBody } from '#http/body.ts'
export {
  allowedTags,
  excludedTags,
  isNotModified,
  isOfRow,
  mismatchOf,
} from '#http/conditional.ts'
export { header, readOptionsOf } from '#http/request.ts'
// Mail.
export type { Message } from '#mail/smtp.ts'
// The model, for what is not written for one entity.
export { columnName, entityOf, notFound } from '#model/model.ts'
export { type Currency, formatMinor, parseMinor } from '#model/money.ts'
export type { JsonSchema } from '#model/operation-docs.ts'
export type { Role } from '#model/policy.ts'
// Pages.
export type { Assets } from '#pages/assets.ts'
export { type ContentPage, htmlPage, type WebPage } from '#pages/page.ts'
// Reads by hand.
export { type Prepared, read } from '#read/read.ts'
export { type Item, oneRow } from '#read/selection.ts'
export { type Mount, pathId, represent, textTag } from '#rest/represent.ts'
export type { ExtraRoute } from '#rest/rest.ts'
export { type QueryScript, queryOf, type ReadOptions, type Row, type Rows } from '#sql/engine.ts'
// SQL.
export { and, column, comma, join, name, type Sql, type SqlValue, sql } from '#sql/sql.ts'
export { jsonTypesOf, type RestHandler } from '#versions/negotiation.ts'
// Actions in steps, which most are.
export type { Action, Given } from '#write/action.ts'
// Actions by a command of their own.
export {
  type Command,
  commandOf,
  conditionOf,
  type GuardedStep,
  goneViewer,
  permit,
  result,
  type Services,
  type Writing,
} from '#write/command.ts'
export { changedSince, precheck, stillThat, targetSteps } from '#write/entity-commands.ts'
export { parseKey } from '#write/idempotency.ts'
export {
  checkMembers,
  inputValues,
  invalid,
  noMembers,
  reportOf,
  whereAbsent,
} from '#write/input.ts'
export { effectSteps } from '#write/outbox.ts'
export { add, change, insert, type Otherwise, remove, require } from '#write/steps.ts'
