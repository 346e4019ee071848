/** Runs usual test files, by their paths, as often as was planned, each a suite whose hooks are its own. */
import { suite } from 'node:test'
// Its hooks are for all of them.
import '../duet.ts'

process.env.DUET_TEST_PLANNED = 'yes'

export const asPlanned = (files: readonly string[]): void => {
  for (const file of files) suite(file, () => import(`../../${file}`))
}
