/** The admin as somebody meets it who writes there all day: by keys alone, in two tabs, while the service is slow, and with rows that have next to nothing in them. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { subjectFor } from '#kit/check/rows.ts'
import { viewer } from '#model/condition.ts'
import { choice, file, flag, int, list, text } from '#model/field.ts'
import { signedIn } from '#model/policy.ts'
import type { RuledAction } from '#write/steps/action.ts'
import { change } from '#write/steps/steps.ts'
import recipes from '../../examples/recipes/duet.config.ts'
import { openImport, visitAdmin } from '../support/admin.ts'
import { faultsOf, inBrowser, skipped } from '../support/browser.ts'
import { png } from '../support/gallery.ts'
import { until } from '../support/wait.ts'
import { createWorld } from '../world.ts'

/** An action that asks for a value of each kind, and says what each begins with. */
const cookIt: RuledAction = {
  method: 'POST',
  name: 'cook recipes',
  path: '/recipes/:id/cook',
  about: 'recipe',
  answers: 'recipe',
  rule: signedIn.where({ cookId: viewer }),
  input: {
    note: text({ max: 40, initial: { value: 'As it says.' } }),
    times: int({ min: 1, max: 9, initial: { value: 2 } }),
    unit: choice(['g', 'ml'], { initial: { value: 'ml' } }),
    isGood: flag({ initial: { value: 1 } }),
    isHot: flag({ nullable: true }),
    with: list(text({ max: 20 }), { max: 3 }),
    photo: file({ accept: ['image/png'], max: '1 MB', exif: 'kept', nullable: true }),
  },
  described: { operationId: 'cookRecipe', summary: 'Cook it' },
  steps: ({ id, input: { note, times, unit, isGood, isHot, photo } }) => [
    change('recipe', id, {
      notes: [note, times, unit, isGood, String(isHot)].join(' '),
      ...(photo !== null && { cover: photo }),
    }),
  ],
}

describe('an editor in the admin', { skip: skipped }, () => {
  const ada = { name: 'Ada', subject: subjectFor(1), state: 'in' }
  const content = { ...recipes, actions: [...recipes.actions, cookIt] }
  const { world, served } = inBrowser(() => createWorld({ content, rows: { cook: [ada] } }))
  const tags: number[] = []
  const folder = mkdtempSync(join(tmpdir(), 'duet-editor-'))
  before(async () => {
    for (const name of ['Soups', 'Stews'])
      tags.push((await ask('POST /api/v1/tags', { name }, 'editor')).id)
  })
  after(() => rmSync(folder, { recursive: true }))

  const ask = async (line: string, body?: object, role?: string) => {
    const answer = await world.ask(line, { as: 1, ...(body && { body }), ...(role && { role }) })
    assert.ok(answer.status < 300, answer.text)
    return answer.json
  }
  const make = (title: string, more: object = {}) =>
    ask('POST /api/v1/recipes', { title, steps: 'Stir.', servings: 2, ...more })
  const open = async (role?: string) =>
    visitAdmin(served.browser, served.origin, await world.token(1, role))

  /** The name of what has the focus, as a screen reader says it. */
  const focused = (page: Page): Promise<string> =>
    page.evaluate(`(() => {
      const one = document.activeElement
      return one.getAttribute('aria-label') ?? one.labels?.[0]?.innerText ?? one.innerText ?? ''
    })().replace(/\\s+/g, ' ').replace(/ ?\\*$/, '').trim()`)

  /** Waits until what has a name has the focus. */
  const isOn = (page: Page, name: string) =>
    until(`the focus is on ${name}`, async () => (await focused(page)) === name)

  /** Presses Tab until what has a name has the focus. */
  const tabTo = async (page: Page, name: string, key = 'Tab') => {
    const passed: string[] = []
    for (let n = 0; n < 60; n++) {
      await page.keyboard.press(key)
      const at = await focused(page)
      if (at === name) return
      passed.push(at)
    }
    assert.fail(`no Tab leads to ${name}, but to ${passed.join(', ')}`)
  }

  test('a recipe is written, mended, merged and published by keys alone, and the focus is where one goes on', async () => {
    const { page, go, settled, close } = await open()
    const { keyboard } = page
    const press = async (...keys: readonly string[]) => {
      for (const key of keys) await keyboard.press(key)
      await settled()
    }
    const type = async (name: string, text: string) => {
      await tabTo(page, name)
      await keyboard.type(text)
    }
    await go('recipe')
    await tabTo(page, 'New recipe')
    await press('Enter')
    await isOn(page, 'Title')
    assert.match(await page.title(), /^New recipe/)
    const steps = await page.getByLabel('Steps').boundingBox()
    assert.ok(steps && steps.height > 50, 'a long text has room before it is there')
    await keyboard.type('Barley soup')
    await type('Steps', 'Cook it.')
    await tabTo(page, 'Add ingredient')
    await press('Enter')
    await isOn(page, 'Name')
    await press('Control+s')
    // The first that is marked, which says so itself.
    await isOn(page, 'Name')
    const said = await page.evaluate(
      `document.getElementById(document.activeElement.getAttribute('aria-describedby')).innerText`,
    )
    assert.equal(said, 'is required')
    await page.getByRole('alert').filter({ hasText: 'Look at what is marked.' }).waitFor()
    assert.deepEqual(await faultsOf(page), [])
    await tabTo(page, 'Remove Ingredient 1')
    await press('Enter')
    await isOn(page, 'Add ingredient')
    await press('Enter')
    await keyboard.type('barley')
    await type('Amount', '100')
    await type('Servings', '4')
    await type('Tags', 'so')
    await settled()
    await page.getByRole('option', { name: 'Soups' }).waitFor()
    // What is found first is meant, without an arrow.
    await page.locator('[role=option][data-highlighted]').waitFor()
    await press('Enter')
    const chips = page.locator('.chips .chip')
    assert.deepEqual(await chips.allInnerTexts(), ['Soups'])
    // Neither key takes what is chosen away, or sends the form.
    await press('Escape', 'Escape', 'Enter')
    assert.deepEqual(await chips.allInnerTexts(), ['Soups'])
    assert.equal(await page.getByRole('heading', { level: 1 }).innerText(), 'New recipe')
    await press('Control+s')
    await page.getByRole('heading', { level: 1, name: 'Barley soup' }).waitFor()
    await settled()
    assert.equal(
      await page.evaluate('document.activeElement.id'),
      'main',
      'the new screen has the focus',
    )
    const [[id] = []] = await world.rows(`select id from recipes where title = 'Barley soup'`)
    const { data: parts } = await ask(`GET /api/v1/recipes/${id}/ingredients`)
    assert.deepEqual(
      parts.map(({ name, amount, unit }: Record<string, unknown>) => [name, amount, unit]),
      [['barley', 100, 'g']],
    )

    await tabTo(page, 'Title')
    await press('End')
    await keyboard.type(' with salt')
    await ask(`PATCH /api/v1/recipes/${id}`, { title: 'Barley soup of theirs', servings: 9 })
    await press('Control+s')
    await page.getByRole('dialog').waitFor()
    // A dialog takes the keys of the form below it.
    await press('Control+s')
    assert.equal((await ask(`GET /api/v1/recipes/${id}`)).title, 'Barley soup of theirs')
    await press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await isOn(page, 'Title')
    await press('Control+s')
    await page.getByRole('dialog').waitFor()
    await press('Space')
    await tabTo(page, 'Take these')
    await press('Enter')
    await isOn(page, 'Title')
    assert.equal((await ask(`GET /api/v1/recipes/${id}`)).title, 'Barley soup of theirs')
    await press('Control+s')
    await page.getByText('Saved', { exact: true }).waitFor()
    const { title, servings } = await ask(`GET /api/v1/recipes/${id}`)
    assert.deepEqual([title, servings], ['Barley soup with salt', 9])

    await tabTo(page, 'Publish', 'Shift+Tab')
    await press('Enter')
    await isOn(page, 'Publish')
    await press('Enter')
    await page.getByText('Publish: done').waitFor()
    await page.getByRole('button', { name: 'Publish', exact: true }).waitFor({ state: 'detached' })
    // Its button is gone, and the focus is beside it.
    await isOn(page, 'Previous row')
    assert.equal((await ask(`GET /api/v1/recipes/${id}`)).status, 'published')
    await close()
  })

  test('ten are published at once by keys, and the search says what the list shows', async () => {
    for (let n = 0; n < 10; n++)
      await make(`Ten ${n}`, { ingredients: { create: [{ name: 'salt', amount: n, unit: 'g' }] } })
    const { page, go, settled, close } = await open()
    await go('recipe')
    await page.getByRole('searchbox').waitFor()
    const active = () => page.evaluate('document.activeElement.id')
    await until('the screen has the focus', async () => (await active()) === 'main')
    await page.keyboard.press('/')
    await isOn(page, 'Search recipes')
    await page.keyboard.type('Ten')
    await page.getByText('of 10').waitFor()
    await settled()
    await tabTo(page, 'Select all on this page')
    await page.keyboard.press('Space')
    await tabTo(page, 'Publish (10)', 'Shift+Tab')
    await page.keyboard.press('Enter')
    // What many rows are asked for is asked as of one, with their number.
    await page.getByRole('dialog', { name: 'Publish 10 recipes?' }).getByText('Ten 9').waitFor()
    await isOn(page, 'Publish 10')
    await page.keyboard.press('Enter')
    await page.getByText('Publish: 10 done').waitFor()
    await settled()
    assert.equal(await page.evaluate('document.activeElement.id'), 'main')
    const published = `select id from recipes where title like 'Ten %' and status = 'published'`
    assert.equal((await world.rows(published)).length, 10)
    // Of two that may not both be published, the one that may.
    await make('Sooner', { ingredients: { create: [{ name: 'salt', amount: 1 }] } })
    await make('Sooner or later')
    const search = page.getByRole('searchbox')
    // The bar takes no place of the list, a tick beside its box is one, and Shift goes on from the last.
    const last = page.getByLabel('Select Ten 0')
    const at = async () => (await page.locator('.table').boundingBox())?.y
    const before = await at()
    await page.locator('td.select', { has: last }).click({ position: { x: 2, y: 2 } })
    await page.getByText('1 selected').waitFor()
    assert.equal(await last.isChecked(), true)
    assert.equal(await at(), before)
    await go('')
    await go('recipe?filter={"q":"Ten"}&sort=id&order=ASC')
    await page.getByText('1 selected').waitFor()
    await page.getByLabel('Select Ten 3').click({ modifiers: ['Shift'] })
    await page.getByText('4 selected').waitFor()
    await page.getByRole('button', { name: 'Clear' }).click()
    // Nothing is offered before it is known whether it may be done.
    const asked = Promise.withResolvers<void>()
    await page.route('**/admin/may.json?*', async route => {
      await asked.promise
      await route.continue()
    })
    await page.evaluate(`location.hash = '#/recipe?filter={"q":"Sooner"}'`)
    await page.getByText('of 2').waitFor()
    await page.getByLabel('Select all on this page').check()
    await page.getByText('2 selected').waitFor()
    assert.equal(await page.getByRole('button', { name: /^(Publish\b|Actions)/ }).count(), 0)
    asked.resolve()
    await page.getByRole('button', { name: 'Publish (1 of 2)' }).click()
    const asks = page.getByRole('dialog', { name: 'Publish 1 recipe?' })
    await asks.getByRole('button', { name: 'Publish 1' }).click()
    await page.getByText('Publish: 1 done').waitFor()
    await page.getByText('1 selected').waitFor()
    assert.equal(await page.getByLabel('Select Sooner or later').isChecked(), true)
    // What is offered for the selected stands in the place of the search.
    await page.getByRole('button', { name: 'Clear' }).click()
    await go('recipe?filter={"q":"nowhere"}')
    assert.equal(await search.inputValue(), 'nowhere')
    await page.getByRole('button', { name: 'Show all: Recipes' }).click()
    await page.getByRole('link', { name: 'Ten 9' }).waitFor()
    assert.equal(await search.inputValue(), '')
    await close()
  })

  test('who leafs through rows by a key stays on its button', async () => {
    const ids = [(await make('Leaf 1')).id, (await make('Leaf 2')).id, (await make('Leaf 3')).id]
    const { page, go, settled, close } = await open()
    // Over the pages of the list, and back.
    await go('recipe?sort=id&order=ASC&page=1&perPage=2&filter={"q":"Leaf"}')
    await page.getByRole('link', { name: 'Leaf 1' }).click()
    await settled()
    await tabTo(page, 'Next row')
    for (const id of ids.slice(1)) {
      await page.keyboard.press('Enter')
      await page.locator('.crumb').getByText(`#${id}`).waitFor()
      await settled()
      await isOn(page, 'Next row')
    }
    for (const [button, id] of [
      ['Previous row', ids[1]],
      ['Next row', ids[2]],
    ] as const) {
      await page.getByRole('button', { name: button }).click()
      await page.locator('.crumb').getByText(`#${id}`).waitFor()
      await settled()
    }
    // The button takes the focus no more when it comes back, once the row is in the list again.
    const next = page.getByRole('button', { name: 'Next row' })
    for (const [title, state] of [
      ['Branch 3', 'detached'],
      ['Leaf 3', 'visible'],
    ] as const) {
      await page.getByLabel('Title').fill(title)
      await page.keyboard.press('Control+s')
      await next.waitFor({ state })
      await settled()
      await isOn(page, 'Title')
    }
    // Who clicked beside everything stays there when what had the focus goes.
    await next.focus()
    await page.locator('.nav footer .muted').click()
    await page.evaluate(`document.querySelector('[aria-label="Next row"]').remove()`)
    assert.equal(await page.evaluate('document.activeElement.tagName'), 'BODY')
    await close()
  })

  test('a slow service is waited for: one request, however often it is asked for, and what is typed meanwhile stays', async () => {
    const { id } = await make('Slow soup', { tags: { set: tags } })
    const { page, settled, close } = await open()
    // A form opens as one, and not as facts until it is known whether they may be changed.
    const judged = Promise.withResolvers<void>()
    await page.route('**/admin/may.json?*', async route => {
      await judged.promise
      await route.continue()
    })
    const row = page.waitForResponse(`**/api/v1/recipes/${id}`)
    await page.evaluate(`location.hash = '#/recipe/${id}'`)
    await (await row).finished()
    await page.locator('.loading').waitFor()
    assert.equal(await page.locator('.facts').count(), 0)
    judged.resolve()
    await settled()
    let sent = 0
    const held: (() => void)[] = []
    await page.route(`**/api/v1/recipes/${id}`, async route => {
      if (route.request().method() === 'PATCH') {
        sent++
        await new Promise<void>(resolve => held.push(resolve))
      }
      await route.continue()
    })
    const title = page.getByLabel('Title')
    await title.fill('Slower soup')
    await page.keyboard.press('Control+s')
    const status = page.getByRole('status').filter({ hasText: 'Saving…' })
    await status.waitFor()
    const save = page.getByRole('button', { name: 'Save', exact: true })
    assert.equal(await save.getAttribute('aria-disabled'), 'true')
    await page.keyboard.press('Control+s')
    await page.keyboard.press('Enter')
    await save.click({ force: true })
    await page.getByLabel('Notes').fill('Typed while it is saved.')
    await page.getByRole('button', { name: 'Remove Stews' }).click()
    assert.equal(sent, 1)
    for (const go of held.splice(0)) go()
    await page.getByText('Saved', { exact: true }).waitFor()
    await page.getByRole('heading', { level: 1, name: 'Slower soup' }).waitFor()
    assert.equal(await page.getByLabel('Notes').inputValue(), 'Typed while it is saved.')
    assert.deepEqual(await page.locator('.chips .chip').allInnerTexts(), ['Soups'])
    await page.getByText('Not saved').waitFor()
    await page.keyboard.press('Control+s')
    await until('the second is sent', () => held.length === 1)
    for (const go of held) go()
    await page.getByText('Nothing to save').waitFor()
    assert.equal(sent, 2)
    assert.equal((await ask(`GET /api/v1/recipes/${id}`)).notes, 'Typed while it is saved.')

    // An action, too.
    await ask(`POST /api/v1/recipes/${id}/ingredients`, { name: 'salt', amount: 1 })
    await page.reload()
    await page.route(`**/recipes/${id}/publish`, async route => {
      sent++
      await new Promise<void>(resolve => held.push(resolve))
      await route.continue()
    })
    await page.getByRole('button', { name: 'Publish' }).click()
    const dialog = page.getByRole('dialog')
    held.length = 0
    sent = 0
    await dialog.getByRole('button', { name: 'Publish' }).click()
    await until('it is sent', () => held.length === 1)
    await page.keyboard.press('Enter')
    await dialog.getByRole('button', { name: 'Publish' }).click({ force: true })
    assert.equal(sent, 1)
    for (const go of held) go()
    await page.getByText('Publish: done').waitFor()
    await close()
  })

  test('what a new row and its parts have survives a service that wants a sign-in, and is made once', async () => {
    const { page, go, close } = await open()
    // Long before it is asked for: a browser takes a while until it holds requests.
    await page.route(
      '**/api/v1/recipes',
      route => route.fulfill({ status: 401, body: '{"detail":"Not now"}' }),
      { times: 1 },
    )
    await go('recipe/create')
    await page.getByLabel('Title').fill('Kept soup')
    await page.getByLabel('Steps').fill('Wait.')
    await page.getByLabel('Servings').fill('3')
    await page.getByRole('button', { name: 'Add ingredient' }).click()
    await page.getByLabel('Name').fill('patience')
    await page.getByLabel('Amount').fill('2')
    await page.getByRole('combobox', { name: 'Tags' }).fill('st')
    await page.getByRole('option', { name: 'Stews' }).click()
    await page.keyboard.press('Control+s')
    await page.getByRole('alert').getByText('Not now').waitFor()
    const inputs = ['Title', 'Steps', 'Servings', 'Name', 'Amount'].map(label =>
      page.locator('form.record').getByLabel(label).first().inputValue(),
    )
    assert.deepEqual(await Promise.all(inputs), ['Kept soup', 'Wait.', '3', 'patience', '2'])
    assert.deepEqual(await page.locator('.chips .chip').allInnerTexts(), ['Stews'])
    // What says that one is signed out is not above the button by which one saves again.
    await page.getByRole('button', { name: /^Create/ }).click({ trial: true })
    await page.keyboard.press('Control+s')
    await page.getByRole('heading', { level: 1, name: 'Kept soup' }).waitFor()
    assert.equal((await world.rows(`select id from recipes where title = 'Kept soup'`)).length, 1)
    await close()
  })

  test('two tabs of one row keep what either saved, and a sign-out in one leaves what was typed in the other', async () => {
    const salt = { create: [{ name: 'salt', amount: 1 }] }
    const { id } = await make('Two tabs', { ingredients: salt, tags: { set: tags.slice(0, 1) } })
    const first = await open()
    await first.go(`recipe/${id}`)
    const { page: one } = first
    const two = await one.context().newPage()
    await two.addInitScript(
      `sessionStorage.setItem('duet.token', ${JSON.stringify(await world.token(1))})`,
    )
    await two.goto(`${served.origin}/admin#/recipe/${id}`)
    await two.getByLabel('Servings').fill('7')
    await one.getByLabel('Title').fill('Two tabs, the first')
    await one.keyboard.press('Control+s')
    await one.getByText('Saved', { exact: true }).waitFor()
    await two.getByLabel('Notes').fill('From the second.')
    // Tags, and each of the ingredients, are somebody's own too.
    await ask(`PATCH /api/v1/recipes/${id}`, {
      ...{ ingredients: { create: [{ name: 'pepper', amount: 2 }] }, tags: { add: tags.slice(1) } },
    })
    await two.getByLabel('Amount').fill('5')
    await two.getByRole('button', { name: 'Remove Soups' }).click()
    await one.getByRole('button', { name: 'Sign out' }).click()
    await one.getByRole('heading', { level: 1, name: /^Admin/ }).waitFor()
    await two.keyboard.press('Control+s')
    const labels = 'Title, Ingredients, Tags'
    await two.getByText(`Saved, with what others changed meanwhile: ${labels}`).waitFor()
    const { title, servings, notes } = await ask(`GET /api/v1/recipes/${id}`)
    assert.deepEqual([title, servings, notes], ['Two tabs, the first', 7, 'From the second.'])
    assert.equal(await two.getByLabel('Title').inputValue(), 'Two tabs, the first')
    assert.deepEqual(await two.locator('.chips .chip').allInnerTexts(), ['Stews'])
    const { data } = await ask(`GET /api/v1/recipes/${id}/ingredients`)
    const amounts = (data as { name: string; amount: number }[]).map(one => one.name + one.amount)
    assert.deepEqual(amounts, ['salt5', 'pepper2'])
    // What both changed is shown by what people know it by.
    await two.getByLabel('Amount').first().fill('6')
    await ask(`PATCH /api/v1/recipes/${id}`, {
      ingredients: { update: [{ id: data[0].id, amount: 7 }] },
    })
    await two.keyboard.press('Control+s')
    const dialog = two.getByRole('dialog')
    for (const text of ['salt · 6 · g', 'salt · 7 · g'])
      await dialog.getByText(text, { exact: true }).waitFor()
    await first.close()
  })

  test('rows with nothing in them, and with more parts than are shown, have each screen without a fault', async () => {
    const { id } = await make('Nothing', {
      ingredients: { create: [{ name: 'nothing', amount: 0 }] },
    })
    const { page, go, faults, close } = await open()
    /** A row of another release, or one that its reader is shown nothing of. */
    const emptied = (row: object): object =>
      Object.fromEntries(
        Object.entries(row).map(([name, value]) => [name, name === 'id' ? value : null]),
      )
    await page.route(/\/api\/v1\/(recipes|cooks|tags)(\/\d+)?(\/\w+)?(\?.*)?$/, async route => {
      const response = await route.fetch()
      const json = await response.json()
      const changed = Array.isArray(json.data)
        ? {
            ...json,
            data: json.data.map(emptied),
            ...(json.pagination && {
              pagination: { ...json.pagination, hasNext: true, total: 1_000_000 },
            }),
          }
        : emptied(json)
      await route.fulfill({ response, json: changed })
    })
    for (const place of ['', 'recipe', `recipe/${id}`, 'tag', 'cook', 'cook/1']) {
      await go(place)
      assert.equal(await page.getByRole('heading', { level: 1 }).count(), 1, place)
      assert.deepEqual([...faults, ...(await faultsOf(page))], [], place)
    }
    await go(`recipe/${id}`)
    await page.getByText('The first 1 are shown.').waitFor()
    // What is not seen is not taken away.
    await page.getByLabel('Name').fill('something')
    const sent = page.waitForRequest(request => request.method() === 'PATCH')
    await page.keyboard.press('Control+s')
    const [[part] = []] = await world.rows(`select id from ingredients where recipe_id = ${id}`)
    assert.deepEqual((await sent).postDataJSON(), {
      ingredients: { update: [{ id: Number(part), name: 'something' }] },
    })
    await page.getByText('Saved', { exact: true }).waitFor()
    await page.unrouteAll({ behavior: 'wait' })
    await close()
  })

  test('a tag that is not there is made from the picker by those who may make it, once, and is linked', async () => {
    const { page, go, settled, close } = await open('editor')
    await go('recipe/create')
    await page.getByLabel('Title').fill('Tagged anew')
    await page.getByLabel('Steps').fill('Stir.')
    await page.getByLabel('Servings').fill('2')
    const picker = page.getByRole('combobox', { name: 'Tags' })
    await picker.fill('Soups')
    await page.getByRole('option', { name: 'Soups' }).waitFor()
    const offer = page.getByRole('option', { name: /^Create/ })
    assert.equal(await offer.count(), 0, 'what is there is not offered to be made')
    await picker.fill('Broths')
    await offer.getByText('Create “Broths”').waitFor()
    await page.locator('[role=option][data-highlighted]').waitFor()
    await page.keyboard.press('Enter')
    const chips = page.locator('.chips .chip')
    await chips.getByText('Broths').waitFor()
    await settled()
    // One that is refused leaves what was chosen.
    await picker.fill('x'.repeat(51))
    await offer.click()
    const refusal = page.locator('.message.error')
    await refusal.waitFor()
    assert.deepEqual(await chips.allInnerTexts(), ['Broths'])
    await page.keyboard.press('Escape')
    await page.keyboard.press('Control+s')
    await page.getByRole('heading', { level: 1, name: 'Tagged anew' }).waitFor()
    assert.equal(await refusal.count(), 0, 'a fault is left where it was told')
    await chips.getByText('Broths').waitFor()
    const linked = `select t.id from recipe_tags r join tags t on t.id = r.tag_id where t.name = 'Broths'`
    assert.equal((await world.rows(linked)).length, 1)
    // Nothing is offered where nobody knows whether it is there: where the search fails, and where more begin so than are found.
    for (let n = 1; n <= 20; n++) await ask('POST /api/v1/tags', { name: `Jam ${n}` }, 'editor')
    await picker.fill('Jam')
    await page.getByRole('option', { name: 'Jam 1', exact: false }).first().waitFor()
    await settled()
    assert.equal(await offer.count(), 0)
    await picker.fill('Jam 2')
    await until('two are found', async () => (await page.getByRole('option').count()) === 2)
    await settled()
    assert.equal(await offer.count(), 0)
    await picker.fill('Jam 21')
    await offer.waitFor()
    // A number is a title, too, beside the row that has it as its own.
    const first = String(tags[0])
    await picker.fill(first)
    await page.getByRole('option', { name: new RegExp(`^Soups ?#${first}$`) }).waitFor()
    await offer.getByText(`Create “${first}”`).waitFor()
    const year = await ask('POST /api/v1/tags', { name: '2024' }, 'editor')
    await picker.fill('202')
    await page.getByRole('option', { name: new RegExp(`^2024 ?#${year.id}$`) }).waitFor()
    const busy = { status: 429, body: '{"error":{"message":"Not so fast"}}' }
    await page.route('**/admin/find.json?*', route => route.fulfill(busy))
    await picker.fill('Jam 22')
    await page.getByText('Not so fast').waitFor()
    assert.equal(await page.getByRole('option').count(), 0)
    await page.unroute('**/admin/find.json?*')
    await page.keyboard.press('Escape')
    // What was not typed is not said to be kept.
    await go(`recipe?filter={"q":"Tagged anew"}`)
    await page.getByLabel('Select Tagged anew').check()
    await page.route('**/api/v1/recipes/bulk', route => route.abort(), { times: 1 })
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('button', { name: 'Delete 1' }).click()
    await page.getByText('The service cannot be reached.', { exact: true }).waitFor()
    await close()
    // A cook may make none.
    const cook = await open('cook')
    await cook.go('recipe/create')
    await cook.page.getByRole('combobox', { name: 'Tags' }).fill('Jams')
    await cook.page.getByText('Nothing found.').waitFor()
    assert.equal(await cook.page.getByRole('option').count(), 0)
    await cook.close()
  })

  test('what is not offered says what it takes, and a new row what it begins with', async () => {
    await make('Another one')
    const { id } = await make('Not yet')
    const { page, go, close } = await open('cook')
    await page.locator('.nav footer').getByText('Ada cook').waitFor()
    await go('tag/create')
    await page.getByRole('heading', { name: 'You may not make new ones here.' }).waitFor()
    await go('recipe/create')
    await page.locator('.facts').getByText('draft').waitFor()
    await page.getByText('Made of Title if it is left empty.').waitFor()
    await go(`recipe/${id}`)
    const missing = page.locator('details')
    await missing.locator('summary').press('Enter')
    await missing.getByText('Publish Only a draft with ingredients is published. May be').waitFor()
    assert.equal(await missing.getByRole('listitem').count(), 1)
    assert.deepEqual(await faultsOf(page), [])
    await ask(`POST /api/v1/recipes/${id}/ingredients`, { name: 'salt', amount: 1 })
    await ask(`POST /api/v1/recipes/${id}/publish`)
    await go('recipe')
    await go(`recipe/${id}`)
    await missing.locator('summary').press('Enter')
    await missing.getByText('where cook is the caller and status is draft').waitFor()
    // The menu leads to all rows, in as many to a page as somebody chose.
    await go('recipe?filter={"q":"Not yet"}')
    await page.getByText('of 1', { exact: false }).waitFor()
    await page.getByLabel('Rows').selectOption('10')
    await page.getByRole('link', { name: 'Tags', exact: true }).click()
    await page.getByRole('link', { name: 'Recipes', exact: true }).click()
    await page.getByRole('link', { name: 'Another one' }).waitFor()
    assert.equal(await page.getByRole('searchbox').inputValue(), '')
    assert.equal(await page.getByLabel('Rows').inputValue(), '10')
    await close()
  })

  test('a row without a revision is made and deleted, and what nobody may do says so', async () => {
    const editor = await open('editor')
    await editor.go('tag')
    await editor.page.getByRole('button', { name: 'New tag' }).click()
    await editor.page.getByLabel('Name').fill('Breads')
    await editor.page.keyboard.press('Control+s')
    await editor.page.getByRole('heading', { level: 1, name: 'Breads' }).waitFor()
    // The form is done with: the back key leads to the list.
    await editor.page.goBack()
    await editor.page.getByRole('link', { name: 'Breads' }).click()
    // One without a list is left for the start, and one without a page of its own is not led to.
    await editor.page.route('**/admin/model.json', async route => {
      const json = await (await route.fetch()).json()
      for (const { name, may } of json.entities)
        Object.assign(may, name === 'tag' ? { list: 'no' } : { one: false })
      await route.fulfill({ json })
    })
    await editor.page.reload()
    await editor.page.getByRole('button', { name: 'More' }).click()
    await editor.page.getByRole('menuitem', { name: 'Delete…' }).click()
    await editor.page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await editor.page.waitForURL(/#\/$/)
    await editor.go(`review/create?recipeId=${(await make('Not led to')).id}`)
    await editor.page.getByRole('button', { name: 'Clear Recipe' }).waitFor()
    assert.equal(await editor.page.getByRole('link', { name: 'Open Recipe' }).count(), 0)
    assert.equal((await world.rows(`select id from tags where name = 'Breads'`)).length, 0)
    await editor.close()
    const { page, go, close } = await open()
    await page.route('**/admin/model.json', async route => {
      const response = await route.fetch()
      await route.fulfill({ response, json: { ...(await response.json()), entities: [] } })
    })
    await page.reload()
    await go('')
    await page.getByText('Nothing here is open to you.').waitFor()
    assert.deepEqual(await faultsOf(page), [])
    // What cannot be counted says so.
    await page.unrouteAll({ behavior: 'wait' })
    await page.route('**/aggregate?*', route =>
      route.fulfill({ status: 400, body: '{"detail":"Not today"}' }),
    )
    await page.reload()
    await page.getByText('Not today').first().waitFor()
    // What cannot be read says so, and is asked for again.
    const { id } = await make('Away for a while')
    for (const [place, path, said] of [
      ['recipe?filter={"where":[]}', '**/api/v1/recipes?*', 'Not now'],
      [`recipe/${id}`, `**/api/v1/recipes/${id}`, 'It cannot be shown'],
    ] as const) {
      await page.route(path, route => route.fulfill({ status: 400, body: '{"detail":"Not now"}' }))
      await go(place)
      await page.getByRole('alert').getByText(said).waitFor()
      assert.doesNotMatch(await page.getByRole('alert').innerText(), /^0$/m)
      assert.equal(await page.locator('.message').count(), 0, 'it is said once')
      assert.deepEqual(await faultsOf(page), [])
      await page.unroute(path)
      await page.getByRole('button', { name: 'Try again' }).click()
      await page.getByText('Away for a while').first().waitFor()
    }
    await page.route('**/reviews?*', route => route.fulfill({ status: 400, body: '{}' }))
    await go(`recipe/${(await make('Of unknown reviews')).id}`)
    await page.locator('.related').getByText('400').waitFor()
    // A condition that is refused is taken away.
    await go('recipe?filter={"where":[{"field":"title","op":"is","value":"x"}]}')
    await page.getByRole('button', { name: 'Show all: Recipes' }).click()
    await page.getByText('Away for a while').first().waitFor()
    await go('recipe?filter={"where":5}')
    await page.getByRole('alert').getByText('Its address may be wrong').waitFor()
    assert.deepEqual(await faultsOf(page), [])
    await page.getByRole('link', { name: 'To the start' }).click()
    await go('recipe/999999')
    await page.getByRole('heading', { level: 1, name: 'Not found' }).waitFor()
    await page.getByRole('link', { name: 'Back to the list' }).click()
    await page.getByRole('link', { name: 'Away for a while' }).waitFor()
    // So does what waits for a network, which is shown once that is back.
    await page.context().setOffline(true)
    await go('cook')
    await page.getByRole('alert').getByText('cannot be reached').waitFor()
    await page.context().setOffline(false)
    await page.getByRole('link', { name: 'Ada' }).first().waitFor()
    await close()
  })

  test('an action begins with what its inputs have if nobody says otherwise, and tells faults beside them', async () => {
    const { id } = await make('To be cooked', {
      ingredients: { create: [{ name: 'salt', amount: 1 }] },
    })
    const { page, go, settled, close } = await open()
    await go(`recipe/${id}`)
    const cook = page.getByRole('button', { name: 'Cook it', exact: true })
    await cook.click()
    const dialog = page.getByRole('dialog')
    // What closes it has a name that is no action's, as "Cancel" may be.
    assert.deepEqual(await dialog.locator('.dialog-actions button').allInnerTexts(), [
      'Back',
      'Cook it',
    ])
    const texts = ['Note', 'Times', 'Unit', 'Is hot']
    const values = async () => [
      ...(await Promise.all(texts.map(name => dialog.getByLabel(name).inputValue()))),
      await dialog.getByLabel('Is good').isChecked(),
    ]
    assert.deepEqual(await values(), ['As it says.', '2', 'ml', '', true])
    const dish = { name: 'dish.png', mimeType: 'image/png', buffer: Buffer.from(png(3, 2)) }
    await dialog.getByLabel('Photo').setInputFiles(dish)
    await dialog.getByText('dish.png (').waitFor()
    await dialog.getByLabel('Times').fill('70')
    await page.keyboard.press('Enter')
    await dialog.getByText('must be a whole number from 1 to 9').first().waitFor()
    assert.equal(await dialog.getByLabel('Times').getAttribute('aria-invalid'), 'true')
    assert.deepEqual(await faultsOf(page), [])
    await dialog.getByLabel('Times').fill('')
    await page.keyboard.press('Enter')
    await page.getByText('Cook it: done').waitFor()
    await settled()
    assert.equal(await page.getByLabel('Notes').inputValue(), 'As it says. 2 ml true null')
    assert.equal((await ask(`GET /api/v1/recipes/${id}`)).cover.name, 'dish.png')
    // One that others changed meanwhile is shown first.
    await ask(`PATCH /api/v1/recipes/${id}`, { title: 'Cooked by somebody else' })
    const isChanged = 'Somebody changed it meanwhile.'
    await page.getByRole('button', { name: 'Publish' }).click()
    await dialog.getByRole('button', { name: 'Publish' }).click()
    await page.locator('.messages').getByText(isChanged).waitFor()
    await page.getByRole('heading', { level: 1, name: 'Cooked by somebody else' }).waitFor()
    await settled()
    // What was typed for it is kept.
    await cook.click()
    await dialog.getByLabel('Note').fill('Cooked again.')
    await ask(`PATCH /api/v1/recipes/${id}`, { title: 'Cooked by a third' })
    await page.keyboard.press('Enter')
    await dialog.getByRole('alert').getByText(isChanged).waitFor()
    await page.locator('h1').getByText('Cooked by a third').waitFor()
    await settled()
    assert.deepEqual(await values(), ['Cooked again.', '2', 'ml', '', true])
    await dialog.getByRole('button', { name: 'Cook it' }).click()
    await until('it is cooked', async () =>
      (await ask(`GET /api/v1/recipes/${id}`)).notes.startsWith('Cooked again.'),
    )
    await page.getByText('Cook it: done').waitFor()
    await close()
  })

  test('a file whose rows are made one by one tells how many are there, and which one is at fault', async () => {
    const { page, go, settled, close } = await open('editor')
    await go('tag')
    const dialog = await openImport(page)
    const names = ['Pies', 'Roasts', 'x'.repeat(51), 'Salads']
    // Mended, it is the same file to a browser.
    const path = join(folder, 'tags.csv')
    const choose = async () => {
      writeFileSync(path, ['name', ...names].join('\n'))
      const chooser = page.waitForEvent('filechooser')
      await dialog.getByLabel('File').click()
      await (await chooser).setFiles(path)
      await dialog.getByText(`${names.length} rows`, { exact: true }).waitFor()
    }
    await choose()
    await dialog.getByRole('button', { name: 'Import' }).focus()
    await page.keyboard.press('Enter')
    await dialog.getByRole('row', { name: /^Line 4 name “x{40}” must be/ }).waitFor()
    await dialog.getByText('2 rows imported').waitFor()
    await isOn(page, 'Import')
    await settled()
    const found = `select name from tags where name in ('Pies', 'Roasts', 'Pastas', 'Grains', 'Salads') order by id`
    const made = async () => (await world.rows(found)).flat()
    assert.deepEqual(await made(), ['Pies', 'Roasts'])
    // Mended, it goes on after them, and has rows that it had not.
    names.splice(2, 1, 'Pastas', 'Grains')
    await choose()
    await dialog.getByRole('button', { name: 'Import' }).click()
    await page.locator('.messages').getByText('5 rows imported').waitFor()
    assert.deepEqual(await made(), names)
    // What is all there is not made again unawares.
    await openImport(page)
    const warning = dialog.getByRole('alert').getByText('All of it was imported on')
    assert.equal(await warning.count(), 0)
    await choose()
    await warning.waitFor()
    names.push('Curries')
    await choose()
    await warning.waitFor({ state: 'detached' })
    await close()
  })
})
