/** The admin of any content and of generated models, in a real browser: each screen of each caller, and its buttons beside what their requests are answered with. */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { callersOf, named } from '#kit/check/callers.ts'
import type { Viewer } from '#model/policy.ts'
import type { Action, Entity, Model } from '../../admin/model.ts'
import { drawn } from '../generated/compare.ts'
import { modelBy } from '../generated/models.ts'
import { newReference } from '../generated/reference.ts'
import { create } from '../generated/requests.ts'
import { modelFor, serveWithMembers } from '../generated/serve.ts'
import { subjects } from '../generic/contents.ts'
import { type AdminVisit, visitAdmin } from '../support/admin.ts'
import { closePages, faultsOf, onPort, openBrowser, skipped } from '../support/browser.ts'
import { asOf, type Filled, filled } from '../support/filled.ts'
import { isPlanned, rounds, usualSeed } from '../support/rounds.ts'
import { isShort } from '../support/short.ts'

const screens = [
  { viewport: { width: 1280, height: 860 }, colorScheme: 'light' },
  { viewport: { width: 400, height: 860 }, colorScheme: 'dark' },
  { viewport: { width: 400, height: 860 }, colorScheme: 'light' },
  { viewport: { width: 1280, height: 860 }, colorScheme: 'dark' },
] as const

/** The screens that the caller of a place in the list is tried on: one in turn, and all at night. */
const screensOf = (place: number): readonly (typeof screens)[number][] => {
  const begun = place % screens.length
  const inTurn = [...screens.slice(begun), ...screens.slice(0, begun)]
  return inTurn.slice(0, rounds(1, screens.length))
}

/** A caller of the admin, and what it is answered with at a path. */
type Caller = {
  readonly token: string
  // biome-ignore lint/suspicious/noExplicitAny: an answer may be anything; the assertion says what it is.
  readonly read: (path: string) => Promise<any>
}

/** Rows of an entity whose ids are looked for. */
const ids = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]

/** What the page of a row is to offer, by the model and what its service says of the row. */
const offersOf = ({ may, actions }: Entity, words: readonly string[]): readonly string[] => [
  ...(may.update !== 'no' && words.includes('update') ? ['Save'] : []),
  ...actions.filter(({ name }) => words.includes(name)).map(({ label }) => label),
  ...(may.create === 'no' ? [] : ['Copy as new']),
  ...(may.delete !== 'no' && words.includes('delete') ? ['Delete…'] : []),
]

/** What the page of a row offers. */
const offeredBy = async ({ page }: AdminVisit): Promise<readonly string[]> => {
  const buttons = await page
    .locator('.head-actions button:not(.icon), .save-bar button')
    .allInnerTexts()
  const more = page.locator('.head-actions button[aria-haspopup]')
  const entries: string[] = []
  if (await more.count()) {
    await more.click()
    await page.getByRole('menu').waitFor()
    entries.push(...(await page.getByRole('menuitem').allInnerTexts()))
    await page.keyboard.press('Escape')
    await page.getByRole('menu').waitFor({ state: 'detached' })
  }
  return [...buttons, ...entries].map(text => text.replace(/\s*Ctrl S$/, '').trim())
}

/** Crawls of an admin in one page, by one caller after another: each opens all its screens, and tells the faults of each. */
const crawlOf = (origin: string) => {
  let visit: Promise<AdminVisit> | undefined
  return async (caller: Caller, screen: (typeof screens)[number]): Promise<void> => {
    const isFirst = !visit
    visit ??= openBrowser().then(browser => visitAdmin(browser, origin, caller.token, screen))
    const visited = await visit
    const { page, become } = visited
    if (!isFirst) {
      await page.setViewportSize(screen.viewport)
      await page.emulateMedia({ colorScheme: screen.colorScheme })
      await become(caller.token)
    }
    await openScreens(visited, caller)
  }
}

const openScreens = async (visited: AdminVisit, { read }: Caller): Promise<void> => {
  const model: Model = await read('/admin/model.json')
  const { page, faults, foreign, go } = visited
  const look = async (place: string) =>
    assert.deepEqual([...faults, ...(await faultsOf(page))], [], place)
  const open = async (place: string) => {
    await go(place)
    assert.equal(await page.getByRole('heading', { level: 1 }).count(), 1, place)
    await look(place)
  }
  await open('')
  for (const entity of model.entities) {
    const { name, may } = entity
    if (may.list !== 'no') {
      await open(name)
      const isOffered = await page.getByRole('button', { name: /^New / }).count()
      assert.equal(isOffered === 1, may.create !== 'no', `${name}: to make a new one`)
      const filter = page.getByRole('button', { name: 'Filter', exact: true })
      if (await filter.count()) {
        await filter.click()
        await page.getByRole('dialog').waitFor()
        await look(`${name}, a filter`)
        await page.keyboard.press('Escape')
      }
    }
    if (may.create !== 'no') await open(`${name}/create`)
    if (!may.one) continue
    const rows: Record<string, string[]> = await read(
      `/admin/may.json?entity=${name}&ids=${ids.join(',')}`,
    )
    const [[id, words] = []] = Object.entries(rows)
    if (id === undefined || words === undefined) continue
    await open(`${name}/${id}`)
    const [shown, wanted] = [await offeredBy(visited), offersOf(entity, words)]
    assert.deepEqual([...shown].sort(), [...wanted].sort(), `${name}/${id}`)
  }
  assert.deepEqual(foreign, [])
}

/** Sends what a caller is offered of a row, and what it is not, each at the row as it is then. */
const compareRequests = async (
  { world }: Filled,
  viewer: Viewer,
  { api, entities }: Model,
): Promise<void> => {
  const { actions: declared } = world.core
  const hidden = declared.flatMap(({ admin, described }) =>
    admin?.hiddenWhen ? [described.operationId] : [],
  )
  const conditional = declared.flatMap(({ when, described }) =>
    when ? [described.operationId] : [],
  )
  for (const { name, path, may, actions } of entities)
    for (const id of ids) {
      const at = `${api}${path}/${id}`
      const wordsNow = async (): Promise<readonly string[] | undefined> =>
        (await world.ask(`GET /admin/may.json?entity=${name}&ids=${id}`, asOf(viewer))).json[id]
      const isDone = ({ name, input }: Action, status: number) =>
        status < 300 ||
        // The faults of an input come after the rights, and so does what steps refuse of which `when` says nothing.
        (input.length > 0 && status === 422) ||
        (!conditional.includes(name) && status === 409)
      const requests = [
        ...(may.update === 'no' ? [] : [['update', `PATCH ${at}`, {}] as const]),
        ...actions
          .filter(({ body }) => !body)
          .map(
            action =>
              [
                action.name,
                `${action.method} ${api}${action.path.replace('{id}', String(id))}`,
                action.input.length > 0 ? {} : undefined,
                action,
              ] as const,
          ),
        // What is deleted is offered no more.
        ...(may.delete !== 'no' && id > 8 ? [['delete', `DELETE ${at}`, undefined] as const] : []),
      ]
      for (const [word, line, body, action] of requests) {
        const words = await wordsNow()
        const { status, text } = await world.ask(line, { ...asOf(viewer), ...(body && { body }) })
        const isRefusedByRows = word === 'delete' && status === 409
        const isAllowed = action ? isDone(action, status) : status < 300 || isRefusedByRows
        const told = `${named(viewer)}: ${line} ${status} ${text}`
        const isOffered = words?.includes(word) ?? false
        // What an author hides of some rows may be done to them all the same, and a fault of an input comes before `when`.
        const isTold = !hidden.includes(word) && status !== 422
        if (isOffered || isTold) assert.equal(isOffered, isAllowed, told)
      }
    }
}

const some = isShort ? subjects.slice(0, 1) : subjects
for (const subject of some)
  describe(`the admin of ${subject.name}`, { skip: skipped }, () => {
    let it: Filled
    let served: Awaited<ReturnType<typeof onPort>>
    let crawl: ReturnType<typeof crawlOf>
    before(async () => {
      it = await filled(subject)
      served = await onPort(it.world.app)
      crawl = crawlOf(served.origin)
    })
    after(async () => {
      await closePages()
      served?.close()
      await it?.world.close()
    })
    const { admin, callers } = callersOf(subject)
    const people = callers.filter(({ id }) => id !== null)
    // Who has the same role has the same screens, beside what rows say.
    const ofRoles = people.filter(
      ({ role }, at) => at === people.findIndex(one => one.role === role),
    )
    // Those of other contents than the first are tried in turn: what one role sees, another one does elsewhere.
    const place = subjects.indexOf(subject)
    const inTurn = place === 0 ? ofRoles : ofRoles.filter((_, at) => at === place % ofRoles.length)
    const signedIn = isShort ? [admin] : isPlanned ? people : inTurn
    const callerOf = async (viewer: Viewer): Promise<Caller> => ({
      token: await it.world.token(viewer.id ?? 0, viewer.role),
      read: async path => (await it.world.ask(`GET ${path}`, asOf(viewer))).json,
    })
    for (const [at, viewer] of signedIn.entries())
      for (const screen of screensOf(at + place))
        test(`has each screen for ${named(viewer)} without a fault, ${screen.colorScheme}, ${screen.viewport.width} wide`, async () =>
          crawl(await callerOf(viewer), screen))
    for (const viewer of people)
      test(`offers ${named(viewer)} what is done when it is asked for, and nothing else`, async () => {
        const { read } = await callerOf(viewer)
        await compareRequests(it, viewer, await read('/admin/model.json'))
      })
  })

if (!isShort)
  describe('the admin of generated models', { skip: skipped }, () => {
    afterEach(closePages)
    const begun = usualSeed(46)
    for (let n = 0; n < rounds(1, 20); n++)
      test(`has each screen of the model ${n} without a fault`, async t => {
        t.diagnostic(`DUET_SEED=${begun}`)
        const draw = drawn(begun * 1000 + n)
        const entities = modelBy(draw)
        const service = await serveWithMembers(entities, 'sqlite', 'Ann', 'Ben', 'Cleo')
        const served = await onPort(service.app)
        t.after(async () => {
          served.close()
          await service.close()
        })
        const reference = newReference(modelFor(entities))
        const names = Object.keys(entities) as [string, ...string[]]
        for (let made = 0; made < 40; made++)
          await service.ask(create(draw, reference, draw.of(...names)).request)
        const crawl = crawlOf(served.origin)
        for (const [at, as] of (['user', 'admin'] as const).entries()) {
          const read: Caller['read'] = async path =>
            JSON.parse((await service.ask({ line: `GET ${path}`, as })).text)
          await crawl({ token: await service.tokenOf(as), read }, screens[at] ?? screens[0])
        }
      })
  })
