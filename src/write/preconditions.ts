/** What a change may ask of the row first: the revisions that it must have, or must not (RFC 9110, section 13.1). */
import { ApiError } from '#errors.ts'
import { entityOf } from '#model/model.ts'
import type { Rule } from '#model/policy.ts'
import { column, comma, join, name, type Sql, sql } from '#sql/sql.ts'
import { conditionOf, type GuardedStep, type Writing } from '#write/steps.ts'

/** The row of an update or delete, and the conditions on it. */
export type Target = {
  readonly entity: string
  readonly id: number
  /** The parent that the path names: the row must be below it. */
  readonly below?: { readonly field: string; readonly id: number }
  /** The revisions that `If-Match` lists, or any; undefined without such a header. */
  readonly revisions?: readonly number[] | 'any' | undefined
  /** Why these revisions are none that there ever was. */
  readonly mismatch?: string | undefined
  /** The revisions that `If-None-Match` lists, or any; undefined without such a header. */
  readonly excluded?: readonly number[] | 'any' | undefined
}

/** The error where `If-Match` does not hold, by the reason why it never did where there is one. */
export const changedSince = (what: string, mismatch?: string): ApiError =>
  mismatch === undefined
    ? new ApiError(
        'PRECONDITION_FAILED',
        `The ${what} was changed since: read it again, then repeat the change`,
      )
    : new ApiError('PRECONDITION_FAILED', mismatch)

/** The error where `If-None-Match` does not hold. */
export const stillThat = (what: string): ApiError =>
  new ApiError(
    'PRECONDITION_FAILED',
    `If-None-Match is * or has the ETag that the ${what} has now: leave the header out to change the ${what} all the same`,
  )

/** Whether a row has one of the revisions that `If-Match` lists. */
export const revisionCondition = (table: string, revisions: Target['revisions']): Sql => {
  if (revisions === undefined || revisions === 'any') return sql`true`
  return revisions.length === 0
    ? sql`false`
    : sql`${column(table, 'revision')} in (${join(revisions, comma)})`
}

/** Whether it has none of those that `If-None-Match` lists. */
export const exclusionCondition = (table: string, excluded: Target['excluded']): Sql => {
  if (excluded === undefined) return sql`true`
  return excluded === 'any' ? sql`false` : sql`not ${revisionCondition(table, excluded)}`
}

/**
 * The steps before an action on a row that check its revision, and hold the row as it is; none where any revision will do. A row that is
 * not there, or not the viewer's, passes: the action's own steps say so.
 */
export const revisionSteps = (
  writing: Writing,
  { entity, id, revisions, mismatch, excluded }: Target,
  rule: Rule | undefined,
): readonly GuardedStep[] => {
  const { table } = entityOf(writing.model, entity)
  const mine = conditionOf(writing, entity, rule)
  const step = (condition: Sql, refused: () => ApiError): GuardedStep => ({
    sql: sql`with found as (select ${column(table, 'revision')} from ${name(table)}
        where ${column(table, 'id')} = ${id} and ${mine}${writing.dialect.lockClause})
      select 1 where not exists (select 1 from found where not (${condition}))`,
    refused,
  })
  const isAny = revisions === undefined || revisions === 'any'
  const current = () =>
    step(revisionCondition('found', revisions), () => changedSince(entity, mismatch))
  const other = () => step(exclusionCondition('found', excluded), () => stillThat(entity))
  return [...(isAny ? [] : [current()]), ...(excluded === undefined ? [] : [other()])]
}
