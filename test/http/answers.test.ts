/** Answers that a route by hand makes as no answer can be sent. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Hono } from 'hono'
import { loadConfig } from '#config.ts'
import { exchange } from '#http/exchange.ts'
import type { App } from '#http/request.ts'
import type { Event } from '#observe.ts'
import { listen } from '#serve/listen.ts'
import { createWorld, forAllTests } from '#test/market.ts'
import { versions } from '#test/support/library/versions.ts'

const world = forAllTests(createWorld)

test('a reply whose header cannot be sent is one request that failed, and one of 204 has no length', async () => {
  const events: Event[] = []
  const active = new Map<string, number>()
  const edge = { ...world.edge, active, observe: (event: Event) => void events.push(event) }
  const fail = ({ status, code }: { status: number; code: string }) => ({
    ...{ status, headers: {}, body: code },
  })
  const app: App = new Hono()
  const broken = () => ({ status: 200, headers: { Title: 'two\nlines' }, body: 'a' })
  app.get('/broken', exchange(edge, fail, broken))
  app.get(
    '/empty',
    exchange(edge, fail, () => ({ status: 204, headers: {}, body: '' })),
  )
  const options = { versions, state: { isDraining: false } }
  const server = await listen(app, loadConfig({ DUET_PORT: '0' }), options)
  const answered = await fetch(`${server.url}/broken`)
  assert.equal(answered.statusText, 'Internal Server Error')
  assert.deepEqual([answered.status, await answered.text()], [500, 'INTERNAL'])
  const told = events.map(event => (event.kind === 'request' ? event.status : event.kind))
  assert.deepEqual([told, active.get('GET')], [['bug', 500], 0])
  const empty = await fetch(`${server.url}/empty`)
  assert.deepEqual([empty.status, empty.headers.get('content-length')], [204, null])
  await server.close(0)
})
