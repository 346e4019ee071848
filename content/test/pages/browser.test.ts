/** The pages in a real browser: what they load, whether they can be read, and what a person does in them. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { inBrowser, skipped, type Visit, visit } from '#test/support/browser.ts'
import { forAllTests } from '#test/support/fixture.ts'
import { until } from '#test/support/wait.ts'
import { createWorld } from '../world.ts'

/** Version 1 ends on this day, to which the last test sets the clock. */
const sunset = '2999-01-01'
const deprecation = {
  version: 1,
  from: '2998-01-01',
  sunset,
  header: 'true',
  holds: 'sunset',
} as const

const legibility = readFileSync(
  new URL('../../../test/support/legibility.js', import.meta.url),
  'utf8',
)

describe('in a browser', { skip: skipped }, () => {
  let now = Date.now
  const { world, served } = inBrowser(() => createWorld({ deprecation, now: () => now() }))

  const open = async (path: string, ready: string): Promise<Visit> => {
    const visited = await visit(served.browser, `${served.origin}${path}`, { colorScheme: 'dark' })
    await visited.page.waitForSelector(ready)
    return visited
  }

  const assertLegible = async (page: Page) => {
    for (const colorScheme of ['dark', 'light'] as const) {
      await page.emulateMedia({ colorScheme })
      for (const width of [1280, 400]) {
        await page.setViewportSize({ width, height: 900 })
        assert.deepEqual(await page.evaluate(legibility), [], `${colorScheme}, ${width} wide`)
      }
    }
  }

  const assertClean = ({ faults, foreign }: Visit) =>
    assert.deepEqual({ faults, foreign }, { faults: [], foreign: [] })

  const assertCleanAtEnd = async (visited: Visit) => {
    assertClean(visited)
    await visited.close()
  }

  describe('each page of text', () => {
    const visited = forAllTests(() => open('/', 'h1'))

    for (const [name, path] of [
      ['the start page', '/'],
      ['the guide', '/docs/guide'],
      ['the page about versions', '/docs/versions'],
      ['the page about errors', '/docs/errors'],
      ['the page that confirms an address', '/verify-email'],
    ] as const)
      test(`${name} can be read on a wide and a narrow screen, by day and by night, and loads nothing foreign`, async () => {
        const { page } = visited
        await page.goto(`${served.origin}${path}`)
        await page.waitForSelector('h1')
        await assertLegible(page)
        assertClean(visited)
      })
  })

  test('an example is copied by its button, and lines of code are not broken where it is narrow', async () => {
    const visited = await open('/', 'pre .copy')
    const { page } = visited
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.click('.rest pre .copy')
    await page.waitForSelector('.rest .copy:has-text("Copied")')
    assert.equal(
      await page.evaluate('navigator.clipboard.readText()'),
      await page.locator('.rest pre code').innerText(),
    )
    const code = page.locator('.rest pre code')
    await page.setViewportSize({ width: 400, height: 900 })
    assert.ok(((await code.boundingBox())?.height ?? 99) < 25, 'one line')
    await assertCleanAtEnd(visited)
  })

  test('the codes of errors are filtered by words, and a link to one shows it', async () => {
    const visited = await open('/docs/errors', '#filter')
    const { page } = visited
    const shown = () =>
      page.locator('tbody tr:visible [id]').evaluateAll(links => links.map(({ id }) => id))
    const all = (await shown()).length
    await page.fill('#filter', 'graphql NOT')
    assert.deepEqual(await shown(), [
      'GRAPHQL_PARSE_FAILED',
      'GRAPHQL_VALIDATION_FAILED',
      'NOT_ACCEPTABLE',
    ])
    assert.equal(await page.innerText('#found'), `3 of ${all}`)
    await page.evaluate("location.hash = '#OUT_OF_STOCK'")
    await page.waitForSelector('#OUT_OF_STOCK')
    assert.equal((await shown()).length, all)
    await assertCleanAtEnd(visited)
  })

  // Its tests follow each other on one page, since to load it takes most of their time.
  describe('the reference', () => {
    const visited = forAllTests(() => open('/docs', '.opblock'))
    let page: Page
    before(async () => {
      page = visited.page
    })

    const opened = (operation: string) => `#operations-users-${operation}`
    const turn = (operation: string) =>
      page.click(`${opened(operation)} .opblock-summary-control >> nth=0`)

    test('shows what succeeds, and what fails when it is opened', async () => {
      await turn('createUser')
      await page.waitForSelector('.responses-table .folded')
      const whole = page.locator('.responses-table .response:not(.folded)')
      const statuses = () =>
        whole.evaluateAll(rows => rows.map(row => row.getAttribute('data-code')))
      assert.deepEqual(await statuses(), ['201'])
      const conflict = page.locator('.folded', { hasText: '409' }).locator('button')
      await conflict.click()
      await until('the failure is open', async () => (await whole.count()) === 2)
      assert.deepEqual(await statuses(), ['201', '409'])
      await conflict.click()
      await until('the failure is folded', async () => (await whole.count()) === 1)
      await turn('createUser')
      assertClean(visited)
    })

    test('can be read with its operations opened, and loads nothing foreign', async () => {
      for (const operation of ['updateUser', 'deleteUser']) await turn(operation)
      await page.click(`${opened('deleteUser')} .responses-table .folded button >> nth=0`)
      await assertLegible(page)
      await page.setViewportSize({ width: 1280, height: 900 })
      for (const operation of ['updateUser', 'deleteUser']) await turn(operation)
      assertClean(visited)
    })

    test('finds requests by the words in them', async () => {
      const requests = () => page.locator('.opblock-summary-path').allInnerTexts()
      const all = (await requests()).length
      await page.fill('#search', 'Promote user')
      await until('one is left', async () => (await requests()).length === 1)
      assert.match((await requests()).join(), /promote-to-admin/)
      await page.fill('#search', '')
      await until('all are back', async () => (await requests()).length === all)
      assertClean(visited)
    })

    test('sends a request with a token, which a change of version keeps and a reload forgets', async () => {
      await page.click('.btn.authorize')
      await page.fill('.auth-container input', await world.token(1))
      await page.click('.auth-btn-wrapper .authorize')
      await page.click('.btn-done')

      await page.selectOption('#version', '1')
      await until('the list of servers is that of version 1', async () =>
        (await page.locator('.servers').innerText()).includes('/api/v1'),
      )
      assert.equal(new URL(page.url()).search, '?version=1')
      assert.equal(await page.getAttribute('#document', 'href'), '/api/v1/openapi.json')

      await turn('listUsers')
      await page.click('.try-out__btn')
      const [response] = await Promise.all([
        page.waitForResponse(asked => asked.url().includes('/api/')),
        page.click('.execute'),
      ])
      assert.equal(response.url(), `${served.origin}/api/v1/users?limit=10`)
      assert.equal(response.status(), 200)
      const shown = page.locator('.live-responses-table .microlight').first()
      await until('the answer is shown', async () =>
        (await shown.innerText()).includes('ada@example.org'),
      )

      await page.selectOption('#version', '2')
      const products = page.locator('#operations-products-listProducts')
      await products.locator('.opblock-summary-control').first().click()
      await products.locator('.try-out__btn').click()
      const [list] = await Promise.all([
        page.waitForResponse(asked => asked.url().includes('/api/v2/products')),
        products.locator('.execute').click(),
      ])
      // No condition is filled in that nobody asked for.
      assert.equal(list.url(), `${served.origin}/api/v2/products?limit=20`)
      await page.selectOption('#version', '1')

      const kept = await page.evaluate('Object.keys({ ...localStorage, ...sessionStorage })')
      assert.deepEqual([kept, await page.context().cookies()], [[], []])
      await page.reload()
      await page.waitForSelector('.btn.authorize.unlocked')
      assert.equal(await page.inputValue('#version'), '1')
      assertClean(visited)
    })
  })

  test('GraphiQL runs an operation, shows the schema, completes names, and can be read', async () => {
    const visited = await open('/graphql', '.graphiql-execute-button')
    const { page } = visited
    await page.click('.graphiql-execute-button')
    const answer = page.locator('.result-window')
    await until('the answer is shown', async () => (await answer.innerText()).includes('Fourth'))
    await assertLegible(page)

    await page.setViewportSize({ width: 1280, height: 900 })
    await page.click('.graphiql-sidebar button')
    await page.click('text=CreateUserInput')
    await page.waitForSelector('.graphiql-doc-explorer-title:has-text("CreateUserInput")')
    await page.click('.graphiql-query-editor .CodeMirror')
    await page.keyboard.press('Control+End')
    await page.keyboard.type('{ po')
    await page.waitForSelector('.CodeMirror-hint:has-text("posts")')
    await page.keyboard.press('Escape')
    await page.click('[aria-label="Open short keys dialog"]')
    await page.waitForSelector('[role="dialog"]')
    // A remark of a library in GraphiQL about its own dialog.
    const faults = visited.faults.filter(fault => !fault.startsWith('Warning: Missing `Desc'))
    await assertCleanAtEnd({ ...visited, faults })
  })

  test('GraphiQL sends the token of its field, in a narrow window too', async () => {
    const visited = await open('/graphql', '.graphiql-execute-button')
    const { page } = visited
    await page.setViewportSize({ width: 400, height: 900 })
    await page.fill('#token', await world.token(1))
    await page.click('.graphiql-tab-button:has-text("Users")')
    const answer = page.locator('.result-window')
    // GraphiQL takes a moment to know the operation of another tab.
    await until('the answer is shown', async () => {
      await page.click('.graphiql-execute-button')
      await page.waitForTimeout(300)
      return (await answer.innerText()).includes('ada@example.org')
    })
    const box = await answer.boundingBox()
    assert.ok(box && box.width > 280 && box.height > 250, JSON.stringify(box))
    const kept = await page.evaluate('JSON.stringify({ ...localStorage, ...sessionStorage })')
    assert.ok(!String(kept).includes(await page.inputValue('#token')))
    await assertCleanAtEnd(visited)
  })

  test('the link of a mail confirms its address also when version 1 has ended, and says why a code is refused', async () => {
    now = () => Date.parse(sunset)
    const body = { name: 'Zed', email: 'zed@example.org' }
    const { json: made } = await world.ask('POST /api/v2/users', { body })
    await until('the mail is written', () => world.letters.length > 0)
    const [link = ''] = /\/verify-email#\S+/.exec(world.letters[0]?.text ?? '') ?? []
    const visited = await open(link, 'form')
    const { page } = visited
    const answer = page.locator('#answer')
    const confirm = async (says: string) => {
      await page.click('button')
      await until(`the page says: ${says}`, async () => (await answer.innerText()).includes(says))
    }
    await page.fill('[name=access]', await world.token(3))
    await confirm('gives no right')
    await page.fill('[name=access]', await world.token(made.id))
    await confirm('the address is confirmed')
    // Chromium tells of each answer that is an error.
    const faults = visited.faults.filter(fault => !fault.includes('status of 403'))
    await assertCleanAtEnd({ ...visited, faults })
  })
})
