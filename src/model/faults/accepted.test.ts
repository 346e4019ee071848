/** What is no fault of a model, and what the compiler refuses already. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { entity, many, one } from '#model/entity.ts'
import { choice, flag, id, int, list, reference, text } from '#model/field.ts'
import { anyone, nobody, self } from '#model/policy.ts'
import {
  author,
  book,
  type Changes,
  changed,
  closed,
  faultsOf,
  linked,
  withFields,
} from '../../../test/support/model-faults.ts'
import { admin } from '../../../test/support/roles.ts'

test('a model without mistakes has no faults', () => assert.deepEqual(faultsOf({}), []))

const right: Readonly<Record<string, Changes>> = {
  'a table with what others may not begin with': { table: 'old_pg_books' },
  'a number below zero': withFields({ floor: int({ min: -3, max: 3, nullable: true }) }),
  'a create rule about what only the path gives': withFields({
    authorId: reference('author', { onDelete: 'cascade', settableBy: nobody, nullable: true }),
  }),
  'a create rule about who its caller is at first, which nobody sets': {
    ...withFields({
      writerId: reference('author', { onDelete: 'cascade', initial: 'viewer', settableBy: nobody }),
    }),
    policy: { ...book.policy, create: self('writerId') },
  },
  'a list that no condition looks into, of which callers ask whether it is there': {
    ...withFields({ turns: list(flag(), { max: 3, nullable: true }) }),
    filterable: ['id', 'turns'],
  },
  'no links': linked({}),
  'a needed field of one API that only that one creates by': {
    ...withFields({ code: text({ max: 9, graphql: 'hidden' }) }),
    graphql: { mutations: [] },
  },
  'what only the service makes, with its viewer at first': {
    ...withFields({ writerId: reference('author', { onDelete: 'cascade', initial: 'viewer' }) }),
    policy: { read: anyone },
    rest: { writes: [], nested: ['one'] },
    graphql: { mutations: [] },
  },
}
for (const [what, changes] of Object.entries(right))
  test(`${what} is no fault`, () => assert.deepEqual(faultsOf(changes), []))

test('an entity that is only read by those who may enter is no fault, in either API', () =>
  assert.deepEqual(faultsOf({}, { note: changed(closed, { policy: { enter: admin } }) }), []))

test('a needed field that only a nested create does not know is no fault where REST has no list above it', () => {
  const changes = withFields({ mood: choice(['glad', 'sad'], { since: 2 }) })
  const below = { writes: ['update'], nested: ['create'] } as const
  const shelf = changed(author, { relations: { books: many('book', 'authorId', { rest: false }) } })
  const faults = faultsOf({ ...changes, rest: below }, { author: shelf })
  assert.deepEqual(
    faults.filter(fault => fault.includes('mood')),
    [],
  )
})

test('many is for lists and one for a single row, so options of the other do not compile', () => {
  // @ts-expect-error: one row has no order.
  one('author', 'authorId', { oldestFirst: true })
  many('book', 'authorId', { oldestFirst: true })
})

test('the compiler refuses names of fields that are not there', () => {
  const { fields, policy } = { fields: { id: id(), name: text({ max: 9 }) }, policy: {} }
  const names = { table: 'a', plural: 'a', description: '', fields, policy }
  const listing = { paging: 'page', limit: 10 } as const
  const rest = { list: false, one: false, listing }
  entity({ ...names, rest, counted: ['name'], graphql: { filters: ['name'] } })
  // @ts-expect-error: counted by what is not there.
  entity({ ...names, rest, counted: ['nam'] })
  // @ts-expect-error: a GraphQL filter by what is not there.
  entity({ ...names, rest, graphql: { filters: ['nam'] } })
  const sort = { style: 'field and order', fields: ['nam'] } as const
  // @ts-expect-error: a sort by what is not there.
  entity({ ...names, rest: { ...rest, listing: { ...listing, sort } } })
  const filters = { name: { kind: 'equals', field: 'nam' } } as const
  // @ts-expect-error: a filter by what is not there.
  entity({ ...names, rest: { ...rest, listing: { ...listing, filters } } })
  const relations = { books: many('book', 'authorId') }
  entity({ ...names, relations, rest: { ...rest, embedded: { books: { after: 'name' } } } })
  // @ts-expect-error: an embedded relation that is not there.
  entity({ ...names, relations, rest: { ...rest, embedded: { book: { after: 'name' } } } })
})

test('the compiler refuses initial values of another kind', () => {
  // @ts-expect-error: a text is no number.
  text({ max: 9, initial: { value: 1 } })
  // @ts-expect-error: a choice is one of its values.
  choice(['good'], { initial: { value: 'bad' } })
  // @ts-expect-error: only times can be the moment.
  int({ min: 0, max: 9, initial: 'now' })
  // @ts-expect-error: a flag is stored as 0 or 1.
  flag({ initial: { value: 2 } })
})
