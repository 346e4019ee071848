/** That a member has a book, or had it; and the stamps in it, which nobody takes out again. */
import {
  choice,
  created,
  entity,
  fixed,
  id,
  internal,
  many,
  one,
  reference,
  revision,
  self,
  text,
  time,
} from 'duet/model'

const mine = self('memberId')

export const loan = entity({
  description: 'That a member has a book, or had it.',
  fields: {
    id: id(),
    bookId: reference('book', { onDelete: 'restrict', graphql: 'input' }),
    memberId: reference('member', { onDelete: 'cascade', ...fixed, initial: 'viewer' }),
    state: choice(['out', 'back'], { ...fixed, initial: { value: 'out' } }),
    note: text({ max: 200, nullable: true, description: 'What the member wants to remember.' }),
    lentAt: created(),
    dueAt: time({ ...fixed, nullable: true, description: 'When it was asked back.' }),
    revision: revision(),
  },
  relations: {
    book: one('book', 'bookId', { description: 'The book.' }),
    member: one('member', 'memberId', { description: 'Who borrowed it.' }),
    stamps: many('stamp', 'loanId', { graphql: false, rest: false, oldestFirst: true }),
  },
  policy: { read: mine, create: mine, update: mine },
  linksBy: {
    by: 'state',
    cases: {
      out: { self: '/loans/{id}', return: { href: '/loans/{id}/return', method: 'POST' } },
      back: { self: '/loans/{id}', book: '/books/{bookId}' },
    },
  },
  rest: {
    list: true,
    one: true,
    nested: ['one', 'create'],
    writes: ['update'],
    embedded: { stamps: { after: 'dueAt', since: 2 } },
    listing: {
      paging: 'cursor',
      limit: 3,
      filters: {
        state: { kind: 'equals', field: 'state' },
        bookId: { kind: 'equals', field: 'bookId' },
      },
    },
  },
  graphql: { filters: ['bookId'], mutations: ['create', 'update'] },
  indexes: [['state']],
})

export const stamp = entity({
  description: 'What happened to a loan, and when.',
  fields: {
    id: id(internal),
    loanId: reference('loan', { ...internal, onDelete: 'restrict' }),
    word: choice(['renewed', 'returned'], fixed),
    at: time(fixed),
  },
  relations: { loan: one('loan', 'loanId', { graphql: false }) },
  policy: { read: self('loan.memberId') },
  rest: { list: false, one: false, listing: { paging: 'cursor', limit: 20 } },
  graphql: { type: false },
  appendOnly: true,
})
