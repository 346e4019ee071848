/** Returning a book, which is done once, extending a loan, and moving a book. */
import { ApiError } from '#errors.ts'
import { columnName, notFound } from '#model/model.ts'
import type { Rows } from '#sql/engine.ts'
import { name, type Sql, sql } from '#sql/sql.ts'
import type { Action } from '#write/action.ts'
import { commandOf, conditionOf, type GuardedStep, type Writing } from '#write/command.ts'
import { precheck } from '#write/entity-commands.ts'
import { noMembers } from '#write/input.ts'
import { errors } from './errors.ts'
import { loan } from './loan.ts'
import { shelver } from './roles.ts'

const day = 86_400_000

/** Changes a loan that is the viewer's and still out. */
const changed = (writing: Writing, id: number, field: string, value: Sql): GuardedStep => {
  const own = sql`id = ${id} and ${conditionOf(writing, 'loan', loan.policy.update)}`
  return {
    name: 'loan',
    sql: sql`update loans set ${name(columnName(field))} = ${value}, revision = revision + 1
      where state = 'out' and ${own} returning id`,
    explain: sql`select state from loans where ${own}`,
    refused: (rows: Rows) =>
      rows.length === 0
        ? notFound('loan', id)
        : new ApiError(errors.ALREADY_BACK, `The book of loan ${id} was brought back before`),
  }
}

const stamped = (id: number, word: string, now: number): GuardedStep => ({
  sql: sql`insert into stamps (loan_id, word, at) values (${id}, ${word}, ${now}) returning id`,
})

const common = {
  method: 'POST',
  rule: loan.policy.update,
  about: 'loan',
  answers: 'loan',
  precheck: (writing: Writing, id: number) => precheck(writing, { entity: 'loan', id }, 'update'),
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
  command: (writing, { id, body, now }) => {
    noMembers(body)
    const steps = [changed(writing, id, 'state', sql`${'back'}`), stamped(id, 'returned', now)]
    return commandOf(writing, { name: 'return loan', steps, makes: 'loan' })
  },
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
  command: (writing, { id, body, now }) => {
    noMembers(body)
    const days = Number(writing.model.settings.values?.DUET_LOAN_DAYS)
    const due = writing.dialect.typed(sql`${now + days * day}`, 'time')
    const steps = [changed(writing, id, 'dueAt', due), stamped(id, 'renewed', now)]
    return commandOf(writing, { name: 'renew loan', steps, makes: 'loan' })
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
  command: (writing, { id, body }) => {
    noMembers(body)
    const moved = sql`update books set shelf = case when shelf < 500 then shelf + 1 else shelf end,
      revision = revision + 1 where id = ${id} returning id`
    const steps = [{ sql: moved, refused: () => notFound('book', id) }]
    return commandOf(writing, { name: 'move book', steps, status: 204 })
  },
}

export const actions: readonly Action[] = [giveBack, renew, moveUp]
