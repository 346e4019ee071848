/** The threads of slow reads: when one begins, and what becomes of its read when it ends. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import type { Worker } from 'node:worker_threads'
import { createWorld } from '#test/market.ts'
import { inTime, until } from '#test/support/wait.ts'
import { asking, endless, slowPath } from './laned.ts'

test('a thread that ends takes its read with it, which is 503, and another serves the next', async () => {
  const problems: string[] = []
  const fragile = await createWorld({
    engine: { readers: 1, onProblem: message => void problems.push(message) },
  })
  const workers: Worker[] = []
  const seen = (worker: Worker) => void workers.push(worker)
  process.on('worker', seen)
  try {
    const lost = assert.rejects(fragile.engine.slowly(asking(endless)), { code: 'UNAVAILABLE' })
    await until('the thread is there', () => workers.length > 0)
    await workers[0]?.terminate()
    await inTime('the read is lost', lost)
    assert.deepEqual(await fragile.engine.slowly(asking('select 7')), [[7]])
    assert.equal(workers.length, 2)
    assert.match(problems.join(), /^a reader thread ended: exit code \d; another is started/)
  } finally {
    process.off('worker', seen)
    await fragile.close()
  }
})

test('a thread that read very much is ended without a word, and another serves the next read [A23]', async () => {
  const problems: string[] = []
  const workers: Worker[] = []
  const ended: Promise<unknown>[] = []
  const seen = (worker: Worker) => {
    workers.push(worker)
    ended.push(once(worker, 'exit'))
  }
  const fresh = await createWorld({
    engine: { readers: 1, onProblem: message => void problems.push(message) },
  })
  process.on('worker', seen)
  try {
    const body = { title: 'Long', content: 'x'.repeat(100_000) }
    for (let n = 0; n < 43; n++) await fresh.ask('POST /api/users/2/posts', { as: 2, body })
    assert.ok((await fresh.ask('GET /api/posts?limit=100')).text.length > 4_194_304)
    await inTime('the thread ends', Promise.race(ended))
    assert.equal((await fresh.ask(`GET ${slowPath}`)).status, 200)
    assert.equal(workers.length, 2)
    assert.equal((await fresh.ask(`GET ${slowPath}&limit=7`)).status, 200)
    assert.equal(workers.length, 2)
    assert.deepEqual(problems, [])
  } finally {
    process.off('worker', seen)
    await fresh.close()
  }
})

test('no thread is started before the first slow read', async () => {
  const workers: Worker[] = []
  const seen = (worker: Worker) => void workers.push(worker)
  process.on('worker', seen)
  const fresh = await createWorld({ engine: { readers: 2 } })
  try {
    const started = workers.length
    await fresh.ask('GET /api/products/1')
    await fresh.ask('GET /api/products?category=lighting&sort=price')
    assert.equal(workers.length, started)
    assert.equal((await fresh.ask(`GET ${slowPath}`)).status, 200)
    assert.equal(workers.length, started + 1)
  } finally {
    process.off('worker', seen)
    await fresh.close()
  }
})
