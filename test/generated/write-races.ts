/** Races of writes with changes of what their rules look at, for the usual tests and for those of the night. */
import assert from 'node:assert/strict'
import { type Kitchen, kitchenOn } from '../support/cooking.ts'

/** Makes something as the admin, and gives its id. */
export const makerIn = (kitchen: Kitchen) => {
  let n = 0
  const made = async (plural: string, body: object): Promise<number> => {
    const answer = await kitchen.say(2, `POST /api/${plural}`, body)
    assert.equal(answer.status, 201, answer.text)
    return answer.json.id
  }
  const recipe = (ownerId: number, more: object = {}) =>
    made('recipes', { title: `m${n++}`, ownerId, ...more })
  const team = async (...members: readonly number[]) => {
    const teamId = await made('teams', { name: 't' })
    for (const memberId of members) await made('seats', { memberId, teamId, rank: 'cook' })
    return teamId
  }
  return { made, recipe, team }
}

/**
 * So many times a recipe is taken from those who write below it, in one of three ways, while they do: what is not below it by the time
 * that this is answered never is.
 */
export const raceChildren = async (
  on: 'sqlite' | 'postgres',
  rounds: number,
): Promise<{ readonly made: number; readonly refused: number }> => {
  const kitchen = await kitchenOn(on)
  const { made, recipe, team } = makerIn(kitchen)
  const total = { made: 0, refused: 0 }
  try {
    for (let round = 0; round < rounds; round++) {
      const teamId = await team()
      const seat = await made('seats', { memberId: 3, teamId, rank: 'cook' })
      const isOwner = round % 3 === 0
      const to = await recipe(isOwner ? 3 : 1, { status: 'published', ...(!isOwner && { teamId }) })
      const below = async () => {
        const rows = await kitchen.say(2, `GET /api/recipes/${to}/ingredients?limit=50`)
        assert.equal(rows.status, 200, rows.text)
        return rows.json.data.length as number
      }
      const taken = async () => {
        const answer = isOwner
          ? await kitchen.say(2, `PATCH /api/recipes/${to}`, { ownerId: 4 })
          : round % 3 === 1
            ? await kitchen.say(2, `DELETE /api/seats/${seat}`)
            : await kitchen.say(2, `PATCH /api/seats/${seat}`, { rank: 'guest' })
        assert.ok([200, 204].includes(answer.status), answer.text)
        return below()
      }
      const begun: Promise<{ readonly status: number }>[] = []
      let counted: Promise<number> | undefined
      for (let n = 0; n < 8; n++) {
        if (n === round % 8) counted = taken()
        begun.push(kitchen.say(3, 'POST /api/ingredients', { name: `n${n}`, recipeId: to }))
        if (n % 3 === 0) await new Promise(setImmediate)
      }
      const found = await counted
      const statuses = (await Promise.all(begun)).map(({ status }) => status)
      const done = statuses.filter(status => status === 201).length
      assert.deepEqual(
        [...new Set(statuses)].filter(status => ![201, 403].includes(status)),
        [],
      )
      assert.equal(await below(), done)
      assert.equal(found, done, 'a child came below a recipe after it was taken')
      total.made += done
      total.refused += statuses.length - done
    }
  } finally {
    await kitchen.close()
  }
  return total
}
