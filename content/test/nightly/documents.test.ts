/** Documents that are new each time: what fits into their budget is kept, and a service takes no more memory however many come. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { after, before, test } from 'node:test'
import { mint } from '#auth/token.ts'
import { folderOf, type Service, serve } from '#test/duet.ts'
import { longest } from '#test/support/wait.ts'
import { secret } from '../world.ts'
import { times } from './hold/shape.ts'
import { seedMany } from './seed-many.ts'

const count = 1_000_000
/** MiB: 39 to 47 on a machine with room, 42 to 58 beside other work, which leaves V8 later with its collections. */
const mostMore = 64
const clients = 8

let service: Service
let authorization = ''
const agent = new Agent({ keepAlive: true, maxSockets: clients })
before(async () => {
  const { settings } = folderOf('documents').fresh()
  await seedMany(settings, 100)
  service = await serve(settings)
  authorization = `Bearer ${await mint({ sub: 1, role: 'admin', ttl: 7200 }, secret, Date.now())}`
})
after(async () => {
  agent.destroy()
  await service?.end()
})

/** What the process has in memory, in MiB. */
const resident = (): number => {
  const status = readFileSync(`/proc/${service.child.pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1024
}

/** Sends a query; fails where it is not answered with data. */
const ask = (query: string): Promise<void> =>
  new Promise((resolve, reject) => {
    const headers = { 'Content-Type': 'application/json', authorization }
    const at = { host: '127.0.0.1', port: service.port, path: '/graphql', method: 'POST' }
    const sent = request({ ...at, headers, agent, timeout: longest }, answer => {
      let text = ''
      answer.setEncoding('utf8').on('data', part => {
        text += part
      })
      answer.once('end', () =>
        text.startsWith('{"data"') ? resolve() : reject(new Error(`${query}: ${text}`)),
      )
    })
    sent.once('error', reject).once('timeout', () => sent.destroy(new Error('no answer')))
    sent.end(JSON.stringify({ query }))
  })

const person = ['name', 'email', 'age']
const chosen = (n: number, fields: readonly string[]) =>
  `id ${fields.filter((_, bit) => n & (1 << bit)).join(' ')}`

/** Kinds of documents: small, deep, wide, with many roots, long, with fragments, with many tokens, and of many statements. */
const kinds: readonly ((n: number) => string)[] = [
  n => `{ user(id: 1) { a${n}: name } }`,
  n =>
    `query Q${n} { users(limit: 1) { id posts(limit: 1) { comments(limit: 1) { author { name } } } } }`,
  n => `{ users(limit: 1) { id ${times(25, m => `a${n}_${m}: name`, ' ')} } }`,
  n => `{ ${times(15, m => `a${n}_${m}: users(limit: 1) { id name }`, ' ')} }`,
  n => `{ users(limit: 1) { id } } #${n}${'x'.repeat(12_000)}`,
  n =>
    `{ users(limit: 1) { ...F${n} } posts(limit: 1) { author { ...F${n} } } } fragment F${n} on User { id name age }`,
  n => `{ users(limit: 1) { id ${times(300, () => 'name', ' ')} a${n}: name } }`,
  n =>
    `{ a${n}: users(limit: 1) { ${chosen(n >> 3, person)} posts(limit: 1) { ${chosen(n >> 6, ['title', 'content'])} comments(limit: 1) { ${chosen(n >> 8, ['text'])} author { ${chosen(n >> 9, person)} } } } } }`,
]
const documentOf = (n: number): string => kinds[n % kinds.length]?.(n) ?? ''

const askAll = async (from: number, to: number, make: (n: number) => string) => {
  let next = from
  const client = async () => {
    while (next < to) await ask(make(next++))
  }
  await Promise.all(Array.from({ length: clients }, client))
}

test(`${count} documents that are new each time take at most ${mostMore} MiB more in the mean than 200 usual requests [D18]`, async t => {
  const usual = 5 * kinds.length
  await askAll(0, 200, n => documentOf(n % usual))
  const before = resident()
  const samples: number[] = []
  const step = count / 10
  for (let from = usual; from < usual + count; from += step) {
    await askAll(from, from + step, documentOf)
    samples.push(resident())
  }
  t.diagnostic(
    `${Math.round(before)} MiB before, ${samples.map(Math.round).join(' ')} after each ${step}`,
  )
  // One look tells how far V8 was between two collections of garbage; the mean of those in the end, what stays.
  const last = samples.slice(-5)
  const more = last.reduce((sum, sample) => sum + sample, 0) / last.length - before
  assert.ok(more <= mostMore, `${more} MiB`)
})
