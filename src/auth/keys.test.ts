/** Key sets: which key is asked for a token, and how long those of a file are trusted. */
import assert from 'node:assert/strict'
import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import {
  algs,
  badAlg,
  badSignature,
  ec,
  ed,
  issuers,
  keyFiles,
  rsa,
  unknownKey,
  user,
  worldOf,
} from '../../test/support/authenticator.ts'
import {
  claims,
  hmac,
  isAway,
  isRefused,
  issuer,
  secret,
  setOf,
  signToken,
  start,
  weakRsa,
} from '../../test/support/tokens.ts'
import { renewing, tokenKeysOf } from './keys.ts'

const { fileOf, withFile } = keyFiles()

/** Replaces a file as a whole, as an operator should. */
const replace = (path: string, text: string) => {
  writeFileSync(`${path}.new`, text)
  renameSync(`${path}.new`, path)
}

describe('algorithms, where a key set is configured', () => {
  for (const by of algs)
    test(`a token signed by ${by} is accepted, with its kid or without`, async () => {
      const { ask, atOnce } = withFile(setOf(ed, ec, rsa))
      const token = issuers[by].token()
      assert.deepEqual(await ask(token), user)
      assert.equal(atOnce(token), true)
      assert.deepEqual(await ask(issuers[by].token({ role: 'admin' }, { kid: undefined })), {
        id: 7,
        role: 'admin',
      })
    })

  for (const named of algs)
    for (const signer of algs)
      for (const kid of algs) {
        if (named === signer && signer === kid) continue
        const why = named === kid ? badSignature : unknownKey
        test(`alg ${named} and kid ${kid}, signed by the ${signer} key, is refused [E1]`, () =>
          assert.rejects(
            withFile(setOf(ed, ec, rsa)).ask(issuers[signer].token({}, { alg: named, kid })),
            isRefused(why),
          ))
      }

  for (const by of algs) {
    const { publicKey, jwk } = issuers[by]
    const spki = { type: 'spki' } as const
    const publicTexts = {
      PEM: publicKey.export({ ...spki, format: 'pem' }),
      'PEM without its last line feed': String(publicKey.export({ ...spki, format: 'pem' })).trim(),
      DER: publicKey.export({ ...spki, format: 'der' }),
      JWK: JSON.stringify(jwk),
    }
    for (const [form, bytes] of Object.entries(publicTexts))
      test(`HS256 with the public ${by} key as ${form} for its secret is refused [E1]`, async () => {
        const { ask } = withFile(setOf(ed, ec, rsa))
        const forged = (alg: string) => signToken({ alg, kid: by }, claims(), hmac(bytes))
        await assert.rejects(ask(forged('HS256')), isRefused(badAlg))
        await assert.rejects(ask(forged(by)), isRefused(badSignature))
      })
  }

  for (const alg of [
    'none',
    'None',
    'HS256',
    'HS512',
    'RS384',
    'RS512',
    'PS256',
    'ES384',
    'ES256K',
    'Ed25519',
  ])
    test(`alg ${alg} is refused`, () =>
      assert.rejects(withFile(setOf(ed, ec, rsa)).ask(rsa.token({}, { alg })), isRefused(badAlg)))

  test('a secret key in a set is no key', async () => {
    const oct = {
      jwk: { kty: 'oct', k: Buffer.from(secret).toString('base64url'), alg: 'HS256', kid: 'o' },
    }
    const forged = signToken({ alg: 'HS256', kid: 'o' }, claims(), hmac(secret))
    await assert.rejects(withFile(setOf(oct, ed)).ask(forged), isRefused(badAlg))
  })

  test('RSA of 1,024 bits beside a good key is not accepted [E10]', async () => {
    const weak = weakRsa('weak')
    const { ask } = withFile(setOf(weak, ed))
    await assert.rejects(ask(weak.token()), isRefused(unknownKey))
    assert.deepEqual(await ask(ed.token()), user)
  })

  test('keys that cannot be used do not spoil the others', async () => {
    const set = JSON.stringify({
      keys: [null, 1, 'x', [], {}, { kty: 'OKP' }, { ...ec.jwk, x: '!' }, ed.jwk],
    })
    const { ask } = withFile(set)
    assert.deepEqual(await ask(ed.token()), user)
    await assert.rejects(ask(ec.token()), isRefused(unknownKey))
  })

  test('of two keys that fit, a token without kid is refused', async () => {
    const other = issuer('EdDSA', 'other')
    const { ask } = withFile(setOf(ed, other))
    assert.deepEqual(await ask(other.token()), user)
    await assert.rejects(
      ask(ed.token({}, { kid: undefined })),
      isRefused('The token does not say which of several keys signed it'),
    )
  })

  test('a key that stands twice in a set is one', async () =>
    assert.deepEqual(await withFile(setOf(ed, ed)).ask(ed.token({}, { kid: undefined })), user))
})

describe('a key set in a file', () => {
  const next = issuer('EdDSA', 'next')

  test('a key set in a file is read again 5 seconds later: a new key counts, a removed one does not [E7]', async () => {
    const { path, clock, ask, atOnce } = withFile(setOf(ed))
    const token = ed.token()
    await ask(token)
    replace(path, setOf(next))
    clock.seconds += 4.9
    assert.equal(atOnce(token), true)
    await assert.rejects(ask(next.token()), isRefused(unknownKey))
    clock.seconds += 0.1
    await assert.rejects(ask(token), isRefused(unknownKey))
    assert.deepEqual(await ask(next.token()), user)
  })

  test('a key set in a file that stays the same leaves verified tokens verified', async () => {
    const { path, clock, ask, atOnce } = withFile(setOf(ed))
    const token = ed.token()
    await ask(token)
    replace(path, setOf(next, ed))
    clock.seconds += 5
    await ask(next.token())
    assert.equal(atOnce(token), true)
  })

  test('a key set in a file that is emptied takes every token back', async () => {
    const { path, clock, ask } = withFile(setOf(ed))
    await ask(ed.token())
    replace(path, '{"keys":[]}')
    clock.seconds += 5
    await assert.rejects(ask(ed.token()), isRefused(unknownKey))
  })

  for (const [name, spoil] of [
    ['broken', (path: string) => replace(path, '{"keys":[')],
    ['removed', (path: string) => rmSync(path)],
  ] as const)
    test(`a key set in a file that is ${name} leaves its last keys for an hour, then nothing`, async () => {
      const { path, clock, ask } = withFile(setOf(ed))
      const long = ed.token({ exp: start + 80_000 })
      spoil(path)
      clock.seconds += 5
      assert.deepEqual(await ask(long), user)
      await assert.rejects(ask(next.token()), isAway(5))
      clock.seconds = start + 3_599
      assert.deepEqual(await ask(long), user)
      // That one waited for no read; this one waits for it to end, before the clock moves on.
      await assert.rejects(ask(next.token()), isAway(5))
      clock.seconds = start + 3_600
      await assert.rejects(ask(long), isAway(4))
      replace(path, setOf(ed))
      clock.seconds += 5
      assert.deepEqual(await ask(long), user)
    })
})

describe('key sets of random damage', () => {
  test('accept no forged token and break nothing, 1,000 times [F10]', async () => {
    let state = 7
    const random = (below: number) => {
      state = (state * 48_271) % 2_147_483_647
      return state % below
    }
    const whole = setOf(ed, ec, rsa)
    const path = fileOf(whole)
    const { clock, ask } = worldOf({ jwksFile: path })
    const forged = issuer('EdDSA', 'EdDSA').token()
    const signs = '{}[]",:0\\nulltrue\u0000é'
    for (let round = 0; round < 1_000; round++) {
      const at = random(whole.length)
      const cut = random(3) === 0 ? random(whole.length) : 1
      writeFileSync(path, whole.slice(0, at) + signs[random(signs.length)] + whole.slice(at + cut))
      clock.seconds = start + (round % 2) * 5 + Math.floor(round / 2)
      await assert.rejects(ask(forged), (error: { status: number }) =>
        [401, 503].includes(error.status),
      )
    }
  })
})

const name = { alg: 'EdDSA', kid: 'EdDSA' }

/** Keys of a set that was read at 0, and is due at 100. */
const withSource = () => {
  const clock = { now: 0 }
  const state = { read: async () => setOf(ed) }
  const source = { read: () => state.read(), freshFor: 100, coolDown: 10 }
  return { clock, state, find: renewing(source, () => clock.now, setOf(ed)) }
}

const never = () => new Promise<string>(() => {})

test('a key is not trusted while its set is read again, as the set may lack it now', async () => {
  const { clock, state, find } = withSource()
  const key = await find(name)
  assert.equal(key.until, 100)
  state.read = never
  clock.now = 100
  void find(name)
  assert.equal(key.until, 100)
})

test('known keys are given at once while a source that was away is asked again', async () => {
  const { clock, state, find } = withSource()
  state.read = () => Promise.reject(new Error('away'))
  clock.now = 100
  await find(name)
  state.read = never
  clock.now += 5_000
  let isFound = false
  void find(name).then(() => {
    isFound = true
  })
  await turn()
  assert.equal(isFound, true)
})

test('a set is read again where the clock was set back, and a key that it lacks now counts no more [A21]', async () => {
  const { clock, state, find } = withSource()
  const key = await find(name)
  const next = issuer('EdDSA', 'next')
  state.read = async () => setOf(next)
  clock.now = -7_200_000
  const renewed = await find({ ...name, kid: 'next' })
  assert.deepEqual([renewed.from, renewed.until], [clock.now, clock.now + 100])
  assert.ok(key.until < clock.now)
  await assert.rejects(find(name), { code: 'UNAUTHENTICATED' })
})

test('a set that cannot be read where the clock was set back is known for an hour from then', async () => {
  const { clock, state, find } = withSource()
  state.read = () => Promise.reject(new Error('away'))
  clock.now = -7_200_000
  const key = await find(name)
  assert.equal(key.until, clock.now + 5_000)
  clock.now += 3_599_999
  assert.equal(await find(name), key)
  clock.now += 1
  await assert.rejects(find(name), { code: 'UNAVAILABLE' })
})

test('the key made of a secret cannot be taken out of it again', async () => {
  const keys = tokenKeysOf({ secret: 'kX9vQ2mT7pLwZ4rB8nYc5hJd1sGf6aEu3oNi0tRq' }, () => 0)
  const { key } = await keys.find({ alg: 'HS256', kid: undefined })
  assert.ok('extractable' in key && key.extractable === false)
})
