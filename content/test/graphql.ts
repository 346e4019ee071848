/** What the tests of the GraphQL contract share: what an answer says, and a world to ask. */
import assert from 'node:assert/strict'
import { after, before } from 'node:test'
import { type Answered, createWorld, type World } from './world.ts'

/** The first error. */
export const errorOf = ({ json }: Answered) => json.errors[0]

/** The code of the first error; undefined where there is none. */
export const codeOf = ({ json }: Answered): string | undefined =>
  json?.errors?.[0]?.extensions?.code

/** The data of an answer without errors. */
export const dataOf = (answered: Answered) => {
  assert.equal(answered.json.errors, undefined, answered.text)
  return answered.json.data
}

/** A world for the tests of a suite, and what asks it as its admin. */
export const scene = () => {
  const scene = { world: undefined as unknown as World }
  before(async () => {
    scene.world = await createWorld()
  })
  after(() => scene.world.close())
  const ask = (query: string, asking: Parameters<World['gql']>[1] = {}) =>
    scene.world.gql(query, { as: 1, ...asking })
  /** Everything that can be read, to see that nothing was written. */
  const all = async () =>
    (
      await ask(
        '{ users(limit: 100) { id name email age posts { id title content comments { id text } } } }',
      )
    ).text
  return { scene, ask, all }
}

/** So many texts, each made by its number, as one. */
export const times = (count: number, make: (n: number) => string, between = ' ') =>
  Array.from({ length: count }, (_, n) => make(n)).join(between)
