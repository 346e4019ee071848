/** Making somebody an admin. */

import { type Action, change } from 'duet/actions'
import { admin } from '../roles.ts'

/** Makes a user an admin; may be repeated any number of times. */
export const promote: Action = {
  method: 'POST',
  name: 'promote users',
  rule: admin,
  admin: { label: 'Make an admin', hiddenWhen: { role: 'admin' } },
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
