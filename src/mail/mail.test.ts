/** How many messages an address gets, by a clock that may be set back. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Event } from '#observe.ts'
import { message } from '../../test/mail-server.ts'
import { createMail } from './mail.ts'

const hour = 3_600_000

test('an address that got its five messages gets more where the clock was set back by more than an hour [A21]', async () => {
  let time = 10 * hour
  const events: Event[] = []
  const mail = createMail({
    now: () => time,
    observe: event => void events.push(event),
    delivery: { kind: 'shown' },
  })
  const { signal } = new AbortController()
  const letter = { recipient: 3, address: 'ada@example.org', compose: () => message }
  const refused = () => events.filter(({ kind }) => kind === 'mail failed').length
  for (let asked = 0; asked < 6; asked++) await mail.send(letter, signal)
  assert.equal(refused(), 1)
  time -= 1
  await mail.send(letter, signal)
  assert.equal(refused(), 2)
  time -= 2 * hour
  await mail.send(letter, signal)
  assert.equal(refused(), 2)
})
