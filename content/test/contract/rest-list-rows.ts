/** The users and products of the tests of lists. */
import assert from 'node:assert/strict'
import { pluck } from '#test/asking.ts'
import type { World } from '../world.ts'

export const ages = [30, null, 30, 25, null, 41, 25, 30, null, 41, 18, 30]
export const names = [
  'Ada',
  'Bo',
  'ada',
  'Élan',
  'Zoe',
  'Bo',
  'Elan',
  'Yu',
  'bo',
  'Ada',
  'Ünal',
  '张伟',
]

/** Ada is admin; every third user is suspended, the fifth an admin too. */
export const user = Array.from({ length: 12 }, (_, index) => ({
  name: names[index],
  email: `user${(index * 7) % 12}@example.org`,
  age: ages[index],
  role: index === 0 || index === 4 ? 'admin' : 'user',
  status: index % 3 === 2 ? 'suspended' : 'active',
}))

/** 130 products: prices repeat after ten, names after seven, the stock is 0 for every fourth. */
export const product = Array.from({ length: 130 }, (_, index) => ({
  name: `Thing ${String.fromCharCode(97 + (index % 7))}`,
  category: index % 2 === 0 ? 'even' : 'odd',
  price: ((index * 3) % 10) + 0.5,
  stock: index % 4,
}))

/** So many numbers from the first on. */
export const from = (first: number, count: number) =>
  Array.from({ length: count }, (_, n) => first + n)

/** What reads lists of a world as its first user: an answer, the body of one that is 200, and the ids in it. */
export const listsOf = (world: World) => {
  const get = (path: string) => world.ask(`GET ${path}`, { as: 1 })
  const list = async (path: string) => {
    const answer = await get(path)
    assert.equal(answer.status, 200, answer.text)
    return answer.json
  }
  const idsOf = async (path: string): Promise<number[]> => pluck((await list(path)).data, 'id')
  return { get, list, idsOf }
}
