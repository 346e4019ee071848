/** Commands as data, and what a caller gets for each outcome of a job. */
import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { type JobFacts, jobs } from '#channels.ts'
import { dialect } from '#engines/sqlite/dialect.ts'
import { ApiError, defineErrors } from '#errors.ts'
import { entity } from '#model/entity.ts'
import { choice, folded, id, int, reference, revision, text } from '#model/field.ts'
import { defineModel, type Model } from '#model/model.ts'
import { anyone, self, signedIn } from '#model/policy.ts'
import { defineVersions, type Version } from '#model/version.ts'
import { drive, type Query, type Rows } from '#sql/engine.ts'
import { sql } from '#sql/sql.ts'
import { roles } from '../../test/support/roles.ts'
import { type Command, commandOf, type Writing } from './command.ts'
import { create, update } from './entity-commands.ts'
import { idempotencyOf, keyedRequest } from './idempotency.ts'
import { noMembers } from './input.ts'
import type { Job, Outcome, Writer } from './job.ts'
import { perform } from './perform.ts'
import { commit } from './write.ts'

const common = {
  description: '',
  rest: { list: true, one: true, listing: { paging: 'page', limit: 10 } },
} as const
const errors = defineErrors({ NOTED: { status: 409, title: 'You have noted this page before' } })
const member = entity({
  ...common,
  fields: {
    id: id(),
    name: text({ max: 20, until: { 1: { name: 'login' } } }),
    state: choice(['active', 'blocked']),
    nameKey: folded('name', { unique: 'CONFLICT' }),
    revision: revision(),
  },
  policy: { read: anyone, create: anyone },
})
const note = entity({
  ...common,
  fields: {
    id: id(),
    byId: reference('member', { onDelete: 'cascade' }),
    forId: reference('member', { onDelete: 'cascade', nullable: true }),
    page: int({ min: 1, max: 9 }),
    line: int({ min: 1, max: 9 }),
  },
  policy: { read: anyone, create: self('byId', 'forId') },
  sets: [['page', 'line'], { fields: ['byId', 'page'], error: errors.NOTED }],
  filterable: [],
})
const errand = entity({
  ...common,
  fields: { id: id(), memberId: reference('member', { onDelete: 'cascade', initial: 'viewer' }) },
  policy: { read: anyone, create: signedIn },
  after: { create: { fields: ['memberId'], run: () => {} } },
})
let awakened = 0
const wakeOutbox = () => void awakened++

const model: Model = {
  entities: defineModel({ member, note, errand } as never),
  viewers: { entity: 'member', blocked: { field: 'state', value: 'blocked' }, roles },
  versions: defineVersions(),
  settings: { switches: {}, currency: { code: 'USD', digits: 2 } },
}
const writing: Writing = { model, dialect, viewer: { id: 7, role: 'user' }, now: 0 }
const done = { kind: 'done', rows: [], status: 200, answer: null, replayed: false } as const

/** A writer that has done nothing, and says this. */
const saying = (outcome: Outcome) => {
  const given: Job[] = []
  const writer: Writer = {
    write: async job => {
      given.push(job)
      return outcome
    },
  }
  return { writer, given }
}

const command: Command = commandOf(writing, {
  name: 'change things',
  steps: [{ sql: sql`select 1`, name: 'one' }],
})

/** The error for an outcome: its code, its message, and the fields that it names. */
const errorFor = async (outcome: Outcome, version?: Version) => {
  try {
    await commit({ ...saying(outcome), model, wakeOutbox }, command, null, { version })
  } catch (error) {
    assert.ok(error instanceof ApiError)
    return [error.code, error.message, error.details?.map(({ field }) => field)]
  }
  return undefined
}

const broken = (constraint: 'unique' | 'reference' | 'check', target: string): Outcome => ({
  kind: 'violation',
  constraint,
  target,
  step: 0,
  text: `${target} is broken`,
})
const taken = (target: string) => broken('unique', target)

test('a value that is taken is told by the name of its member in the version of the caller', async () => {
  const message = (name: string) => ['CONFLICT', `This ${name} is in use already`, [name]]
  assert.deepEqual(await errorFor(taken('members.name_key')), message('name'))
  assert.deepEqual(await errorFor(taken('members.name_key'), 1), message('login'))
  assert.deepEqual(await errorFor(taken('members.name_key'), 2), message('name'))
})

test('what a content says of values that are taken is told as it says it', async () => {
  assert.deepEqual(await errorFor(taken('notes.by_id_page')), [
    'NOTED',
    'You have noted this page before',
    ['byId', 'page'],
  ])
})

test('values that are taken together are told each with the others', async () => {
  const error = ['CONFLICT', 'This page is in use already together with line', ['page', 'line']]
  assert.deepEqual(await errorFor(taken('notes.page_line')), error)
})

test('a constraint of the store that no rule of the model explains is a fault, with its text', async () => {
  for (const outcome of [
    taken('elsewhere.page'),
    taken('notes.page'),
    broken('check', 'notes.few'),
    broken('unique', 'notes.tidy'),
  ])
    await assert.rejects(
      commit({ ...saying(outcome), model, wakeOutbox: () => {} }, command, null, {}),
      (error: Error) => {
        assert.ok(!(error instanceof ApiError))
        assert.match(
          error.message,
          /^a constraint of the store that no rule .*: \w+\.\w+ is broken$/,
        )
        return true
      },
    )
})

test('a key of another request, a reference that is lost and a failed step have an error each', async () => {
  const code = async (outcome: Outcome) => (await errorFor(outcome))?.slice(0, 2)
  assert.deepEqual(await code(broken('reference', '')), [
    'CONFLICT',
    'Cannot change things: it conflicts with what is stored',
  ])
  assert.equal((await code({ kind: 'reused' }))?.[0], 'IDEMPOTENCY_KEY_REUSED')
  assert.deepEqual(await code({ kind: 'refused', step: 1, rows: [] }), [
    'CONFLICT',
    'Cannot change things: its conditions do not hold',
  ])
})

test('a write that puts an effect into the outbox wakes it, and any other does not', async () => {
  const made = commandOf(writing, create(writing, 'errand', new Map([['memberId', 7]])))
  const put = made.steps.at(-1)?.statement.text ?? ''
  assert.match(put, /insert into outbox .* from "errands" where "errands"."id" = \?\d/s)
  awakened = 0
  await commit({ ...saying(done), model, wakeOutbox }, command, null)
  assert.equal(awakened, 0)
  await commit({ ...saying(done), model, wakeOutbox }, made, null)
  assert.equal(awakened, 1)
})

test('a channel that is listened to is told the statements of a write and what came of it', async () => {
  const told: unknown[] = []
  const ended = (facts: unknown) => {
    const { statements, outcome, replayed } = facts as JobFacts
    told.push([statements(), outcome, replayed])
  }
  const others = { start() {}, end() {}, asyncStart() {}, error() {} }
  jobs.subscribe({ ...others, asyncEnd: ended })
  const { writer, given } = saying({ ...done, replayed: true })
  await commit({ writer, model, wakeOutbox }, command, null)
  await commit({ ...saying(done), model, wakeOutbox }, command, null)
  const texts = given[0]?.steps.map(({ statement }) => statement.text)
  assert.equal(texts?.length, 2)
  assert.deepEqual(told, [
    [texts, 'done', true],
    [texts, 'done', false],
  ])
})

test('a thing may be made by the viewer that one of its fields names, and by nobody else', () => {
  const store = new DatabaseSync(':memory:', { returnArrays: true })
  store.exec('create table members (id integer); insert into members values (7), (8), (9)')
  const stepFor = (values: Readonly<Record<string, number | null>>) => {
    const made = commandOf(writing, create(writing, 'note', new Map(Object.entries(values))))
    const { text = '', values: given = [] } = made.steps[1]?.explain ?? {}
    const rows = store.prepare(text).all(...(given as number[])) as unknown as Rows
    const { message } = made.refused(1, rows)
    return { isClosed: rows[0]?.at(-1) !== 1, refused: message }
  }
  assert.equal(stepFor({ byId: 7, forId: 8 }).isClosed, false)
  assert.equal(stepFor({ byId: 8, forId: 7 }).isClosed, false)
  assert.equal(stepFor({ byId: 8, forId: 9 }).isClosed, true)
  const closed = stepFor({ byId: 8, forId: null })
  assert.equal(closed.isClosed, true)
  assert.match(closed.refused, /create notes for somebody else/)
})

test('what a thing refers to must be there, except for its maker, who is checked before', () => {
  const explained = (entityName: string, values: Readonly<Record<string, number>>) =>
    commandOf(writing, create(writing, entityName, new Map(Object.entries(values)))).steps[1]
      ?.explain?.text
  assert.match(
    explained('errand', { memberId: 8 }) ?? '',
    /^select exists \(select 1 from "members"/,
  )
  assert.equal(explained('errand', { memberId: 7 }), undefined)
})

test('a refusal that finds no row says that the maker does not exist any more, or is blocked', () => {
  const { refused } = command
  assert.equal(refused(0, []).message, 'The member of this token does not exist (any more)')
  assert.match(refused(0, [[1]]).message, /^The member .* may not write, as its state is blocked$/)
})

const request = { method: 'POST', path: '/', body: null }

test('a role is in the digest of a request, but for the usual one: responses of before there was one are still given', () => {
  const digestOf = (role: string) =>
    keyedRequest('k', { ...writing.viewer, role }, request, roles)?.fingerprint
  const plain = hash('sha256', 'POST /\nnull', 'base64url')
  assert.deepEqual([digestOf(roles.default), digestOf('anonymous')], [plain, plain])
  assert.notEqual(digestOf(roles.superuser), plain)
})

test('a key may be quoted, and quotes that do not surround it are a part of it', () => {
  const keyOf = (header: string) => keyedRequest(header, writing.viewer, request, roles)?.key
  assert.equal(keyOf(' "a" '), 'a')
  for (const bare of ['"', 'a', '"a', 'a"', '"a"b', 'b"a"']) assert.equal(keyOf(bare), bare)
  for (const bad of ['""', '', 'a b', '"a b"', 'é', 'é'.padEnd(9, 'x'), 'x'.repeat(256)])
    assert.throws(() => keyOf(bad), { code: 'MALFORMED_REQUEST' })
  assert.equal(keyOf('x'.repeat(255))?.length, 255)
})

test('of many faults the first 20 are told, and how many more there are', () => {
  const message = (count: number) => {
    const body = Object.fromEntries(Array.from({ length: count }, (_, at) => [`m${at}`, 1]))
    try {
      noMembers(body)
    } catch (error) {
      assert.ok(error instanceof ApiError)
      return error.message.split('; ').slice(20)
    }
    return undefined
  }
  assert.deepEqual([0, 20, 21, 22].map(message), [
    undefined,
    [],
    ['and 1 more fault'],
    ['and 2 more faults'],
  ])
})

test('what no rule opens is closed to callers with a token and without', () => {
  const change = (viewer: Writing['viewer']) => () =>
    update({ ...writing, viewer }, { entity: 'note', id: 1 }, new Map([['page', 2]]))
  assert.throws(change(writing.viewer), { code: 'FORBIDDEN' })
  assert.throws(change({ id: null, role: 'anonymous' }), { code: 'UNAUTHENTICATED' })
})

test('a write without an answer is stored under its key with an empty text', () => {
  const keyed = { key: 'k', scope: 's', fingerprint: 'f' }
  const job: Job = {
    steps: command.steps,
    status: 204,
    idempotency: idempotencyOf(dialect, keyed, 0),
    answer: null,
  }
  const asked: Query[] = []
  const outcome = drive(perform(job, undefined), query => {
    asked.push(query)
    return [[1]]
  })
  assert.deepEqual([outcome.kind, asked.length], ['done', 4])
  assert.deepEqual(asked[3]?.values, [204, '', null, null, 's', 'k'])
})
