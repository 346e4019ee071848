/** The form of an `Authorization` header, and the tokens that are refused before a key is asked. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, test } from 'node:test'
import { anonymous } from '#model/policy.ts'
import { badAlg, badSignature, user, worldOf } from '../../test/support/authenticator.ts'
import {
  base64url,
  claims,
  hmac,
  hs256,
  isRefused,
  type Json,
  secret,
  signToken,
  start,
  viewers,
} from '../../test/support/tokens.ts'
import { createAuthenticator, createVerified } from './authenticate.ts'

const badForm =
  'Authorization must be Bearer, a space and a signed token, such as `bin/duet token` makes'
const badSpelling = 'The token is not in its usual spelling'
const badHeader = 'The header of the token is not a JSON object'
const tooLarge = 'The token is larger than 8 KiB'

/**
 * A valid token of exactly this many characters, a multiple of 4 apart from 0 to 3 that the header
 * takes up.
 */
const tokenOfSize = (size: number): string => {
  for (let header = 0; header < 3; header++)
    for (let pad = Math.floor(size * 0.7); pad < size * 0.76; pad++) {
      const token = hs256({ pad: 'x'.repeat(pad) }, { pad: 'x'.repeat(header) })
      if (token.length === size) return token
      if (token.length > size) break
    }
  throw new Error(`no token has ${size} characters`)
}

describe('no header', () => {
  test('no header is anonymous, at once', () =>
    assert.equal(worldOf().authenticate(undefined), anonymous))
})

describe('the form of the header', () => {
  const token = hs256()
  const [head, payload, signature] = token.split('.') as [string, string, string]

  for (const scheme of ['Bearer', 'bearer', 'BEARER', 'bEaReR'])
    test(`the scheme ${scheme} is accepted [E12]`, async () =>
      assert.deepEqual(await worldOf().send(`${scheme} ${token}`), user))

  // RFC 6750, section 2.1: 1*SP.
  for (const spaces of [2, 3, 100])
    test(`${spaces} spaces after the scheme are accepted`, async () =>
      assert.deepEqual(await worldOf().send(`Bearer${' '.repeat(spaces)}${token}`), user))

  const refusals: readonly (readonly [string, string, string])[] = [
    ['an empty header', '', badForm],
    ['the scheme alone', 'Bearer', badForm],
    ['the scheme and a space', 'Bearer ', badForm],
    ['the token alone', token, badForm],
    ['a space before the scheme', ` Bearer ${token}`, badForm],
    ['a tab', `Bearer\t${token}`, badForm],
    ['a no-break space', `Bearer\u00a0${token}`, badForm],
    ['no space', `Bearer${token}`, badForm],
    ['a colon', `Bearer: ${token}`, badForm],
    ['a space after the token', `Bearer ${token} `, badForm],
    ['a line feed after the token', `Bearer ${token}\n`, badForm],
    ['two tokens', `Bearer ${token} ${token}`, badForm],
    ['a list of two credentials', `Bearer ${token}, Bearer ${token}`, badForm],
    ['a list of two tokens', `Bearer ${token},${token}`, badForm],
    ['a comma after the token', `Bearer ${token},`, badForm],
    ['the token in quotes', `Bearer "${token}"`, badForm],
    ['a parameter', `Bearer token=${token}`, badForm],
    ['another scheme', `Basic ${Buffer.from('a:b').toString('base64')}`, badForm],
    ['another scheme with a token', `Token ${token}`, badForm],
    ['a longer scheme', `Bearers ${token}`, badForm],
    ['one part', `Bearer ${head}`, badForm],
    ['two parts', `Bearer ${head}.${payload}`, badForm],
    ['an empty signature', `Bearer ${head}.${payload}.`, badForm],
    ['an empty payload', `Bearer ${head}..${signature}`, badForm],
    ['an empty header part', `Bearer .${payload}.${signature}`, badForm],
    ['four parts', `Bearer ${token}.${signature}`, badForm],
    ['the five parts of an encrypted token', `Bearer ${head}.a.a.a.a`, badForm],
    ['padding', `Bearer ${token}=`, badForm],
    ['the alphabet of plain base64', `Bearer ${head}.${payload}.+/${signature.slice(2)}`, badForm],
    ['a letter outside ASCII', `Bearer ${head}.${payload}.é${signature.slice(1)}`, badForm],
    ['NUL', `Bearer ${token}\0`, badForm],
    [
      'a header part that is no JSON',
      `Bearer ${base64url('x')}.${payload}.${signature}`,
      badHeader,
    ],
    [
      'a header part that is an array',
      `Bearer ${base64url('[]')}.${payload}.${signature}`,
      badHeader,
    ],
    [
      'a header part that is null',
      `Bearer ${base64url('null')}.${payload}.${signature}`,
      badHeader,
    ],
    ['a header without alg', `Bearer ${signToken({}, claims(), hmac(secret))}`, badAlg],
    [
      'the claims of another token',
      `Bearer ${head}.${base64url(claims({ sub: '1' }))}.${signature}`,
      badSignature,
    ],
    [
      'the secret of another',
      `Bearer ${signToken({ alg: 'HS256' }, claims(), hmac(`${secret}x`))}`,
      badSignature,
    ],
    ['an empty key', `Bearer ${signToken({ alg: 'HS256' }, claims(), hmac(''))}`, badSignature],
    ['half a signature', `Bearer ${token.slice(0, -22)}`, badSpelling],
  ]
  for (const [name, header, why] of refusals)
    test(`${name} is refused [F2]`, () => assert.rejects(worldOf().send(header), isRefused(why)))

  test('a token of 8 KiB is accepted, and with one character more it is refused [E12]', async () => {
    assert.deepEqual(await worldOf().ask(tokenOfSize(8_192)), user)
    await assert.rejects(worldOf().ask(tokenOfSize(8_193)), isRefused(tooLarge))
  })

  test('a header of 1 MB is refused for its size', async () => {
    const { send } = worldOf()
    await assert.rejects(send(`Bearer ${'a'.repeat(1e6)}`), isRefused(tooLarge))
  })

  test('a header whose bytes are random is refused, 2,000 times [E12]', async () => {
    const { send } = worldOf()
    let state = 1
    const random = (below: number) => {
      state = (state * 48_271) % 2_147_483_647
      return state % below
    }
    for (let round = 0; round < 2_000; round++) {
      const at = random(token.length)
      const other = String.fromCharCode(random(256))
      if (other === token[at]) continue
      await assert.rejects(send(`Bearer ${token.slice(0, at)}${other}${token.slice(at + 1)}`), {
        code: 'UNAUTHENTICATED',
      })
    }
  })
})

describe('algorithms, where a secret is set', () => {
  const none = 'none None NONE nOne noNe nonE NOne noNE nONE NonE NoNe nOnE NONe NOnE NoNE nONe'
  for (const alg of [...none.split(' '), 'none ', '', 'null', '__proto__', 'constructor']) {
    const parts = [base64url({ alg }), base64url(claims())].join('.')
    test(`alg "${alg}" is refused, signed or not [E1]`, async () => {
      await assert.rejects(worldOf().ask(`${parts}.`), isRefused(badForm))
      await assert.rejects(worldOf().ask(hs256({}, { alg })), isRefused(badAlg))
    })
  }

  const others =
    'HS384 HS512 hs256 RS256 RS512 PS256 ES256 ES384 ES256K EdDSA Ed25519 ML-DSA-44 dir A256KW'
  for (const alg of others.split(' '))
    test(`alg ${alg} is refused [E1]`, () =>
      assert.rejects(worldOf().ask(hs256({}, { alg })), isRefused(badAlg)))

  for (const alg of [null, 256, true, ['HS256'], { alg: 'HS256' }])
    test(`alg ${JSON.stringify(alg)} is refused [E1]`, () =>
      assert.rejects(worldOf().ask(hs256({}, { alg })), isRefused(badAlg)))

  for (const hash of ['sha384', 'sha512'])
    test(`a signature by ${hash} under the name HS256 is refused`, () =>
      assert.rejects(
        worldOf().ask(signToken({ alg: 'HS256' }, claims(), hmac(secret, hash))),
        isRefused(badSignature),
      ))

  test('an alg that the header only inherits is none [E13]', () =>
    assert.rejects(
      worldOf().ask(signToken('{"__proto__":{"alg":"HS256"}}', claims(), hmac(secret))),
      isRefused(badAlg),
    ))

  const extension = 'The token needs an extension that is not known here'
  const crits: readonly Json[] = [
    { crit: ['x'], x: 1 },
    { crit: ['b64'], b64: true },
    { crit: ['b64'], b64: false },
    { crit: ['exp'], exp: 1 },
    { crit: [] },
    { crit: null },
    { crit: 'x' },
  ]
  for (const header of crits)
    test(`${JSON.stringify(header)} is refused [F2]`, () =>
      assert.rejects(worldOf().ask(hs256({}, header)), isRefused(extension)))
})

describe('keys that a token brings or names', () => {
  const own = 'an attacker has this key and signs with it'

  test('keys that a token brings or names are not used and not fetched [E2, F7]', async t => {
    let hits = 0
    const trap = createServer((_, response) => {
      hits++
      response.end(JSON.stringify({ keys: [{ kty: 'oct', k: base64url(own) }] }))
    })
    await new Promise<void>(resolve => trap.listen(0, '127.0.0.1', resolve))
    t.after(() => trap.close())
    const url = `http://127.0.0.1:${(trap.address() as AddressInfo).port}/`
    const headers: readonly Json[] = [
      { jwk: { kty: 'oct', k: base64url(own) } },
      { jku: url },
      { x5u: url },
      { x5c: [Buffer.from(own).toString('base64')] },
      { kid: url },
      { kid: '../../dev/null' },
      { kid: "' OR 1=1--" },
      { kid: '__proto__' },
      { kid: 'k'.repeat(5_000) },
    ]
    const { ask } = worldOf()
    for (const header of headers) {
      const forged = signToken({ alg: 'HS256', ...header }, claims(), hmac(own))
      await assert.rejects(ask(forged), isRefused(badSignature))
      assert.deepEqual(await ask(hs256({}, header)), user)
    }
    assert.equal(hits, 0)
  })

  for (const kid of [null, 1, ['a'], {}])
    test(`kid ${JSON.stringify(kid)} is refused [E2]`, () =>
      assert.rejects(
        worldOf().ask(hs256({}, { kid })),
        isRefused('The kid of the token is not a string'),
      ))
})

describe('the spelling of a token', () => {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

  test('the spelling of a token is one: other last characters for the same bytes are refused, for 1,000 tokens [E11]', async () => {
    const { ask } = worldOf()
    for (let id = 1; id <= 1_000; id++) {
      const token = hs256({ sub: String(id) })
      // 32 bytes leave 2 unused bits in the last character: 4 spellings.
      const last = alphabet.indexOf(token.at(-1) ?? '')
      const other = token.slice(0, -1) + alphabet[last ^ (1 + (id % 3))]
      const bytes = (text: string) => Buffer.from(text.split('.')[2] ?? '', 'base64url')
      assert.deepEqual(bytes(other), bytes(token))
      await assert.rejects(ask(other), isRefused(badSpelling))
    }
  })

  test('matters in the header and the claims too, even where they are signed [E11]', async () => {
    for (const [header, payload] of [
      ['{"alg":"HS256"} ', JSON.stringify(claims())],
      ['{"alg":"HS256"}', `${JSON.stringify(claims({ pad: '' }))} `],
    ] as const) {
      const parts = [header, payload].map(text => {
        const part = base64url(text)
        const unused = text.length % 3
        return unused === 0
          ? part
          : part.slice(0, -1) + alphabet[alphabet.indexOf(part.at(-1) ?? '') ^ 1]
      })
      const input = parts.join('.')
      const token = `${input}.${hmac(secret)(input).toString('base64url')}`
      await assert.rejects(worldOf().ask(token), isRefused(badSpelling))
    }
  })
})

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

  test('a token that was verified is refused at its first use after exp and the skew, for 1,000 tokens [A21, E4, E5]', async () => {
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

  test('a token that was verified is refused where the clock has gone back before its nbf [A21]', async () => {
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

  test('a token that was verified is still answered at once after 10,000 tokens that failed [E5]', async () => {
    const { send, ask, authenticate } = worldOf()
    const header = `Bearer ${hs256()}`
    await send(header)
    const forged = signToken({ alg: 'RS256' }, claims(), hmac(secret))
    const failures = Array.from({ length: 10_001 }, (_, at) =>
      ask(`${forged.slice(0, -4)}${1000 + at}`),
    )
    assert.ok((await Promise.allSettled(failures)).every(({ status }) => status === 'rejected'))
    assert.ok(!(authenticate(header) instanceof Promise))
  })
})

describe('the memory of verified tokens', () => {
  const grant = { viewer: anonymous, from: -Infinity, until: 10_000 }
  const key = { alg: 'HS256', key: {} as CryptoKey, from: -Infinity, until: Infinity }

  test('the memory of verified tokens holds at most 10,000 tokens of 25,000, the newest 5,000 among them [E5]', () => {
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
    assert.ok(verified.has('a'))
    time = 10_000
    assert.equal(verified.viewerOf('a'), undefined)
    assert.ok(!verified.has('a'))
  })

  test('believes a key until its time and again when that is put off', () => {
    let time = 0
    const leased = { ...key, until: 100 }
    const verified = createVerified(() => time)
    verified.add('a', grant, leased)
    time = 100
    assert.equal(verified.viewerOf('a'), undefined)
    // Its caller asks for no more than its key.
    assert.ok(verified.has('a'))
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
