/** What the claims of a token must say, and when: every rule with cases on both of its sides. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { decodeJwt, jwtVerify } from 'jose'
import {
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
import { type AuthConfig, createAuthenticator } from './authenticate.ts'
import { mint } from './token.ts'

const at = (seconds: number) => () => seconds * 1000

const ask = async (token: string, config: Partial<AuthConfig> = {}, seconds = start) =>
  createAuthenticator({ secret, ...config }, viewers, at(seconds))(`Bearer ${token}`)

const noText = 'The claim sub is not a text'
const noRole = 'The claim role is neither user nor admin'
const notSeconds = (name: string) => `The claim ${name} is not a number of seconds`
const expired = 'The token has expired'
const tooEarly = 'The token is not valid yet'
const tooLong = 'The token lives longer than 24 hours'
const future = 'The token was issued in the future'
const otherIssuer = 'The token is from another issuer'
const otherAudience = 'The token is for another audience'
const ours = { issuer: 'https://id.example', audience: 'duet' }
const day = 86_400

describe('claims that are refused', () => {
  const cases: readonly (readonly [string, Json, string, Partial<AuthConfig>?])[] = [
    ['no sub', { sub: undefined }, noText],
    ['sub a number', { sub: 7 }, noText],
    ['sub null', { sub: null }, noText],
    ['sub an array', { sub: ['7'] }, noText],
    ['sub an object', { sub: { toString: '7' } }, noText],
    ['sub empty', { sub: '' }, noText],
    ['role null', { role: null }, noRole],
    ['role empty', { role: '' }, noRole],
    ['role anonymous', { role: 'anonymous' }, noRole],
    ['role Admin', { role: 'Admin' }, noRole],
    ['role with a space', { role: 'admin ' }, noRole],
    ['role an array', { role: ['admin'] }, noRole],
    ['role a boolean', { role: true }, noRole],
    ['no exp', { exp: undefined }, 'The claim exp is missing'],
    ['exp null', { exp: null }, notSeconds('exp')],
    ['exp a string', { exp: String(start + 60) }, notSeconds('exp')],
    ['exp "NaN"', { exp: 'NaN' }, notSeconds('exp')],
    ['exp a boolean', { exp: true }, notSeconds('exp')],
    ['exp an array', { exp: [start + 60] }, notSeconds('exp')],
    ['exp 1e308', { exp: 1e308 }, tooLong],
    ['exp 1e308 without iat', { exp: 1e308, iat: undefined }, tooLong],
    ['exp in milliseconds', { exp: (start + 60) * 1000 }, tooLong],
    ['exp negative', { exp: -1 }, expired],
    ['exp 0', { exp: 0 }, expired],
    ['exp 6 seconds ago', { exp: start - 6 }, expired],
    ['exp 5 seconds ago', { exp: start - 5 }, expired],
    ['a life of 24 hours and 1 second', { iat: start, exp: start + day + 1 }, tooLong],
    [
      'exp in 24 hours and 6 seconds without iat',
      { iat: undefined, exp: start + day + 6 },
      tooLong,
    ],
    ['iat long ago and exp soon', { iat: 1, exp: start + 60 }, tooLong],
    ['iat negative', { iat: -1 }, tooLong],
    ['iat in 6 seconds', { iat: start + 6 }, future],
    ['iat in 61 seconds', { iat: start + 61 }, future],
    ['iat 1e308', { iat: 1e308 }, future],
    ['iat a string', { iat: String(start) }, notSeconds('iat')],
    ['iat null', { iat: null }, notSeconds('iat')],
    ['nbf in 6 seconds', { nbf: start + 6 }, tooEarly],
    ['nbf in an hour', { nbf: start + 3600 }, tooEarly],
    ['nbf 1e308', { nbf: 1e308 }, tooEarly],
    ['nbf a string', { nbf: String(start) }, notSeconds('nbf')],
    ['nbf null', { nbf: null }, notSeconds('nbf')],
    ['no iss where one is set', { aud: ours.audience }, otherIssuer, ours],
    ['iss of another', { iss: 'https://evil.example', aud: 'duet' }, otherIssuer, ours],
    ['iss with a slash more', { iss: `${ours.issuer}/`, aud: 'duet' }, otherIssuer, ours],
    ['iss an array', { iss: [ours.issuer], aud: 'duet' }, otherIssuer, ours],
    ['no aud where one is set', { iss: ours.issuer }, otherAudience, ours],
    ['aud of another', { iss: ours.issuer, aud: 'other' }, otherAudience, ours],
    ['aud an array of others', { iss: ours.issuer, aud: ['a', 'b'] }, otherAudience, ours],
    ['aud an array in an array', { iss: ours.issuer, aud: [['duet']] }, otherAudience, ours],
    ['aud an empty array', { iss: ours.issuer, aud: [] }, otherAudience, ours],
    ['aud an object', { iss: ours.issuer, aud: { duet: true } }, otherAudience, ours],
    ['aud null', { iss: ours.issuer, aud: null }, otherAudience, ours],
  ]
  for (const [name, changed, why, config] of cases)
    test(`a token with ${name} is refused [E3, E4, F2]`, () =>
      assert.rejects(ask(hs256(changed), config), isRefused(why)))

  test('a token whose role is not the only one there is, is refused', () =>
    assert.rejects(
      (async () => {
        const roles = { ...viewers.roles, names: ['user'] }
        return createAuthenticator(
          { secret },
          { roles },
          at(start),
        )(`Bearer ${hs256({ role: 'admin' })}`)
      })(),
      isRefused('The claim role is not user'),
    ))

  const payloads: readonly (readonly [string, string | Buffer, string])[] = [
    ['an array', '[1]', 'The claims are not a JSON object'],
    ['null', 'null', 'The claims are not a JSON object'],
    ['a string', '"sub"', 'The claims are not a JSON object'],
    ['broken JSON', '{"sub":"7"', 'The claims are not JSON'],
    ['a byte order mark', `\uFEFF${JSON.stringify(claims())}`, 'The claims are not JSON'],
    ['NaN for exp', `{"sub":"7","exp":NaN}`, 'The claims are not JSON'],
    ['infinity for exp', `{"sub":"7","exp":1e999}`, notSeconds('exp')],
    [
      'a text that is no UTF-8',
      Buffer.from(JSON.stringify(claims({ name: 'é' })), 'latin1'),
      'The claims are not JSON',
    ],
  ]
  for (const [name, payload, why] of payloads)
    test(`a payload of ${name} is refused [E3]`, () => {
      const input = `${Buffer.from('{"alg":"HS256"}').toString('base64url')}.${Buffer.from(payload).toString('base64url')}`
      const token = `${input}.${hmac(secret)(input).toString('base64url')}`
      return assert.rejects(ask(token), isRefused(why))
    })
})

test('a sub that is no id names a service by its digest, the same one always', async () => {
  const nearly = ['0', '-1', '+7', '07', '7.0', '1e3', '0x7', ' 7', '7\n', '٧', '9007199254740992']
  const services = new Set<string | undefined>()
  for (const sub of [...nearly, '9'.repeat(20), 'alice', 'ß'.repeat(500)]) {
    const viewer = await ask(hs256({ sub, role: 'admin' }))
    assert.deepEqual({ ...viewer, service: '' }, { id: null, role: 'admin', service: '' }, sub)
    assert.deepEqual(await ask(hs256({ sub, role: 'admin' })), viewer)
    assert.match(viewer.service ?? '', /^[\w-]{43}$/)
    services.add(viewer.service)
  }
  assert.equal(services.size, nearly.length + 3)
})

describe('claims that are accepted', () => {
  const user = { id: 7, role: 'user' }
  const cases: readonly (readonly [string, Json, object, Partial<AuthConfig>?])[] = [
    ['no role is a user', {}, user],
    ['role user is a user', { role: 'user' }, user],
    ['role admin is an admin', { role: 'admin' }, { id: 7, role: 'admin' }],
    ['sub 1 is user 1', { sub: '1' }, { id: 1, role: 'user' }],
    ['sub 2^53 - 1 is that user', { sub: '9007199254740991' }, { id: 2 ** 53 - 1, role: 'user' }],
    ['exp 4 seconds ago is within the skew', { exp: start - 4 }, user],
    ['exp with a fraction is read as it is', { exp: start - 4.5 }, user],
    ['iat in 5 seconds is within the skew', { iat: start + 5 }, user],
    ['nbf in 5 seconds is within the skew', { nbf: start + 5 }, user],
    ['nbf in the past holds', { nbf: start - 5 }, user],
    ['a life of 24 hours is allowed', { iat: start, exp: start + day }, user],
    ['no iat is allowed for a day', { iat: undefined, exp: start + day }, user],
    ['no iat is allowed for a day and the skew', { iat: undefined, exp: start + day + 5 }, user],
    ['iss and aud do not matter unless set', { iss: 'x', aud: 'y' }, user],
    ['iss and aud as set are accepted', { iss: ours.issuer, aud: 'duet' }, user, ours],
    ['aud may be one of several', { iss: ours.issuer, aud: ['a', 'duet'] }, user, ours],
    ['claims that mean nothing here are passed over', { scope: 'x', jti: 1, roles: [] }, user],
  ]
  for (const [name, changed, viewer, config] of cases)
    test(name, async () => assert.deepEqual(await ask(hs256(changed), config), viewer))
})

describe('claims that are not the own members of the object', () => {
  const admin = '{"role":"admin","sub":"1"}'
  const own = `"sub":"7","exp":${start + 60}`
  const stays = [
    `{"__proto__":${admin},${own}}`,
    `{${own},"__proto__":${admin}}`,
    `{"constructor":{"prototype":${admin}},${own}}`,
    `{"constructor":${admin},${own}}`,
    `{"prototype":${admin},${own}}`,
    `{"__proto__":{"__proto__":${admin}},${own}}`,
    `{"__proto__":null,${own}}`,
    `{"__proto__":[],${own}}`,
    `{"\\u005f_proto__":${admin},${own}}`,
    `{"__defineGetter__":"role","toString":"admin",${own}}`,
    `{"hasOwnProperty":true,"valueOf":${admin},${own}}`,
    `{"":${admin},${own}}`,
    `{"Role":"admin",${own}}`,
    `{"role ":"admin",${own}}`,
    `{"role\\u0000":"admin",${own}}`,
    `{"claims":${admin},${own}}`,
  ]
  const lacks = [
    `{"__proto__":{${own}}}`,
    `{"__proto__":{"sub":"7"},"exp":${start + 60}}`,
    `{"constructor":{${own}}}`,
    `{"prototype":{${own}},"exp":${start + 60}}`,
  ]
  for (const payload of stays)
    test(`${payload.replace(own, '…')} is user 7 and no admin [E13]`, async () => {
      const token = signToken({ alg: 'HS256' }, payload, hmac(secret))
      assert.deepEqual(await ask(token), { id: 7, role: 'user' })
      assert.equal(({} as Json).role, undefined)
    })
  for (const payload of lacks)
    test(`${payload.replace(own, '…')} names no user [E13]`, () =>
      assert.rejects(ask(signToken({ alg: 'HS256' }, payload, hmac(secret))), isRefused(noText)))
})

describe('minting', () => {
  test('a minted token is accepted, for its user, role and time', async () => {
    const token = await mint({ sub: 1, role: 'admin', ttl: 3600 }, secret, start * 1000)
    assert.deepEqual(await ask(token), { id: 1, role: 'admin' })
    assert.deepEqual(await ask(token, {}, start + 3604), { id: 1, role: 'admin' })
    await assert.rejects(ask(token, {}, start + 3605), isRefused(expired))
  })

  test('a minted token has the claims of its options and no others', async () => {
    const order = { sub: 7, role: 'user', ttl: day, ...ours } as const
    const token = await mint(order, secret, start * 1000 + 999)
    const { payload, protectedHeader } = await jwtVerify(token, new TextEncoder().encode(secret), {
      currentDate: new Date(start * 1000),
    })
    assert.deepEqual(protectedHeader, { alg: 'HS256', typ: 'JWT' })
    assert.deepEqual(payload, {
      role: 'user',
      sub: '7',
      iat: start,
      exp: start + day,
      iss: ours.issuer,
      aud: ours.audience,
    })
    assert.deepEqual(await ask(token, ours), { id: 7, role: 'user' })
  })

  test('without issuer and audience the token names none', async () => {
    const token = await mint({ sub: 7, role: 'user', ttl: 1 }, secret, start * 1000)
    assert.deepEqual(Object.keys(decodeJwt(token)).sort(), ['exp', 'iat', 'role', 'sub'])
  })

  for (const ttl of [0, -1, 1.5, day + 1, Number.NaN, Infinity])
    test(`a life of ${ttl} seconds is not minted`, () =>
      assert.rejects(mint({ sub: 1, role: 'user', ttl }, secret, 0), /lives 1 second to 24 hours/))

  for (const sub of [0, -1, 1.5, 2 ** 53, Number.NaN])
    test(`a token for user ${sub} is not minted`, () =>
      assert.rejects(mint({ sub, role: 'user', ttl: 60 }, secret, 0), /needs the id of a row/))

  test('a weak secret mints nothing [E10]', () =>
    assert.rejects(mint({ sub: 1, role: 'user', ttl: 60 }, 'short', 0), /DUET_AUTH_SECRET/))
})
