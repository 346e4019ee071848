/** How the queue of letters ends. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Letter } from '#mail/letter.ts'
import { createOutbox } from '#mail/outbox.ts'
import type { Event } from '#observe.ts'

const letterTo = (recipient: number): Letter => ({
  recipient,
  address: 'a@example.org',
  compose: () => ({ to: '', subject: '', text: '' }) as never,
})

/** The timers that keep the process alive. */
const timers = (): number =>
  process.getActiveResourcesInfo().filter(name => name === 'Timeout').length

test('the end waits for letters as long as it is told, keeps the process alive meanwhile, and says which were dropped', async () => {
  const events: Event[] = []
  const pace = { size: 9, atOnce: 1, retryAfter: 1000 }
  const never = () => new Promise<void>(() => {})
  const outbox = createOutbox(never, event => void events.push(event), pace)
  outbox.put(letterTo(1))
  outbox.put(letterTo(2))
  const before = timers()
  const closed = outbox.close(10)
  assert.equal(timers(), before + 1)
  await closed
  assert.equal(timers(), before)
  assert.deepEqual(events, [{ kind: 'mail failed', recipient: 2, reason: 'closed', again: false }])
})
