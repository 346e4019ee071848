import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connect } from '#engines/sqlite/connection.ts'
import { ConstraintError, type QueryScript, type Rows } from '#sql/engine.ts'
import { createWorld, forAllTests } from '#test/market.ts'
import { until } from '#test/support/wait.ts'

const world = forAllTests(() =>
  createWorld({
    engine: { readTimeout: 1, sync: 'full' },
    rows: {
      product: Array.from({ length: 20_000 }, (_, index) => ({
        name: `Thing ${index}`,
        category: 'all',
        price: 1,
      })),
    },
  }),
)

const asking = (text: string) =>
  function* (): QueryScript<Rows> {
    return yield { text, values: [] }
  }

/** The value of a pragma on the three kinds of connection there are. */
const pragma = async (name: string) => {
  const text = `pragma ${name}`
  const filling = connect(world.file)
  const own = filling.query({ text, values: [] })[0]?.[0]
  filling.close()
  const read = (await world.engine.snapshot(asking(text)))[0]?.[0]
  const outcome = await world.engine.write({
    steps: [{ statement: { text, values: [] }, expect: 'any' }],
    status: 200,
    answer: null,
  })
  assert.equal(outcome.kind, 'done')
  const written = outcome.kind === 'done' ? outcome.rows[0]?.[0]?.[0] : undefined
  return { filling: own, reader: read, writer: written }
}

const everywhere = <Value>(value: Value) => ({ filling: value, reader: value, writer: value })

const pragmas: readonly (readonly [string, string | number, string])[] = [
  ['journal_mode', 'wal', 'readers do not wait for the writer'],
  ['synchronous', 2, 'FULL: what is acknowledged survives the loss of power'],
  ['foreign_keys', 1, 'references hold'],
  ['busy_timeout', 5000, 'a lock is waited for'],
  ['wal_autocheckpoint', 1000, 'the log is carried over now and then'],
  ['journal_size_limit', 67_108_864, 'the log does not stay large'],
  ['trusted_schema', 0, 'a schema calls no functions that may do harm'],
]
for (const [name, value, why] of pragmas)
  test(`${name} is ${value} on every connection: ${why} [A2]`, async () => {
    assert.deepEqual(await pragma(name), everywhere(value))
  })

test('the reader can write nothing', async () => {
  assert.deepEqual(await pragma('query_only'), { filling: 0, reader: 1, writer: 0 })
  await assert.rejects(
    async () => world.engine.snapshot(asking('delete from products')),
    /readonly|read-only|attempt to write/,
  )
})

test('limits keep a statement from what no statement of ours needs', () => {
  const connection = connect(world.file)
  const run =
    (text: string, values: readonly (string | number)[] = []) =>
    () =>
      connection.query({ text, values })
  assert.throws(run("attach database ':memory:' as other"), /too many attached databases/)
  assert.throws(run(`select ${'1,'.repeat(60_000)} 1`), /query string is too large|too big/i)
  assert.throws(run('select length(zeroblob(3000000))'), /too big/)
  assert.throws(run(`select ?1001`, Array(1001).fill(1)), /variable number must be/)
  assert.throws(run(Array(20).fill('select 1').join(' union all ')), /too many terms in compound/)
  assert.throws(run(`select ${'1+'.repeat(2000)}1`), /depth|overflow/)
  connection.close()
})

test('a whole number is bound as one, and not as a real number that a text keeps as 5.0', () => {
  const connection = connect(world.file)
  assert.deepEqual(connection.query({ text: "select typeof(?1), ?1 || ''", values: [5] }), [
    ['integer', '5'],
  ])
  assert.deepEqual(
    connection.query({ text: 'select typeof(?1), ?1', values: [Number.MAX_SAFE_INTEGER] }),
    [['integer', Number.MAX_SAFE_INTEGER]],
  )
  connection.close()
})

test('an id out of range is refused by the store itself, and poisons nothing [G8]', () => {
  const connection = connect(world.file)
  const insert = (id: number | bigint) =>
    connection.query({
      text: "insert into users (id, name, email, created_at, email_key) values (?1, 'A', 'a', 1, 'a') returning id",
      values: [id],
    })
  for (const id of [0, -1, 2 ** 53, 9_223_372_036_854_775_807n, -9_223_372_036_854_775_808n])
    assert.throws(
      () => insert(id),
      (error: unknown) => error instanceof ConstraintError && error.kind === 'check',
      String(id),
    )
  assert.deepEqual(connection.query({ text: 'select count(*) from users', values: [] }), [[0]])
  connection.run('savepoint s')
  assert.deepEqual(insert(Number.MAX_SAFE_INTEGER), [[Number.MAX_SAFE_INTEGER]])
  connection.run('rollback to s; release s')
  connection.close()
})

test('a violated constraint is reported by its kind and its columns', () => {
  const connection = connect(world.file)
  connection.run('begin')
  const insert = (into: string, values: string) => () =>
    connection.query({ text: `insert into ${into} values (${values})`, values: [] })
  const users = 'users (id, name, email, created_at, email_key)'
  const posts = 'posts (id, title, content, author_id, created_at)'
  insert(users, "1, 'A', 'a', 1, 'a'")()
  const kinds = [
    [insert(users, "2, 'A', 'a', 1, 'a'"), 'unique', 'users.email_key'],
    [insert(users, "1, 'A', 'a', 1, 'b'"), 'unique', 'users.id'],
    [insert(posts, "1, 'A', 'a', 99, 1"), 'reference', ''],
    [insert(posts, "1, null, 'a', 1, 1"), 'check', 'posts.title'],
  ] as const
  for (const [run, kind, target] of kinds)
    assert.throws(run, (error: unknown) => {
      assert.ok(error instanceof ConstraintError)
      assert.deepEqual([error.kind, error.target], [kind, target])
      return true
    })
  connection.run('rollback')
  connection.close()
})

test('a scan that takes too long is stopped and answered 503, and the next read is served [A10, D6]', async () => {
  const slow = await world.ask('GET /api/products?search=zz')
  assert.equal(slow.status, 503)
  assert.equal(slow.json.error.code, 'TIMEOUT')
  assert.ok(Number(slow.headers.get('retry-after')) > 0)
  await until('the next read is served', async () => {
    const { status } = await world.ask('GET /api/products/1')
    return status === 200
  })
})
