/** The pages of sign-in in a real browser, by keys alone: in the two languages, both schemes, on a narrow and a wide screen. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { linkAt, linkFor } from '#people/store.ts'
import { queryOf } from '#sql/engine.ts'
import { closePages, faultsOf, openBrowser, skipped, visit } from '#test/support/browser.ts'
import { serveApp } from '#test/support/served.ts'
import { codeFor } from '../support/visitor.ts'
import { createWorld, type World } from '../world.ts'

/** A provider that nobody asks here: its button is looked at alone. */
const provider = {
  name: 'corp',
  issuer: 'http://127.0.0.1:9',
  clientId: 'duet',
  clientSecret: 'duet',
  label: 'Corp',
  scopes: ['openid'],
}

describe('the pages of sign-in', { skip: skipped }, () => {
  let world: World
  let server: Server
  let browser: Browser
  let origin: string
  /** The origins whose pages may sign people in. */
  const origins: string[] = []
  before(async () => {
    // Sessions are of the address that the browser opens, which is known once the server listens.
    ;({ server, origin } = await serveApp((request, env) => world.app.fetch(request, env)))
    const ways = ['code', 'oidc', 'password'] as const
    origins.push(origin)
    const people = { url: origin, origins, ways, providers: [provider] }
    ;[world, browser] = await Promise.all([createWorld({ people }), openBrowser()])
  })
  after(async () => {
    await closePages()
    server?.close()
    await world?.close()
  })

  /** Waits for a part of the page, and for all that the page began with. */
  const settled = async (page: Page, part: string) => {
    await page.locator(`#people:not([aria-busy]) ${part}`).waitFor()
    await page.waitForLoadState('networkidle')
  }

  const isFocused = (page: Page, selector: string) =>
    page.locator(selector).evaluate(one => one === one.ownerDocument.activeElement)

  /** Presses Tab until an element has the focus. */
  const tabTo = async (page: Page, selector: string) => {
    for (let n = 0; n < 30; n++) {
      await page.keyboard.press('Tab')
      if (await isFocused(page, selector)) return
    }
    assert.fail(`no Tab leads to ${selector}`)
  }

  const screens = [
    {
      ...{ locale: 'en-GB', width: 1280, colorScheme: 'light' as const, email: 'ada@keys.example' },
      ...{
        title: 'Sign in',
        account: 'Your account',
        wrong: /This code is wrong/,
        saved: 'Saved.',
      },
    },
    {
      ...{ locale: 'de-DE', width: 400, colorScheme: 'dark' as const, email: 'ida@keys.example' },
      ...{
        title: 'Anmelden',
        account: 'Ihr Konto',
        wrong: /Code ist falsch/,
        saved: 'Gespeichert.',
      },
    },
  ]
  for (const { locale, width, colorScheme, email, title, account, wrong, saved } of screens)
    test(`sign in, rename and sign out by keys, without a fault: ${locale}, ${colorScheme}, ${width} wide`, async () => {
      const { page, faults, foreign, close } = await visit(
        browser,
        `${origin}/signin?returnTo=/account`,
        {
          locale,
          colorScheme,
          viewport: { width, height: 900 },
        },
      )
      await settled(page, '#ways')
      assert.equal(await page.locator('html').getAttribute('lang'), locale.slice(0, 2))
      assert.equal(await page.getByRole('heading', { level: 1 }).textContent(), title)
      assert.deepEqual(await faultsOf(page), [], '/signin')

      await tabTo(page, '#ask [name=email]')
      await page.keyboard.type(email)
      await page.keyboard.press('Enter')
      await settled(page, '#code')
      assert.ok(await isFocused(page, '#code [name=otp]'))
      const code = await codeFor(world, email)
      await page.keyboard.type(code === '00000000' ? '00000001' : '00000000')
      await page.keyboard.press('Enter')
      await page.getByRole('status').filter({ hasText: wrong }).waitFor()
      assert.ok(await isFocused(page, '#said'))
      assert.deepEqual(await faultsOf(page), [], '/signin with a wrong code')
      await tabTo(page, '#code [name=otp]')
      await page.keyboard.type(code)
      await page.keyboard.press('Enter')

      await settled(page, '#account')
      assert.equal(await page.getByRole('heading', { level: 1 }).textContent(), account)
      assert.equal(await page.locator('#address').textContent(), email)
      await page.locator('.home').evaluate(home => home.append('W'.repeat(60)))
      assert.deepEqual(await faultsOf(page), [], '/account')
      await tabTo(page, '#rename [name=name]')
      await page.keyboard.type('Ada of the keys')
      await page.keyboard.press('Enter')
      await page.getByRole('status').filter({ hasText: saved }).waitFor()
      assert.equal(await page.locator('#who').textContent(), 'Ada of the keys')
      await tabTo(page, '#out')
      await page.keyboard.press('Enter')
      await page.waitForURL(`${origin}/signin`)
      await settled(page, '#ways')
      const refused =
        'Failed to load resource: the server responded with a status of 400 (Bad Request)'
      assert.deepEqual({ faults, foreign }, { faults: [refused], foreign: [] })
      await close()
    })

  test('a page of another origin signs in, and its client renews one token for many requests, as docs say', async () => {
    const block = (file: string, word: string) => {
      const text = readFileSync(new URL(`../../../docs/${file}`, import.meta.url), 'utf8')
      const found = [...text.matchAll(/```js\n(.*?)```/gs)].find(([, code]) => code?.includes(word))
      return found?.[1] ?? ''
    }
    const library = createRequire(import.meta.url).resolve('openapi-fetch')
    const files: Readonly<Record<string, string>> = {
      '/auth.js': block('auth.md', 'askCode').replace('https://api.example.org', origin),
      '/session.js': block('clients.md', 'withSession'),
      '/openapi-fetch.js': readFileSync(library.replace(/\.cjs$/, '.mjs'), 'utf8'),
    }
    const app = createServer(({ url = '' }, response) => {
      const file = files[url]
      response.setHeader('Content-Type', file === undefined ? 'text/html' : 'text/javascript')
      response.end(file ?? '<!doctype html><title>App</title>')
    })
    app.listen(0, '127.0.0.1')
    await once(app, 'listening')
    const elsewhere = `http://localhost:${(app.address() as AddressInfo).port}`
    origins.push(elsewhere)
    const context = await browser.newContext()
    try {
      const page = await context.newPage()
      const tokens: string[] = []
      page.on('request', request => {
        if (request.method() === 'GET' && request.url().endsWith('/auth/token'))
          tokens.push(request.url())
      })
      await page.goto(elsewhere)
      const email = 'app@keys.example'
      await page.evaluate(async email => {
        const auth = '/auth.js'
        await (await import(auth)).askCode(email)
      }, email)
      const otp = await codeFor(world, email)
      const ran = await page.evaluate(
        async ([email, otp, origin]) => {
          const [auth, session, library] = ['/auth.js', '/session.js', '/openapi-fetch.js']
          const { signIn, askToken } = await import(auth)
          const { withSession } = await import(session)
          const { default: createClient } = await import(library)
          const signedIn = await signIn(email, otp)
          const client = createClient({ baseUrl: `${origin}/api/v2` })
          client.use(withSession(() => askToken(signedIn)))
          const claims = JSON.parse(
            atob((await (await askToken(signedIn)).json()).token.split('.')[1]),
          )
          const many = async () => {
            const asked = Array.from({ length: 8 }, () => client.GET(`/users/${claims.sub}`))
            return (await Promise.all(asked)).map(({ data }) => data.email)
          }
          const first = await many()
          const { now } = Date
          // Nearly ten minutes later, as far as the client knows.
          Date.now = () => now() + 580_000
          return [...first, ...(await many())]
        },
        [email, otp, origin] as const,
      )
      assert.deepEqual(ran, Array(16).fill(email))
      // One of the test itself, one for the first eight and one for the others.
      assert.equal(tokens.length, 3)
    } finally {
      await context.close()
      app.close()
    }
  })

  /** An address that signs in as the first person, once. */
  const linkIn = async () => {
    const { token, insert } = linkFor(1, Date.now())
    const { text, values } = queryOf(insert, world.store.dialect)
    await world.change(text, ...values)
    return linkAt(origin, token)
  }

  test('a link signs in where the page is open already', async () => {
    const link = await linkIn()
    const context = await browser.newContext()
    try {
      const page = await context.newPage()
      await page.goto(`${origin}/signin`)
      await settled(page, '#ask')
      await page.goto(link)
      await page.waitForURL(`${origin}/`)
      const session: unknown = await page.evaluate(async () =>
        (await fetch('/auth/get-session')).json(),
      )
      assert.partialDeepStrictEqual(session, { user: { id: '1' } })
      for (const [code, said] of [
        ['Call_0900_12345_now', 'That did not work.'],
        ['passwordSet', 'That did not work.'],
        ['BLOCKED', 'This person is blocked and may not sign in.'],
      ]) {
        await page.goto(`${origin}/signin?error=${code}`)
        await settled(page, '#in')
        assert.equal(await page.locator('#ways').isVisible(), false)
        assert.equal(await page.locator('#said').textContent(), said)
      }
      for (const given of ['/docs', '//evil.example', '/.//evil.example', '//']) {
        await page.goto(`${origin}/signin?returnTo=${given}`)
        await settled(page, '#in')
        const href = await page.locator('#on').getAttribute('href')
        assert.equal(href, given === '/docs' ? given : '/')
      }
    } finally {
      await context.close()
    }
  })

  test('an account whose session ended elsewhere, or is too old for what is asked, leads to a new one', async () => {
    const { page, close } = await visit(browser, await linkIn())
    await page.waitForURL(`${origin}/`)
    for (const [change, form, said] of [
      ['update auth_sessions set created_at = 0', 'move', /sign in again first/],
      ['delete from auth_sessions', 'rename', /^$/],
    ] as const) {
      await page.goto(`${origin}/account`)
      await settled(page, '#account')
      await world.change(`${change} returning id`)
      await page.locator(`#${form} input`).fill('new@keys.example')
      await page.keyboard.press('Enter')
      await page.waitForURL(/signin\?returnTo=\/account/)
      await settled(page, '#ask')
      assert.match((await page.locator('#said').textContent()) ?? '', said)
    }
    await close()
  })

  test('an admin whose session ended in another tab keeps what was typed, and saves it once somebody signed in there', async () => {
    const context = await browser.newContext()
    try {
      const [one, two] = [await context.newPage(), await context.newPage()]
      const signIn = async () => {
        await one.goto(await linkIn())
        await one.waitForURL(`${origin}/`)
      }
      await signIn()
      await two.goto(`${origin}/admin#/user/1`)
      await two.getByLabel('Name').fill('Typed before')
      await one.goto(`${origin}/account`)
      await one.getByRole('link', { name: 'Admin', exact: true }).click()
      await one.getByRole('link', { name: 'Your account' }).waitFor()
      // One that fails is told and can be tried again.
      await one.route('**/auth/sign-out', route => route.abort(), { times: 1 })
      await one.getByRole('button', { name: 'Sign out' }).click()
      await one.getByText('cannot be reached').waitFor()
      await one.getByRole('button', { name: 'Sign out' }).click()
      await one.getByRole('link', { name: 'Sign in' }).waitFor()
      await two.keyboard.press('Control+s')
      const told = two.getByText('You are signed out.')
      await told.waitFor()
      assert.equal(await two.getByLabel('Name').inputValue(), 'Typed before')
      assert.deepEqual(await faultsOf(two), [])
      await signIn()
      await two.evaluate(`void dispatchEvent(new Event('focus'))`)
      await told.waitFor({ state: 'detached' })
      await two.keyboard.press('Control+s')
      await two.getByText('Saved', { exact: true }).waitFor()
      const rows = await world.rows('select name from users where id = 1')
      assert.deepEqual(
        rows.flatMap(row => Object.values(row)),
        ['Typed before'],
      )
    } finally {
      await context.close()
    }
  })
})
