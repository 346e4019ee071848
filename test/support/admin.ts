/** The admin of a service in a real browser, for tests: signed in, and waited for until nothing moves any more. */
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { type Visit, visit } from './browser.ts'
import { inTime } from './wait.ts'

/** A visit of the admin by the caller of a token. */
export type AdminVisit = Visit & {
  /** Opens a place behind `#`, and waits until all of it is there. */
  readonly go: (place: string) => Promise<void>
  readonly settled: () => Promise<void>
  /** Goes on as the caller of another token, who has signed in too. */
  readonly become: (token: string) => Promise<void>
}

/** Waits until no request is under way and no screen says that it waits. */
const settling = (page: Page) => {
  const asked = new Set<unknown>()
  page.on('request', request => asked.add(request))
  page.on('requestfinished', request => asked.delete(request))
  page.on('requestfailed', request => asked.delete(request))
  const isWaiting = () =>
    page.locator('.loading, .waiting, .ghost, [aria-busy=true]').first().isVisible()
  const settle = async () => {
    // What a request brought may ask for more, as the names of a column do a moment later.
    for (let still = 0; still < 3; still++) {
      await page.evaluate('new Promise(done => setTimeout(done, 30))')
      if (asked.size > 0 || (await isWaiting())) still = -1
    }
  }
  return () => inTime('the admin asks for nothing more', settle())
}

/** Opens the admin with a token, as somebody who has signed in before. */
export const visitAdmin = async (
  browser: Browser,
  origin: string,
  token: string,
  options: BrowserContextOptions = {},
): Promise<AdminVisit> => {
  // Once: who signs out has signed out.
  const signIn = `if (!sessionStorage.length)
    Object.assign(sessionStorage, { 'duet.token': ${JSON.stringify(token)}, 'signed in': 'once' })`
  const visited = await visit(browser, `${origin}/admin`, options, signIn)
  const { page } = visited
  const settled = settling(page)
  await page.locator('.layout').waitFor()
  const go = async (place: string) => {
    await page.evaluate(`location.hash = ${JSON.stringify(`#/${place}`)}`)
    await settled()
  }
  const become = async (token: string) => {
    // It begins where everybody does: not at a place that only somebody else sees.
    await go('')
    await page.evaluate(token => sessionStorage.setItem('duet.token', token), token)
    await page.reload()
    await page.locator('.layout').waitFor()
  }
  return { ...visited, become, go, settled }
}

/** Opens the dialog of a list that imports a file. */
export const openImport = async (page: Page) => {
  await page.getByRole('button', { name: 'More' }).click()
  await page.getByRole('menuitem', { name: 'Import CSV…' }).click()
  return page.getByRole('dialog')
}
