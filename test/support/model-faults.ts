/** A model without faults, and what changes it: for the tests of the rules that refuse a model. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Entity, entity, type Link, many, one } from '#model/entity.ts'
import {
  choice,
  created,
  type Field,
  flag,
  id,
  int,
  reference,
  revision,
  text,
} from '#model/field.ts'
import { modelFaults } from '#model/model.ts'
import { anyone, self, signedIn } from '#model/policy.ts'
import { versions } from './library/versions.ts'
import { admin } from './roles.ts'

export const former = versions.all.slice(0, -1).join(', ')

export const author: Entity = entity({
  table: 'authors',
  plural: 'authors',
  description: '',
  fields: { id: id(), name: text({ max: 10 }), born: int({ min: 0, max: 9, nullable: true }) },
  relations: { books: many('book', 'authorId') },
  policy: { read: anyone },
  rest: { list: true, one: true, listing: { paging: 'page', limit: 10 } },
})
export const book: Entity = entity({
  table: 'books',
  plural: 'books',
  description: '',
  fields: {
    id: id(),
    title: text({ max: 10 }),
    genre: choice(['novel', 'poems']),
    authorId: reference('author', { onDelete: 'cascade' }),
    editorId: reference('author', { onDelete: 'cascade', nullable: true }),
    inPrint: flag({ initial: { value: 1 } }),
    createdAt: created(),
    revision: revision(),
  },
  relations: { author: one('author', 'authorId'), editor: one('author', 'editorId') },
  policy: { read: anyone, create: self('authorId'), update: signedIn, delete: admin },
  links: { self: '/books/{id}', editor: '/authors/{editorId}' },
  rest: {
    list: true,
    one: true,
    listing: { paging: 'page', limit: 10 },
    writes: ['create', 'replace', 'update', 'delete'],
    nested: ['one', 'create'],
  },
  graphql: { filters: ['authorId', 'inPrint'], mutations: ['create', 'update', 'delete'] },
})

export type Changes = Partial<Omit<Entity, 'rest' | 'graphql'>> & {
  readonly rest?: Partial<Entity['rest']>
  readonly graphql?: Partial<Entity['graphql']>
  readonly listing?: Partial<Entity['rest']['listing']>
}

/** The entity with other members. */
export const changed = (of: Entity, { rest, graphql, listing, ...own }: Changes): Entity => ({
  ...of,
  ...own,
  rest: { ...of.rest, ...rest, listing: { ...of.rest.listing, ...rest?.listing, ...listing } },
  graphql: { ...of.graphql, ...graphql },
})

/** The faults of the two with other books, and further entities. */
export const faultsOf = (changes: Changes, others: Readonly<Record<string, Entity>> = {}) => [
  ...modelFaults({ author, book: changed(book, changes), ...others }, versions),
]
/** Books with other fields. */
export const withFields = (fields: Readonly<Record<string, Field>>): Changes => ({
  fields: { ...book.fields, ...fields },
})
export const glad = { value: 'glad' } as const
/** A choice that is glad at first, with other options. */
export const withMood = (options: Parameters<typeof choice<'glad' | 'sad'>>[1]): Changes =>
  withFields({ mood: choice(['glad', 'sad'], { initial: glad, ...options }) })
export const sunset = '2027-08-01'
/** Books with other links, the same in each row. */
export const linked = (all: Readonly<Record<string, Link>>): Changes => ({
  links: { by: null, cases: { all } },
})
/** The options of a text that REST hides. */
export const hiddenInRest = { max: 9, rest: false, nullable: true } as const

/** An entity that nobody may read. */
export const closed = changed(author, {
  table: 'notes',
  plural: 'notes',
  relations: {},
  policy: {},
})

/** Changes of books, beside further entities. */
type Faulty = Changes & { readonly others?: Readonly<Record<string, Entity>> }

/** A test for each sentence that it is the first which the models that deserve it are told. */
export const areTold = (faults: Readonly<Record<string, Faulty | readonly Faulty[]>>): void => {
  for (const [sentence, models] of Object.entries(faults))
    for (const { others, ...changes } of [models].flat())
      test(`a model is told: ${sentence}`, () => {
        assert.equal(faultsOf(changes, others)[0], sentence)
      })
}
