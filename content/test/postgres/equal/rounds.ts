/** Generated requests, sent to a service on SQLite and to one on PostgreSQL. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import fc from 'fast-check'
import { type Draw, drawing, numbers } from '#test/operations.ts'
import { noDatabase } from '#test/postgres/tools/database.ts'
import { until } from '#test/support/wait.ts'
import { alsoBy, rowsBy } from './content.ts'
import { createEnginePair } from './engine-pair.ts'
import { graphqlReads, graphqlWrites } from './graphql.ts'
import { type Answered, type Asked, learn, type Memory, newMemory } from './memory.ts'
import { reads } from './reads.ts'
import { writes } from './writes.ts'

const seed = Number(process.env.DUET_TEST_SEED ?? Date.now() % 1_000_000)

const kinds = [...reads, ...graphqlReads, ...writes, ...graphqlWrites]
const weights = kinds.flatMap(([weight, make]) => Array.from({ length: weight }, () => make))

/** Draws the same from the same seed, and apart for each purpose. */
const drawn = (purpose: number): Draw =>
  drawing(fc.sample(numbers, { seed: seed + purpose, numRuns: 1 })[0] as fc.Stream<number>)

const shown = ({ status, headers, body }: Answered) =>
  `${status} ${JSON.stringify(headers)}\n${Buffer.from(body).toString().slice(0, 3000)}`

const isSame = (a: Answered, b: Answered): boolean =>
  a.status === b.status &&
  JSON.stringify(a.headers) === JSON.stringify(b.headers) &&
  Buffer.compare(a.body, b.body) === 0

const hour = 3_600_000

/** Time passes: mostly a little, once in the run more than keys and tokens are good for. */
const tick = (memory: Memory, draw: Draw, isLate: boolean) => {
  memory.now += isLate ? 25 * hour : draw.upTo(900, 1)
}

/** Tests that so many, or DUET_TEST_RUNS, are answered alike and leave the same rows and messages; DUET_TEST_SEED makes the same ones again. */
export const requestsAnsweredAlike = (usual: number): void => {
  const runs = Number(process.env.DUET_TEST_RUNS ?? usual)
  describe('on two engines', { skip: noDatabase }, () => {
    const memory = newMemory(Date.UTC(2026, 5, 1))
    let pair: Awaited<ReturnType<typeof createEnginePair>>
    before(async () => {
      const rows = rowsBy(drawn(1))
      pair = await createEnginePair({
        rows,
        also: line => alsoBy(drawn(2))(line),
        now: () => memory.now,
        documents: { tokens: 10_000, aliases: 100, directives: 100 },
      })
      await pair.ask({ kind: 'delete user', line: 'DELETE /api/users/7', as: 1 })
    })
    after(() => pair.close())

    test(`${runs} generated requests have the same answers, to the letter`, async t => {
      t.diagnostic(`seed ${seed}`)
      const draw = drawn(3)
      const differences: string[] = []
      const statuses = new Map<number, number>()
      for (let n = 0; n < runs && differences.length < 5; n++) {
        tick(memory, draw, n === Math.floor(runs * 0.7))
        const asked: Asked = draw.of(...weights)(draw, memory)
        const [sqlite, postgres] = await pair.ask(asked)
        learn(memory, asked, sqlite)
        statuses.set(sqlite.status, (statuses.get(sqlite.status) ?? 0) + 1)
        if (!isSame(sqlite, postgres) || sqlite.status >= 500)
          differences.push(
            `request ${n} ${JSON.stringify(asked)}\nSQLite: ${shown(sqlite)}\nPostgreSQL: ${shown(postgres)}`,
          )
      }
      t.diagnostic(
        [...statuses]
          .sort()
          .map(([status, count]) => `${count} times ${status}`)
          .join(', '),
      )
      for (const bug of [...pair.sqlite.events, ...pair.postgres.events])
        if (bug.kind === 'bug') t.diagnostic(`bug: ${(bug.error as Error).stack}`)
      assert.deepEqual(differences, [])
      assert.ok((statuses.get(200) ?? 0) > runs / 3, 'most are not refused')
    })

    test('all stored rows are the same in the end', async () => {
      assert.deepEqual(await pair.differing(), [])
    })

    test('the same messages went out', async () => {
      const [sqlite, postgres] = [pair.sqlite.letters, pair.postgres.letters]
      assert.ok(sqlite.length > 0)
      await until('both have sent as much mail', () => sqlite.length === postgres.length)
      // A token says when its message was made, which is some time behind the answer.
      const texts = (letters: typeof sqlite) =>
        letters.map(({ to, text }) => `${to}\n${text.replace(/[\w-]+\.[\w-]{43}/g, '')}`).sort()
      assert.deepEqual(texts(postgres), texts(sqlite))
    })
  })
}
