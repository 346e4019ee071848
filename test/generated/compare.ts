/** Runs generated requests against a generated model on the engines there are, and against the reference. */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { Entities } from '#model/model.ts'
import { type Draw, drawing, numbers } from '../operations.ts'
import { changeIn } from '../stores.ts'
import { newReference, type Reference } from './reference.ts'
import {
  create,
  destroy,
  type Expectation,
  query,
  readBelow,
  readList,
  readOne,
  update,
} from './requests.ts'
import { modelFor, type Service, serveModel } from './serve.ts'

/** Draws the same from the same seed. */
export const drawn = (seed: number): Draw =>
  drawing(fc.sample(numbers, { seed, numRuns: 1 })[0] as fc.Stream<number>)

const makers = [create, update, destroy, readOne, readList, readList, readBelow, query, query]

/** A refused insert uses an id up on PostgreSQL: before a write it goes on from where the reference stands. */
const align = async ({ store }: Service, reference: Reference, name: string) => {
  const { table } = reference.model.entities[name] ?? { table: '' }
  const next = (reference.last.get(name) ?? 0) + 1
  await changeIn(store)(`select setval('${table}_id_seq', ?1, false)::text`, next)
}

const expectSame = async (services: readonly Service[], { request, status, text }: Expectation) => {
  for (const service of services) {
    const answer = await service.ask(request)
    const told = `${service.store.dialect.name}: ${JSON.stringify(request)}\n${answer.text}`
    const bug = service.bugs[0] instanceof Error ? service.bugs[0].stack : ''
    assert.equal(answer.status, status, `${told}\n${bug}`)
    if (text === undefined) continue
    const expected = typeof text === 'string' ? text : text(answer.text)
    assert.equal(answer.text, expected, told)
  }
}

/** Fills the stores by requests, then asks what was kept; throws at the first answer that differs. */
export const compareModel = async (
  entities: Entities,
  draw: Draw,
  requests: number,
  engines: readonly ('sqlite' | 'postgres')[],
): Promise<void> => {
  const reference = newReference(modelFor(entities))
  const services = await Promise.all(engines.map(on => serveModel(entities, on)))
  const run = async (
    make: (draw: Draw, reference: Reference, name: string) => Expectation | null,
    name: string,
  ) => {
    const last = new Map(reference.last)
    const expectation = make(draw, reference, name)
    if (!expectation) return
    const before = { ...reference, last }
    if (expectation.writes !== undefined)
      for (const service of services)
        if (service.store.dialect.name === 'postgres')
          await align(service, before, expectation.writes)
    await expectSame(services, expectation)
  }
  try {
    for (let n = 0; n < 2; n++) await run(create, 'member')
    const names = Object.keys(entities)
    for (let n = 0; n < requests; n++) {
      const make = n < requests / 4 ? create : draw.of(...makers)
      await run(make, draw.of(...(names as [string, ...string[]])))
    }
    for (const { bugs } of services) assert.deepEqual(bugs, [])
  } finally {
    for (const { close } of services) await close()
  }
}
