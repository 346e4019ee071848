/** Rows that refer to later rows of their own kind are moved with what they refer to. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { commandsOf } from '../commands.ts'
import { folderOf } from '../duet.ts'
import { freshDatabase, noDatabase } from '../postgres/tools/database.ts'
import { filesIn } from '../support/transfer-files.ts'

const { folder, fresh } = folderOf('move-own-kind')
const { fileOf } = filesIn(folder)
const command = commandsOf('library', 'test/support/library/index.ts')

/** More than one batch of them. */
const count = 600

/** Each is taught by the one after the next, and the last of all by themselves. */
const authors = Array.from({ length: count }, (_, n) => ({
  id: n + 1,
  name: `A${n}`,
  teacherId: Math.min(n + 3, count),
}))

test('a move takes references to rows that come in a later batch', {
  skip: noDatabase,
}, async () => {
  const source = fresh()
  const { url } = await freshDatabase()
  const filled = await command(['import', 'authors', fileOf(authors)], source.settings)
  assert.equal(filled.code, 0, filled.stderr)
  const moved = await command(['move', '--to', url], source.settings)
  assert.equal(moved.code, 0, moved.stderr)
  assert.match(moved.stdout, /^authors +600 {2}[0-9a-f]{12} {2}ok$/m)
})
