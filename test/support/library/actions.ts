/** Returning a book, which is done once, extending a loan, and moving a book. */

import { type Action, change, insert, type Otherwise, sql } from 'duet/actions'
import { errors } from './errors.ts'
import { loan } from './loan.ts'
import { shelver } from './roles.ts'

const day = 86_400_000

/** The error for a loan that is not out any more. */
const isBack = (id: number): Otherwise => ({
  error: errors.ALREADY_BACK,
  message: `The book of loan ${id} was brought back before`,
})

const common = {
  method: 'POST',
  rule: loan.policy.update,
  about: 'loan',
  answers: 'loan',
} as const

const giveBack: Action = {
  ...common,
  name: 'return loans',
  described: {
    operationId: 'returnLoan',
    summary: 'Return a book',
    errors: [errors.ALREADY_BACK.code],
  },
  path: '/loans/:id/return',
  steps: ({ id, now }) => [
    change('loan', id, { state: 'back' }, { where: { state: 'out' }, otherwise: isBack(id) }),
    insert('stamp', { loanId: id, word: 'returned', at: now }),
  ],
}

const renew: Action = {
  ...common,
  name: 'renew loans',
  described: {
    operationId: 'renewLoan',
    summary: 'Extend a loan',
    errors: [errors.ALREADY_BACK.code],
  },
  since: 2,
  path: '/loans/:id/renew',
  steps: ({ id, now, settings }) => {
    const dueAt = new Date(now.getTime() + Number(settings.DUET_LOAN_DAYS) * day)
    return [
      change('loan', id, { dueAt }, { where: { state: 'out' }, otherwise: isBack(id) }),
      insert('stamp', { loanId: id, word: 'renewed', at: now }),
    ]
  },
}

/** The one action that answers nothing. */
const moveUp: Action = {
  method: 'POST',
  name: 'move books',
  rule: shelver,
  path: '/books/:id/move-up',
  about: 'book',
  answers: null,
  described: {
    operationId: 'moveBookUp',
    summary: 'Move a book one shelf up',
    description: 'On the highest one it stays.',
  },
  steps: ({ id }) => [
    change('book', id, { shelf: sql`case when shelf < 500 then shelf + 1 else shelf end` }),
  ],
}

export const actions: readonly Action[] = [giveBack, renew, moveUp]
