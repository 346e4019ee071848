/** What conditions say of all rows by their form alone. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { constantTruth, type Operand, type Predicate } from './condition.ts'

const entities = {
  book: {
    table: 'books',
    fields: {
      title: { nullable: false },
      titleKey: { nullable: true, foldedFrom: 'title' },
      note: { nullable: true },
      noteKey: { nullable: true, foldedFrom: 'note' },
      shelfId: { nullable: false },
      boxId: { nullable: true },
    },
  },
  shelf: { table: 'shelves', fields: { name: { nullable: false } } },
}
const value = (of: string | null): Operand => ({ kind: 'value', value: of })
const compare = (field: string, is: 'eq' | 'contains' | 'startsWith', to: string | null) =>
  ({ kind: 'compare', field, is, to: value(to) }) as const
const not = (of: Predicate): Predicate => ({ kind: 'not', of })
const among = (field: string, ...values: readonly string[]): Predicate => ({
  kind: 'among',
  field,
  values: values.map(value),
})
const across = (rows: 'one' | 'some' | 'none', by: string, where: Predicate): Predicate => ({
  kind: 'across',
  ...{ rows, table: 'shelves', by, where },
})
const all: Predicate = { kind: 'and', of: [] }
const none: Predicate = { kind: 'or', of: [] }

const said = (predicate: Predicate) =>
  constantTruth(entities, entities.book, predicate, to =>
    to.kind === 'value' ? to.value : undefined,
  )

test('a text that came out empty is in every text, and in none that is null', () => {
  assert.equal(said(compare('titleKey', 'contains', '')), true)
  assert.equal(said(compare('titleKey', 'startsWith', '')), true)
  assert.equal(said(compare('noteKey', 'contains', '')), undefined)
  assert.equal(said(compare('titleKey', 'contains', 'a')), undefined)
})

test('nothing is in an empty list, and no field is null that cannot be', () => {
  assert.equal(said(among('title')), false)
  assert.equal(said(not(among('title'))), true)
  assert.equal(said(among('title', 'a')), undefined)
  assert.equal(said(not(compare('title', 'eq', null))), true)
  assert.equal(said(not(compare('note', 'eq', null))), undefined)
})

test('one branch decides an `or` that holds, and an `and` that does not', () => {
  const some = compare('title', 'eq', 'a')
  assert.equal(said({ kind: 'or', of: [some, all] }), true)
  assert.equal(said({ kind: 'or', of: [some, none] }), undefined)
  assert.equal(said({ kind: 'and', of: [some, none] }), false)
  assert.equal(said({ kind: 'and', of: [some, all] }), undefined)
  assert.equal(said(not({ kind: 'and', of: [not(all), some] })), true)
})

test('of other rows only what no row fits decides, or the one that each has', () => {
  assert.equal(said(across('none', 'shelfId', among('name'))), true)
  assert.equal(said(across('some', 'shelfId', among('name'))), false)
  assert.equal(said(across('none', 'shelfId', all)), undefined)
  assert.equal(said(across('one', 'shelfId', all)), true)
  assert.equal(said(across('one', 'boxId', all)), undefined)
})
