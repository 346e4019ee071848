import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConfigError } from '#settings.ts'
import { socketsFor } from './processes.ts'
import { threadsFor } from './threads.ts'

test('a socket counts for the process that it was handed over to, and only one where one thread serves', () => {
  assert.equal(socketsFor({ LISTEN_PID: '7', LISTEN_FDS: '1' }, 7), 1)
  assert.equal(socketsFor({ LISTEN_PID: '8', LISTEN_FDS: '1' }, 7), 0)
  assert.equal(socketsFor({ LISTEN_PID: '7' }, 7), 0)
  assert.equal(socketsFor({}, 7), 0)
  for (const LISTEN_FDS of ['0', '', 'x'])
    assert.throws(() => socketsFor({ LISTEN_PID: '7', LISTEN_FDS }, 7), ConfigError)
  const store = { kind: 'postgres', url: 'postgres://localhost/duet' } as const
  assert.equal(threadsFor({ store }, 'auto', 1), 1)
  assert.throws(() => threadsFor({ store }, 'auto', 2), /LISTEN_FDS is 2: one process serves one/)
})
