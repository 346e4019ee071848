/** Key sets from a server: how often it is asked, and what becomes of tokens when it is away. */
import assert from 'node:assert/strict'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, type TestContext, test } from 'node:test'
import {
  algs,
  badSignature,
  ec,
  ed,
  issuers,
  rsa,
  unknownKey,
  user,
  worldOf,
} from '../../test/support/authenticator.ts'
import { isAway, isRefused, issuer, setOf, start } from '../../test/support/tokens.ts'
import { until } from '../../test/support/wait.ts'
import { readUrlText } from './key-set.ts'

/** A server of key sets; `answer` is what it does, to be changed while it runs. */
const withServer = async (t: TestContext, answer: (response: ServerResponse) => void) => {
  const state = { hits: 0, answer }
  const server = createServer((_, response) => {
    state.hits++
    state.answer(response)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks`
  return { state, url, ...worldOf({ jwksUrl: url }) }
}

/** A server that answers with this text. */
const gives = (text: string) => (response: ServerResponse) => void response.end(text)

/** A server that answers 500. */
const fails = (response: ServerResponse) => void response.writeHead(500).end('no')

describe('a key set from a server', () => {
  test('a key set from a server is fetched once, at the first token, however many come at once', async t => {
    const { state, ask } = await withServer(t, gives(setOf(ed, ec, rsa)))
    assert.equal(state.hits, 0)
    const tokens = Array.from({ length: 100 }, (_, at) => ed.token({ sub: String(at + 1) }))
    await Promise.all(tokens.map(ask))
    for (const by of algs) assert.deepEqual(await ask(issuers[by].token()), user)
    assert.equal(state.hits, 1)
  })

  test('a key set from a server is fetched again every 5 minutes of use, and remembered tokens outlast it', async t => {
    const { state, clock, ask, atOnce } = await withServer(t, gives(setOf(ed)))
    const token = ed.token()
    const other = ed.token({ sub: '8' })
    await ask(token)
    await ask(other)
    clock.seconds += 299.9
    assert.equal(atOnce(token), true)
    assert.deepEqual(await ask(ed.token({ sub: '9' })), { id: 9, role: 'user' })
    assert.equal(state.hits, 1)
    clock.seconds += 0.1
    assert.deepEqual(await ask(token), user)
    assert.equal(state.hits, 2)
    assert.equal(atOnce(other), true)
  })

  test('a key set from a server is rotated three times: every key counts while it is in the set, and within 5 minutes not after [E7]', async t => {
    const { state, clock, ask, atOnce } = await withServer(t, gives(setOf(ed)))
    let current = ed
    for (const kid of ['first', 'second', 'third']) {
      const next = issuer('EdDSA', kid)
      const old = current.token({ iat: clock.seconds, exp: clock.seconds + 3600 })
      const fresh = next.token({ iat: clock.seconds, exp: clock.seconds + 3600 })
      assert.deepEqual(await ask(old), user)
      state.answer = gives(setOf(current, next))
      clock.seconds += 30
      assert.deepEqual(await ask(fresh), user)
      assert.equal(atOnce(old), true)
      state.answer = gives(setOf(next))
      clock.seconds += 299.9
      assert.deepEqual(await ask(old), user)
      clock.seconds += 0.1
      await assert.rejects(ask(old), isRefused(unknownKey))
      assert.deepEqual(await ask(fresh), user)
      current = next
    }
  })

  test('a key set from a server that takes a key back ends its remembered tokens at the next fetch, whatever caused it', async t => {
    const { state, clock, ask } = await withServer(t, gives(setOf(ed, ec)))
    await ask(ed.token())
    state.answer = gives(setOf(ec))
    clock.seconds += 30
    await assert.rejects(ask(issuer('ES256', 'x').token()), isRefused(unknownKey))
    await assert.rejects(ask(ed.token()), isRefused(unknownKey))
  })

  test('a key set from a server that has a new key under an old kid refuses tokens of the old key', async t => {
    const { state, clock, ask } = await withServer(t, gives(setOf(ed)))
    await ask(ed.token())
    const renewed = issuer('EdDSA', 'EdDSA')
    state.answer = gives(setOf(renewed))
    clock.seconds += 300
    await assert.rejects(ask(ed.token()), isRefused(badSignature))
    assert.deepEqual(await ask(renewed.token()), user)
  })

  test('a key set from a server that lacks a key is fetched again for it no sooner than 30 seconds after the last time', async t => {
    const { state, clock, ask } = await withServer(t, gives(setOf(ed)))
    await ask(ed.token())
    state.answer = gives(setOf(ed, ec))
    clock.seconds += 29.9
    await assert.rejects(ask(ec.token()), isRefused(unknownKey))
    assert.equal(state.hits, 1)
    clock.seconds += 0.1
    assert.deepEqual(await ask(ec.token()), user)
    assert.equal(state.hits, 2)
  })

  test('a key set from a server is fetched at most 3 times in a minute of 10,000 unknown kids, and good tokens go on [E8]', async t => {
    const { state, clock, ask, atOnce } = await withServer(t, gives(setOf(ed)))
    const good = ed.token()
    await ask(good)
    const [, payload, signature] = good.split('.')
    for (let batch = 0; batch < 60; batch++) {
      clock.seconds = start + batch
      const flood = Array.from({ length: 167 }, (_, at) => {
        const header = JSON.stringify({ alg: 'EdDSA', kid: `${batch}-${at}` })
        return ask(`${Buffer.from(header).toString('base64url')}.${payload}.${signature}`)
      })
      assert.equal(atOnce(good), true)
      for (const { status } of await Promise.allSettled(flood)) assert.equal(status, 'rejected')
    }
    assert.ok(state.hits <= 3, `${state.hits} fetches`)
  })
})

describe('a server of key sets that is away', () => {
  test('before it gave any keys is 503 with the seconds to the next try, and tried once in them', async t => {
    const { state, clock, ask } = await withServer(t, fails)
    const asked = await Promise.allSettled(Array.from({ length: 50 }, () => ask(ed.token())))
    for (const { status } of asked) assert.equal(status, 'rejected')
    await assert.rejects(ask(ed.token()), isAway(5))
    clock.seconds += 3.5
    await assert.rejects(ask(ed.token()), isAway(2))
    assert.equal(state.hits, 1)
    state.answer = gives(setOf(ed))
    clock.seconds += 1.5
    assert.deepEqual(await ask(ed.token()), user)
    assert.equal(state.hits, 2)
  })

  test('a server of key sets that is away for 59 minutes leaves the known keys working, remembered or not, and nobody waits [E9]', async t => {
    const { state, clock, ask, atOnce } = await withServer(t, gives(setOf(ed)))
    const token = ed.token({ exp: start + 80_000 })
    await ask(token)
    state.answer = fails
    for (clock.seconds += 300; clock.seconds < start + 3_600; clock.seconds += 300) {
      assert.deepEqual(await ask(token), user)
      assert.deepEqual(await ask(ed.token({ sub: '8', exp: start + 80_000 })), {
        id: 8,
        role: 'user',
      })
      assert.equal(atOnce(token), true)
      // Waits for the attempt to read the set, before which the clock may not go on.
      await assert.rejects(ask(ec.token()), isAway(5))
    }
    clock.seconds = start + 3_600
    await assert.rejects(ask(token), isAway(5))
    state.answer = gives(setOf(ed))
    clock.seconds += 5
    assert.deepEqual(await ask(token), user)
  })

  test('a server of key sets that is away leaves open whether an unknown key is good: 503, while a forged signature stays 401', async t => {
    const { state, clock, ask } = await withServer(t, gives(setOf(ed)))
    await ask(ed.token())
    state.answer = fails
    clock.seconds += 30
    await assert.rejects(ask(ec.token()), isAway(5))
    await assert.rejects(ask(ec.token({}, { alg: 'EdDSA', kid: 'EdDSA' })), isRefused(badSignature))
    state.answer = gives(setOf(ed))
    clock.seconds += 5
    await assert.rejects(ask(ec.token()), isRefused(unknownKey))
  })

  test('a server of key sets that is away and hangs is not waited for where keys are known and it was away before', async t => {
    const { state, clock, ask, atOnce } = await withServer(t, gives(setOf(ed)))
    await ask(ed.token())
    state.answer = fails
    clock.seconds += 300
    await ask(ed.token({ sub: '8' }))
    state.answer = () => {}
    clock.seconds += 5
    assert.deepEqual(await ask(ed.token()), user)
    assert.equal(atOnce(ed.token()), true)
  })

  test('a server of key sets that is away and closes the connection is 503', async t => {
    const { ask } = await withServer(t, response => void response.destroy())
    await assert.rejects(ask(ed.token()), isAway(5))
  })

  const latin1 = Buffer.from(setOf({ jwk: { ...ed.jwk, note: 'é' } }), 'latin1')
  const answers: readonly (readonly [string, (response: ServerResponse) => void])[] = [
    ['404', response => void response.writeHead(404).end(setOf(ed))],
    ['204', response => void response.writeHead(204).end()],
    ['206', response => void response.writeHead(206).end(setOf(ed))],
    ['a page', gives('<!doctype html>')],
    ['nothing', gives('')],
    ['null', gives('null')],
    ['a list', gives('[]')],
    ['a set without keys', gives('{}')],
    ['a set whose keys are an object', gives('{"keys":{"0":1}}')],
    ['a set above 64 KiB', gives(setOf(ed) + ' '.repeat(65_536))],
    ['bytes that are no UTF-8', response => void response.end(latin1)],
  ]
  for (const [name, answer] of answers)
    test(`a server of key sets that is away answers ${name}: 503`, async t => {
      const { ask } = await withServer(t, answer)
      await assert.rejects(ask(ed.token()), isAway(5))
    })

  test('a server of key sets that is away answers a set of exactly 64 KiB, which is read', async t => {
    const { ask } = await withServer(t, gives(setOf(ed).padEnd(65_536)))
    assert.deepEqual(await ask(ed.token()), user)
  })

  for (const status of [301, 302, 303, 307, 308])
    test(`a server of key sets that is away answers ${status}, which is not followed [E9, F7]`, async t => {
      const trap = await withServer(t, gives(setOf(ed)))
      const { ask } = await withServer(
        t,
        response => void response.writeHead(status, { location: trap.url }).end(),
      )
      await assert.rejects(ask(ed.token()), isAway(5))
      assert.equal(trap.state.hits, 0)
    })

  test('a server of key sets that is away answers without end, which is cut off after 64 KiB [E9]', async t => {
    let sent = 0
    let closed = false
    const { ask } = await withServer(t, response => {
      const chunk = Buffer.alloc(65_536, 'a')
      const more = () => {
        while (!closed && sent < 120e6) {
          sent += chunk.length
          if (!response.write(chunk)) return
        }
      }
      response.on('drain', more)
      response.on('close', () => {
        closed = true
      })
      more()
    })
    const before = process.memoryUsage().rss
    await assert.rejects(ask(ed.token()), isAway(5))
    await until('the connection is closed', () => closed)
    assert.ok(sent < 16e6, `${sent} bytes were taken`)
    assert.ok(process.memoryUsage().rss - before < 32e6)
  })

  test('a server of key sets that is away is given up after the time to wait', async t => {
    const { url } = await withServer(t, () => {})
    await assert.rejects(readUrlText(new URL(url), 50), { name: 'TimeoutError' })
  })

  test('a server of key sets that is away is given up where it drips its answer [E9]', async t => {
    const { url } = await withServer(t, response => {
      const drip = setInterval(() => response.write(' '), 10)
      response.on('close', () => clearInterval(drip))
    })
    await assert.rejects(readUrlText(new URL(url), 60), { name: 'TimeoutError' })
  })
})
