/** `duet check` on every content, in each of its versions: what it asks of a content of somebody's own, it asks of those of the tests. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { randomFrom } from '#base/random.ts'
import { anonymous } from '#kit/check/callers.ts'
import { checkLists } from '#kit/check/lists.ts'
import { checkHandReads, checkReads } from '#kit/check/reads.ts'
import { viewsOf } from '#kit/check/reference.ts'
import { checkRules } from '#kit/check/rules.ts'
import { type CheckService, restore, serveForCheck } from '#kit/check/service.ts'
import { checkTogether } from '#kit/check/together.ts'
import { checkMany, checkWrites } from '#kit/check/writes.ts'
import { startService } from '#serve/temporary.ts'
import { errorsFor } from '../asking.ts'
import { checkTraffic } from '../openapi/traffic.ts'
import { freshDatabase } from '../postgres/tools/database.ts'
import { refuses } from '../rest.ts'
import { onPostgres } from '../stores.ts'
import { isPlanned, rounds, usualSeed } from '../support/rounds.ts'
import { isShort } from '../support/short.ts'
import { subjects } from './contents.ts'

const seed = usualSeed(7)

/** On PostgreSQL this content, whose rights are asked there by nothing else; what others are made of test/generated tries on both. In a short run the library alone: this content has tests of its own. */
const checked = onPostgres ? subjects.slice(0, 1) : subjects.slice(isShort ? 1 : 0)

for (const { name, content } of checked)
  describe(`what duet check asks of ${name}`, () => {
    const random = randomFrom(seed)
    let service: CheckService
    before(async () => {
      const database = onPostgres ? (await freshDatabase()).url : undefined
      const served = await serveForCheck(content, database)
      // Each answer is as its document says, and each error has its version's shape.
      const ask: CheckService['ask'] = async (line, viewer, body) => {
        const answer = await served.ask(line, viewer, body)
        const headers = new Headers(answer.headers)
        // These are the connection's own.
        for (const name of ['connection', 'keep-alive', 'transfer-encoding', 'date'])
          headers.delete(name)
        const isAnonymous = viewer.role === anonymous.role
        await checkTraffic(content, served.model, line, { ...answer, headers, isAnonymous })
        if (answer.status < 400 || line.includes('/graphql')) return answer
        const told = { ...answer, errors: errorsFor(content, answer.headers) }
        const { code } = told.errors === 'error' ? answer.json.error : answer.json
        refuses(told, answer.status, code)
        return answer
      }
      service = { ...served, ask }
    })
    after(() => service.close())

    // What versions call a member does not depend on the store: PostgreSQL and a short run have the newest one, the last, SQLite the oldest, and the nights all.
    const views = viewsOf(content)
    const tried = isPlanned ? views : onPostgres || isShort ? views.slice(-1) : views.slice(0, 1)
    for (const view of tried) {
      const inVersion = () => ({ ...service, view })
      test(`each row and list of version ${view.version} is as the rules and the rows say`, async t => {
        t.diagnostic(`DUET_SEED=${seed}`)
        await checkReads(inVersion(), random, 4)
        for (let round = 0; round < rounds(1, 40); round++) await checkLists(inVersion(), random)
        await checkHandReads(inVersion())
      })

      test(`each write of version ${view.version} is done for those who may, and for no others`, async () => {
        const beginning = await service.rows()
        await checkWrites(inVersion(), random, () => false)
        await checkReads(inVersion(), random)
        await restore(service, beginning)
        await checkMany(inVersion(), random)
      })
    }

    test('each rule decides by the row as it is, and actions at once do what they do in turn', async () => {
      const { all } = await checkRules(service, random, () => true)
      assert.ok(all > 0 || name === 'the example empty')
      await checkTogether(service, random, () => true)
    })

    // Whatever it serves.
    if (content === checked[0]?.content)
      test('another process may serve the store of a check afterwards', async () => {
        await service.stopServing()
        await (await startService(content, { settings: service.settings })).stop()
      })
  })
