/** Migrations of a store that is served: the release before goes on while they run, and afterwards. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { mint } from '#auth/token.ts'
import { entities } from '#content/duet.config.ts'
import { commandConnection, migratePostgres } from '#engines/postgres/migrate.ts'
import type { Migration } from '#engines/shared/migrations.ts'
import { lackOf, migrationsFor } from '#kit/draft/draft.ts'
import { postgresDrafting } from '#kit/draft/postgres.ts'
import { text } from '#model/field.ts'
import { defineModel } from '#model/model.ts'
import { type Service, serve } from '#test/duet.ts'
import { historyFor } from '#test/history.ts'
import { ask, connected } from '#test/postgres/tools/ask.ts'
import { freshDatabase, noDatabase } from '#test/postgres/tools/database.ts'
import { until } from '#test/support/wait.ts'
import { secret } from '../world.ts'

const known = historyFor('postgres')

const migrate = (url: string, added: readonly Migration[]) =>
  migratePostgres(commandConnection(url, true), [...known, ...added])

/** A served store with the demo content: four users, six posts. */
const served = async () => {
  const { url } = await freshDatabase()
  const settings = { DUET_DATABASE_URL: url, DUET_AUTH_SECRET: secret }
  return { url, service: await serve(settings, '--migrate') }
}

type Said = { readonly what: string; readonly status: number }

/** Reads and writes in both APIs, one after another in some lanes at once, until it is stopped. */
const load = async ({ url }: Service, lanes = 4) => {
  const authorization = `Bearer ${await mint({ sub: 1, role: 'admin', ttl: 600 }, secret, Date.now())}`
  const said: Said[] = []
  let ended = false
  const send = async (what: string, body?: object) => {
    const [method = '', path = ''] = what.split(' ')
    const response = await fetch(url + path, {
      method,
      headers: { authorization, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    })
    assert.doesNotMatch(await response.text(), /"errors"/)
    said.push({ what, status: response.status })
  }
  const lane = async () => {
    for (let n = 0; !ended; n++) {
      await send('POST /api/users/1/posts', { title: `n ${n}`, content: 'c' })
      await send('GET /api/posts')
      await send('PATCH /api/posts/1', { title: `n ${n}` })
      await send('GET /api/posts/1')
      await send('POST /graphql', { query: '{ posts(limit: 5) { id title author { name } } }' })
      await send('GET /api/products?category=kitchen&sort=-price')
    }
  }
  const running = Promise.all(Array.from({ length: lanes }, lane))
  return {
    said,
    stop: async () => {
      ended = true
      await running
    },
  }
}

const kindsIn = (said: readonly Said[]) => new Set(said.map(({ what }) => what)).size

/** Waits until each kind of request was answered anew. */
const answersAll = async (said: readonly Said[]) => {
  const from = said.length
  await until('each kind is answered anew', () => kindsIn(said.slice(from)) === 6)
}

const isWell = (said: readonly Said[]) =>
  assert.deepEqual(
    said.filter(({ status }) => status >= 300),
    [],
  )

/** Whether a session waits for an exclusive lock of a table, as only a migration does. */
const isWaiting = async (url: string) =>
  (await ask(
    url,
    "select count(*)::int from pg_locks where mode = 'AccessExclusiveLock' and not granted and database = (select oid from pg_database where datname = current_database())",
  )) !== 0

const { post, product } = entities

const longer = defineModel({
  ...entities,
  post: {
    ...post,
    fields: { ...post.fields, probe: text({ max: 200, nullable: true }) },
    indexes: [...post.indexes, ['probe']],
    counted: ['authorId'],
  },
  product: {
    ...product,
    fields: { ...product.fields, shelf: text({ max: 9, initial: { value: 'A' } }) },
    counted: ['category', 'shelf'],
  },
})

describe('the release before a migration', { skip: noDatabase }, () => {
  test('the release before a migration answers every request while a draft with new fields, an index and counts runs, and after', async () => {
    const { url, service } = await served()
    const { said, stop } = await load(service)
    await answersAll(said)
    const drafts = migrationsFor(lackOf(postgresDrafting, longer, known), 9998, 'draft')
    assert.deepEqual(
      await migrate(url, drafts),
      drafts.map(({ name }) => name),
    )
    await answersAll(said)
    await stop()
    isWell(said)
    const counted = await ask(
      url,
      "select sum(n)::int from counts where entity = 'posts' and field = 'author_id'",
    )
    assert.equal(counted, await ask(url, 'select count(*)::int from posts'))
    assert.equal((await service.end()).code, 0)
  })

  test('goes on to read and write while the migration waits for a table that another has', async () => {
    const { url, service } = await served()
    const holder = await connected(url)
    await holder.query('begin; lock table posts in row exclusive mode')
    const { said, stop } = await load(service)
    const add = { name: '9999-add', text: 'alter table posts add column probe text;' }
    const applied = migrate(url, [add])
    for (let time = 0; time < 2; time++) {
      await until('the migration asks for the table', () => isWaiting(url))
      await until('it gives way', async () => !(await isWaiting(url)))
    }
    await answersAll(said)
    assert.equal(await ask(url, "select count(*)::int from migrations where name = '9999-add'"), 0)
    await holder.query('commit')
    await holder.end()
    assert.deepEqual(await applied, [add.name])
    await answersAll(said)
    await stop()
    isWell(said)
    assert.equal((await service.end()).code, 0)
  })
})
