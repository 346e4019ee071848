/** Generated models: both engines, graphql-js and a reference in memory answer generated requests alike. */
import { test } from 'node:test'
import { noDatabase } from '../postgres/tools/database.ts'
import { compareModel, drawn } from './compare.ts'
import { modelBy } from './models.ts'

const seed = Number(process.env.DUET_SEED ?? Date.now() % 1_000_000)
const models = Number(process.env.DUET_TEST_MODELS ?? 10)
const engines = noDatabase ? (['sqlite'] as const) : (['sqlite', 'postgres'] as const)

test('PostgreSQL is among the engines', { skip: noDatabase }, () => {})

for (let n = 0; n < models; n++)
  test(`the generated model ${n} is served alike by the engines and the reference`, async t => {
    t.diagnostic(`DUET_SEED=${seed}`)
    const draw = drawn(seed * 1000 + n)
    await compareModel(modelBy(draw), draw, 150, engines)
  })
