/** A folded copy that is added to a table with rows: a migration fills it, on each engine. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type ReadFacts, reads } from '#channels.ts'
import { type Entity, entity } from '#model/entity.ts'
import { folded, id, text } from '#model/field.ts'
import { fillFolded, notesOnCopies } from '#serve/store.ts'
import { changeIn } from '../stores.ts'
import { engines } from './compare.ts'
import { allRoutes, bySignedIn, member } from './models.ts'
import { type Service, serveWithMembers } from './serve.ts'

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
const log = {
  ...book,
  table: 'logs',
  plural: 'logs',
  appendOnly: true,
}
const entities = { member, book, log }

for (const on of engines)
  describe(`on ${on}`, () => {
    let service: Service
    before(async () => {
      service = await serveWithMembers(entities, on, 'Ada')
    })
    after(() => service.close())

    const run = (statement: string) => changeIn(service.store)(statement)
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
      assert.match(
        (await notesOnCopies(service.store, entities)).join(),
        /until duet migrate folds/,
      )
      assert.deepEqual(await fillFolded(service.store, entities), ['titleKey of books in 1 rows'])
      assert.deepEqual(await notesOnCopies(service.store, entities), [])
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
