/** Making somebody an admin, and the check that all actions on a user share. */
import { admin } from '#content/roles.ts'
import type { Action } from '#write/action.ts'
import type { Command, Writing } from '#write/command.ts'
import { precheck } from '#write/entity-commands.ts'
import { change } from '#write/steps.ts'

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
  steps: ({ id }) => [change('user', id, { role: 'admin' }, { once: true })],
}
