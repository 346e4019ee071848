/** `duet check`: passes on a content that is right, and finds faults that are planted. */
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { duet, folderOf } from '../duet.ts'
import { freshDatabase } from '../postgres/tools/database.ts'
import { onPostgres } from '../stores.ts'
import { projectIn } from '../support/project.ts'

const { folder } = folderOf('check')

/** The engine of the run beside SQLite. */
const settings = async () =>
  onPostgres ? { DUET_CHECK_DATABASE_URL: (await freshDatabase()).url } : {}

test('the blog passes, and neither its folder nor its settings are touched', async () => {
  const { project, config } = await projectIn(folder, 'blog')
  const before = readdirSync(project)
  const args = ['check', '--seconds', onPostgres ? '8' : '4', '--seed', '1', ...config]
  const { code, stdout, stderr } = await duet(args, await settings())
  assert.deepEqual([code, stderr], [0, ''], stdout)
  assert.match(stdout, /^who may do what:\n {2}author\n {4}read {4}anybody\n/)
  for (const engine of ['SQLite', ...(onPostgres ? ['PostgreSQL'] : [])]) {
    assert.match(stdout, new RegExp(`^${engine}: \\d{3,} requests of 4 callers`, 'm'))
    assert.match(stdout, new RegExp(`^${engine}: \\d+ acknowledged writes were there`, 'm'))
  }
  assert.match(stdout, /^all is well \(seed 1\)\n$/m)
  assert.deepEqual(readdirSync(project), before)
})

test('what is not a number of seconds, and a server that is not there, are told', async () => {
  const config = ['--config', join(folder, 'blog/duet.config.ts')]
  const none = await duet(['check', '--seconds', '0', ...config])
  assert.deepEqual(
    [none.code, none.stderr],
    [2, 'duet: --seconds must be 1 or more (duet check --help tells more)\n'],
  )
  const away = await duet(['check', '--seconds', '1', ...config], {
    DUET_CHECK_DATABASE_URL: 'postgres://127.0.0.1:1/none',
  })
  assert.equal(away.code, 1)
  assert.match(away.stderr, /^duet: no database can be made at DUET_CHECK_DATABASE_URL/)
})
