/** The pages of any content in a real browser, in short: content/test/pages/browser.test.ts looks at each of them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { closePages, onPort, openBrowser, skipped, visit } from '../support/browser.ts'
import { library } from '../support/library/index.ts'
import { until } from '../support/wait.ts'
import { createWorld } from '../world.ts'

test('the start page leads to GraphiQL, which shows an answer, and neither loads what is foreign', {
  skip: skipped,
}, async () => {
  const world = await createWorld({
    content: library,
    rows: { author: [{ name: 'Ada' }] },
  })
  const served = await onPort(world.app)
  const browser = await openBrowser()
  try {
    const { page, faults, foreign } = await visit(browser, `${served.origin}/`)
    await page.click('a[href="/graphql"]')
    await page.waitForSelector('.graphiql-execute-button')
    await page.click('.graphiql-query-editor .CodeMirror')
    await page.keyboard.press('Control+A')
    await page.keyboard.insertText('{ authors { name } }')
    await page.click('.graphiql-execute-button')
    const answer = page.locator('.result-window')
    await until('the answer is shown', async () => (await answer.innerText()).includes('Ada'))
    assert.deepEqual({ faults, foreign }, { faults: [], foreign: [] })
  } finally {
    await closePages()
    served.close()
    await world.close()
  }
})
