/** Verifying that an address is the user's own: by the token of a message, or by an admin. */

import {
  type Action,
  ApiError,
  type Command,
  commandOf,
  conditionOf,
  effectSteps,
  type Given,
  type GuardedStep,
  invalid,
  notFound,
  type Sql,
  sql,
  type Writing,
} from 'duet/actions'
import { roles } from '../../roles.ts'
import { user as entity } from '../entity.ts'
import { openToken } from './message.ts'

const isVerified = sql`email_verified = 1`

const tokenFault = (message: string) => invalid([{ field: 'token', message }])

const wrongToken = () =>
  tokenFault(
    'is not one for this user and this address; ask for a new one with a POST without body',
  )

/** Brings the user to a state, unless it is in it already; `refused` if there is no such user. */
const reached = (state: Sql, where: Sql, refused: () => ApiError): readonly GuardedStep[] => [
  {
    sql: sql`update users set ${state}, revision = revision + 1 where ${where} and not (${state}) returning id`,
    expect: 'any',
  },
  { name: 'user', sql: sql`select id from users where ${where} and ${state}`, refused },
]

/** The condition that the viewer may change the row. */
const mine = (writing: Writing): Sql => conditionOf(writing, 'user', entity.policy.update)

/** A step that refuses by the request alone, but only once it has its turn: a response that is stored under a key is given before. */
const refusing = (refused: () => ApiError): GuardedStep => ({
  sql: sql`select id from users where false`,
  refused,
})

/** By token: the statement that sets the flag also compares the address, which may have changed meanwhile. */
const byToken = (writing: Writing, { id, body, services }: Given): Command => {
  const { token, ...others } = body
  const unknown = Object.keys(others).map(field => ({ field, message: 'is not a member here' }))
  if (typeof token !== 'string') {
    const message = token === undefined ? 'is required' : 'must be a string'
    throw invalid([{ field: 'token', message }, ...unknown])
  }
  if (unknown.length > 0) throw invalid(unknown)
  const opened = openToken(services.key, token, services.now())
  if (opened.kind === 'expired') {
    const expired = () => tokenFault('has expired; ask for a new one with a POST without body')
    return commandOf(writing, { name: 'verify email', steps: [refusing(expired)] })
  }
  if (opened.kind !== 'good' || opened.id !== id) throw wrongToken()
  const where = sql`id = ${id} and email = ${opened.email} and ${mine(writing)}`
  const steps = reached(isVerified, where, wrongToken)
  return commandOf(writing, { name: 'verify email', steps })
}

/** Sends the message again. */
const sendAgain = (writing: Writing, { id, services }: Given): Command => {
  const noMail = () =>
    new ApiError('UNAVAILABLE', 'This service sends no mail: its operator has set none up', {
      retryAfter: 3600,
    })
  const unsent = services.mail.canSend ? [] : [refusing(noMail)]
  const person = sql`select id from users where id = ${id} and ${mine(writing)}`
  return commandOf(writing, {
    name: 'send verification',
    steps: [
      ...unsent,
      { name: 'person', sql: person },
      ...effectSteps(writing, 'user', 'create', id),
    ],
    makes: 'person',
    status: 202,
  })
}

/** One action for three wishes: the body and the role of the caller tell which. */
export const verifyEmail: Action = {
  method: 'POST',
  name: 'verify this address',
  rule: entity.policy.update,
  // It wants the code of a mail, which editors have not.
  admin: { hidden: true },
  path: '/users/:id/verify-email',
  about: 'user',
  answers: 'user',
  described: {
    operationId: 'verifyUserEmail',
    summary: 'Verify the email address of a user',
    description:
      'With the token of the message: the address is verified, also when it is sent again. Without a body: the message is sent again, or, for an admin, the address is verified at once.',
    isBodyOptional: true,
    body: {
      'application/json': {
        schema: {
          type: 'object',
          required: ['token'],
          properties: { token: { type: 'string', description: 'The token of the message.' } },
        },
        example: { token: 'WzEsMTc2NzY5NjAwMDAwMCwiYWRhQGV4YW1wbGUub3JnIl0.c2lnbmF0dXJl' },
      },
    },
    success: { 200: 'The address is verified.', 202: 'The message is sent again.' },
  },
  command: (writing, given) => {
    if (given.hasBody) return byToken(writing, given)
    if (writing.viewer.role !== roles.superuser) return sendAgain(writing, given)
    const { id } = given
    const steps = reached(isVerified, sql`id = ${id}`, () => notFound('user', id))
    return commandOf(writing, { name: 'verify email', steps })
  },
}
