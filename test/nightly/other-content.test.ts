/** The house with another content in it: all that a commit is checked by. */
import { test } from 'node:test'
import { copyWithLibrary, passes } from '../support/other-content.ts'

test('npm run check passes with another content in the place of this one', async () =>
  passes(await copyWithLibrary(), 'scripts/check.mjs'))
