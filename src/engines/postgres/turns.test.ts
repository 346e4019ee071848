import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createTurns, rowsOf } from '#engines/postgres/turns.ts'
import type { DeferredValue } from '#write/job.ts'

const rowsBy = (...statements: readonly (readonly [text: string, ...values: DeferredValue[]])[]) =>
  rowsOf({
    steps: statements.map(([text, ...values]) => ({ statement: { text, values }, expect: 'row' })),
  })

describe('the rows that a job changes are found in its statements', () => {
  const cases: readonly (readonly [title: string, string, readonly string[]])[] = [
    ['update', 'update things set n = n - $1 where id = $2 and n >= $3 returning id', ['things 2']],
    [
      'names in quotes',
      'update "things" set "n" = $1, m = m + 1\n  where "things"."id" = $2 and "things"."owner_id" = $3',
      ['things 2'],
    ],
    ['the id later', 'update things set n = $1 where n = $3 and id = $2', ['things 2']],
    ['delete', 'delete from "things" where "things"."id" = $1 returning id', ['things 1']],
    ['a lock', 'select id from "things" where "things"."id" = $1 for no key update', ['things 1']],
    ['no lock', 'select id from "things" where "things"."id" = $1', []],
    [
      'an id of another table in brackets',
      'update things set n = (select n from others where id = $1) where id = $2 and exists (select 1 from others where id = $1)',
      ['things 2'],
    ],
    ['another table', 'update things set n = r.n from (select 1) as r where r.id = $1', []],
    ['another column', 'delete from things where owner_id = $1', []],
    ['a new row', 'insert into things (n) values ($1) returning id', []],
  ]
  for (const [title, text, rows] of cases)
    test(title, () => assert.deepEqual(rowsBy([text, 1, 2, 3]), rows))

  test('each once, without those that a step of the job returns', () => {
    const change = 'update things set n = 1 where id = $1'
    const later = { step: 0, column: 0 }
    assert.deepEqual(rowsBy([change, 5], [change, 7], [change, 5], [change, later]), [
      'things 5',
      'things 7',
    ])
  })
})

const late = () => new Error('late')

test('work waits for all before it under one of its names, and others pass [B13]', async () => {
  const { run, waiting } = createTurns()
  const order: string[] = []
  const gates = new Map<string, () => void>()
  const work = (name: string, ...names: string[]) =>
    run(names, 60_000, late, async () => {
      order.push(name)
      const { promise, resolve } = Promise.withResolvers<void>()
      gates.set(name, resolve)
      await promise
    })
  const all = [work('a', '1'), work('b', '1', '2'), work('c', '2'), work('d', '3'), work('e')]
  assert.deepEqual(order, ['a', 'd', 'e'])
  assert.equal(waiting(), 2)
  gates.get('a')?.()
  await all[0]
  await new Promise(setImmediate)
  assert.deepEqual(order, ['a', 'd', 'e', 'b'])
  gates.get('b')?.()
  await all[1]
  await new Promise(setImmediate)
  assert.deepEqual(order, ['a', 'd', 'e', 'b', 'c'])
  for (const open of gates.values()) open()
  await Promise.all(all)
  assert.equal(waiting(), 0)
})

test('who waits too long is told so, and those behind still wait for those before [B13]', async () => {
  const { run } = createTurns()
  const first = Promise.withResolvers<void>()
  const order: number[] = []
  const begun = run(['1'], 0, late, () => first.promise)
  await assert.rejects(
    run(['1'], 5, late, async () => {}),
    /late/,
  )
  const third = run(['1'], 60_000, late, async () => void order.push(3))
  await new Promise(setImmediate)
  assert.deepEqual(order, [])
  first.resolve()
  await Promise.all([begun, third])
  assert.deepEqual(order, [3])
})

test('work that fails ends its turn', async () => {
  const { run } = createTurns()
  const failed = run(['1'], 0, late, async () => {
    throw new Error('no')
  })
  const next = run(['1'], 60_000, late, async () => 'done')
  await assert.rejects(failed, /no/)
  assert.equal(await next, 'done')
})
