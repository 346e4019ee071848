/** Making somebody an admin, which may be repeated any number of times. */
import { admin } from '#content/roles.ts'
import { reached, userPrecheck } from '#content/user/steps.ts'
import { notFound } from '#model/model.ts'
import { sql } from '#sql/sql.ts'
import type { Action } from '#write/action.ts'
import { noMembers } from '#write/input.ts'
import { commandOf } from '#write/steps.ts'

const promote: Action = {
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

export const userActions: readonly Action[] = [promote]
