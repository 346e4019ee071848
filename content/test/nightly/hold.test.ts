/** How long one request can hold the event loop: processor time of the longest turn that it causes, which a busy machine changes little. */
import assert from 'node:assert/strict'
import { request } from 'node:http'
import { after, before, describe, test } from 'node:test'
import { mint } from '#auth/token.ts'
import type { Store } from '#engines/shared/store.ts'
import { sqliteStore } from '#engines/sqlite/store.ts'
import { duet, folderOf, type Service, type Settings, serve } from '#test/duet.ts'
import { historyFor } from '#test/history.ts'
import { freshDatabase, noDatabase } from '#test/postgres/tools/database.ts'
import { changeIn, postgresOf } from '#test/stores.ts'
import { longest } from '#test/support/wait.ts'
import { secret } from '../world.ts'
import { asking } from './hold/asking.ts'
import { bodies } from './hold/bodies.ts'
import { operations } from './hold/documents.ts'
import { gets } from './hold/heads.ts'
import type { Shape } from './hold/shape.ts'
import { seedMany } from './seed-many.ts'

/** Milliseconds. */
const most = 50
const rounds = 5

let service: Service
let turns: readonly string[] = []
let authorization = ''

/** An empty store. */
type Empty = { readonly settings: Settings; readonly store: Store }

const engines: Readonly<Record<'SQLite' | 'PostgreSQL', () => Promise<Empty>>> = {
  SQLite: async () => {
    const { file, settings } = folderOf('hold').fresh()
    return { settings, store: sqliteStore({ file, migrations: historyFor('sqlite') }) }
  },
  PostgreSQL: async () => {
    const { url } = await freshDatabase()
    const settings = { DUET_DATABASE_URL: url, DUET_AUTH_SECRET: secret }
    return { settings, store: postgresOf(url) }
  },
}

/** Texts as long as they may be, of characters that take up three bytes, or six in JSON. */
const lengthen = async (store: Store) => {
  const change = changeIn(store)
  await change('update posts set content = ?1 where id > 4900', 'ẞ'.repeat(100_000))
  await change('update posts set title = ?1 where id > 3000', '\u0001'.repeat(200))
  await change(
    'update comments set text = ?1 where post_id = 1 or id > 19000',
    '\u0001'.repeat(10_000),
  )
}

const begin = async ({ settings, store }: Empty) => {
  assert.equal((await duet(['migrate'], settings)).code, 0)
  await seedMany(settings, 3000)
  await lengthen(store)
  service = await serve({
    ...settings,
    DUET_CACHE: '0',
    NODE_OPTIONS: `--import=${new URL('../../../test/support/held.mjs', import.meta.url)}`,
  })
  turns = [...service.stderr().matchAll(/turns on (\S+)/g)].map(([, url = '']) => url)
  const token = await mint({ sub: 1, role: 'admin', ttl: 7200 }, secret, Date.now())
  authorization = `Bearer ${token}`
}

/** The processor time of the longest turn of any thread since this was asked before, in milliseconds. */
const held = async (): Promise<number> =>
  Math.max(...(await Promise.all(turns.map(async url => Number(await (await fetch(url)).text())))))

const send = ({ line, headers, body }: Shape, round: number): Promise<number> => {
  const [method = '', path = ''] = line.split(' ')
  const content = body?.(round)
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        ...{ host: '127.0.0.1', port: service.port, method, path, timeout: longest },
        headers: {
          authorization,
          ...headers,
          ...(content !== undefined && { 'Content-Length': Buffer.byteLength(content) }),
        },
      },
      answer => answer.resume().once('end', () => resolve(answer.statusCode ?? 0)),
    )
    sent.once('error', reject).once('timeout', () => sent.destroy(new Error('no answer')))
    sent.end(content)
  })
}

/** The times of all rounds of each shape, in order; fails where one is not answered as it should be. */
const measure = async () => {
  const found: { readonly name: string; readonly times: readonly number[] }[] = []
  const unexpected: string[] = []
  for (const shape of [...bodies, ...operations, ...asking, ...gets]) {
    const times: number[] = []
    for (let round = 0; round < rounds; round++) {
      await held()
      const status = await send(shape, round)
      if (status !== shape.status) unexpected.push(`${shape.name}: ${status}`)
      times.push(await held())
    }
    found.push({ name: shape.name, times })
  }
  assert.deepEqual(unexpected, [])
  return found
}

const median = (times: readonly number[]): number =>
  times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? Number.NaN

for (const [engine, empty] of Object.entries(engines))
  describe(engine, { skip: engine === 'PostgreSQL' && noDatabase }, () => {
    before(async () => begin(await empty()))
    after(() => service?.end())

    test(`no request of at most 1 MiB holds the event loop for more than ${most} ms on ${engine} [D9, G15, H12]`, async t => {
      const found = await measure()
      found.sort((a, b) => median(b.times) - median(a.times))
      const [worst] = found
      const top = Math.max(...found.flatMap(({ times }) => times))
      t.diagnostic(
        `${found.length} shapes, ${rounds} times each; the worst holds it for ${median(worst?.times ?? []).toFixed(0)} ms in the median: ${worst?.name}; the longest of all turns ${top.toFixed(0)} ms`,
      )
      for (const { name, times } of found)
        console.log(`${times.map(time => time.toFixed(1).padStart(6)).join(' ')} ms  ${name}`)
      assert.deepEqual(
        found.filter(({ times }) => median(times) > most).map(({ name }) => name),
        [],
      )
    })
  })
