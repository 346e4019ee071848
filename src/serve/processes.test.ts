import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConfigError } from '#settings.ts'
import { handedOver } from './processes.ts'

test('a socket counts for the process that it was handed over to, and only one', () => {
  assert.equal(handedOver({ LISTEN_PID: '7', LISTEN_FDS: '1' }, 7), 3)
  assert.equal(handedOver({ LISTEN_PID: '8', LISTEN_FDS: '1' }, 7), undefined)
  assert.equal(handedOver({ LISTEN_PID: '7' }, 7), undefined)
  assert.equal(handedOver({}, 7), undefined)
  for (const LISTEN_FDS of ['0', '2', '', 'x'])
    assert.throws(() => handedOver({ LISTEN_PID: '7', LISTEN_FDS }, 7), ConfigError)
})
