/** The admin of any content: what its service side says, and its page in a real browser. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { serve } from '@hono/node-server'
import type { Browser } from 'playwright-core'
import { createWorld, type World } from '../market.ts'
import { faultsOf, openBrowser, skipped, visit } from '../support/browser.ts'

type Verdict = 'yes' | 'no' | 'row'
type Entity = {
  readonly name: string
  readonly path: string
  readonly may: Readonly<Record<'list' | 'create' | 'update' | 'delete', Verdict>> & {
    readonly one: boolean
  }
  readonly fields: readonly { readonly name: string; readonly set: string }[]
}

describe('the service side of the admin', () => {
  let world: World
  before(async () => {
    world = await createWorld()
  })
  after(() => world.close())

  const modelFor = async (as: number) => (await world.ask('GET /admin/model.json', { as })).json
  const entityFor = async (as: number, name: string): Promise<Entity> =>
    (await modelFor(as)).entities.find((entity: Entity) => entity.name === name)

  test('is for those with a token, and unchanged while nothing of it changes', async () => {
    for (const path of ['/admin/model.json', '/admin/may.json?entity=post&ids=1']) {
      const refused = await world.ask(`GET ${path}`)
      assert.equal(refused.status, 401)
      assert.equal(refused.json.error.code, 'UNAUTHENTICATED')
    }
    const { headers } = await world.ask('GET /admin/model.json', { as: 2 })
    assert.equal(headers.get('cache-control'), 'private, no-cache')
    const again = { as: 2, headers: { 'If-None-Match': headers.get('etag') ?? '' } }
    assert.equal((await world.ask('GET /admin/model.json', again)).status, 304)
  })

  test('tells each caller what the rules let it do', async () => {
    assert.deepEqual((await entityFor(1, 'product')).may, {
      list: 'yes',
      one: true,
      create: 'yes',
      update: 'yes',
      delete: 'yes',
    })
    const { may } = await entityFor(2, 'product')
    assert.deepEqual([may.create, may.update, may.delete], ['no', 'no', 'no'])
    const setBy = async (as: number) =>
      (await entityFor(as, 'user')).fields.find(({ name }) => name === 'role')?.set
    assert.deepEqual([await setBy(1), await setBy(2)], ['always', 'never'])
  })

  test('says of rows what a request is answered with', async () => {
    for (const as of [1, 2, 3])
      for (const [name, plural, ids] of [
        ['post', 'posts', [1, 2, 3, 4]],
        ['user', 'users', [1, 2, 3, 4]],
        ['product', 'products', [1, 2]],
      ] as const) {
        const { json } = await world.ask(`GET /admin/may.json?entity=${name}&ids=${ids}`, { as })
        assert.deepEqual(Object.keys(json).map(Number), ids)
        for (const id of ids) {
          const { status } = await world.ask(`PATCH /api/v2/${plural}/${id}`, { as, body: {} })
          assert.equal(json[id].includes('update'), status === 200, `${as}: ${name} ${id}`)
        }
      }
  })

  test('names no row that is not there, and refuses what names none', async () => {
    const of = (query: string) => world.ask(`GET /admin/may.json?${query}`, { as: 1 })
    assert.deepEqual(Object.keys((await of('entity=post&ids=2,999,x,-1,2')).json), ['2'])
    assert.deepEqual((await of('entity=post')).json, {})
    assert.equal((await of('entity=nothing&ids=1')).status, 404)
    assert.equal((await of('ids=1')).status, 404)
    const many = Array.from({ length: 101 }, (_, n) => n + 1)
    assert.equal((await of(`entity=post&ids=${many}`)).status, 422)
  })
})

describe('the admin in a browser', { skip: skipped }, () => {
  let world: World
  let server: ReturnType<typeof serve>
  let browser: Browser
  let origin: string
  before(async () => {
    world = await createWorld()
    server = serve({ fetch: world.app.fetch, port: 0, hostname: '127.0.0.1' })
    await once(server, 'listening')
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    browser = await openBrowser()
  })
  after(async () => {
    await browser?.close()
    server?.close()
    await world?.close()
  })

  /** Opens the page as a user, by a pasted token. */
  const open = async (as: number, options: Parameters<typeof visit>[2] = {}) => {
    const visited = await visit(browser, `${origin}/admin`, options)
    const { page } = visited
    await page.getByLabel('Token').fill(await world.token(as))
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.locator('.layout').waitFor()
    return visited
  }

  const screens = [
    { width: 1280, colorScheme: 'light' },
    { width: 400, colorScheme: 'dark' },
  ] as const
  for (const { width, colorScheme } of screens)
    test(`shows each screen without a fault, ${colorScheme}, ${width} wide`, async () => {
      const { page, faults, foreign } = await open(1, {
        viewport: { width, height: 860 },
        colorScheme,
      })
      for (const [place, ready] of [
        ['', 'Market'],
        ['post', 'Posts'],
        ['post/1', 'First'],
        ['user/2', 'Ben'],
        ['product/create', 'New product'],
      ] as const) {
        await page.goto(`${origin}/admin#/${place}`)
        await page.getByRole('heading', { level: 1, name: ready }).waitFor()
        await page.waitForLoadState('networkidle')
        assert.deepEqual(await faultsOf(page), [], place)
      }
      assert.deepEqual({ faults, foreign }, { faults: [], foreign: [] })
      await page.context().close()
    })

  test('a change is saved by keys, and a fault is told beside its field', async () => {
    const { page } = await open(1)
    await page.goto(`${origin}/admin#/product/create`)
    await page.getByLabel('Name').fill('Mug')
    await page.getByLabel('Category').fill('kitchen')
    await page.getByLabel('Price').fill('-4')
    await page.keyboard.press('Control+s')
    await page.locator('.field:has(.fault)').first().waitFor()
    assert.equal(await page.getByLabel('Price').getAttribute('aria-invalid'), 'true')
    await page.getByLabel('Price').fill('7.5')
    await page.keyboard.press('Control+s')
    await page.getByRole('heading', { name: 'Mug' }).waitFor()
    const [row] = await world.rows(`select price from products where name = 'Mug'`)
    assert.deepEqual(Object.values(row ?? {}).map(Number), [750])
    await page.context().close()
  })

  test('what two people change is merged, and nobody is overwritten', async () => {
    const { page } = await open(1)
    await page.goto(`${origin}/admin#/product/3`)
    await page.getByLabel('Stock').fill('7')
    const change = (body: unknown) => world.ask('PATCH /api/v2/products/3', { as: 1, body })
    assert.equal((await change({ category: 'desk' })).status, 200)
    await page.keyboard.press('Control+s')
    await page.getByText('Saved, with what others changed').waitFor()
    const now = async () => (await world.ask('GET /api/v2/products/3')).json
    assert.deepEqual([(await now()).stock, (await now()).category], [7, 'desk'])
    await page.getByLabel('Name').fill('Mine')
    assert.equal((await change({ name: 'Theirs' })).status, 200)
    await page.keyboard.press('Control+s')
    const dialog = page.getByRole('dialog')
    await dialog.getByText('Yours').click()
    await dialog.getByRole('button', { name: 'Take these' }).click()
    await page.getByText('Not saved').waitFor()
    assert.equal((await now()).name, 'Theirs')
    await page.keyboard.press('Control+s')
    await page.getByText('Saved', { exact: true }).waitFor()
    assert.equal((await now()).name, 'Mine')
    await page.context().close()
  })

  test('a caller is offered no write that is refused', async () => {
    const { page } = await open(2)
    await page.goto(`${origin}/admin#/product`)
    await page.getByRole('heading', { name: 'Products' }).waitFor()
    assert.equal(await page.getByRole('button', { name: /^New/ }).count(), 0)
    await page.goto(`${origin}/admin#/post/4`)
    await page.getByRole('heading', { name: 'Fourth' }).waitFor()
    await page.waitForLoadState('networkidle')
    assert.equal(await page.getByRole('button', { name: /^Save/ }).count(), 0)
    await page.goto(`${origin}/admin#/post/1`)
    await page.getByRole('button', { name: /^Save/ }).waitFor()
    await page.context().close()
  })
})
