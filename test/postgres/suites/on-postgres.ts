/** Test files that run on SQLite, run again on PostgreSQL: the same tests, the same answers. */
import { suite, test } from 'node:test'
import { noDatabase } from '../tools/database.ts'

/** Runs test files, named from test/, one after another on PostgreSQL; skips them aloud where there is none. */
export const onPostgres = async (files: readonly string[]): Promise<void> => {
  if (noDatabase) return void test(files.join(', '), { skip: noDatabase }, () => {})
  process.env.DUET_TEST_STORE = 'postgres'
  // Here and not within the first suite, with which the hooks of these modules would end.
  await import('../../world.ts')
  await import('../../duet.ts')
  // One for all: when nothing is left to run at the root, its hooks end what all of them use.
  suite('on PostgreSQL', () => {
    for (const file of files)
      suite(file, async () => {
        await import(`../../${file}.test.ts`)
      })
  })
}
