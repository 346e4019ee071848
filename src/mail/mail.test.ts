/** How many messages an address gets, by a clock that may be set back. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Event } from '#observe.ts'
import { message } from '../../test/mail-server.ts'
import { createMail, createOutbox, type Letter } from './mail.ts'

const hour = 3_600_000

test('an address that got its five messages gets more where the clock was set back by more than an hour', async t => {
  let time = 10 * hour
  const events: Event[] = []
  const mail = createMail({
    now: () => time,
    observe: event => void events.push(event),
    delivery: { kind: 'shown' },
  })
  t.after(() => mail.close(0))
  const letter = { recipient: 3, address: 'ada@example.org', compose: () => message }
  const refused = () => events.filter(({ kind }) => kind === 'mail failed').length
  for (let asked = 0; asked < 6; asked++) mail.send(letter)
  assert.equal(refused(), 1)
  time -= 1
  mail.send(letter)
  assert.equal(refused(), 2)
  time -= 2 * hour
  mail.send(letter)
  assert.equal(refused(), 2)
})

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
