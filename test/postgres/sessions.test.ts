/** The sessions of commands on PostgreSQL: how long they last, and what they say where a connection is lost. */
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { queryWith } from '#sql/engine.ts'
import { postgresOf } from '../stores.ts'
import { freshDatabase, noDatabase } from './tools/database.ts'

describe('a session of a command', { skip: noDatabase }, () => {
  let url = ''
  before(async () => {
    url = (await freshDatabase()).url
    await postgresOf(url).migrate()
  })

  test('a session that reads lasts however long its reader pauses, one that writes is ended with its locks', async () => {
    const limit = queryWith("select current_setting('idle_in_transaction_session_timeout')")
    const limits: unknown[] = []
    for (const purpose of ['reading', 'filling'] as const) {
      const session = await postgresOf(url).session(purpose)
      limits.push((await session.transaction(() => session.query(limit)))[0]?.[0])
      await session.close()
    }
    assert.deepEqual(limits, ['0', '10s'])
  })
})
