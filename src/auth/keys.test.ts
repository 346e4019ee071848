/**
 * The sources of keys and how long they are trusted: secrets, key sets in files, key sets from a
 * server.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, type TestContext, test } from 'node:test'
import {
  type Alg,
  claims,
  hmac,
  type Issuer,
  isAway,
  isRefused,
  issuer,
  type Json,
  secret,
  setOf,
  signToken,
  start,
  viewers,
  weakRsa,
} from '../../test/support/tokens.ts'
import { until } from '../../test/support/wait.ts'
import { type AuthConfig, createAuthenticator } from './authenticate.ts'
import { readUrlText } from './read.ts'

const user = { id: 7, role: 'user' }
const unknownKey = 'The token is signed by an unknown key'
const badSignature =
  'The signature does not fit: the token was made with another key, or changed since'
const badAlg = 'The token is signed in a way that is not accepted here'
const algs = ['EdDSA', 'ES256', 'RS256'] as const
const issuers = Object.fromEntries(algs.map(alg => [alg, issuer(alg, alg)])) as Record<Alg, Issuer>
const [ed, ec, rsa] = [issuers.EdDSA, issuers.ES256, issuers.RS256]

const folder = mkdtempSync(join(tmpdir(), 'duet-keys-'))
after(() => rmSync(folder, { recursive: true }))

let files = 0
const fileOf = (text: string): string => {
  const path = join(folder, `${++files}.json`)
  writeFileSync(path, text)
  return path
}

/** Replaces a file as a whole, as an operator should. */
const replace = (path: string, text: string) => {
  writeFileSync(`${path}.new`, text)
  renameSync(`${path}.new`, path)
}

const worldOf = (config: AuthConfig, clock = { seconds: start }) => {
  const authenticate = createAuthenticator(config, viewers, () => clock.seconds * 1000)
  const ask = async (token: string) => authenticate(`Bearer ${token}`)
  const atOnce = (token: string) => {
    const answer = authenticate(`Bearer ${token}`)
    if (!(answer instanceof Promise)) return true
    answer.catch(() => {})
    return false
  }
  return { clock, ask, atOnce }
}

const withFile = (text: string) => {
  const path = fileOf(text)
  return { path, ...worldOf({ jwksFile: path }) }
}

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

const gives = (text: string) => (response: ServerResponse) => void response.end(text)
const fails = (response: ServerResponse) => void response.writeHead(500).end('no')

describe('a configuration that is refused at the start', () => {
  const file = fileOf(setOf(ed))
  const repeated = (part: string) => part.repeat(40).slice(0, 40)
  const cases: readonly (readonly [string, AuthConfig, RegExp])[] = [
    ['nothing set', {}, /no key.*DUET_AUTH_SECRET, DUET_JWKS_URL, DUET_JWKS_FILE/],
    ['secret and file', { secret, jwksFile: file }, /DUET_AUTH_SECRET and DUET_JWKS_FILE are both/],
    [
      'secret and address',
      { secret, jwksUrl: 'https://id.example/' },
      /DUET_AUTH_SECRET and DUET_JWKS_URL/,
    ],
    [
      'address and file',
      { jwksUrl: 'https://id.example/', jwksFile: file },
      /DUET_JWKS_URL and DUET_JWKS_FILE/,
    ],
    ['an empty secret', { secret: '' }, /0 bytes/],
    ['a secret of 4 bytes', { secret: 'abcd' }, /4 bytes, and at least 32/],
    ['a secret of 31 bytes', { secret: secret.slice(0, 31) }, /31 bytes, and at least 32/],
    ['a secret of one letter', { secret: repeated('a') }, /a few characters/],
    ['a secret of two letters', { secret: repeated('ab') }, /a few characters/],
    ['a secret of spaces', { secret: repeated(' ') }, /a few characters/],
    [
      'a secret of 7 letters',
      { secret: 'abcdefgabcdefabcdeabcdabcaababcabcd' },
      /a few characters/,
    ],
    ['a secret of one word again and again', { secret: repeated('my-password') }, /repeats/],
    ['a secret of digits in turn', { secret: repeated('0123456789') }, /repeats/],
    ['a secret of 15 signs again and again', { secret: repeated('kX9vQ2mT7pLwZ4r') }, /repeats/],
    [
      'a secret of 15 signs and words',
      { secret: 'kX9vQ2mT7pLwZ4rmypasswordmypassword' },
      /well-known/,
    ],
    ['the alphabet and digits', { secret: 'abcdefghijklmnopqrstuvwxyz0123456789' }, /well-known/],
    [
      'the secret of a known page',
      { secret: 'a-string-secret-at-least-256-bits-long' },
      /well-known/,
    ],
    ['a request to change it', { secret: 'please-change-me-in-production-123456' }, /well-known/],
    ['a description of it', { secret: 'MySuperSecretJwtSigningKeyForProduction' }, /well-known/],
    [
      'words in capitals',
      { secret: 'YOUR_SECRET_KEY_MUST_BE_AT_LEAST_32_CHARACTERS' },
      /well-known/,
    ],
    ['an empty issuer', { secret, issuer: '' }, /issuer or audience/],
    ['an empty audience', { secret, audience: '' }, /issuer or audience/],
    ['an empty address', { jwksUrl: '' }, /DUET_JWKS_URL is not a URL/],
    ['no address', { jwksUrl: 'id.example/jwks' }, /DUET_JWKS_URL is not a URL/],
    ['a file: address', { jwksUrl: 'file:///etc/passwd' }, /must begin with https/],
    ['ftp to loopback', { jwksUrl: 'ftp://localhost/jwks' }, /must begin with https/],
    ['a data: address', { jwksUrl: 'data:application/json,{}' }, /must begin with https/],
    ['plain http', { jwksUrl: 'http://id.example/jwks' }, /must begin with https/],
    ['plain http to the cloud', { jwksUrl: 'http://169.254.169.254/' }, /must begin with https/],
    [
      'http to a name like loopback',
      { jwksUrl: 'http://127.0.0.1.example/' },
      /must begin with https/,
    ],
    [
      'http to a name that ends like loopback',
      { jwksUrl: 'http://not-localhost/' },
      /must begin with https/,
    ],
    ['a user name in the address', { jwksUrl: 'https://u@id.example/' }, /user name or password/],
    ['no user name before a password', { jwksUrl: 'https://:p@id.example/' }, /or password/],
    [
      'a password in the address',
      { jwksUrl: 'https://u:hunter2@id.example/' },
      /user name or password/,
    ],
    ['an empty path', { jwksFile: '' }, /DUET_JWKS_FILE/],
    ['a missing file', { jwksFile: join(folder, 'none') }, /DUET_JWKS_FILE.*ENOENT/],
    ['a folder', { jwksFile: folder }, /DUET_JWKS_FILE.*EISDIR/],
    ['a file that is no JSON', { jwksFile: fileOf('keys') }, /DUET_JWKS_FILE.*it is not JSON$/],
    ['a file that is no set', { jwksFile: fileOf('{"keys":{}}') }, /not a JSON Web Key Set/],
    ['a bare key', { jwksFile: fileOf(JSON.stringify(ed.jwk)) }, /not a JSON Web Key Set/],
    ['an empty set', { jwksFile: fileOf('{"keys":[]}') }, /the set is empty/],
    [
      'a file above 64 KiB',
      { jwksFile: fileOf(setOf(ed) + ' '.repeat(65_536)) },
      /more than 65536/,
    ],
    ['RSA of 1,024 bits', { jwksFile: fileOf(setOf(weakRsa('a'))) }, /key 1 has 1024 bits/],
  ]
  for (const [name, config, message] of cases)
    test(name, () =>
      assert.throws(
        () => createAuthenticator(config, viewers, () => 0),
        (error: Error) => {
          assert.match(error.message, message)
          // The secret itself is in no message.
          if (config.secret) assert.ok(!error.message.includes(config.secret))
          assert.doesNotMatch(error.message, /hunter2/)
          return error.constructor === Error
        },
      ),
    )

  const keyless: readonly (readonly [string, Json, RegExp])[] = [
    ['without alg', { alg: undefined }, /key 1 has an alg that is not one of EdDSA, ES256, RS256/],
    ['whose alg is a list', { alg: ['EdDSA'] }, /has an alg that/],
    ['with alg Ed25519', { alg: 'Ed25519' }, /has an alg that/],
    ['with alg __proto__', { alg: '__proto__' }, /has an alg that/],
    ['with alg ES256', { alg: 'ES256' }, /not of the kind that ES256 needs/],
    ['with alg RS256', { alg: 'RS256' }, /not of the kind that RS256 needs/],
    ['of another kty', { kty: 'EC' }, /not of the kind that EdDSA needs/],
    ['of another curve', { crv: 'X25519' }, /not of the kind that EdDSA needs/],
    ['with a kid that is a number', { kid: 1 }, /kid that is not a string/],
    ['for encryption', { use: 'enc' }, /not for signatures/],
    ['for signing alone', { key_ops: ['sign'] }, /not for signatures/],
    ['with its private part', { d: ed.jwk.x }, /is a private key/],
    ['without its value', { x: undefined }, /has values that make no key/],
    ['with a short value', { x: 'AAAA' }, /has values that make no key/],
  ]
  for (const [name, changed, message] of keyless)
    test(`a set of one key ${name}`, () => {
      const jwksFile = fileOf(setOf({ jwk: { ...ed.jwk, ...changed } }))
      assert.throws(() => createAuthenticator({ jwksFile }, viewers, () => 0), message)
    })
})

describe('a configuration that is accepted', () => {
  const secrets = {
    '32 bytes in base64': 'mZ0s7Qp4Vt1Yx8Kc3Lb6Wn9Rj2Hf5Dg=',
    '16 bytes in hexadecimal': '9f86d081884c7d659a2feaa0c55ad015',
    '64 hexadecimal digits': '2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae',
    'signs of all kinds': '}k9#Lw!2^vR&x@7Zq*Pf$4Gs(8Jt)1Yb',
    '8 letters': 'abcdefghabcdefabcdeabcdabcaababcabcdabcdefgabcdef',
    '16 signs again and again': 'kX9vQ2mT7pLwZ4r8kX9vQ2mT7pLwZ4r8',
    '16 signs and words': 'kX9vQ2mT7pLwZ4rGmypasswordmypassword',
    'words that nobody knows together': 'marzipan gondola thistle obelisk quorum flint',
    'letters outside ASCII': 'Grüße aus Köln: Dreißig Bären übten Flöte',
  }
  for (const [name, strong] of Object.entries(secrets))
    test(`a secret of ${name}`, async () => {
      const token = signToken({ alg: 'HS256' }, claims(), hmac(strong))
      assert.deepEqual(await worldOf({ secret: strong }).ask(token), user)
    })

  const members: Readonly<Record<string, Json>> = {
    'without use': { use: undefined },
    'with the operation verify': { key_ops: ['sign', 'verify'] },
    'without kid': { kid: undefined },
  }
  for (const [name, changed] of Object.entries(members))
    test(`a key ${name}`, async () => {
      const { ask } = withFile(setOf({ jwk: { ...ed.jwk, ...changed } }))
      assert.deepEqual(await ask(ed.token({}, { kid: undefined })), user)
    })

  const urls = [
    'https://id.example/jwks',
    'http://localhost:1/',
    'http://[::1]:1/',
    'http://127.0.0.2/',
    'http://127.10.200.30/',
  ]
  for (const jwksUrl of urls)
    test(`the address ${jwksUrl}, which is not read before a token comes`, () => {
      createAuthenticator({ jwksUrl }, viewers, () => 0)
    })
})

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
        test(`alg ${named} and kid ${kid}, signed by the ${signer} key, is refused`, () =>
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
      test(`HS256 with the public ${by} key as ${form} for its secret is refused`, async () => {
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

  test('RSA of 1,024 bits beside a good key is not accepted', async () => {
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

  test('a key set in a file is read again 5 seconds later: a new key counts, a removed one does not', async () => {
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

  test('a key set from a server is rotated three times: every key counts while it is in the set, and within 5 minutes not after', async t => {
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

  test('a key set from a server is fetched at most 3 times in a minute of 10,000 unknown kids, and good tokens go on', async t => {
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

  test('a server of key sets that is away for 59 minutes leaves the known keys working, remembered or not, and nobody waits', async t => {
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
    test(`a server of key sets that is away answers ${status}, which is not followed`, async t => {
      const trap = await withServer(t, gives(setOf(ed)))
      const { ask } = await withServer(
        t,
        response => void response.writeHead(status, { location: trap.url }).end(),
      )
      await assert.rejects(ask(ed.token()), isAway(5))
      assert.equal(trap.state.hits, 0)
    })

  test('a server of key sets that is away answers without end, which is cut off after 64 KiB', async t => {
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

  test('a server of key sets that is away is given up where it drips its answer', async t => {
    const { url } = await withServer(t, response => {
      const drip = setInterval(() => response.write(' '), 10)
      response.on('close', () => clearInterval(drip))
    })
    await assert.rejects(readUrlText(new URL(url), 60), { name: 'TimeoutError' })
  })
})

describe('key sets of random damage', () => {
  test('accept no forged token and break nothing, 1,000 times', async () => {
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
