/** Proving that an address is one's own, and making somebody an admin: both may be said any number of times. */
import { ApiError, type FieldFault } from '#errors.ts'
import { columnName, notFound } from '#model/model.ts'
import { admin } from '#model/policy.ts'
import { user as entity } from '#resources/user/entity.ts'
import { bind, name, type Sql, sql } from '#sql/sql.ts'
import type { Action, Given } from '#write/action.ts'
import type { Command } from '#write/command.ts'
import {
  conditionOf,
  type GuardedStep,
  guarded,
  ready,
  standingOf,
  type Writing,
} from '#write/derived.ts'
import { invalid, noMembers } from '#write/input.ts'

const users = name(entity.table)
const id = name('id')
const email = name('email')
const isAdmin = sql`${name('role')} = 'admin'`
const isVerified = sql`${name(columnName('emailVerified'))} = 1`
const grown = sql`${name('revision')} = ${name('revision')} + 1`

/** Brings the row to a state if it is not in it, and looks that it is; `refused` where there is no such row. */
const brought = (
  writing: Writing,
  state: Sql,
  where: Sql,
  refused: () => ApiError,
): readonly GuardedStep[] => {
  const change = sql`update ${users} set ${state}, ${grown} where ${where} and not (${state}) returning ${id}`
  const look = sql`select ${id} from ${users} where ${where} and ${state}`
  return [
    { step: { statement: ready(change, writing), expect: 'any' } },
    { step: { statement: ready(look, writing), expect: 'row' }, refused },
  ]
}

const gone = (given: Given) => () => notFound('user', given.id)

const badToken = (message: string) => invalid([{ field: 'token', message }])

const isBad = () =>
  badToken('is not one for this user and this address; ask for a new one with a POST without body')

/** The token of a body; throws `VALIDATION_ERROR` for a body that has anything else. */
const tokenOf = (body: Given['body']): string => {
  const { token, ...rest } = body
  const faults: FieldFault[] = Object.keys(rest).map(field => ({
    field,
    message: 'is not a member here',
  }))
  if (typeof token === 'string' && faults.length === 0) return token
  if (token === undefined) faults.unshift({ field: 'token', message: 'is required' })
  else if (typeof token !== 'string')
    faults.unshift({ field: 'token', message: 'must be a string' })
  throw invalid(faults)
}

/** That the row is one the viewer may touch. */
const mine = (writing: Writing): Sql => conditionOf(writing, 'user', entity.policy.update)

/** By token: the address is compared where the flag is set, so that a change of it in between is seen. */
const byToken = (writing: Writing, given: Given): Command => {
  const proven = given.proofs.proven(tokenOf(given.body))
  if (proven.kind === 'expired')
    throw badToken('has expired; ask for a new one with a POST without body')
  if (proven.kind !== 'good' || proven.id !== given.id) throw isBad()
  const theirs = sql`${id} = ${bind(given.id)} and ${email} = ${bind(proven.email)}`
  const where = sql`${theirs} and ${mine(writing)}`
  const steps = [stands(writing, given.id), ...brought(writing, isVerified, where, isBad)]
  return guarded(writing, false, 'verify email', steps)
}

/** An admin's word for it. */
const atOnce = (writing: Writing, given: Given): Command => {
  const steps = brought(writing, isVerified, sql`${id} = ${bind(given.id)}`, gone(given))
  return guarded(writing, false, 'verify email', steps)
}

/** Sends the message again. */
const askAgain = (writing: Writing, given: Given): Command => {
  if (!given.proofs.canSend)
    throw new ApiError('UNAVAILABLE', 'This service sends no mail: its operator has set none up', {
      retryAfter: 3600,
    })
  const person = sql`select ${id}, ${name('name')}, ${email} from ${users} where ${id} = ${bind(given.id)} and ${mine(writing)}`
  const step: GuardedStep = { step: { statement: ready(person, writing), expect: 'row' } }
  return guarded(writing, false, 'ask for proof', [stands(writing, given.id), step], {
    status: 202,
    asks: 1,
  })
}

const standing = (writing: Writing, of: number): Command =>
  standingOf(writing, { entity: 'user', id: of }, 'update')

/** The look at whether the user is there and the viewer's to change, as a step of a command. */
const stands = (writing: Writing, of: number): GuardedStep => {
  const { steps, refused } = standing(writing, of)
  const last = steps.length - 1
  return { step: steps[last] as GuardedStep['step'], refused: rows => refused(last, rows) }
}

const verifyEmail: Action = {
  method: 'POST',
  name: 'verify this address',
  rule: entity.policy.update,
  path: '/users/:id/verify-email',
  about: 'user',
  answers: 'user',
  standing,
  command: (writing, given) => {
    if (given.hasBody) return byToken(writing, given)
    return writing.viewer.role === 'admin' ? atOnce(writing, given) : askAgain(writing, given)
  },
}

const promote: Action = {
  method: 'POST',
  name: 'promote users',
  rule: admin,
  path: '/users/:id/actions/promote-to-admin',
  about: 'user',
  answers: 'user',
  standing,
  command: (writing, given) => {
    noMembers(given.body)
    const steps = brought(writing, isAdmin, sql`${id} = ${bind(given.id)}`, gone(given))
    return guarded(writing, false, 'promote user', steps)
  },
}

export const userActions: readonly Action[] = [verifyEmail, promote]
