/** Keys of GraphQL operations: a key belongs to one operation, whatever its fields are called. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { purge, storedFor } from '#write/idempotency.ts'
import { codeOf, dataOf } from '../graphql.ts'
import { type Answered, createWorld, forAllTests } from '../world.ts'

let now = Date.now()
const world = forAllTests(() => createWorld({ now: () => now }))

let count = 0
const freshKey = () => `operation-${++count}`
/** A field that signs somebody up under this name, which a caller without a token may. */
const signUp = (field: string, name: string) =>
  `${field}: createUser(input: { name: "${name}", email: "${name}@example.org" }) { id name }`
const run = (key: string, ...fields: readonly string[]): Promise<Answered> =>
  world.gql(`mutation { ${fields.join(' ')} }`, { headers: { 'Idempotency-Key': key } })
const named = async (name: string) =>
  (await world.rows('select id from users where name = ?1', name)).length
const isReplayed = ({ headers }: Answered) => headers.get('idempotency-replayed') === 'true'

const isReused = async (answered: Promise<Answered>) =>
  assert.equal(codeOf(await answered), 'IDEMPOTENCY_KEY_REUSED')

test('a key of an operation is refused to another one, whatever its fields are called, which does nothing [C5]', async () => {
  const key = freshKey()
  const first = await run(key, signUp('a', 'Own'))
  assert.equal(dataOf(first).a.name, 'Own')
  await isReused(run(key, signUp('b', 'Other')))
  await isReused(run(key, signUp('createUser', 'Other')))
  await isReused(run(key, signUp('a', 'Other')))
  await isReused(run(key, signUp('a', 'Own'), signUp('b', 'Other')))
  await isReused(run(key, signUp('b', 'Other'), signUp('a', 'Own')))
  assert.equal(await named('Other'), 0)
  const again = await run(key, signUp('a', 'Own'))
  assert.deepEqual([again.text, isReplayed(again)], [first.text, true])
})

test('an operation that was done in part goes on under its key, which then is no other’s', async () => {
  const key = freshKey()
  const fields = [signUp('a', 'Half'), signUp('b', 'Taken'), signUp('c', 'Last')]
  await world.change("update users set email_key = 'taken@example.org' where id = 3")
  assert.equal(codeOf(await run(key, ...fields)), 'EMAIL_TAKEN')
  await isReused(run(key, signUp('c', 'Last')))
  await world.change("update users set email_key = 'cleo@example.org' where id = 3")
  const whole = await run(key, ...fields)
  assert.deepEqual(Object.keys(dataOf(whole)), ['a', 'b', 'c'])
  assert.equal(isReplayed(whole), false)
  const again = await run(key, ...fields)
  assert.deepEqual([again.text, isReplayed(again)], [whole.text, true])
  for (const name of ['Half', 'Taken', 'Last']) assert.equal(await named(name), 1, name)
})

test('an operation that did nothing leaves its key free for another one', async () => {
  const key = freshKey()
  const stored = 'select count(*) from replies'
  const before = await world.rows(stored)
  const taken = 'a: createUser(input: { name: "A", email: "ada@example.org" }) { id }'
  assert.equal(codeOf(await run(key, taken)), 'EMAIL_TAKEN')
  assert.deepEqual(await world.rows(stored), before)
  assert.equal(dataOf(await run(key, signUp('b', 'Free'))).b.name, 'Free')
})

test('of ten operations with one key at the same moment one has an effect', async () => {
  const key = freshKey()
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, at) => run(key, signUp(`field${at}`, `Racer${at}`))),
  )
  assert.equal(answers.filter(answered => codeOf(answered) === undefined).length, 1)
  assert.equal(answers.filter(answered => codeOf(answered) === 'IDEMPOTENCY_KEY_REUSED').length, 9)
  assert.equal((await world.rows("select name from users where name like 'Racer%'")).length, 1)
})

test('a caller who was suspended gets 403 for another operation too', async () => {
  const headers = { 'Idempotency-Key': freshKey() }
  const write = (title: string) =>
    world.gql(
      `mutation { ${title}: createPost(input: { title: "${title}", content: "c", authorId: 2 }) { id } }`,
      { as: 2, headers },
    )
  dataOf(await write('first'))
  await world.change("update users set status = 'suspended' where id = 2")
  for (const title of ['first', 'second']) assert.equal(codeOf(await write(title)), 'FORBIDDEN')
  await world.change("update users set status = 'active' where id = 2")
  await isReused(write('second'))
})

test('a key is an operation’s for a day after its last field was done, and then is free', async () => {
  const key = freshKey()
  const fields = [signUp('a', 'Early'), signUp('b', 'Late')]
  await world.change("update users set email_key = 'late@example.org' where id = 3")
  assert.equal(codeOf(await run(key, ...fields)), 'EMAIL_TAKEN')
  await world.change("update users set email_key = 'cleo@example.org' where id = 3")
  now += storedFor - 1000
  assert.equal(Object.keys(dataOf(await run(key, ...fields))).length, 2)
  now += 2000
  await purge({ writer: world.engine, dialect: world.core.dialect, now: () => now })
  await isReused(run(key, signUp('a', 'Stranger')))
  now += storedFor
  assert.equal(dataOf(await run(key, signUp('a', 'Stranger'))).a.name, 'Stranger')
})
