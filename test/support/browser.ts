/** A real browser for tests of the pages: Chromium, without a window and without the rest of the network. */
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { after } from 'node:test'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import type { App } from '#http/request.ts'
import type { World } from '../world.ts'
import { forAllTests } from './fixture.ts'
import { serveApp } from './served.ts'
import { longest } from './wait.ts'

const names = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome']

/** Where the browser is; undefined where there is none. The shell is the same engine, and takes two thirds of the processor. */
const browserFile: string | undefined = [
  process.env.DUET_TEST_BROWSER ?? '',
  ...names.map(name => `/usr/bin/${name}`),
].find(path => existsSync(path))

/** Why tests that need a browser are skipped; false where there is one. */
export const skipped =
  browserFile === undefined
    ? 'NOT TESTED: there is no Chromium; apt-get install chromium-headless-shell or chromium, or name one in DUET_TEST_BROWSER'
    : false

let opened: Promise<Browser> | undefined
after(async () => (await opened)?.close())

/** The browser of this process, which is started for the first test that asks and closed after the last. */
export const openBrowser = (): Promise<Browser> => {
  opened ??= launch()
  return opened
}

/** Closes all pages, each of which goes on by itself. */
export const closePages = async (): Promise<void> => {
  for (const context of (await opened)?.contexts() ?? []) await context.close()
}

const launch = async (): Promise<Browser> => {
  // Files without a browser share the process, and load nothing of it.
  const { chromium } = await import('playwright-core')
  const args = [
    '--no-sandbox',
    '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost',
  ]
  return chromium.launch({ executablePath: browserFile ?? '', args, timeout: longest })
}

/** A page in the browser, with what went wrong in it and which foreign hosts it asked. */
export type Visit = {
  readonly page: Page
  /** Errors and warnings of the console, exceptions, and requests that failed. */
  readonly faults: string[]
  readonly foreign: string[]
  readonly close: () => Promise<void>
}

/** Opens a page of a service, in which `script` runs first; a request to any other origin is remembered, and finds no host. */
export const visit = async (
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
  script?: string,
): Promise<Visit> => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options })
  if (script) await context.addInitScript(script)
  context.setDefaultTimeout(longest)
  const page = await context.newPage()
  const faults: string[] = []
  const foreign: string[] = []
  const { origin } = new URL(url)
  page.on('console', message => {
    if (['error', 'warning'].includes(message.type())) faults.push(message.text())
  })
  page.on('pageerror', error => faults.push(String(error)))
  // To hold each request until it is let go on takes a tenth of the processor.
  context.on('request', request => {
    const asked = new URL(request.url())
    if (asked.origin !== origin && /^https?:$/.test(asked.protocol)) foreign.push(asked.href)
  })
  await page.goto(url)
  return { page, faults, foreign, close: () => context.close() }
}

const axe = () =>
  readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** How far a page is wider than its window, and the texts of which no line has room for three letters, as faults. */
const widthFaultsOf = (page: Page): Promise<readonly string[]> =>
  page.evaluate(`(() => {
    const over = document.documentElement.scrollWidth - innerWidth
    const faults = over > 0 ? [over + ' px too wide'] : []
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    const range = document.createRange()
    for (let text; (text = texts.nextNode()); ) {
      if (text.data.trim().length < 8) continue
      range.selectNodeContents(text)
      const { width, height } = range.getBoundingClientRect()
      if (width > 1 && width < 24 && height > 72) faults.push('a letter a line: ' + text.data)
    }
    return faults
  })()`)

/** What axe finds against a page, each fault with the first element that has it; how far the page is wider than its window is one too. */
export const faultsOf = async (page: Page): Promise<readonly string[]> => {
  // Half a megabyte, which a page has until it is left.
  if (await page.evaluate('typeof axe === "undefined"')) await page.evaluate(axe())
  const found: readonly string[] = await page.evaluate(`(async () => {
    const { violations } = await axe.run(document, { resultTypes: ['violations'] })
    return violations.map(({ id, nodes }) => id + ': ' + nodes[0].html.slice(0, 120))
  })()`)
  return [...found, ...(await widthFaultsOf(page))]
}

/** What is served on a port of its own, until it is closed. */
export const onPort = async (app: {
  readonly fetch: App['fetch']
}): Promise<{ readonly origin: string; readonly close: () => void }> => {
  const { server, origin } = await serveApp(app.fetch)
  return { origin, close: () => void server.close() }
}

/** A world for all tests of a suite, the origin of its app, and a browser, whose pages are closed before the world is. */
export const inBrowser = (make: () => Promise<World>) => {
  const world = forAllTests(async () => {
    const made = await make()
    const close = async () => {
      await closePages()
      await made.close()
    }
    return { ...made, close }
  })
  const served = forAllTests(async () => ({
    ...(await onPort(world.app)),
    browser: await openBrowser(),
  }))
  return { world, served }
}
