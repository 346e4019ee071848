/** The admin of any content: what its service side says, and its page in a real browser. */
import assert from 'node:assert/strict'
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { subjectFor } from '#kit/check/rows.ts'
import type { Field } from '#model/field.ts'
import { anonymous, type Viewer } from '#model/policy.ts'
import recipes from '../../examples/recipes/duet.config.ts'
import { createWorld, usualModel, type World } from '../market.ts'
import { openImport, visitAdmin } from '../support/admin.ts'
import { faultsOf, inBrowser, skipped, visit } from '../support/browser.ts'
import { forAllTests } from '../support/fixture.ts'
import { gallery, galleryRows, png } from '../support/gallery.ts'
import { rows } from '../support/market/rows.ts'
import { until } from '../support/wait.ts'
import { createWorld as createAnyWorld, onPostgres, pluck } from '../world.ts'

type Verdict = 'yes' | 'no' | 'row'
type Entity = {
  readonly name: string
  readonly path: string
  readonly may: Readonly<Record<'list' | 'create' | 'update' | 'delete', Verdict>> & {
    readonly one: boolean
  }
  readonly fields: readonly Readonly<{ name: string; set: string; initial?: unknown }>[]
}

describe('the service side of the admin', () => {
  const world = forAllTests(createWorld)

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
    const fieldFor = async (as: number, field: string) =>
      (await entityFor(as, 'user')).fields.find(({ name }) => name === field)
    const setBy = async (as: number) => (await fieldFor(as, 'role'))?.set
    assert.deepEqual([await setBy(1), await setBy(2)], ['always', 'never'])
    assert.equal((await fieldFor(1, 'emailVerified'))?.initial, false, 'as callers write it')
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

  test('finds rows by their ids or the beginning of their title, whatever its case, among those that are seen', async () => {
    const find = async (query: string, as = 2) =>
      (await world.ask(`GET /admin/find.json?${query}`, { as })).json
    assert.deepEqual(await find('entity=user&text=be'), [{ id: 2, name: 'Ben' }])
    assert.deepEqual(await find('entity=user&ids=2,999'), [{ id: 2, name: 'Ben' }])
    for (const asked of ['text=en', 'text=%25', 'ids=x'])
      assert.deepEqual(await find(`entity=user&${asked}`), [])
    assert.ok((await find('entity=user&text=')).length > 1)
    assert.deepEqual(
      (await find('entity=post&text=f')).map(({ title }: { title: string }) => title),
      ['First', 'Fourth'],
    )
    for (const text of ['x'.repeat(201), '%00'])
      assert.equal((await find(`entity=post&text=${text}`)).error.code, 'VALIDATION_ERROR')
    assert.equal((await find('entity=nothing&text=a')).error.code, 'NOT_FOUND')
    assert.equal((await world.ask('GET /admin/find.json?entity=user')).status, 401)
  })

  test('keeps views by caller and entity, and those of a role, which the superuser writes', async () => {
    const views = async (as: number, entity = 'post') =>
      (await world.ask(`GET /admin/views?entity=${entity}`, { as })).json
    const put = async (as: number, body: unknown) =>
      (await world.ask('PUT /admin/views?entity=post', { as, body })).status
    const shows = { columns: ['title'] }
    assert.equal(await put(2, { name: 'Mine', shows: {} }), 204)
    assert.equal(await put(2, { name: 'Mine', shows }), 204)
    assert.equal(await put(1, { name: 'All', role: 'user', shows }), 204)
    const both = [
      { name: 'All', role: 'user', shows },
      { name: 'Mine', shows },
    ]
    assert.deepEqual(await views(2), both)
    assert.deepEqual(await views(3), both.slice(0, 1))
    assert.deepEqual(await views(1), both.slice(0, 1))
    assert.deepEqual(await views(2, 'user'), [])
    assert.equal(await put(2, { name: 'All', role: 'user', shows }), 403)
    assert.equal(await put(1, { name: 'All', role: 'nobody', shows }), 422)
    for (const bad of [{ shows }, { name: ' ', shows }, { name: 'x'.repeat(61), shows }])
      assert.equal(await put(2, bad), 422)
    const { json } = await world.ask('PUT /admin/views?entity=post', { as: 1, body: {} })
    assert.deepEqual(pluck(json.error.details, 'field'), ['name', 'shows'])
    for (const bad of [undefined, [], 'x', { a: 'x'.repeat(4001) }])
      assert.equal(await put(2, { name: 'Bad', shows: bad }), 422)
    for (let count = 1; count < 50; count++)
      assert.equal(await put(3, { name: `View ${count}`, shows }), 204)
    assert.equal(await put(3, { name: 'View 50', shows }), 204)
    assert.equal(await put(3, { name: 'View 51', shows }), 409)
    assert.equal(await put(3, { name: 'View 50', shows: {} }), 204)
    const remove = async (as: number, query: string) =>
      (await world.ask(`DELETE /admin/views?entity=post&${query}`, { as })).status
    assert.equal(await remove(3, 'name=Mine'), 404)
    assert.equal(await remove(2, 'name=All&role=user'), 403)
    assert.equal(await remove(2, 'name=Mine'), 204)
    assert.equal(await remove(1, 'name=All&role=user'), 204)
    assert.deepEqual(await views(2), [])
    for (const name of ['%00', '%ED%A0%80', 'x'.repeat(99)])
      assert.equal(await remove(2, `name=${name}`), 404)
    assert.equal((await world.ask('PUT /admin/views?entity=post', { body: {} })).status, 401)
    await world.change("update users set status = 'suspended' where id = 3 returning id")
    assert.equal(await put(3, { name: 'View 50', shows }), 403)
    assert.equal(await remove(3, 'name=View%2050'), 403)
    await world.change("update users set status = 'active' where id = 3 returning id")
    assert.equal((await views(3)).length, 50)
  })

  test('keeps the views of a caller by its id and of one by its subject apart, whatever that is', async t => {
    const callers: Readonly<Record<string, Viewer>> = {
      id: { id: 1, role: 'user' },
      subject: { id: null, role: 'user', service: 'a'.repeat(43), subject: '1' },
      service: { id: null, role: 'user', service: '1' },
    }
    const authenticate = (authorization = '') => callers[authorization] ?? anonymous
    const own = await createWorld({ edge: { authenticate } })
    t.after(() => own.close())
    for (const Authorization of Object.keys(callers)) {
      const headers = { Authorization }
      const of = (line: string, body?: object) => own.ask(line, { headers, body })
      assert.deepEqual((await of('GET /admin/views?entity=post')).json, [], Authorization)
      const mine = { name: 'Mine', shows: { of: Authorization } }
      const put = await of('PUT /admin/views?entity=post', mine)
      assert.equal(put.status, 204, put.text)
      assert.deepEqual((await of('GET /admin/views?entity=post')).json, [mine])
    }
  })

  test('has nothing of rows that the API shows nowhere, and finds by no title that it does not show', async t => {
    const { user, comment } = usualModel.entities
    assert.ok(user?.fields.name && comment?.relations.likes)
    const { fields } = user
    const own = { rest: false, graphql: 'hidden', initial: { value: 'Ben' } }
    const name = { ...fields.name, ...own } as Field
    const likes = { ...comment.relations.likes, rest: false }
    const entities = {
      ...usualModel.entities,
      user: { ...user, fields: { ...fields, name } },
      comment: { ...comment, relations: { ...comment.relations, likes } },
    }
    const nameless = (rows.user ?? []).map(({ name: _, ...row }) => row)
    const closed = await createWorld({
      model: { ...usualModel, entities },
      rows: { ...rows, user: nameless },
    })
    t.after(() => closed.close())
    const [like] = await closed.rows('select id from likes limit 1')
    const [id] = Object.values(like ?? {})
    assert.ok(id)
    const of = async (from: World, query: string) =>
      (await from.ask(`GET /admin/${query}`, { as: 2 })).json
    const asked = `may.json?entity=like&ids=${id}`
    assert.deepEqual(Object.keys(await of(world, asked)), [String(id)])
    assert.deepEqual(await of(closed, asked), {})
    const told = await of(closed, 'find.json?entity=user&text=')
    assert.ok(!JSON.stringify(told).includes('Ben'), JSON.stringify(told))
    const shown = (await of(closed, 'model.json')).entities
    const isLike = (one: Entity) => one.name === 'like'
    assert.equal(shown.some(isLike), false)
    assert.notEqual(shown.find((one: Entity) => one.name === 'user').title, 'name')
  })

  test('reads on the terms of any request: not before the position that it names', async () => {
    const headers = { 'Duet-Position': 'x' }
    for (const path of [
      '/api/v2/users/2',
      '/admin/find.json?entity=user',
      '/admin/may.json?entity=user&ids=2',
    ])
      assert.equal(
        (await world.ask(`GET ${path}`, { as: 2, headers })).status,
        onPostgres ? 400 : 200,
        path,
      )
  })

  test('tells the revisions of rows that the caller sees', async () => {
    const of = async (query: string, as = 2) =>
      (await world.ask(`GET /admin/revisions.json?${query}`, { as })).json
    const before = await of('entity=product&ids=2,999')
    assert.deepEqual(Object.keys(before), ['2'])
    const { status } = await world.ask('PATCH /api/v2/products/2', { as: 1, body: { stock: 8 } })
    assert.equal(status, 200)
    assert.deepEqual(await of('entity=product&ids=2'), { 2: before[2] + 1 })
    assert.deepEqual(await of('entity=like&ids=1'), {})
    assert.deepEqual(await of('entity=product&ids='), {})
    assert.equal((await world.ask('GET /admin/revisions.json?entity=product')).status, 401)
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
  const { world, served } = inBrowser(createWorld)

  /** Opens the page as a user, by a pasted token. */
  const open = async (as: number, options: Parameters<typeof visit>[2] = {}) => {
    const visited = await visit(served.browser, `${served.origin}/admin`, options)
    const { page } = visited
    await page.getByLabel('Token').fill(await world.token(as))
    await page.keyboard.press('Enter')
    await page.locator('.layout').waitFor()
    return visited
  }

  test('a change is saved by keys, and a fault is told beside its field', async () => {
    const { page, close } = await open(1)
    await page.goto(`${served.origin}/admin#/product/create`)
    await page.getByLabel('Name').fill('Mug')
    const price = page.getByLabel('Price')
    // What other languages write is not taken for another number, and what is missing is told too.
    await price.fill('9007199254740993')
    await page.keyboard.press('Control+s')
    await page.getByText('At most 15 digits of a number are kept.').waitFor()
    await price.fill('100,5')
    await page.getByText('This is not a number: write it like 1234.5.').waitFor()
    await page.locator('.field', { hasText: 'Category' }).getByText('is required').waitFor()
    assert.equal(await price.inputValue(), '100,5')
    await page.getByLabel('Category').fill('kitchen')
    await price.fill('-4')
    await page.keyboard.press('Control+s')
    await page.locator('.field:has(.fault)').first().waitFor()
    assert.equal(await price.getAttribute('aria-invalid'), 'true')
    await price.fill('7.5')
    await page.keyboard.press('Control+s')
    await page.getByRole('heading', { name: 'Mug' }).waitFor()
    const [row] = await world.rows(`select price from products where name = 'Mug'`)
    assert.deepEqual(Object.values(row ?? {}).map(Number), [750])
    // An amount has its decimals, until somebody types it otherwise.
    assert.equal(await price.inputValue(), '7.50')
    await price.fill('1,007.5')
    await page.getByText('Not saved').waitFor()
    await price.blur()
    assert.equal(await price.inputValue(), '1007.50')
    await price.fill('7.5')
    await page.getByText('Nothing to save').waitFor()
    // Nor is it in a condition, whose dialog stays open.
    await page.goto(`${served.origin}/admin#/product`)
    await page.getByRole('button', { name: 'Filter', exact: true }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Field').selectOption('Price')
    await dialog.getByLabel('Condition').selectOption('at least')
    const least = dialog.getByLabel('Value of Price')
    await page.keyboard.press('Enter')
    assert.ok(await least.evaluate(input => input.matches(':invalid')), 'a bound is needed')
    await least.fill('7,5')
    await page.keyboard.press('Enter')
    assert.ok(await least.evaluate(input => input.matches(':invalid')), 'it is no number')
    await least.fill('7.5')
    await page.keyboard.press('Enter')
    await dialog.waitFor({ state: 'detached' })
    // Its chip opens it again.
    await page.locator('.chip').getByText('$7.50').click()
    assert.match(decodeURIComponent(page.url()), /"op":"gte","value":"7\.5"/)
    assert.equal(await dialog.getByLabel('Condition').inputValue(), 'gte')
    assert.equal(await least.inputValue(), '7.50')
    await least.fill('0')
    await page.keyboard.press('Enter')
    await page.locator('.chip').getByText('$0.00').press('Enter')
    assert.equal(await least.inputValue(), '0.00')
    await close()
  })

  test('a picker finds a row by the beginning of its title, and a row is made below it', async () => {
    const { page, close } = await open(1)
    await page.goto(`${served.origin}/admin#/post/create`)
    await page.getByLabel('Title').fill('By a picker')
    await page.getByLabel('Content').fill('It has a text.')
    // One writes oneself, unless somebody else is chosen.
    const author = page.getByRole('combobox', { name: 'Author' })
    await page.getByRole('link', { name: 'Open Author' }).waitFor()
    assert.equal(await author.inputValue(), 'Ada')
    await author.fill('be')
    await page.getByRole('option', { name: /Ben/ }).click()
    await page.keyboard.press('Control+s')
    await page.getByRole('heading', { name: 'By a picker' }).waitFor()
    const [row] = await world.rows(`select author_id from posts where title = 'By a picker'`)
    assert.deepEqual(Object.values(row ?? {}).map(Number), [2])
    // Beside a row one begins what belongs to it, and comes back to it; nothing is typed before something is.
    const fresh = page.getByRole('link', { name: 'New comment' })
    await fresh.click()
    await page.getByRole('link', { name: 'Open Post' }).waitFor()
    await page.goBack()
    await fresh.click()
    await page.getByLabel('Text').fill('Made beside it')
    assert.equal(await page.getByRole('combobox', { name: 'Post' }).inputValue(), 'By a picker')
    await page.keyboard.press('Control+s')
    await page.locator('h1').getByText('By a picker').waitFor()
    await page.locator('.related').getByText('Made beside it').click()
    await page.getByRole('heading', { level: 1, name: 'Made beside it' }).waitFor()
    assert.deepEqual(await page.locator('.crumb a').allInnerTexts(), [], 'it has no list')
    await close()
    // Who writes in his own name alone is offered that beside his own row.
    const own = await open(2)
    for (const id of [1, 2]) {
      await own.page.goto(`${served.origin}/admin#/user/${id}`)
      await own.page.locator('.crumb').getByText(`#${id}`).waitFor()
      await own.page.locator('.related').waitFor()
      assert.equal(await own.page.getByRole('link', { name: 'New post' }).count(), id - 1)
    }
    await own.close()
  })

  test('a changed form is left only on purpose, by links and by the back key', async () => {
    const { page, close } = await open(1)
    await page.getByRole('link', { name: 'Products', exact: true }).click()
    await page.locator('tbody a').first().click()
    const stock = page.getByLabel('Stock')
    const asItWas = await stock.inputValue()
    await stock.fill('77')
    const isAsked = page.getByRole('dialog', { name: 'Leave without saving?' })
    const leave: readonly (() => Promise<unknown>)[] = [
      () => page.getByRole('link', { name: 'Users', exact: true }).click(),
      () => page.goBack(),
      () => page.evaluate(`location.hash = '#/user/2'`),
      () => page.getByRole('button', { name: 'Sign out' }).click(),
    ]
    for (const go of leave) {
      await go()
      await isAsked.getByRole('button', { name: 'Stay' }).click()
      assert.equal(await stock.inputValue(), '77')
    }
    // What was typed is given up on purpose, too, and the row is as it was.
    const discard = page.getByRole('button', { name: 'Discard changes' })
    const isDiscarded = page.getByRole('dialog', { name: 'Discard changes?' })
    await discard.click()
    await isDiscarded.getByRole('button', { name: 'Discard changes' }).click()
    await page.getByText('Nothing to save').waitFor()
    assert.equal(await stock.inputValue(), asItWas)
    await stock.fill('77')
    await page.getByText('Not saved').waitFor()
    // So is one by the back key that an address led to.
    const place = page.url()
    await page.evaluate(`location.hash = '#/user/2'`)
    await isAsked.getByRole('button', { name: 'Leave' }).click()
    await page.getByLabel('Age').fill('77')
    await page.getByText('Not saved').waitFor()
    await page.goBack()
    await isAsked.getByRole('button', { name: 'Leave' }).click()
    await page.waitForURL(place)
    // What is unchanged is left at once.
    await page.getByRole('button', { name: /^Save/ }).waitFor()
    await page.getByRole('link', { name: 'Posts', exact: true }).click()
    await page.getByRole('heading', { level: 1, name: 'Posts' }).waitFor()
    await close()
  })

  test('a view is saved with its filter, order and columns, and opened again', async () => {
    const { page, close } = await open(1)
    const list = 'user?sort=name&order=DESC&filter={"where":[{"field":"id","op":"gt","value":"1"}]}'
    await page.goto(`${served.origin}/admin#/${list.replaceAll('gt', 'ne')}`)
    const rows = page.locator('tbody tr:not(.ghost)')
    await page.getByText('is not 1').waitFor()
    await page.getByRole('button', { name: 'Views' }).click()
    await page.getByRole('menuitem', { name: 'Save this view…' }).click()
    await page.getByLabel('Name').last().fill('Others')
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    await page.getByText('Saved', { exact: true }).waitFor()
    await page.goto(`${served.origin}/admin#/user?filter={}&sort=id&order=ASC`)
    await page.getByText('is not 1').waitFor({ state: 'hidden' })
    await page.getByRole('button', { name: 'Views' }).click()
    await page.getByRole('menuitem', { name: 'Others' }).click()
    await page.getByText('is not 1').waitFor()
    await rows.first().waitFor()
    assert.match(page.url(), /sort=name&order=DESC/)
    await close()
  })

  test('what was typed survives a service that is busy, gone or wants a sign-in, and is saved once', async () => {
    const { page, close } = await open(1)
    await page.goto(`${served.origin}/admin#/product/2`)
    const name = page.getByLabel('Name')
    const path = '**/api/v2/products/2'
    for (const [at, status] of [503, 429, 401, 0, 502].entries()) {
      await name.fill(`Typed ${at}`)
      await page.route(
        path,
        route =>
          status === 0
            ? route.abort()
            : route.fulfill({ status, body: status === 502 ? '<html>' : '{"detail":"Not now"}' }),
        { times: 1 },
      )
      await page.keyboard.press('Control+s')
      await page
        .getByRole('alert')
        .filter({ hasText: /Not now|cannot be reached|502/ })
        .waitFor()
      assert.equal(await name.inputValue(), `Typed ${at}`)
      await page.keyboard.press('Control+s')
      await page.locator('h1', { hasText: `Typed ${at}` }).waitFor()
    }
    // One whose answer was lost is done once.
    await page.goto(`${served.origin}/admin#/product/create`)
    await page.getByRole('heading', { name: 'New product' }).waitFor()
    await page.getByLabel('Name').fill('Made once')
    await page.getByLabel('Category').fill('desk')
    await page.getByLabel('Price').fill('1')
    await page.route(
      '**/api/v2/products',
      async route => {
        await route.fetch()
        await route.abort()
      },
      { times: 1 },
    )
    await page.keyboard.press('Control+s')
    await page.getByText('cannot be reached').waitFor()
    await page.keyboard.press('Control+s')
    await page.getByRole('heading', { name: 'Made once' }).waitFor()
    assert.equal((await world.rows(`select id from products where name = 'Made once'`)).length, 1)
    await close()
  })

  test('the page speaks German where the browser does, all of it', async () => {
    const { page, close } = await visit(served.browser, `${served.origin}/admin`, {
      locale: 'de-DE',
    })
    await page.getByRole('button', { name: 'Anmelden' }).waitFor()
    assert.equal(await page.locator('html').getAttribute('lang'), 'de')
    assert.deepEqual(await faultsOf(page), [])
    await page.getByLabel('Token').fill('none')
    await page.locator('form').getByRole('button').last().click()
    await page.getByRole('alert').getByText('Dieses Token wird abgelehnt').waitFor()
    // What the service says in English of a value that lacks, too.
    await page.getByLabel('Token').fill(await world.token(1))
    await page.locator('form').getByRole('button').last().click()
    await page.locator('.layout').waitFor()
    await page.goto(`${served.origin}/admin#/product/create`)
    await page.getByLabel('Name').waitFor()
    await page.keyboard.press('Control+s')
    await page.locator('.field', { hasText: 'Name' }).getByText('wird gebraucht').waitFor()
    // Numbers are read as they are written there.
    await page.getByLabel('Name').fill('Becher')
    await page.getByLabel('Category').fill('kitchen')
    await page.getByLabel('Price').fill('100.5')
    await page.keyboard.press('Control+s')
    await page.getByText('Das ist keine Zahl: Schreiben Sie sie wie 1234,5.').waitFor()
    await page.getByLabel('Price').fill('1.000,5')
    await page.keyboard.press('Control+s')
    await page.getByRole('heading', { name: 'Becher' }).waitFor()
    assert.equal(await page.getByLabel('Price').inputValue(), '1000,50')
    await close()
    const folder = new URL('../../admin/', import.meta.url)
    const texts = (path: string) => readFileSync(new URL(path, folder), 'utf8')
    const words = texts('words.ts')
    const said = globSync('*.{ts,tsx}', { cwd: folder })
      .flatMap(path => [...texts(path).matchAll(/\bt\(\s*'((?:[^'\\]|\\.)*)'/g)])
      .map(([, english = '']) => english)
    assert.ok(said.length > 100)
    const isKnown = (english: string) =>
      words.includes(`\n  '${english}':`) || words.includes(`\n  ${english}:`)
    assert.deepEqual(
      said.filter(english => !isKnown(english)),
      [],
    )
  })
})

describe('many rows, and strange ones, in the admin', { skip: skipped }, () => {
  const ada = { name: 'Ada', subject: subjectFor(1), state: 'in' }
  const { world, served } = inBrowser(() =>
    createAnyWorld({ content: recipes, rows: { cook: [ada] } }),
  )
  const folder = mkdtempSync(join(tmpdir(), 'duet-admin-'))
  after(() => rmSync(folder, { recursive: true }))
  const make = async (...titles: readonly string[]): Promise<readonly number[]> => {
    const ids: number[] = []
    for (const title of titles) {
      const body = {
        ...{ title, steps: 'Stir.', servings: 2 },
        ingredients: { create: [{ name: title.slice(0, 60), amount: 1, unit: 'g' }] },
      }
      const { status, text, json } = await world.ask('POST /api/v1/recipes', { as: 1, body })
      assert.equal(status, 201, text)
      ids.push(json.id)
    }
    return ids
  }
  const open = async (options: Parameters<typeof visit>[2] = {}) =>
    visitAdmin(served.browser, served.origin, await world.token(1), options)

  test('rows that others changed meanwhile are named, and none of the chosen is changed over them', async () => {
    const [, second] = await make('First stew', 'Second stew', 'Third stew')
    const { page, go, settled, close } = await open()
    await go('recipe?filter={"q":"stew"}')
    await page.getByLabel('Select all on this page').check()
    const change = async (title: string) => {
      const changed = await world.ask(`PATCH /api/v1/recipes/${second}`, { as: 1, body: { title } })
      assert.equal(changed.status, 200)
    }
    const set = async () => {
      await page.getByRole('button', { name: 'Change a field…' }).click()
      await page.getByRole('dialog').getByLabel('Field').selectOption('servings')
      await page.getByLabel('Value of Servings').fill('9')
      await page.getByRole('button', { name: 'Change 3' }).click()
    }
    const stews = `select servings from recipes where title like '%stew%' order by id`
    const servings = async () => (await world.rows(stews)).flat().map(Number)
    await change('Second stew, by somebody else')
    await set()
    const told = page.getByRole('dialog', { name: 'Nothing is changed yet' })
    await told.getByText('Second stew', { exact: true }).waitFor()
    assert.equal(await told.getByRole('listitem').count(), 1)
    assert.deepEqual(await servings(), [2, 2, 2])
    await told.getByRole('button', { name: 'Back to the list' }).click()
    await page.getByText('Second stew, by somebody else').waitFor()
    // Between the look at the rows and the write, too.
    await page.route(
      '**/recipes/bulk',
      async route => {
        await change('Second stew, once more')
        await route.continue()
      },
      { times: 1 },
    )
    await set()
    await told.getByText('Second stew, by somebody else').waitFor()
    assert.deepEqual(await servings(), [2, 2, 2])
    await told.getByRole('button', { name: 'Back to the list' }).click()
    await page.getByText('Second stew, once more').waitFor()
    await set()
    await page.getByText('3 changed').waitFor()
    // A message is beside what leads to other pages.
    await page.setViewportSize({ width: 400, height: 500 })
    await page.evaluate('scrollTo(0, document.body.scrollHeight)')
    const bottom = await page.locator('.pages').evaluate(one => one.getBoundingClientRect().bottom)
    assert.ok(((await page.locator('.message').boundingBox())?.y ?? 0) >= bottom)
    assert.deepEqual(await servings(), [9, 9, 9])
    // What is published one by one tells which of them was left.
    await settled()
    await page.getByLabel('Select all on this page').check()
    await change('Second stew, at last')
    await page.getByRole('button', { name: 'Publish (3)' }).click()
    await page.getByRole('button', { name: 'Publish 3' }).click()
    await page.getByRole('dialog', { name: '2 done, 1 left as they were' }).waitFor()
    await close()
  })

  test('a filter keeps what was typed where another condition reads it, and asks for what is shown', async () => {
    const ids = (await make('Serves two', 'Serves 2', 'Serves three')).slice(0, 2)
    const { page, go, close } = await open({ timezoneId: 'America/New_York' })
    const since = { field: 'createdAt', op: 'gte', value: '2020-01-01T12:00:05.007Z' }
    await go(`recipe?filter=${JSON.stringify({ q: 'Serves', where: [since] })}`)
    await page.getByText('of 3').waitFor()
    await page.getByRole('button', { name: /^Created at/ }).click()
    const dialog = page.getByRole('dialog')
    const value = dialog.getByLabel(/^Value of/)
    // A moment is typed by keys, though its year is 0002 and in a zone of old after the first of them, and keeps its seconds.
    await value.pressSequentially('111120261111')
    assert.equal(await value.inputValue(), '2026-11-11T11:11:05.007')
    await dialog.getByLabel('Field').selectOption('id')
    await value.fill(ids.join(','))
    await dialog.getByLabel('Condition').selectOption('is one of')
    assert.equal(await value.inputValue(), ids.join(','))
    await dialog.getByLabel('Condition').selectOption('is')
    assert.equal(await value.inputValue(), '')
    await dialog.getByLabel('Condition').selectOption('is one of')
    await value.fill(ids.join(','))
    await dialog.getByRole('button', { name: 'Apply' }).click()
    await page.getByText('of 2').waitFor()
    await close()
  })

  test('what a spreadsheet would run is guarded where it is exported, and as it was where that is imported', async () => {
    const titles = ['=1+1', '\uff1d2', "'=3", 'plain 4']
    for (const title of titles) await make(`${title} guarded`)
    const { page, go, close } = await open()
    await go('recipe?filter={"q":"guarded"}')
    await page.getByRole('button', { name: 'More' }).click()
    const saved = page.waitForEvent('download')
    await page.getByRole('menuitem', { name: 'Export as CSV' }).click()
    const text = readFileSync(await (await saved).path(), 'utf8')
    for (const title of titles.slice(0, 3)) assert.ok(text.includes(`'${title} guarded`), text)
    assert.ok(!text.includes("'plain"), text)
    const again = join(folder, 'again.csv')
    writeFileSync(
      again,
      ['title,steps,servings', ...titles.map(one => `'${one} twice,Stir.,2`)].join('\n'),
    )
    const dialog = await openImport(page)
    await dialog.getByLabel('File').setInputFiles(again)
    await dialog.getByText('4 rows').waitFor()
    await dialog.getByRole('button', { name: 'Import' }).click()
    await page.getByText('4 rows imported').waitFor()
    const kept = `select title from recipes where title like '% twice' order by id`
    assert.deepEqual(
      (await world.rows(kept)).flat(),
      [...titles.slice(0, 3), "'plain 4"].map(one => `${one} twice`),
    )
    await close()
  })

  test('a file that was cut off is imported once it is chosen again, in a page opened anew, and no row twice', async () => {
    const path = join(folder, 'many.csv')
    const lines = Array.from({ length: 2500 }, (_, n) => `Imported ${n},Stir.,${(n % 9) + 1}`)
    writeFileSync(path, ['title,steps,servings', ...lines].join('\n'))
    const counted = `select count(*) as n from recipes where title like 'Imported%'`
    const count = async () => Number((await world.rows(counted))[0]?.[0])
    const { page, go, close } = await open()
    const choose = async () => {
      await go('recipe')
      const dialog = await openImport(page)
      await dialog.getByLabel('File').setInputFiles(path)
      await dialog.getByText('2,500 rows').waitFor()
      await dialog.getByRole('button', { name: 'Import' }).click()
    }
    const wrongPath = join(folder, 'wrong.csv')
    writeFileSync(wrongPath, 'title,steps,servings\nFine,Stir.,2\nNot fine,Stir.,many\n')
    let sent = 0
    await page.route('**/recipes/bulk', async route => {
      const isTrial = route.request().postDataJSON().dryRun === true
      // The second part is done, and nobody hears of it.
      if (!isTrial && ++sent === 2) {
        await route.fetch()
        await route.abort()
      } else await route.continue()
    })
    await choose()
    await page.getByText('The service cannot be reached.', { exact: true }).waitFor()
    await page.getByText('nobody knows whether these rows are there').waitFor()
    const isAgain = page
      .getByRole('dialog')
      .getByRole('button', { name: 'Import', disabled: false })
    await isAgain.waitFor()
    assert.equal(await count(), 2000)
    await page.unroute('**/recipes/bulk')
    await page.reload()
    await page.locator('.layout').waitFor()
    await choose()
    await page.getByText('2,500 rows imported').waitFor()
    assert.equal(await count(), 2500)
    // Faults are told by row and column, and nothing of that file is there.
    const dialog = await openImport(page)
    await dialog.getByLabel('File').setInputFiles(wrongPath)
    await dialog.getByRole('button', { name: 'Import' }).click()
    await dialog.getByRole('row', { name: /Line 3 servings “many”/ }).waitFor()
    await dialog.getByText('Nothing is imported.').waitFor()
    await page.setViewportSize({ width: 400, height: 800 })
    assert.deepEqual(await faultsOf(page), [])
    const begin = dialog.getByRole('button', { name: 'Import' })
    const isOff = async () => (await begin.getAttribute('aria-disabled')) === 'true'
    // What has faults is not sent again, until it is chosen again; what had no answer may be.
    assert.equal(await isOff(), true)
    await dialog.getByLabel('File').setInputFiles(path)
    await until('a whole file may be sent', async () => !(await isOff()))
    const brokenPath = join(folder, 'broken.csv')
    writeFileSync(brokenPath, Buffer.from([0xff, 0xfe, 0x00, 0xd8]))
    await dialog.getByLabel('File').setInputFiles(brokenPath)
    await page.getByText('The file cannot be read.').waitFor()
    assert.equal(await isOff(), true)
    assert.deepEqual(await world.rows(`select id from recipes where title = 'Fine'`), [])
    await close()
  })

  for (const width of [400, 1280])
    test(`shows titles without a space, from the right, and of markup as they are, ${width} wide`, async () => {
      const titles = ['W'.repeat(200), 'وصفة حساء العدس بالليمون', '<script>alert(1)</script>']
      const ids = await make(...titles)
      const { page, go, faults, close } = await open({ viewport: { width, height: 800 } })
      page.on('dialog', () => faults.push('a script of a title has run'))
      await go('recipe?sort=id&order=DESC')
      for (const title of titles) await page.getByText(title, { exact: true }).first().waitFor()
      assert.deepEqual(await faultsOf(page), [])
      // So they are in the dark by the button for that, whatever the system has.
      const theme = page.getByRole('button', { name: /^Theme/, includeHidden: true })
      for (let n = 0; n < 2; n++) await theme.dispatchEvent('click')
      assert.deepEqual(await faultsOf(page), [])
      // What is cut tells all of itself, and paper has no menu.
      const long = page.getByRole('link', { name: `${titles[0]}` }).first()
      await long.hover()
      assert.equal(await long.getAttribute('title'), width > 760 ? titles[0] : '')
      await page.emulateMedia({ media: 'print' })
      assert.equal(await page.getByRole('link', { name: 'Recipes' }).isVisible(), false)
      await page.emulateMedia({ media: null })
      // Cards too are ordered and all selected, and what is done to those stays in sight.
      await page.getByLabel('Select all on this page').check()
      await page.getByRole('navigation', { name: 'Pages' }).scrollIntoViewIfNeeded()
      assert.ok(((await page.locator('.bulk').boundingBox())?.y ?? -1) >= 0)
      await page.getByRole('button', { name: 'Title', exact: true }).click()
      // The library goes there in a later turn, which would end what is opened now.
      await page.waitForURL(/sort=title/)
      for (const [at, id] of ids.entries()) {
        await go(`recipe/${id}`)
        const title = titles[at] ?? ''
        const heading = page.getByRole('heading', { level: 1, name: title })
        await heading.waitFor()
        assert.ok(((await heading.boundingBox())?.height ?? 0) < 100, 'it leaves room')
        assert.deepEqual(await faultsOf(page), [], title)
      }
      assert.deepEqual(faults, [])
      await close()
    })

  test('shows a choice that the model has no more, and leaves it unless another is chosen', async () => {
    const [id] = await make('With an old unit')
    const { page, go, close } = await open()
    // The store keeps to the choices of its model: this is what a service of another release answers.
    await page.route('**/ingredients?*', async route => {
      const response = await route.fetch()
      await route.fulfill({ response, body: (await response.text()).replace('"g"', '"pinch"') })
    })
    const written: unknown[] = []
    page.on('request', request => {
      if (request.method() === 'PATCH') written.push(request.postDataJSON())
    })
    await go(`recipe/${id}`)
    const unit = page.getByLabel('Unit')
    assert.equal(await unit.inputValue(), 'pinch')
    await page.getByLabel('Servings').fill('3')
    await page.keyboard.press('Control+s')
    await page.getByText('Saved', { exact: true }).waitFor()
    assert.deepEqual(written, [{ servings: 3 }])
    assert.equal(await unit.inputValue(), 'pinch')
    await close()
  })
})

describe('files in the admin', { skip: skipped }, () => {
  const { world, served } = inBrowser(() => createAnyWorld({ content: gallery, rows: galleryRows }))
  const open = async () => visitAdmin(served.browser, served.origin, await world.token(2))

  test('a file is taken, shown by an address that needs no token, and removed; one that is refused says why', async () => {
    const { page, faults, go, close } = await open()
    await go('album/1')
    const input = page.getByLabel('Cover', { exact: true })
    const file = { name: 'Küche.png', mimeType: 'image/png', buffer: Buffer.from(png(3, 2)) }
    await input.setInputFiles({ ...file, name: 'cover.png', buffer: Buffer.from('a page') })
    await page.getByText('The file is image/png by its name').waitFor()
    // While one is sent that is told, the form is not saved without it, and it can be called off.
    const network = await page.context().newCDPSession(page)
    const slow = { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: 20_000 }
    await network.send('Network.emulateNetworkConditions', slow)
    await input.setInputFiles({ ...file, buffer: Buffer.alloc(900_000, file.buffer) })
    const told = page.getByRole('progressbar')
    await until('some of it is sent', async () => Number(await told.getAttribute('value')) > 0)
    await page.keyboard.press('Control+s')
    await page.getByRole('alert').getByText('Look at what is marked.').waitFor()
    await page.getByRole('button', { name: 'Cancel', exact: true }).click()
    await page.getByText('Nothing to save').waitFor()
    await network.detach()
    await input.setInputFiles(file)
    await page.getByText('Küche.png').waitFor()
    // The first of two that are chosen at once is not sent.
    await input.evaluate(one => {
      for (let n = 0; n < 2; n++) one.dispatchEvent(new Event('change', { bubbles: true }))
    })
    // What is removed before it is saved is named no more, nor what is saved; both may be chosen again.
    await page.getByRole('button', { name: 'Remove Cover' }).click()
    await until('no file is named', async () => (await input.inputValue()) === '')
    await input.setInputFiles(file)
    await page.getByText('Küche.png').waitFor()
    await page.keyboard.press('Control+s')
    const link = page.getByRole('link', { name: 'Küche.png' })
    await link.waitFor()
    await until('no file is named', async () => (await input.inputValue()) === '')
    assert.deepEqual(await faultsOf(page), [])
    const signed = await fetch(new URL((await link.getAttribute('href')) ?? '', served.origin))
    assert.deepEqual(Buffer.from(await signed.arrayBuffer()), file.buffer)
    await page.getByRole('button', { name: 'Remove Cover' }).click()
    await page.keyboard.press('Control+s')
    await link.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Remove Cover' }).waitFor({ state: 'detached' })
    await page.reload()
    await page.getByLabel('Cover', { exact: true }).waitFor()
    const left = 'select cover, (select count(*) from uploads) from albums where id = 1'
    assert.deepEqual(await world.rows(left), [[null, 2]])
    // The upload that was refused is told in the console of the browser too.
    assert.ok(faults.every(fault => /415/.test(fault)))
    await close()
  })

  test('what is picked while a row is slowly made stays picked', async () => {
    const { page, go, close } = await open()
    const there = await world.ask('POST /api/v1/albums', { as: 2, body: { title: 'Alps' } })
    assert.equal(there.status, 201, there.text)
    // More have its words than a picker shows, and are newer.
    const create = Array.from({ length: 20 }, (_, at) => ({ title: `The Alps ${at}` }))
    await world.ask('POST /api/v1/albums/bulk', { as: 2, body: { create } })
    await go('photo/create')
    const picker = page.getByRole('combobox', { name: 'Album' })
    const slow = Promise.withResolvers<void>()
    await page.route('**/api/v1/albums', async route => {
      await slow.promise
      await route.continue()
    })
    await picker.fill('Coast')
    await page.getByRole('option', { name: /^Create/ }).click()
    await picker.fill('Alps')
    await page.getByRole('option', { name: `Alps #${there.json.id}`, exact: true }).click()
    await page.getByRole('link', { name: 'Open Album' }).waitFor()
    slow.resolve()
    await page.getByText('Album made').waitFor()
    const link = page.getByRole('link', { name: 'Open Album' })
    assert.equal(await link.getAttribute('href'), `#/album/${there.json.id}`)
    await close()
  })
})
