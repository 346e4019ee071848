/** The admin in a browser, over many rows: how soon a list shows what was asked for, and an import of 10,000 rows is done. */
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { prepare, sizes } from './dataset.mjs'
import { patient } from './duet.mjs'
import { inFolder } from './on-copy.mjs'

const root = fileURLToPath(new URL('../../', import.meta.url))
/** What `--only` takes. */
export const names = ['lists', 'bulk', 'single']

const wanted = { list: 400, import: 10_000 }
/** How long the page waits for more letters before it asks, which is no work. */
const typing = 250
const imported = 10_000

const median = values => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]

/** Opens the admin at a place by a token, in a browser that is started for it. */
async function openAdmin(browser, origin, token, place) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } })
  await page.addInitScript(token => sessionStorage.setItem('duet.token', token), token)
  await page.goto(`${origin}/admin#/${place}`)
  await page.locator('tbody tr:not(.ghost) td a').first().waitFor()
  return page
}

/** Does something in the page, and gives how long it is until a condition holds of what the page shows, by the page's own clock, painted. */
const timed = (page, act, isShown) =>
  page.evaluate(
    `(async () => {
      const begun = performance.now()
      ${act}
      while (!(${isShown})) await new Promise(requestAnimationFrame)
      await new Promise(requestAnimationFrame)
      return performance.now() - begun
    })()`,
  )

/** Each screen with what asks for it, and which row is the first that it shows then. */
const screens = (file, total) => {
  const last = Math.ceil(total / 25)
  const byId = 'order by id desc limit 1'
  return Object.entries({
    'first page': ['sort=id&order=DESC&page=1', byId],
    'last page': [`sort=id&order=DESC&page=${last}`, `${byId} offset ${(last - 1) * 25}`],
    'order without an index': [
      'sort=price&order=DESC&page=1',
      'where price = (select max(price) from products)',
    ],
  }).map(([name, [query, rows]]) => {
    const shown = JSON.stringify(namesIn(file, rows))
    return [
      name,
      `location.hash = '#/product?${query}&perPage=25&filter={}'`,
      `${shown}.includes(document.querySelector('tbody[aria-busy=false] td a')?.innerText)`,
    ]
  })
}

/** The names of some products. */
const namesIn = (file, rows) => {
  const db = new DatabaseSync(file, { readOnly: true })
  try {
    return db
      .prepare(`select name from products ${rows}`)
      .all()
      .map(({ name }) => name)
  } finally {
    db.close()
  }
}

/** Imports products from a file into an empty store, in one request for each 1,000 rows or one for each row. */
async function importing(duet, { browser, folder, log, isBulk }) {
  const content = join(folder, 'content')
  const isServed = path => path !== join(root, 'content/test')
  cpSync(join(root, 'content'), content, { recursive: true, filter: isServed })
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(root, join(folder, 'node_modules/duet'))
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }\n')
  const entity = join(content, 'product/entity.ts')
  const text = readFileSync(entity, 'utf8')
  const bulky = text.replace("counted: ['category']", '$&, bulk: true')
  if (bulky === text) throw new Error(`${entity} has no place for bulk: true any more`)
  if (isBulk) writeFileSync(entity, bulky)
  const config = join(content, 'duet.config.ts')
  const store = join(folder, `${isBulk}.db`)
  const file = join(folder, 'products.csv')
  const lines = Array.from({ length: imported }, (_, n) => `Imported ${n},kitchen,${n % 97}.5`)
  writeFileSync(file, ['name,category,price', ...lines].join('\n'))
  const server = await duet.serve(store, log, patient, ['--config', config])
  try {
    const token = await duet.token(store, 'admin', ['--config', config])
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } })
    await page.addInitScript(token => sessionStorage.setItem('duet.token', token), token)
    await page.goto(`${server.url}/admin#/product`)
    await page.getByRole('button', { name: 'More' }).click()
    await page.getByRole('menuitem', { name: 'Import CSV…' }).click()
    await page.getByRole('dialog').getByLabel('File').setInputFiles(file)
    await page.getByText('10,000 rows').waitFor()
    const took = await timed(
      page,
      `document.querySelector('.dialog .main').click()`,
      `document.querySelector('.messages')?.innerText.includes('10,000 rows imported')`,
    )
    await page.close()
    return took
  } finally {
    await server.stop()
  }
}

/** Asks for each screen of a list of all products, in turns. */
async function lists(duet, options, { browser, log, keep }) {
  const { files } = await prepare(duet, options)
  const server = await duet.serve(files.all, log('duet'), { ...patient, DUET_CACHE: '0' })
  try {
    const token = await duet.token(files.all, 'admin')
    const page = await openAdmin(browser, server.url, token, 'product')
    const all = screens(files.all, sizes[options.data].products)
    const words = namesIn(files.all, 'where id % 977 = 5 limit 12').map(name => name.slice(2))
    // The first round warms the service. Each begins in a page opened anew, which has none of the rows yet.
    for (let round = -1; round < options.rounds; round++) {
      await page.goto(`${server.url}/admin#/`)
      await page.reload()
      await page.locator('.counts').waitFor()
      await page.waitForLoadState('networkidle')
      const note = (name, took) => round >= 0 && keep(name, took)
      for (const [name, act, isShown] of all) note(name, await timed(page, act, isShown))
      await page.locator('input[type=search]').focus()
      const word = JSON.stringify(words[(round + 1) % words.length])
      const took = await timed(
        page,
        `document.execCommand('insertText', false, ${word})`,
        `document.querySelector('tbody[aria-busy=false] td a')?.innerText.includes(${word})`,
      )
      note('search, the wait for typing apart', took - typing)
    }
  } finally {
    await server.stop()
  }
}

/** `npm run bench -- admin`. */
export async function benchAdmin(options, { duet, log }) {
  const { chromium } = await import('playwright-core')
  const executablePath = process.env.DUET_TEST_BROWSER ?? '/usr/bin/chromium'
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
  const times = {}
  const keep = (name, took) => {
    times[name] = [...(times[name] ?? []), took]
  }
  try {
    const isAsked = name => options.only.length === 0 || options.only.includes(name)
    if (isAsked('lists')) await lists(duet, options, { browser, log, keep })
    const ways = [true, false].filter(isBulk => isAsked(isBulk ? 'bulk' : 'single'))
    for (let round = 0; round < options.rounds; round++)
      for (const isBulk of ways)
        await inFolder(async folder => {
          const name = `10,000 rows imported, ${isBulk ? '1,000 in a request' : 'one by one'}`
          const tools = { browser, folder, log: log(`import-${round}-${isBulk}`), isBulk }
          keep(name, await importing(duet, tools))
        })
  } finally {
    await browser.close()
    tell(times)
  }
  if (options.json) writeFileSync(options.json, `${JSON.stringify(times, null, 2)}\n`)
}

/** Prints what was measured until now. */
function tell(times) {
  for (const [name, some] of Object.entries(times)) {
    const most = name.includes('imported') ? wanted.import : wanted.list
    const range = `${Math.min(...some).toFixed(0)} to ${Math.max(...some).toFixed(0)}`
    const told = `${median(some).toFixed(0).padStart(6)} ms (${range}; wanted ${most})`
    console.log(`${name.padEnd(44)}${told}`)
  }
}
