/** A folded copy that is added to a table with rows: a migration fills it, on each engine. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type ReadFacts, reads } from '#channels.ts'
import { postgresStore } from '#engines/postgres/store.ts'
import type { Migration } from '#engines/shared/migrations.ts'
import { sqliteStore } from '#engines/sqlite/store.ts'
import { lackOf, migrationsFor } from '#kit/draft/draft.ts'
import { postgresDrafting } from '#kit/draft/postgres.ts'
import { sqliteDrafting } from '#kit/draft/sqlite.ts'
import { type Entity, entity } from '#model/entity.ts'
import { folded, id, text } from '#model/field.ts'
import { defineModel, type Entities } from '#model/model.ts'
import { anyone } from '#model/policy.ts'
import { fillFolded, migrateStore, notesOnCopies } from '#serve/store.ts'
import { checkCopies } from '#serve/unique-copies.ts'
import { changeIn, filling } from '../stores.ts'
import { forAllTests } from '../support/fixture.ts'
import { engines } from './compare.ts'
import { allRoutes, bySignedIn, member } from './models.ts'
import { emptyStore, historyFor, postgresOptions, serveWithMembers } from './serve.ts'

const book = entity({
  table: 'books',
  plural: 'books',
  description: '',
  fields: {
    id: id(),
    title: text({ max: 20, nullable: true }),
    titleKey: folded('title', { nullable: true, indexed: true }),
    isbn: text({ max: 20, nullable: true }),
    isbnKey: folded('isbn', { nullable: true, unique: 'CONFLICT' }),
  },
  policy: { read: bySignedIn.read, create: bySignedIn.create },
  rest: {
    ...allRoutes,
    writes: ['create'],
    listing: {
      paging: 'page',
      limit: 5,
      filters: { title: { kind: 'contains', field: 'titleKey' } },
    },
  },
} as never) as unknown as Entity
const log = { ...book, table: 'logs', plural: 'logs', appendOnly: true }
const entities = { member, book, log }

for (const on of engines)
  describe(`on ${on}`, () => {
    const service = forAllTests(() => serveWithMembers(entities, on, 'Ada'))

    const run = (statement: string) => changeIn(service.store)(statement)
    const notes = () => filling(service.store, line => notesOnCopies(line, entities))
    const make = async (body: object) => {
      const { status, text } = await service.ask({ line: 'POST /api/books', as: 'admin', body })
      assert.equal(status, 201, text)
    }
    const found = async (title: string): Promise<number> => {
      const line = `GET /api/books?title=${encodeURIComponent(title)}`
      return JSON.parse((await service.ask({ line, as: 'admin' })).text).data.length
    }

    test('rows that were there before are found, more than are filled at once, and only once', async () => {
      for (const title of ['Ärger', 'ÄRGER', null]) await make({ title })
      // As they would be after the migration that adds the column.
      await run('update books set title_key = null')
      const many = Array.from({ length: 1100 }, (_, n) => `('Many ${n}')`)
      await run(`insert into books (title) values ${many.join()}`)
      assert.equal(await found('ärger'), 0)
      assert.deepEqual(await fillFolded(service.store, entities), [
        'titleKey of books in 1102 rows',
      ])
      assert.equal(await found('ärger'), 2)
      assert.equal(await found('many 1099'), 1)
      assert.deepEqual(await fillFolded(service.store, entities), [])
    })

    test('rows that are never changed stay as they are', async () => {
      await run("insert into logs (title) values ('A')")
      assert.deepEqual(await fillFolded(service.store, entities), [])
    })

    test('copies that an older release folded otherwise are folded anew, and two rows that become one are told', async () => {
      const decomposed = 'Cafe\u0301'
      // As that release folded them: code point by code point, as they were sent.
      await run(`insert into books (title, title_key) values ('${decomposed}', 'cafe\u0301')`)
      await run("delete from secrets where name = 'folded'")
      assert.equal(await found('CAFÉ'), 0)
      assert.match((await notes()).join(), /until duet migrate folds/)
      assert.deepEqual(await fillFolded(service.store, entities), ['titleKey of books in 1 rows'])
      assert.deepEqual(await notes(), [])
      assert.equal(await found('CAFÉ'), 1)
      await run(
        `insert into books (id, isbn, isbn_key) values (9001, 'É', 'é'), (9002, 'E\u0301', 'e\u0301')`,
      )
      await run("delete from secrets where name = 'folded'")
      await assert.rejects(fillFolded(service.store, entities), {
        message: /^isbnKey of books cannot be filled, as the books 9001 and 9002 have a isbn/,
      })
      await run('delete from books where id = 9002')
      assert.deepEqual(await fillFolded(service.store, entities), [])
    })

    test('two rows whose copies must differ are told, with the remedy', async () => {
      await run("insert into books (isbn) values ('a1'), ('A1')")
      await assert.rejects(fillFolded(service.store, entities), {
        message:
          /^isbnKey of books cannot be filled, as the books \d+ and \d+ have a isbn that counts as one, and only one of them may have it: change one of them in the database, then run duet migrate again$/,
      })
    })
  })

test('of folded copies that are unique, alone or in a set, and added later nothing is applied while rows are in the way', async t => {
  const now = {
    book: entity({
      fields: {
        id: id(),
        shelf: text({ max: 20, nullable: true }),
        title: text({ max: 20, nullable: true }),
        titleKey: folded('title', { nullable: true, accents: 'ignored' }),
        isbn: text({ max: 20, nullable: true }),
        isbnKey: folded('isbn', { nullable: true, unique: true }),
      },
      sets: [['shelf', 'titleKey']],
      policy: { read: anyone },
    }),
  }
  const model = defineModel(now as never) as Entities
  const then = defineModel({
    book: entity({
      fields: {
        id: id(),
        ...Object.fromEntries(
          ['shelf', 'title', 'isbn'].map(key => [key, text({ max: 20, nullable: true })]),
        ),
      },
      policy: { read: anyone },
    }),
  } as never) as Entities
  for (const on of engines) {
    const { store, url, drop } = await emptyStore(then, on)
    t.after(drop)
    const at = (migrations: readonly Migration[]) =>
      on === 'sqlite'
        ? sqliteStore({ file: store.label, sync: 'normal', migrations })
        : postgresStore({ ...postgresOptions, url: String(url), migrations })
    const before = historyFor(on, then)
    await at(before).migrate()
    const drafting = on === 'sqlite' ? sqliteDrafting : postgresDrafting
    const drafts = migrationsFor(lackOf(drafting, model, before), before.length + 1, 'folded')
    const later = at([...before, ...drafts])
    const change = changeIn(later)
    const shown = async () =>
      [...(await later.made()).keys()].filter(name => /^books.*_key/.test(name))
    const isRefused = async (message: RegExp) => {
      // However few are compared at a time.
      await assert.rejects(checkCopies(later, model, 2), { message })
      await assert.rejects(migrateStore(later, model), { message })
      assert.deepEqual(await shown(), [])
    }
    await change(`insert into books (id, shelf, title, isbn) values
      (1, 'a', 'Cafe', 'x'), (2, 'b', 'CAF\u00c9', 'X'), (3, 'a', null, null), (4, null, 'cafe', null), (5, 'a', 'cafe\u0301', 'y')`)
    await isRefused(/^isbnKey of books cannot be filled, as the books 1 and 2 have a isbn/)
    await change("update books set isbn = 'z' where id = 2")
    await isRefused(/^titleKey of books cannot be filled, as the books 1 and 5 have a title/)
    await change("update books set shelf = 'c' where id = 5")
    await checkCopies(later, model, 2)
    await migrateStore(later, model)
    assert.notDeepEqual(await shown(), [])
    assert.deepEqual((await fillFolded(later, model)).toSorted(), [
      'isbnKey of books in 3 rows',
      'shelfNfc of books in 4 rows',
      'titleKey of books in 4 rows',
    ])
  }
})

test('a filter of REST changes nothing of what GraphQL asks the store, an index of the field does', async () => {
  const statementsOf = async (entity: Entity): Promise<readonly string[]> => {
    const service = await serveWithMembers({ member, book: entity }, 'sqlite', 'Ada')
    const found: string[] = []
    const see = (facts: unknown) => {
      // The outbox looks by itself now and then.
      const statements = (facts as ReadFacts).statements()
      found.push(...statements.filter(text => !text.includes('from outbox')))
    }
    reads.start.subscribe(see)
    const query =
      '{ books(where: { title: { contains: "tales" } }, orderBy: [{ title: ASC }]) { id title } }'
    const { text } = await service.ask({ line: 'POST /graphql', as: 'user', body: { query } })
    reads.start.unsubscribe(see)
    await service.close()
    assert.deepEqual(JSON.parse(text), { data: { books: [] } })
    return found
  }
  const { listing } = book.rest
  const { filters: _, ...bare } = listing
  const without = { ...book, rest: { ...book.rest, listing: bare } } as Entity
  const more = {
    ...listing.filters,
    isbn: { kind: 'equals', field: 'isbn' },
  } as typeof listing.filters
  const withMore = {
    ...book,
    rest: { ...book.rest, listing: { ...bare, filters: more } },
  } as Entity
  const fields = { ...book.fields, titleKey: folded('title', { nullable: true }) }
  const asked = await statementsOf(book)
  assert.notEqual(asked.length, 0)
  assert.deepEqual(await statementsOf(without), asked)
  assert.deepEqual(await statementsOf(withMore), asked)
  assert.notDeepEqual(await statementsOf({ ...without, fields } as Entity), asked)
})
