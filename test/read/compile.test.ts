import assert from 'node:assert/strict'
import { constants } from 'node:sqlite'
import { describe, test } from 'node:test'
import { dialect as postgres } from '#engines/postgres/dialect.ts'
import { connect } from '#engines/sqlite/connection.ts'
import { dialect as sqlite } from '#engines/sqlite/dialect.ts'
import type { Role } from '#model/policy.ts'
import { compileForMany } from '#read/compile.ts'
import { plan } from '#read/planner.ts'
import { type Answer, type PlanReader, prepare, read } from '#read/read.ts'
import { comparing, type Root } from '#read/selection.ts'
import { drive, type Query, type QueryScript } from '#sql/engine.ts'
import type { SqlValue, Statement } from '#sql/sql.ts'
import { createWorld, forAllTests, usualModel } from '#test/market.ts'
import { noDatabase } from '#test/postgres/tools/database.ts'
import { field, goldens, relation, root } from '../goldens.ts'

const world = forAllTests(createWorld)

const prepared = (roots: readonly Root[], role: Role = 'user', dialect = sqlite) =>
  prepare(plan({ encoding: 'rest', roots }, usualModel, role), dialect, 2, {
    objects: 100,
    bytes: 10_000,
  })

const texts = (statements: readonly Statement[]) =>
  statements.map(({ text }) => text.replace(/\s+/g, ' '))

for (const { title, roots, parameters, sqlite: statements, answer } of goldens)
  test(`${title}: the statements are these, and give what they are for`, async () => {
    const made = prepared(roots)
    assert.deepEqual(texts(made.statements), statements)
    const [first] = await read(world.engine, made, parameters)
    assert.equal(first?.text, answer)
  })

/** How often each statement is planned when a prepared read runs twice on one connection to SQLite. */
const plannings = (roots: readonly Root[], parameters: readonly SqlValue[]): readonly number[] => {
  const connection = connect(world.file, { readOnly: true })
  connection.database.function('duet_interrupt_check', () => 1)
  let plannings = 0
  connection.database.setAuthorizer(code => {
    if (code === constants.SQLITE_SELECT) plannings++
    return constants.SQLITE_OK
  })
  const { script } = prepared(roots)
  const run = () => {
    const before = plannings
    drive(script(parameters), connection.query)
    return plannings - before
  }
  const times = [run(), run()]
  connection.close()
  return times
}

test('on SQLite no statement is planned anew when it runs again', () => {
  for (const { title, roots, parameters } of goldens) {
    const [first = 0, second] = plannings(roots, parameters)
    assert.ok(first > 0, title)
    assert.equal(second, 0, title)
  }
})

describe('on PostgreSQL', { skip: noDatabase }, () => {
  const there = forAllTests(() => createWorld({ on: 'postgres' }))

  for (const { title, roots, parameters, postgres: text, forMany, whole, answer } of goldens)
    test(`${title}: the one statement is this, and gives what it is for`, async () => {
      const made = prepared(roots, 'user', postgres)
      const many = compileForMany(made.plan, postgres)
      assert.deepEqual(texts(made.statements), whole === undefined ? [text] : [text, whole])
      assert.deepEqual(many && texts([many]), forMany && [forMany])
      const [first] = await read(there.engine, made, parameters)
      assert.equal(first?.text, answer)
    })

  test('look-ups of one moment have each their own row, or none', async () => {
    const [{ roots = [] } = {}] = goldens
    const one = prepared(roots, 'user', postgres)
    const asked = [2, 99, 1, 2].map(id => read(there.engine, one, [2, id]))
    const answers = await Promise.all(asked)
    assert.deepEqual(
      answers.map(([first]) => first?.text),
      ['{"id":2,"name":"Ben"}', 'null', '{"id":1,"name":"Ada"}', '{"id":2,"name":"Ben"}'],
    )
  })

  test('a read that is too large fetches no more rows than show that it is', async () => {
    const posts = () => root('post', [field('id')], { page: null, total: true })
    const { script } = prepare(
      plan({ encoding: 'rest', roots: [posts(), posts(), posts()] }, usualModel, 'user'),
      postgres,
      2,
      { objects: 5, bytes: 10_000 },
    )
    let fetched = 0
    const counted = function* (): QueryScript<readonly Answer[]> {
      const steps = script([2, 0, 0])
      const { value } = steps.next()
      const rows = yield value as Query
      // The posts of three lists, and how many there are of each.
      fetched = rows.flatMap(([, firsts]) => String(firsts).match(/\d+/g) ?? []).length
      steps.next(rows)
      return []
    }
    await assert.rejects(async () => there.engine.snapshot(counted), { code: 'RESPONSE_TOO_LARGE' })
    assert.equal(fetched, 9)
  })
})

test('a total is read from the cached counts for one counted field, and counted for anything else', async () => {
  const category = comparing('category', 'eq', 3)
  const inStock = { ...comparing('stock', 'gt', 4), to: { kind: 'value', value: 0 } } as const
  const totalOf = async (where: Root['where'], parameters: readonly SqlValue[]) => {
    const made = prepared([root('product', [field('id')], { where, total: true })])
    const [first] = await read(world.engine, made, parameters)
    return [/from counts\b/.test(made.statements[1]?.text ?? ''), first?.total]
  }
  assert.deepEqual(await totalOf([], [null, 20, 0]), [true, 5])
  assert.deepEqual(await totalOf([category], [null, 20, 0, 'lighting']), [true, 2])
  assert.deepEqual(await totalOf([category], [null, 20, 0, 'none']), [true, 0])
  assert.deepEqual(await totalOf([category, inStock], [null, 20, 0, 'lighting', null]), [false, 1])
  const from = { ...category, is: 'gte' } as const
  assert.deepEqual(await totalOf([from], [null, 20, 0, 'lighting']), [false, 3])
})

test('an answer tells the last of its rows, and none where it has none', async () => {
  const lastOf = async (offset: number) => {
    const [first] = await read(world.engine, prepared([root('product', [field('id')])]), [
      null,
      2,
      offset,
    ])
    return [first?.last, first?.more]
  }
  assert.deepEqual(
    [await lastOf(0), await lastOf(99)],
    [
      [2, false],
      [undefined, false],
    ],
  )
})

test('a plan of one statement is read by one query, any other in one snapshot', async () => {
  const waysOf = async (roots: readonly Root[]) => {
    const ways: string[] = []
    const { query, snapshot } = world.engine
    const reader: PlanReader = {
      slowly: world.engine.slowly,
      query: (...given) => {
        ways.push('query')
        return query(...given)
      },
      snapshot: (...given) => {
        ways.push('snapshot')
        return snapshot(...given)
      },
    }
    const [first] = await read(reader, prepared(roots), [null, 2, 0])
    return [first?.text, first?.total, ...ways]
  }
  const ids = (total: boolean) => [root('user', [field('id')], { total })]
  assert.deepEqual(await waysOf(ids(false)), ['[{"id":1},{"id":2}]', undefined, 'query'])
  assert.deepEqual(await waysOf(ids(true)), ['[{"id":1},{"id":2}]', 4, 'snapshot'])
})

test('a read of as many objects as it may have is whole, and one of more is refused', async () => {
  const ids = (objects: number, ...below: readonly ReturnType<typeof relation>[]) => {
    const roots = [root('post', [field('id'), ...below], { page: null })]
    const made = plan({ encoding: 'rest', roots }, usualModel, 'user')
    const limited = prepare(made, sqlite, 2, { objects, bytes: 10_000 })
    // Slow reads too are made here, and not in a thread that has limits of its own.
    const { query, snapshot, slowly } = world.engine
    return (async () => (await read({ query, snapshot, slowly }, limited, [2]))[0]?.objects)()
  }
  assert.equal(await ids(4), 4)
  await assert.rejects(ids(3), { code: 'RESPONSE_TOO_LARGE' })
  const comments = relation('comments', [field('id')], null)
  assert.equal(await ids(7, comments), 7)
  await assert.rejects(ids(6, comments), { code: 'RESPONSE_TOO_LARGE' })
})

test('rows are counted by their bytes where there may be many, and long texts that others wait for by their characters', () => {
  // A post may hold 100,000 characters.
  const posts = (slot: number, content = 'content') =>
    root('post', [field(content)], { page: { limit: slot, offset: null } })
  const boundsOf = (roots: readonly Root[], limits: readonly number[], isAtOnce: boolean) => {
    const made = plan({ encoding: 'rest', roots }, usualModel, 'user')
    const { script } = prepare(made, sqlite, 2, { objects: 10_000, bytes: 999 }, { isAtOnce })
    const steps = script([2, ...limits])
    return roots.map(() => {
      const { bytes, characters, columnar } = steps.next([]).value as Query
      return [bytes, characters, columnar !== undefined]
    })
  }
  const free = [undefined, undefined, false]
  const counted = [999, undefined, true]
  const one = (limit: number, isAtOnce: boolean) => boundsOf([posts(1)], [limit], isAtOnce)[0]
  assert.deepEqual([one(499, false), one(500, false)], [free, counted])
  assert.deepEqual([one(30, true), one(31, true)], [free, [999, 1_048_576, true]])
  assert.deepEqual(boundsOf([posts(1, 'title')], [5000], true), [free])
  const two = (limit: number) => boundsOf([posts(1), posts(2)], [20, limit], true)
  assert.deepEqual(two(9), [free, free])
  assert.deepEqual(two(10), [free, [undefined, 1_048_576, false]])
  assert.deepEqual(boundsOf([posts(1), posts(2)], [31, 30], true)[1], free)
})

test('a level below no rows is not fetched', () => {
  const { script } = prepared([
    root('user', [relation('posts', [field('id')], null)], { sort: [], page: null }),
  ])
  const steps = script([1])
  assert.equal(steps.next().done, false)
  assert.equal(steps.next([]).done, true)
})

test('something that must exist and does not is reported with its id', async () => {
  const made = prepared([
    root('post', [field('id')], { page: null, exists: [{ entity: 'user', slot: 1 }] }),
  ])
  const [first] = await read(world.engine, made, [null, 99])
  assert.deepEqual(first?.missing, { entity: 'user', id: 99 })
})

test('a plan for anonymous is refused where it touches what only users read', () => {
  const refused = (roots: readonly Root[]) => () => prepared(roots, 'anonymous')
  assert.throws(refused([root('user', [field('id')])]), { code: 'UNAUTHENTICATED' })
  assert.throws(refused([root('post', [relation('author', [field('email')], null)])]), {
    code: 'UNAUTHENTICATED',
  })
  assert.ok(prepared([root('post', [relation('author', [field('name')], null)])], 'anonymous'))
  const author = relation('author', [field('email')], null)
  const nested = root('comment', [relation('post', [author], null)], { key: 'comments' })
  assert.throws(refused([nested]), { location: { path: ['comments', 'post', 'author', 'email'] } })
})
