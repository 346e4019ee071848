import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startService } from 'duet/test'
import content from '#content/duet.config.ts'

test('a service for a test has the rows that it is given, and tokens for them', async () => {
  const user = [
    { name: 'Ada', email: 'ada@example.org', role: 'admin' },
    { name: 'Bo', email: 'bo@example.org' },
  ]
  const service = await startService(content, { rows: { user } })
  const authorization = `Bearer ${await service.token({ sub: 1, role: 'admin' })}`
  const answer = await fetch(`${service.url}/api/users/2`, { headers: { authorization } })
  assert.equal(answer.status, 200)
  assert.match(await answer.text(), /"email":"bo@example.org"/)
  await service.stop()
  await assert.rejects(fetch(service.url))
})

test('a service for a test says what is wrong with its settings', async () => {
  const settings = { DUET_QUEUE_WAIT: 'long' }
  await assert.rejects(startService(content, { settings }), /DUET_QUEUE_WAIT must be/)
})
