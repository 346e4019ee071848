import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ReadPlan } from '#read/plan.ts'
import type { Job, Outcome, Step } from '#write/job.ts'
import { createPacker, createUnpacker, packOutcome, unpackOutcome } from './protocol.ts'

const plan = (): ReadPlan => ({ encoding: 'rest', roots: [] })
const step = (text: string, more: Partial<Step> = {}): Step => ({
  statement: { text, values: [1, 'two', null, new Uint8Array([3]), { step: 0, column: 1 }] },
  expect: 'row',
  checksViewer: false,
  ...more,
})
const job = (more: Partial<Job> = {}): Job => ({
  ...{ caller: undefined, own: undefined, text: undefined, isDry: undefined },
  idempotency: undefined,
  steps: [step('insert'), step('update', { expect: 'any', checksViewer: true })],
  status: 201,
  answer: null,
  ...more,
})
const statement = (text: string) => ({ text, values: ['scope', 7n] })

/** Packs jobs for one writer, which gets them as copies. */
const sending = () => {
  const pack = createPacker()
  const unpack = createUnpacker()
  let id = 0
  return (one: Job) => {
    const sent = structuredClone(pack(++id, 0, one))
    const [, , isAnew, things] = sent
    return { isAnew, things, job: unpack(sent) }
  }
}

test('a job comes out as it went in, the first time and later', () => {
  const send = sending()
  const answer = { plan: plan(), longest: 9, values: [1, { step: 1, column: 0 }] }
  const explained = step('insert', { explain: { text: 'select', values: [9] } })
  const key = { reserve: statement('r'), lookup: statement('l'), store: statement('s') }
  const jobs = [
    job(),
    job({ answer }),
    job({ answer, status: { step: 1, some: 200, none: 204 } }),
    job({ steps: [explained], text: 'an answer' }),
    job({ text: '' }),
    job({ isDry: true, caller: 'viewer 1' }),
    job({ own: [] }),
    job({ own: [1, 'two', null], answer }),
    job({ answer, idempotency: { name: 'user 1 a', fingerprint: 'f', ...key } }),
    job({ idempotency: { name: 'user 1 a', fingerprint: 'f', ...key, claim: statement('c') } }),
  ]
  for (const one of [...jobs, ...jobs]) assert.deepEqual(send(one).job, one)
})

test('a text, a plan and the steps of a form are sent once', () => {
  const send = sending()
  const answer = { plan: plan(), values: [] }
  assert.deepEqual(send(job({ answer })).things, ['insert', 'update', answer.plan])
  assert.deepEqual(send(job({ answer })).things, [])
  const other = job({ steps: [step('update'), step('delete')], answer: { ...answer } })
  assert.deepEqual(send(other).things, ['delete'])
  const { steps } = job()
  assert.deepEqual(send(job({ steps, own: [1] })).things, [steps])
  const again = send(job({ steps, own: [2] }))
  assert.deepEqual(again.things, [])
  assert.deepEqual(again.job, job({ steps, own: [2] }))
})

test('an outcome comes out as it went in', () => {
  const answer = { text: '{"id":7}', last: 7, revision: undefined }
  const done = { kind: 'done', rows: [[[1]], [[7, null]]], status: 201, replayed: false } as const
  const outcomes: Outcome[] = [
    { ...done, answer },
    { ...done, answer: { ...answer, revision: 3 }, replayed: true },
    { ...done, answer: null },
    { ...done, kind: 'tried', answer },
    { kind: 'reused' },
    { kind: 'refused', step: 1, rows: [[null]] },
    { kind: 'failed', code: 'OVERLOADED', status: 503, title: 'Busy', message: 'later' },
  ]
  for (const one of outcomes)
    assert.deepEqual(unpackOutcome(structuredClone(packOutcome(9, one))), [9, one])
})

test('jobs that are packed before any is sent come out as they went in', () => {
  const pack = createPacker()
  const unpack = createUnpacker()
  const jobs = ['insert', 'insert', 'delete', 'update'].map(text => job({ steps: [step(text)] }))
  const sent = structuredClone(jobs.map((one, id) => pack(id, 0, one)))
  assert.deepEqual(sent.map(unpack), jobs)
})

test('after 1000 texts and plans the writer forgets all, and jobs come out the same', () => {
  const texts = sending()
  const plans = sending()
  const anew: number[] = []
  for (let number = 0; number < 2100; number++) {
    const steps = [step(`insert ${number}`), step('update')]
    const byText = texts(job({ steps }))
    assert.deepEqual(byText.job.steps, steps)
    if (byText.isAnew) anew.push(number)
    const answer = { plan: plan(), longest: undefined, values: [number] }
    const byPlan = plans(job({ answer }))
    assert.deepEqual(byPlan.job.answer, answer)
    if (byPlan.isAnew) anew.push(number)
  }
  assert.deepEqual(anew, [998, 999, 1996, 1998])
})
