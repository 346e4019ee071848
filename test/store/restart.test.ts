/** The end of a service and the start of the next, as its callers see them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { folderOf, serve } from '../duet.ts'
import { busyReader } from '../support/busy-reader.ts'
import { until } from '../support/wait.ts'

const { freshStore } = folderOf('restart')

test('SIGTERM cuts none of 16 busy keep-alive clients: they are told that an answer is the last', async () => {
  const { settings } = await freshStore()
  for (const thinks of [0, 100]) {
    const service = await serve(settings)
    const clients = Array.from({ length: 16 }, () => busyReader(service, thinks))
    await until('each has some answers', () => clients.every(({ seen }) => seen.answers > 3))
    const ended = service.end('SIGTERM')
    await Promise.all(clients.map(({ closed }) => closed))
    assert.equal((await ended).code, 0)
    assert.equal(clients.filter(({ seen }) => seen.cut).length, 0)
    // Most of them: on a busy machine one may not ask in time, and is closed while it is idle.
    assert.ok(clients.filter(({ seen }) => seen.told).length >= 8)
  }
})
