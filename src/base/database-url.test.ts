import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  databaseIn,
  isPostgres,
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
  assert.equal(targetIn('postgres://one,two/duet?target_session_attrs=standby'), 'standby')
})

test('a user without a host comes by a Unix socket, whose folder is a parameter', () => {
  const url = 'postgres://duet:p%40s@/duet?host=/run/postgresql&target_session_attrs=primary'
  assert.ok(isPostgres(url))
  assert.deepEqual([placeIn(url), databaseIn(url)], ['postgres:///duet', 'duet'])
  assert.equal(targetIn(url), 'primary')
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
