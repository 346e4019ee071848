import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  databaseIn,
  isPostgres,
  parameterFault,
  placeIn,
  seeksPrimary,
  serversIn,
  targetIn,
} from './database-url.ts'

test('a URL of several hosts is a URL for each, with the user, the database and the parameters of all', () => {
  const rest = 'duet?sslmode=require&target_session_attrs=read-write'
  assert.deepEqual(serversIn(`postgres://duet:p%40s@h1:5432,h2,[::1]:5433/${rest}`), [
    `postgres://duet:p%40s@h1:5432/${rest}`,
    `postgres://duet:p%40s@h2/${rest}`,
    `postgres://duet:p%40s@[::1]:5433/${rest}`,
  ])
})

test('a URL of one host, of none or of another kind stays as it is', () => {
  for (const url of ['postgres://one/duet', 'postgresql:///duet?host=/run', 'sqlite:a,b.db'])
    assert.deepEqual(serversIn(url), [url])
})

test('the primary is looked for among several hosts, or where the URL asks for one that takes writes', () => {
  assert.equal(seeksPrimary('postgres://one/duet'), false)
  assert.equal(seeksPrimary('postgres://one,two/duet'), true)
  assert.equal(seeksPrimary('postgres://one/duet?target_session_attrs=read-write'), true)
  assert.equal(
    targetIn('postgres://one/duet?sslmode=prefer&target_session_attrs=read%2Dwrite'),
    'read-write',
  )
})

test('a user without a host comes by a Unix socket, whose folder is a parameter', () => {
  const url = 'postgres://duet:p%40s@/duet?host=/run/postgresql&target_session_attrs=primary'
  assert.ok(isPostgres(url))
  assert.deepEqual([placeIn(url), databaseIn(url)], ['postgres:///duet', 'duet'])
  assert.ok(seeksPrimary(url))
  for (const wrong of [
    'postgres://duet@/',
    'postgres://duet@one,/duet',
    'postgres://one/',
    'postgres://duet:1/23@one/duet',
    'postgres://duet:x@/23@one/duet',
    'postgres://duet:12/to?p@one/duet',
    'postgres://duet:12/to#p@one/duet',
    'postgres://duet@/duet',
  ])
    assert.equal(isPostgres(wrong), false, wrong)
})

test('a database has the name that the URL escapes', () => {
  assert.equal(databaseIn('postgres://one,two/a%2Fb%3Fc%23%20%C3%BC?d=e'), 'a/b?c# ü')
  assert.equal(databaseIn('postgres://one/50%'), undefined)
  assert.equal(databaseIn('postgres://one'), undefined)
})

const none = (name: string, way: string) => `has the parameter ${name}, which is none here: ${way}`
const behind = 'has a #, behind which nothing would be read: write it as %23'
const schema =
  'say options=-c%20search_path%3DNAME, or let the user begin there: alter role … set search_path = NAME'

test('a parameter that no URL has is refused by its name, with the one that was meant or the way to say it', () => {
  for (const [query, fault] of [
    ['sslmod=require', none('sslmod', 'did you mean sslmode?')],
    ['SSLMODE=require', none('SSLMODE', 'did you mean sslmode?')],
    ['sslmode=require&ssl_mode=require', none('ssl_mode', 'did you mean sslmode?')],
    ['ssl%6Dod=require', none('sslmod', 'did you mean sslmode?')],
    ['target_session_attr=any', none('target_session_attr', 'did you mean target_session_attrs?')],
    ['schema=shop', none('schema', schema)],
    ['currentSchema=shop', none('currentSchema', schema)],
    ['search_path=shop', none('search_path', schema)],
    ['pgbouncer=true', none('pgbouncer', 'set DUET_PG_PREPARE=off')],
    [
      'sslmode=requrie',
      'needs disable, prefer, require, verify-ca, verify-full, no-verify for the parameter sslmode',
    ],
    [
      'sslmode=',
      'needs disable, prefer, require, verify-ca, verify-full, no-verify for the parameter sslmode',
    ],
    ['ssl=false', 'needs true, 1, 0, no-verify for the parameter ssl'],
    ['channel_binding=require', 'needs disable, prefer for the parameter channel_binding'],
    ['sslcert=/etc', 'needs a file that is there for the parameter sslcert'],
    ['sslrootcert=/none/ca.pem', 'needs a file that is there for the parameter sslrootcert'],
    ['sslrootcert=a%00b', 'needs a file that is there for the parameter sslrootcert'],
    ['application_name=shop#1&sslmode=require', behind],
    ['#?sslmode=require', behind],
    ['ssl=true&sslmode=disable', 'has the parameters ssl and sslmode: leave ssl out'],
    [
      'target_session_attrs=read-writ',
      'needs any, read-write, read-only, primary, standby, prefer-standby for the parameter target_session_attrs',
    ],
    ['sslmode=verify-full&sslmode=disable', 'has the parameter sslmode twice: leave one out'],
  ] as const)
    assert.equal(parameterFault(`postgres://duet:p@one,two/duet?${query}`), fault, query)
  assert.match(
    parameterFault('postgres://one/duet?colour=red') ?? '',
    /^has the parameter colour, which is none here: leave it out; there are host, /,
  )
})

test('parameters that libpq has are taken, and a URL without any', () => {
  for (const query of [
    '',
    '?',
    '?sslmode=require&connect_timeout=10&application_name=shop&keepalives_idle=5',
    '?host=/run/postgresql&target_session_attrs=primary',
    '?options=-c%20search_path%3Dshop',
    `?sslmode=verify-full&sslrootcert=${encodeURIComponent(import.meta.filename)}`,
  ])
    assert.equal(parameterFault(`postgres://duet:p%3Fsslmod=1@one/duet${query}`), undefined, query)
})
