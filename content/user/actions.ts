/** Making somebody an admin, and the check that all actions on a user share. */

import { type Action, type Command, change, precheck, type Writing } from 'duet/actions'
import { admin } from '../roles.ts'

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
