/** Commands with prepared statements say what those say whose statements are made for them alone. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dialect as postgres } from '#engines/postgres/dialect.ts'
import { dialect as sqlite } from '#engines/sqlite/dialect.ts'
import { ApiError } from '#errors.ts'
import { entity, one } from '#model/entity.ts'
import { choice, folded, id, int, reference, revision, text, updatedAt } from '#model/field.ts'
import { defineModel, type Model } from '#model/model.ts'
import { anyone, self, signedIn, type Viewer } from '#model/policy.ts'
import { defineVersions } from '#model/version.ts'
import type { Dialect } from '#sql/dialect.ts'
import type { SqlValue } from '#sql/sql.ts'
import { roles } from '../../test/support/roles.ts'
import { type Command, commandOf, type Writing } from './command.ts'
import {
  create,
  createCommand,
  remove,
  removeCommand,
  update,
  updateCommand,
} from './entity-commands.ts'
import type { Target } from './guard.ts'
import { filledIn, type JobStatement } from './job.ts'

const common = {
  description: '',
  rest: { list: true, one: true, listing: { paging: 'page', limit: 10 } },
} as const
const member = entity({
  ...common,
  fields: {
    id: id(),
    name: text({ max: 20 }),
    state: choice(['active', 'blocked']),
    nameKey: folded('name'),
  },
  policy: { read: anyone, create: anyone },
})
const page = entity({
  ...common,
  fields: {
    id: id(),
    title: text({ max: 20 }),
    ownerId: reference('member', { onDelete: 'cascade', initial: 'viewer' }),
    aboveId: reference('page', { onDelete: 'set null', nullable: true }),
    note: text({ max: 20, nullable: true, readableBy: self('ownerId') }),
    rank: int({ min: 1, max: 9, settableBy: self('ownerId') }),
    changedAt: updatedAt(),
    revision: revision(),
  },
  relations: { above: one('page', 'aboveId') },
  policy: {
    read: self('ownerId', 'above.ownerId'),
    create: signedIn,
    update: self('ownerId'),
    delete: self('ownerId'),
  },
})
const model: Model = {
  entities: defineModel({ member, page } as never),
  viewers: { entity: 'member', blocked: { field: 'state', value: 'blocked' }, roles },
  versions: defineVersions(),
  settings: { switches: {}, currency: { code: 'USD', digits: 2 } },
}

const viewers: readonly Viewer[] = [
  { id: 7, role: 'user' },
  { id: 8, role: 'user' },
  { id: 8, role: 'user', session: 'one' },
  { id: 9, role: 'user', session: 'two' },
  { id: 7, role: roles.superuser },
  { id: 8, role: roles.superuser },
]

const valuesOf = (n: number): readonly ReadonlyMap<string, SqlValue>[] =>
  [
    { title: `Page ${n}`, ownerId: 7 },
    { title: `Page ${n}`, ownerId: 8, aboveId: n },
    { title: `Page ${n}`, ownerId: 8, aboveId: null, note: null },
    { rank: n, note: `note ${n}` },
    {},
  ].map(values => {
    const map = new Map<string, SqlValue>(Object.entries(values))
    return Object.assign(map, { ruled: map.has('rank') ? ['rank'] : [] })
  })

const targetsOf = (n: number): readonly Target[] => [
  { entity: 'page', id: n },
  { entity: 'page', id: n, below: { field: 'aboveId', id: n + 1 } },
  { entity: 'page', id: n, revisions: [n], mismatch: `mismatch ${n}` },
  { entity: 'page', id: n, revisions: [n, n + 1] },
  { entity: 'page', id: n, revisions: [] },
  { entity: 'page', id: n, excluded: [n] },
  { entity: 'page', id: n, unchanged: new Map([['note', `was ${n}`]]) },
]

/** Each command twice: prepared, and made for itself. */
const pairs = function* (writing: Writing, n: number): Generator<readonly [Command, Command]> {
  for (const values of valuesOf(n)) {
    if (values.has('ownerId'))
      yield [
        createCommand(writing, 'page', values),
        commandOf(writing, create(writing, 'page', values)),
      ]
    for (const target of targetsOf(n))
      for (const isReplacement of [false, true])
        yield [
          updateCommand(writing, target, values, isReplacement),
          commandOf(writing, update(writing, target, values, { isReplacement })),
        ]
  }
  for (const target of targetsOf(n))
    yield [removeCommand(writing, target), commandOf(writing, remove(writing, target))]
}

/** A command, whose steps have its own values in their places. */
const told = ({ refused, own, ...command }: Command) => {
  const withOwn = ({ text, values }: JobStatement) => ({
    text,
    values: values.map(one => filledIn(one, own)),
  })
  const steps = command.steps.map(({ statement, explain, ...step }) => ({
    ...step,
    statement: withOwn(statement),
    ...(explain && { explain: withOwn(explain) }),
  }))
  const errors = command.steps.map((_, step) => {
    const error = refused(step, [])
    return error instanceof ApiError ? [error.code, error.message] : String(error)
  })
  return { ...command, steps, errors }
}

for (const dialect of [sqlite, postgres] as readonly Dialect[])
  test(`prepared commands have the statements, values and errors of others, on ${dialect.name}`, () => {
    let compared = 0
    // The second round finds the forms of the first, and other viewers those of the first viewer.
    for (const n of [1, 2])
      for (const viewer of viewers)
        for (const [prepared, whole] of pairs({ model, dialect, viewer, now: 1000 * n }, n)) {
          assert.deepEqual(told(prepared), told(whole))
          compared++
        }
    assert.equal(compared, 2 * viewers.length * (3 + 5 * 7 * 2 + 7))
  })

test('two callers share the texts of their statements', () => {
  const textsOf = (viewer: Viewer, n: number) => {
    const writing: Writing = { model, dialect: sqlite, viewer, now: n }
    const values = new Map<string, SqlValue>([['title', `Page ${n}`]])
    const { steps } = updateCommand(writing, { entity: 'page', id: n }, values, false)
    return steps.map(({ statement }) => statement.text)
  }
  assert.deepEqual(textsOf({ id: 7, role: 'user' }, 1), textsOf({ id: 8, role: 'user' }, 2))
})
