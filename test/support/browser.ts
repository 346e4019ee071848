/** A real browser for tests of the pages: Chromium, without a window and without the rest of the network. */
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { serve } from '@hono/node-server'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { longest } from './wait.ts'

const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

/** Where the browser is; undefined where there is none. */
const browserFile: string | undefined = [process.env.DUET_TEST_BROWSER ?? '', ...places].find(
  path => existsSync(path),
)

/** Why tests that need a browser are skipped; false where there is one. */
export const skipped =
  browserFile === undefined
    ? 'NOT TESTED: there is no Chromium; apt-get install chromium, or name one in DUET_TEST_BROWSER'
    : false

/** Starts the browser. */
export const openBrowser = (): Promise<Browser> =>
  chromium.launch({ executablePath: browserFile ?? '', args: ['--no-sandbox'], timeout: longest })

/** A page in the browser, with what went wrong in it and which foreign hosts it asked. */
export type Visit = {
  readonly page: Page
  /** Errors and warnings of the console, exceptions, and requests that failed. */
  readonly faults: string[]
  readonly foreign: string[]
}

/** Opens a page of a service; a request to any other host is refused and remembered. */
export const visit = async (
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<Visit> => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options })
  context.setDefaultTimeout(longest)
  const page = await context.newPage()
  const faults: string[] = []
  const foreign: string[] = []
  const { origin } = new URL(url)
  page.on('console', message => {
    if (['error', 'warning'].includes(message.type())) faults.push(message.text())
  })
  page.on('pageerror', error => faults.push(String(error)))
  await context.route(
    asked => asked.origin !== origin && /^https?:$/.test(asked.protocol),
    route => {
      foreign.push(route.request().url())
      return route.abort()
    },
  )
  await page.goto(url)
  return { page, faults, foreign }
}

const axe = () =>
  readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** What axe finds against a page, each fault with the first element that has it; how far the page is wider than its window is one too. */
export const faultsOf = async (page: Page): Promise<readonly string[]> => {
  // Half a megabyte, which a page has until it is left.
  if (await page.evaluate('typeof axe === "undefined"')) await page.evaluate(axe())
  return page.evaluate(`(async () => {
    const { violations } = await axe.run(document, { resultTypes: ['violations'] })
    const over = document.documentElement.scrollWidth - innerWidth
    return [
      ...violations.map(({ id, nodes }) => id + ': ' + nodes[0].html.slice(0, 120)),
      ...(over > 0 ? [over + ' px too wide'] : []),
    ]
  })()`)
}

/** What is served on a port of its own, until it is closed. */
export const onPort = async (app: {
  readonly fetch: Parameters<typeof serve>[0]['fetch']
}): Promise<{ readonly origin: string; readonly close: () => void }> => {
  const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' })
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return { origin: `http://127.0.0.1:${port}`, close: () => void server.close() }
}
