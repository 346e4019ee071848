import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { folderOf } from '#test/duet.ts'
import { backupsUnderWrites, killedBackups, storeWithContent } from '../cli/backup-rounds.ts'

const rounds = Number(process.env.DUET_TEST_ROUNDS ?? 100)
const { folder, fresh } = folderOf('backups')

test(`${rounds} backups under writes are each consistent, and each has more than the one before [A13]`, async t => {
  const { file, settings } = fresh()
  await storeWithContent(settings, file, 20_000)
  const counts = await backupsUnderWrites(rounds, round => join(folder, `${round}.db`), settings)
  for (const [index, count] of counts.entries()) assert.ok(count > (counts[index - 1] ?? 0))
  t.diagnostic(`${counts.at(-1)} orders in the last of them`)
})

test(`${rounds} backups ended by kill -9 leave no half file under the final name [A14]`, async t => {
  const { file, settings } = fresh()
  await storeWithContent(settings, file, 50_000)
  const seen = await killedBackups(rounds, round => join(folder, `killed-${round}.db`), settings)
  assert.ok(seen.halfway > 0, 'none was killed on its way')
  t.diagnostic(JSON.stringify(seen))
})
