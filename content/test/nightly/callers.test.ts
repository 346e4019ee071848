import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mixedAnswers } from '../http/mixed-answers.ts'

test('10,000 requests of four callers at once get each their own answer [G22]', async () => {
  assert.ok((await mixedAnswers(28)) >= 10_000)
})
