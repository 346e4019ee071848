/** Runs generated requests against a generated model on the engines there are, and against the reference. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Entities } from '#model/model.ts'
import { type Draw, drawing, numbers } from '../operations.ts'
import { noDatabase } from '../postgres/tools/database.ts'
import { onPostgres } from '../stores.ts'
import { usualSeed } from '../support/rounds.ts'
import { isShort } from '../support/short.ts'
import { modelBy } from './models.ts'
import { newReference, paperHeaders, paperOf } from './reference.ts'
import {
  changeFile,
  create,
  destroy,
  type Expectation,
  query,
  readBelow,
  readFile,
  readList,
  readOne,
  search,
  update,
} from './requests.ts'
import { modelFor, type Request, type Service, serveModel } from './serve.ts'

/** Draws the same from the same seed. */
export const drawn = (seed: number): Draw =>
  drawing(fc.sample(numbers, { seed, numRuns: 1 })[0] as fc.Stream<number>)

const makers = [
  create,
  update,
  changeFile,
  readFile,
  destroy,
  readOne,
  readList,
  readList,
  readBelow,
  query,
  query,
  search,
]

/** A request whose uploads, which are drawn by their numbers, are sent and named by their ids. */
const withUploads = async ({ ask }: Service, request: Request): Promise<Request> => {
  const { body, as } = request
  if (body === undefined || as === 'anonymous') return request
  let text = JSON.stringify(body)
  // In a document of GraphQL it is within a text.
  for (const [drawn = '', quoted = '', number = ''] of text.matchAll(/\{("?)upload"?:(\d)\}/g)) {
    const paper = { text: paperOf(Number(number)), headers: paperHeaders }
    const sent = await ask({ line: 'POST /api/files', as, ...paper })
    assert.equal(sent.status, 201, sent.text)
    const quote = quoted || '\\"'
    text = text.replace(drawn, () => `${quote}${JSON.parse(sent.text).id}${quote}`)
  }
  const { body: _, ...rest } = request
  return { ...rest, text }
}

const expectSame = async (services: readonly Service[], { request, status, text }: Expectation) => {
  for (const service of services) {
    const answer = await service.ask(await withUploads(service, request))
    const told = `${service.store.dialect.name}: ${JSON.stringify(request)}\n${answer.text}`
    const bug = service.bugs[0] instanceof Error ? service.bugs[0].stack : ''
    assert.equal(answer.status, status, `${told}\n${bug}`)
    if (text === undefined) continue
    const expected = typeof text === 'string' ? text : text(answer.text)
    assert.equal(answer.text, expected, told)
  }
}

/** What to ask next, of which entity. */
type Step = readonly [make: (typeof makers)[number], name: string]

/** Requests that fill the stores at first, and then ask and change what was kept. */
const mixed = function* (draw: Draw, entities: Entities, requests: number): Generator<Step> {
  const names = Object.keys(entities) as [string, ...string[]]
  for (let n = 0; n < requests; n++)
    yield [n < requests / 4 ? create : draw.of(...makers), draw.of(...names)]
}

/** One request of each sort for each entity, the writes among them several times. */
export const each = function* (names: readonly string[]): Generator<Step> {
  for (const name of names)
    for (const make of [create, create, create, update, readList, query, readOne])
      yield [make, name]
}

/** A service on each engine, with two members; `send` throws at the first answer that is not the reference's. */
export const comparison = async (
  entities: Entities,
  draw: Draw,
  engines: readonly ('sqlite' | 'postgres')[],
  template?: string,
) => {
  const reference = newReference(modelFor(entities))
  const services = await Promise.all(engines.map(on => serveModel(entities, on, template)))
  const close = async () => {
    for (const { close } of services) await close()
  }
  const run = async ([make, name]: Step) => {
    const next = (reference.last.get(name) ?? 0) + 1
    const expectation = make(draw, reference, name)
    if (!expectation) return
    if (expectation.writes !== undefined)
      for (const { align } of services) await align(entities[name]?.table ?? '', next)
    await expectSame(services, expectation)
  }
  const send = async (steps: Iterable<Step>) => {
    for (const step of steps) await run(step)
    for (const { bugs } of services) assert.deepEqual(bugs, [])
  }
  await send(Array.from({ length: 2 }, () => [create, 'member'] as const)).catch(async error => {
    await close()
    throw error
  })
  return { services, send, close }
}

/** Sends the requests to a service on each engine; throws at the first answer that is not the reference's. */
export const compareModel = async (
  entities: Entities,
  draw: Draw,
  steps: Iterable<Step>,
  engines: readonly ('sqlite' | 'postgres')[],
): Promise<void> => {
  const { send, close } = await comparison(entities, draw, engines)
  await send(steps).finally(close)
}

/** In the short run only what runs on PostgreSQL compares with it. */
const isAlone = noDatabase || (isShort && !onPostgres)

/** The engines there are; without a PostgreSQL a test is skipped that says so. */
export const engines = isAlone ? (['sqlite'] as const) : (['sqlite', 'postgres'] as const)

/** Tests for so many generated models, or DUET_TEST_ROUNDS, with so many requests each; DUET_SEED makes the same ones again. */
export const modelsServedAlike = (usual: number, requests: number): void => {
  const seed = usualSeed(918_229)
  if (noDatabase) test('PostgreSQL is among the engines', { skip: noDatabase }, () => {})
  for (let n = 0; n < Number(process.env.DUET_TEST_ROUNDS ?? usual); n++)
    test(`the generated model ${n} is served alike by the engines and the reference [B9, G21]`, async t => {
      t.diagnostic(`DUET_SEED=${seed}`)
      const draw = drawn(seed * 1000 + n)
      const entities = modelBy(draw, true)
      await compareModel(entities, draw, mixed(draw, entities, requests), engines)
    })
}
