/** Rows that are never changed and refer to later rows of their kind are moved to PostgreSQL in batches, and are closed again after that. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compare, contentTables, copyTables, isSame } from '#cli/move.ts'
import { commandConnection } from '#engines/postgres/migrate.ts'
import { openTarget } from '#engines/postgres/moving.ts'
import { type Entity, entity } from '#model/entity.ts'
import { id, reference } from '#model/field.ts'
import { signedIn } from '#model/policy.ts'
import { manyInserter } from '#serve/insert.ts'
import { queryWith } from '#sql/engine.ts'
import { connected } from '../postgres/tools/ask.ts'
import { freshDatabase, noDatabase } from '../postgres/tools/database.ts'
import { filling } from '../stores.ts'
import { member } from './models.ts'
import { historyFor, serveModel } from './serve.ts'

const event = entity({
  table: 'events',
  plural: 'events',
  description: '',
  fields: {
    id: id(),
    nextId: reference('event', { nullable: true, onDelete: 'restrict' }),
  },
  policy: { read: signedIn, create: signedIn },
  rest: { list: true, one: true, listing: { paging: 'page', limit: 5 } },
  appendOnly: true,
} as never) as unknown as Entity

const entities = { member, event }

test('append-only rows are moved with their references to rows of a later batch', {
  skip: noDatabase,
}, async () => {
  const { store, close } = await serveModel(entities, 'sqlite')
  const { url } = await freshDatabase()
  const target = await openTarget(commandConnection(url, true), historyFor('postgres', entities))
  // Two rows are a batch: the first refers to one beside it, the next one to a later one.
  const tables = contentTables(entities).map(table => ({ ...table, page: 2 }))
  await target.migrate()
  const rows = [
    [5, null],
    [4, 4],
    [2, 5],
    [1, 2],
  ]
  await filling(store, async line => {
    const insert = manyInserter(line, event)
    for (const [id = null, nextId = null] of rows)
      await insert([new Map(Object.entries({ id, nextId }))])
    const source = { ...line.session, dialect: line.dialect }
    await target.transaction(async () => {
      await target.begin(tables)
      // It may wait for the source longer than a session that writes waits for anything else.
      const limit = queryWith('show idle_in_transaction_session_timeout')
      assert.deepEqual(await target.query(limit), [['0']])
      await copyTables(source, target, tables)
      for (const table of await compare(source, target, tables))
        assert.ok(isSame(table), table.name)
    })
  })
  await target.close()
  await close()
  const client = await connected(url)
  await assert.rejects(client.query('update events set next_id = null'), /only ever added/)
  await client.end()
})
