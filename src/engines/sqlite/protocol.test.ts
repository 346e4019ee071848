import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ReadPlan } from '#read/plan.ts'
import type { Job, Step } from '#write/job.ts'
import { createPacker, createUnpacker } from './protocol.ts'

const plan = (): ReadPlan => ({ encoding: 'rest', roots: [] })
const step = (text: string, more: Partial<Step> = {}): Step => ({
  statement: { text, values: [1, 'two', null, new Uint8Array([3]), { step: 0, column: 1 }] },
  expect: 'row',
  checksViewer: false,
  ...more,
})
const job = (more: Partial<Job> = {}): Job => ({
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
    return { sent, job: unpack(sent) }
  }
}

test('a job comes out as it went in, the first time and later', () => {
  const send = sending()
  const answer = { plan: plan(), values: [1, { step: 1, column: 0 }] }
  const explained = step('insert', { explain: { text: 'select', values: [9] } })
  const key = { reserve: statement('r'), lookup: statement('l'), store: statement('s') }
  const jobs = [
    job(),
    job({ answer }),
    job({ answer, status: { step: 1, some: 200, none: 204 } }),
    job({ steps: [explained], text: 'an answer' }),
    job({ text: '' }),
    job({ answer, idempotency: { name: 'user 1 a', fingerprint: 'f', ...key } }),
    job({ idempotency: { name: 'user 1 a', fingerprint: 'f', ...key, claim: statement('c') } }),
  ]
  for (const one of [...jobs, ...jobs]) assert.deepEqual(send(one).job, one)
})

test('a text and a plan are sent once', () => {
  const send = sending()
  const answer = { plan: plan(), values: [] }
  const first = send(job({ answer })).sent
  assert.deepEqual(first.things, ['insert', 'update', answer.plan])
  const second = send(job({ answer })).sent
  assert.deepEqual(second.things, [])
  const third = send(job({ steps: [step('update'), step('delete')], answer: { ...answer } })).sent
  assert.deepEqual(third.things, ['delete'])
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
    if (byText.sent.isAnew) anew.push(number)
    const answer = { plan: plan(), values: [number] }
    const byPlan = plans(job({ answer }))
    assert.deepEqual(byPlan.job.answer, answer)
    if (byPlan.sent.isAnew) anew.push(number)
  }
  assert.deepEqual(anew, [998, 999, 1996, 1998])
})
