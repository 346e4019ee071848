/** How many messages an address gets, by a clock that may be set back. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Event } from '#observe.ts'
import { mailServer, message } from '../../test/mail-server.ts'
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

test('a letter that can never be sent is given up at once, and one that may be sent later is not', async t => {
  const server = await mailServer({ refuse: { code: 451, times: 1 } })
  t.after(() => server.close())
  const events: Event[] = []
  const mail = createMail({
    now: () => 0,
    observe: event => void events.push(event),
    delivery: { kind: 'smtp', url: server.url, from: 'duet@example.org' },
  })
  const { signal } = new AbortController()
  const send = (address: string) =>
    mail.send({ recipient: 3, address, compose: () => ({ ...message, to: { address } }) }, signal)
  const told = () => {
    const [event] = events.splice(0)
    return event?.kind === 'mail failed' ? [event.reason, event.again] : []
  }
  await assert.rejects(send('ada@example.org'))
  assert.deepEqual(told(), ['EENVELOPE 451', true])
  const faulty = [
    ['', 'no address'],
    [null as never, 'no address'],
    [' ', 'EENVELOPE'],
    ['nobody', 'EENVELOPE 501'],
    ['ada lovelace@example.org', 'EENVELOPE 501'],
    ['ada>b@example.org', 'EENVELOPE 501'],
  ] as const
  for (const [address, reason] of faulty) {
    await send(address)
    assert.deepEqual(told(), [reason, false], address)
  }
})

test('a letter waits for the operator who mends the password at the mail server', async t => {
  const server = await mailServer({ password: 'right' })
  t.after(() => server.close())
  const events: Event[] = []
  const sendAs = (password: string) =>
    createMail({
      now: () => 0,
      observe: event => void events.push(event),
      delivery: {
        kind: 'smtp',
        url: server.url.replace('//', `//duet:${password}@`),
        from: 'duet@example.org',
      },
    }).send(
      { recipient: 3, address: 'ada@example.org', compose: () => message },
      new AbortController().signal,
    )
  await assert.rejects(sendAs('wrong'))
  const [event] = events
  assert.ok(event?.kind === 'mail failed')
  assert.deepEqual([event.reason, event.again], ['EAUTH 535', true])
  await sendAs('right')
  assert.equal(events.length, 1)
})
