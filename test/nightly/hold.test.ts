/** How long one request can hold the event loop: processor time of the longest turn that it causes, which a busy machine changes little. */
import assert from 'node:assert/strict'
import { request } from 'node:http'
import { DatabaseSync } from 'node:sqlite'
import { after, before, test } from 'node:test'
import { mint } from '#auth/token.ts'
import { folderOf, type Service, serve } from '../duet.ts'
import { longest } from '../support/wait.ts'
import { secret } from '../world.ts'
import { bodies } from './hold/bodies.ts'
import { operations } from './hold/documents.ts'
import { gets } from './hold/heads.ts'
import type { Shape } from './hold/shape.ts'
import { seedMany } from './seed-many.ts'

/** Milliseconds. */
const most = 50
const rounds = 5

let service: Service
let turns = ''
let authorization = ''

/** Texts as long as they may be, of characters that take up three bytes, or six in JSON. */
const lengthen = (file: string) => {
  const database = new DatabaseSync(file)
  database.exec(`update posts set content = '${'ẞ'.repeat(100_000)}' where id > 4900;
    update posts set title = replace('${'x'.repeat(200)}', 'x', char(1)) where id > 3000;
    update comments set text = replace('${'x'.repeat(10_000)}', 'x', char(1)) where post_id = 1 or id > 19000`)
  database.close()
}

before(async () => {
  const { file, settings } = folderOf('hold').fresh()
  await seedMany(settings, 3000)
  lengthen(file)
  service = await serve({
    ...settings,
    DUET_CACHE: '0',
    NODE_OPTIONS: `--import=${new URL('../support/held.mjs', import.meta.url)}`,
  })
  turns = /turns on (\S+)/.exec(service.stderr())?.[1] ?? ''
  const token = await mint({ sub: 1, role: 'admin', ttl: 7200 }, secret, Date.now())
  authorization = `Bearer ${token}`
})
after(() => service?.end())

/** The processor time of the longest turn since this was asked before, in milliseconds. */
const held = async (): Promise<number> => Number(await (await fetch(turns)).text())

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

test(`no request of at most 1 MiB holds the event loop for more than ${most} ms`, async t => {
  const found = []
  const unexpected: string[] = []
  for (const shape of [...bodies, ...operations, ...gets]) {
    const times: number[] = []
    for (let round = 0; round < rounds; round++) {
      await held()
      const status = await send(shape, round)
      if (status !== shape.status) unexpected.push(`${shape.name}: ${status}`)
      times.push(await held())
    }
    times.sort((a, b) => a - b)
    found.push({ name: shape.name, least: times[0] ?? 0, all: times })
  }
  assert.deepEqual(unexpected, [])
  found.sort((a, b) => b.least - a.least)
  const [worst] = found
  t.diagnostic(
    `${found.length} shapes; the worst holds it for ${worst?.least.toFixed(0)} ms: ${worst?.name}`,
  )
  for (const { name, all } of found)
    console.log(`${all.map(time => time.toFixed(1).padStart(6)).join(' ')} ms  ${name}`)
  assert.deepEqual(
    found.filter(({ least }) => least > most).map(({ name }) => name),
    [],
  )
})
