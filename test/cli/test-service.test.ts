/** Checks `duet/test`: the service that a content's own tests start, on a file of its own or on a database. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startService } from 'duet/test'
import blog from '../../examples/blog/duet.config.ts'
import { folderOf } from '../duet.ts'
import { onPostgres } from '../stores.ts'

const { freshStore } = folderOf('test-service')

test('a service for a test has the rows that it is given, and tokens for them', async () => {
  const own = onPostgres ? (await freshStore({ bare: true })).settings : {}
  const rows = { author: ['Ada', 'Bo'].map(name => ({ name, email: `${name}@example.org` })) }
  const listeners = process.listenerCount('exit')
  const service = await startService(blog, { rows, settings: { ...own, DUET_PORT: '0' } })
  const change = (id: number, token: string) =>
    fetch(`${service.url}/api/authors/${id}`, {
      method: 'PATCH',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: '{"name":"Cy"}',
    })
  const token = await service.token({ sub: 2 })
  assert.equal((await change(1, token)).status, 403)
  const changed = await change(2, token)
  assert.equal(changed.status, 200)
  assert.match(await changed.text(), /"name":"Cy"/)
  await service.stop()
  await assert.rejects(fetch(service.url))
  // Of those of many tests Node would warn.
  assert.equal(process.listenerCount('exit'), listeners)
})

test('a service for a test says what is wrong with its settings', async () => {
  const settings = { DUET_QUEUE_WAIT: 'long' }
  await assert.rejects(startService(blog, { settings }), /DUET_QUEUE_WAIT must be/)
})
