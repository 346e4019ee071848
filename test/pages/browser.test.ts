/** The pages of any content in a real browser, in short: content/test/pages/browser.test.ts looks at each of them. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { serve } from '@hono/node-server'
import { openBrowser, skipped, visit } from '../support/browser.ts'
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
  const server = serve({ fetch: world.app.fetch, port: 0, hostname: '127.0.0.1' })
  await once(server, 'listening')
  const browser = await openBrowser()
  try {
    const { port } = server.address() as AddressInfo
    const { page, faults, foreign } = await visit(browser, `http://127.0.0.1:${port}/`)
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
    await browser.close()
    server.close()
    await world.close()
  }
})
