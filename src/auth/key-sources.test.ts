/** The sources of keys that are accepted at the start, and those that are refused. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { ed, keyFiles, user, worldOf } from '../../test/support/authenticator.ts'
import {
  claims,
  hmac,
  type Json,
  secret,
  setOf,
  signToken,
  viewers,
  weakRsa,
} from '../../test/support/tokens.ts'
import { type AuthConfig, createAuthenticator } from './authenticate.ts'

const { folder, fileOf, withFile } = keyFiles()

describe('a configuration that is refused at the start', () => {
  const repeated = (part: string) => part.repeat(40).slice(0, 40)
  const cases: readonly (readonly [string, AuthConfig, RegExp])[] = [
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
          if ('secret' in config && config.secret) assert.ok(!error.message.includes(config.secret))
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
