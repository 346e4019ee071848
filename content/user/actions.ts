/** Making somebody an admin, and the steps that all actions on a user share. */
import { admin } from '#content/roles.ts'
import type { ApiError } from '#errors.ts'
import { notFound } from '#model/model.ts'
import { type Sql, sql } from '#sql/sql.ts'
import type { Action } from '#write/action.ts'
import { type Command, commandOf, type GuardedStep, type Writing } from '#write/command.ts'
import { precheck } from '#write/entity-commands.ts'
import { noMembers } from '#write/input.ts'

/** Brings the user to a state, unless it is in it already; `refused` if there is no such user. */
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

/** Makes a user an admin; may be repeated any number of times. */
export const promote: Action = {
  method: 'POST',
  name: 'promote users',
  rule: admin,
  path: '/users/:id/actions/promote-to-admin',
  about: 'user',
  answers: 'user',
  described: {
    operationId: 'promoteUserToAdmin',
    summary: 'Make a user an admin',
    description: 'May be repeated.',
  },
  precheck: userPrecheck,
  command: (writing, { id, body }) => {
    noMembers(body)
    const steps = reached(sql`role = 'admin'`, sql`id = ${id}`, () => notFound('user', id))
    return commandOf(writing, { name: 'promote user', steps })
  },
}
