/** Answers that a route by hand makes as no answer can be sent. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Hono } from 'hono'
import { exchange } from '#http/exchange.ts'
import type { App } from '#http/request.ts'
import type { Event } from '#observe.ts'

import { createWorld, forAllTests } from '#test/market.ts'
import { serveApp } from '#test/support/served.ts'

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
  const { server, origin } = await serveApp(app.fetch)
  const answered = await fetch(`${origin}/broken`)
  assert.deepEqual([answered.status, await answered.text()], [500, 'INTERNAL'])
  const told = events.map(event => (event.kind === 'request' ? event.status : event.kind))
  assert.deepEqual([told, active.get('GET')], [['bug', 500], 0])
  const empty = await fetch(`${origin}/empty`)
  assert.deepEqual([empty.status, empty.headers.get('content-length')], [204, null])
  server.close()
})
