import assert from 'node:assert/strict'
import { test } from 'node:test'
import { placeIn } from '#base/database-url.ts'
import { isLasting, refused, UnreachableError, withRight } from '#engines/postgres/errors.ts'

const url = 'postgres://duet:hunter2@db.example.org:5433/content?sslmode=require'
const place = 'postgres://db.example.org:5433/content'

const fault = (code: string, message: string) => Object.assign(new Error(message), { code })

test('a database is named by its host, port and name alone', () => {
  assert.equal(placeIn(url), place)
  assert.equal(placeIn('postgres:///content'), 'postgres:///content')
  assert.equal(placeIn('postgres://duet:hunter2@one:1,two/c?a=b'), 'postgres://one:1,two/c')
})

test('why a session is refused is told with the place and what to do, and without the password', () => {
  const cases = [
    [
      fault('28P01', 'password authentication failed for user "duet"'),
      'refuses the user',
      'password',
    ],
    [fault('28000', 'role "duet" does not exist'), 'refuses the user', 'let it in'],
    [fault('3D000', 'database "content" does not exist'), 'cannot be used', 'create it'],
    [fault('42501', 'permission denied for database "content"'), 'cannot be used', 'the right'],
    [fault('53300', 'sorry, too many clients already'), 'has no connection left', 'fewer'],
    [fault('ECONNREFUSED', 'connect ECONNREFUSED ::1:5433'), 'cannot be reached', 'start it'],
    [
      fault('UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'unable to verify the first certificate'),
      'has a certificate that is not trusted',
      'sslrootcert=FILE',
    ],
    [
      fault('ERR_TLS_CERT_ALTNAME_INVALID', "IP: ::1 is not in the cert's list"),
      'has the certificate of another server',
      'as its certificate does',
    ],
    [
      fault('CERT_HAS_EXPIRED', 'certificate has expired'),
      'has a certificate that has expired',
      'renew it',
    ],
    [
      fault('08P01', 'unsupported startup parameter: options'),
      'is a pooler, such as PgBouncer, which takes no settings of a session',
      'DUET_PG_PREPARE=off',
    ],
    [
      fault('08P01', 'unsupported startup parameter in options: jit'),
      'is a pooler, such as PgBouncer, which takes no settings of a session',
      'DUET_PG_PREPARE=off',
    ],
    [new Error('The server does not support SSL connections'), 'offers no TLS', 'sslmode=disable'],
    [
      fault('28000', 'no pg_hba.conf entry for host "::1", user "duet", no encryption'),
      'refuses the user',
      'add sslmode=verify-full to the URL',
    ],
    [
      fault('42704', 'unrecognized configuration parameter "search_pth"'),
      'takes no session with these options',
      'or PGOPTIONS',
    ],
    [new Error('SASL: client password must be a string'), 'refuses the user', 'password'],
  ] as const
  for (const [error, what, remedy] of cases) {
    const told = refused(error, url)
    assert.ok(told instanceof UnreachableError)
    assert.equal(told.cause, error)
    assert.ok(told.message.startsWith(`${place} ${what} (${error.message}): `), told.message)
    assert.ok(told.message.endsWith(remedy) || told.message.includes(remedy), told.message)
    assert.doesNotMatch(told.message, /hunter2|\n/)
  }
})

test('of a host with several addresses the code is told, since their errors are without words', () => {
  const error = Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' })
  assert.match(refused(error, url).message, /cannot be reached \(ECONNREFUSED\)/)
})

test('a right that is missing is told with the place; any other error stays what it is', async () => {
  const denied = fault('42501', 'permission denied for table users')
  await assert.rejects(
    withRight(url, () => Promise.reject(denied)),
    {
      message:
        /^postgres:\/\/db\.example\.org:5433\/content cannot be used \(permission denied for table users\): give /,
    },
  )
  const other = new Error('other')
  await assert.rejects(
    withRight(url, () => Promise.reject(other)),
    other,
  )
})

test('a pooler that refuses what a session begins with is not waited for, and options of the URL have another way', () => {
  const error = fault('08P01', 'unsupported startup parameter: options')
  assert.ok(isLasting(refused(error, url)))
  assert.match(
    refused(error, `${url}&options=-c%20search_path%3Dshop`).message,
    /: set DUET_PG_PREPARE=off, and take options out of the URL: alter role … set does the same$/,
  )
})
