/** The memory of verified tokens: how long they count, and how many are kept. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { anonymous } from '#model/policy.ts'
import { badSignature, user, worldOf } from '../../test/support/authenticator.ts'
import {
  claims,
  hmac,
  hs256,
  isRefused,
  secret,
  signToken,
  start,
  viewers,
} from '../../test/support/tokens.ts'
import { createAuthenticator } from './authenticate.ts'
import { createVerified } from './verified.ts'

describe('a token that was verified', () => {
  const expired = 'The token has expired'

  test('a token that was verified is answered at once from then on, by the same viewer', async () => {
    const { authenticate } = worldOf()
    const header = `Bearer ${hs256()}`
    const first = authenticate(header)
    assert.ok(first instanceof Promise)
    const viewer = await first
    assert.equal(authenticate(header), viewer)
    assert.deepEqual(viewer, user)
  })

  test('a token that was verified is refused at its first use after exp and the skew, for 1,000 tokens', async () => {
    const { clock, ask, authenticate } = worldOf()
    const tokens = Array.from({ length: 1_000 }, (_, at) =>
      hs256({ sub: String(at + 1), exp: start + 60 }),
    )
    await Promise.all(tokens.map(ask))
    clock.seconds = start + 64.999
    for (const token of tokens) assert.ok(!(authenticate(`Bearer ${token}`) instanceof Promise))
    clock.seconds = start + 65
    for (const token of tokens) await assert.rejects(ask(token), isRefused(expired))
    await assert.rejects(ask(tokens[0] ?? ''), isRefused(expired))
  })

  test('a token that was verified is refused where the clock has gone back before its nbf', async () => {
    const { clock, ask } = worldOf()
    const token = hs256({ nbf: start })
    await ask(token)
    clock.seconds = start - 5
    assert.deepEqual(await ask(token), user)
    clock.seconds = start - 5.001
    await assert.rejects(ask(token), isRefused('The token is not valid yet'))
  })

  test('a token that was verified does not vouch for one that differs in a character', async () => {
    const { ask } = worldOf()
    const token = hs256()
    await ask(token)
    await assert.rejects(ask(token.replace(/.$/, last => (last === 'A' ? 'E' : 'A'))), {
      code: 'UNAUTHENTICATED',
    })
  })

  test('a token that was verified does not vouch for itself where another secret is set', async () => {
    await worldOf().ask(hs256())
    const other = createAuthenticator(
      { secret: [...secret].reverse().join('') },
      viewers,
      () => start * 1000,
    )
    await assert.rejects(async () => other(`Bearer ${hs256()}`), isRefused(badSignature))
  })

  test('a token that was verified is still answered at once after 10,000 tokens that failed', async () => {
    const { send, ask, authenticate } = worldOf()
    const header = `Bearer ${hs256()}`
    await send(header)
    const forged = signToken({ alg: 'RS256' }, claims(), hmac(secret))
    const failures = Array.from({ length: 10_001 }, (_, at) =>
      ask(`${forged.slice(0, -4)}${1000 + at}`),
    )
    const settled = await Promise.allSettled(failures)
    assert.ok(settled.every(({ status }) => status === 'rejected'))
    assert.ok(!(authenticate(header) instanceof Promise))
  })
})

describe('the memory of verified tokens', () => {
  const grant = { viewer: anonymous, from: -Infinity, until: 10_000 }
  const key = { alg: 'HS256', key: {} as CryptoKey, from: -Infinity, until: Infinity }

  test('the memory of verified tokens holds at most 10,000 tokens of 25,000, the newest 5,000 among them', () => {
    const verified = createVerified(() => 0)
    let most = 0
    for (let at = 1; at <= 25_000; at++) {
      verified.add(`Bearer ${at}`, grant, key)
      most = Math.max(most, verified.size())
    }
    assert.equal(most, 10_000)
    for (let at = 20_001; at <= 25_000; at++)
      assert.equal(verified.viewerOf(`Bearer ${at}`), anonymous)
    assert.equal(verified.viewerOf('Bearer 15000'), undefined)
  })

  test('the memory of verified tokens keeps a token that is in use, however many others come', () => {
    const verified = createVerified(() => 0)
    verified.add('in use', grant, key)
    for (let at = 1; at <= 100_000; at++) {
      verified.add(`Bearer ${at}`, grant, key)
      if (at % 1_000 === 0) assert.equal(verified.viewerOf('in use'), anonymous)
    }
  })

  test('the memory of verified tokens begins and ends at the times of the token', () => {
    let time = 0
    const verified = createVerified(() => time)
    verified.add('a', { ...grant, from: 100 }, key)
    time = 99
    assert.equal(verified.viewerOf('a'), undefined)
    time = 100
    assert.equal(verified.viewerOf('a'), anonymous)
    time = 9_999
    assert.equal(verified.viewerOf('a'), anonymous)
    time = 10_000
    assert.equal(verified.viewerOf('a'), undefined)
  })

  test('believes a key until its time and again when that is put off', () => {
    let time = 0
    const leased = { ...key, until: 100 }
    const verified = createVerified(() => time)
    verified.add('a', grant, leased)
    time = 100
    assert.equal(verified.viewerOf('a'), undefined)
    leased.until = 200
    assert.equal(verified.viewerOf('a'), anonymous)
  })

  test('asks for a key again where the clock has gone back before it was read', () => {
    let time = 100
    const verified = createVerified(() => time)
    verified.add('a', grant, { ...key, from: 100 })
    assert.equal(verified.viewerOf('a'), anonymous)
    time = 99
    assert.equal(verified.viewerOf('a'), undefined)
  })
})
