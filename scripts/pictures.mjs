// Makes the pictures of docs/admin.md anew in docs/pictures/, from the recipes of examples/ in a new store: `node scripts/pictures.mjs`.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'

const here = name => fileURLToPath(new URL(`../${name}`, import.meta.url))
const folder = mkdtempSync(`${tmpdir()}/duet-pictures-`)
const config = ['--config', here('examples/recipes/duet.config.ts')]
const env = {
  ...process.env,
  TZ: 'UTC',
  DUET_PORT: '0',
  DUET_AUTH_ISSUER: 'https://login.example.org/',
  DUET_AUTH_AUDIENCE: 'recipes',
  DUET_DATABASE_URL: `sqlite:${folder}/duet.db`,
}
/** The most that a picture may weigh. */
const mostBytes = 150_000

const duet = (...args) => [process.execPath, [here('bin/duet'), ...args, ...config]]
const service = spawn(...duet('serve'), { env, stdio: ['ignore', 'ignore', 'pipe'] })
try {
  let origin
  for await (const line of createInterface(service.stderr)) {
    ;[, origin] = /listens on (\S+)/.exec(line) ?? []
    if (origin) break
  }
  if (!origin) throw new Error('the service has not started')
  service.stderr.resume()
  const tokenOf = (subject, role, name) =>
    spawnSync(
      ...duet(
        ...['token', '--subject', subject, '--role', role, '--claims', JSON.stringify({ name })],
      ),
      { env, encoding: 'utf8' },
    ).stdout.trim()
  const ada = tokenOf('ada', 'chef', 'Ada Okafor')
  const ben = tokenOf('ben', 'chef', 'Ben Lindt')
  const ask = async (token, method, path, body) => {
    const answer = await fetch(`${origin}/api/v1${path}`, {
      method,
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      body: body && JSON.stringify(body),
    })
    if (!answer.ok) throw new Error(`${method} ${path}: ${await answer.text()}`)
    return answer.json()
  }

  const tags = []
  for (const name of ['quick', 'baking', 'soup', 'vegetarian', 'for guests'])
    tags.push((await ask(ada, 'POST', '/tags', { name })).id)
  const recipes = [
    [
      'Rye bread',
      12,
      [1, 3],
      'Stir the sourdough into the water.\nKnead in the flour and the salt.\nLet it rise overnight, then bake for an hour.',
      'rye flour 500 g, water 400 ml, sourdough 120 g, salt 10 g',
    ],
    [
      'Tomato soup',
      4,
      [0, 2, 3],
      'Roast the tomatoes until they are brown.\nBlend them with the stock.',
      'tomatoes 1000 g, stock 500 ml, basil 20 g',
    ],
    [
      'Mushroom risotto',
      4,
      [3, 4],
      'Fry the rice in butter.\nAdd the stock in small parts, and stir.',
      'rice 320 g, mushrooms 400 g, stock 1000 ml',
    ],
    [
      'Lemon tart',
      10,
      [1, 4],
      'Bake the crust blind.\nFill it, and bake until the middle hardly moves.',
      'flour 250 g, butter 125 g, lemon 4 piece, eggs 5 piece',
    ],
    [
      'Pea soup',
      6,
      [2],
      'Cook the peas until they fall apart.',
      'split peas 500 g, carrot 2 piece, stock 1500 ml',
    ],
    [
      'Flatbread',
      8,
      [0, 1],
      'Mix, rest for an hour, and bake in a dry pan.',
      'flour 300 g, yoghurt 200 g, salt 5 g',
    ],
    [
      'Apple pancakes',
      3,
      [0],
      'Stir the batter, fold in the apples, and fry.',
      'flour 200 g, milk 300 ml, apples 2 piece',
    ],
    [
      'Lentil stew',
      6,
      [3],
      'Soften the onions, then simmer all of it for half an hour.',
      'lentils 400 g, onions 3 piece, stock 1200 ml',
    ],
  ]
  const made = []
  for (const [at, [title, servings, found, steps, parts]] of recipes.entries()) {
    const row = await ask(at % 3 === 2 ? ben : ada, 'POST', '/recipes', {
      ...{ title, servings, steps },
      tags: { set: found.map(tag => tags[tag]) },
      ingredients: {
        create: parts.split(', ').map(part => {
          const [, name, amount, unit] = /^(.*) (\d+) (\w+)$/.exec(part)
          return { name, amount: Number(amount), unit }
        }),
      },
    })
    made.push(row.id)
    if (at % 4 !== 3) await ask(at % 3 === 2 ? ben : ada, 'POST', `/recipes/${row.id}/publish`)
    if (at % 4 < 2)
      await ask(at % 3 === 2 ? ada : ben, 'POST', `/recipes/${row.id}/reviews`, {
        stars: 5 - (at % 3),
      })
  }

  const browser = await chromium.launch({
    executablePath: process.env.DUET_TEST_BROWSER ?? '/usr/bin/chromium',
    args: ['--no-sandbox'],
  })
  const visit = async options => {
    const context = await browser.newContext({
      ...{ viewport: { width: 1280, height: 800 }, locale: 'en-GB', reducedMotion: 'reduce' },
      ...options,
    })
    const page = await context.newPage()
    await page.addInitScript(token => sessionStorage.setItem('duet.token', token), ada)
    return {
      page,
      open: async (place, ready) => {
        await page.goto(`${origin}/admin#/${place}`)
        await page.locator(ready).first().waitFor()
        await page.waitForLoadState('networkidle')
        // The names of a column come last.
        await page.locator('td .muted:text-is("…")').first().waitFor({ state: 'detached' })
      },
      take: async name => {
        const path = here(`docs/pictures/${name}.png`)
        await page.screenshot({ path, animations: 'disabled' })
        const { size } = statSync(path)
        process.stdout.write(`docs/pictures/${name}.png: ${Math.ceil(size / 1000)} kB\n`)
        if (size > mostBytes) throw new Error(`${name}.png is larger than ${mostBytes} bytes`)
      },
    }
  }
  try {
    const list = 'td.more button'
    const wide = await visit({})
    await wide.open('recipe', list)
    await wide.take('admin')
    await wide.open(`recipe/${made[0]}`, '.parts .input')
    await wide.take('admin-form')
    await wide.page.getByLabel('Title').fill('Dark rye bread')
    await ask(ada, 'PATCH', `/recipes/${made[0]}`, { title: 'Rye bread with seeds', servings: 10 })
    await wide.page.keyboard.press('Control+s')
    await wide.page.getByRole('dialog').waitFor()
    await wide.take('admin-merge')
    const narrow = await visit({ viewport: { width: 400, height: 800 }, colorScheme: 'dark' })
    await narrow.open('recipe', list)
    await narrow.take('admin-phone')
  } finally {
    await browser.close()
  }
} finally {
  if (service.exitCode === null) {
    service.kill()
    await once(service, 'exit')
  }
  rmSync(folder, { recursive: true })
}
