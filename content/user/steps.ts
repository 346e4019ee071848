/** Steps that several actions on a user share. */
import type { ApiError } from '#errors.ts'
import { type Sql, sql } from '#sql/sql.ts'
import { precheck } from '#write/derived.ts'
import type { Command, GuardedStep, Writing } from '#write/steps.ts'

/** Brings the user to a state, unless it is in it already; `refused` where there is no such user. */
export const reached = (
  state: Sql,
  where: Sql,
  refused: () => ApiError,
): readonly GuardedStep[] => [
  {
    sql: sql`update users set ${state}, revision = revision + 1 where ${where} and not (${state}) returning id`,
    expect: 'any',
  },
  { name: 'user', sql: sql`select id from users where ${where} and ${state}`, refused },
]

/** Whether the user exists and the viewer may change it. */
export const userPrecheck = (writing: Writing, id: number): Command =>
  precheck(writing, { entity: 'user', id }, 'update')
