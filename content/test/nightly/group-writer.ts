// Writes through the whole service but for its sockets, by one caller and by 64; prints how many each second, and how many of the 64 shared a commit, in the median.
import { createWorld } from '../world.ts'

const seconds = 4
let groups: number[] = []
const world = await createWorld({
  engine: { sync: 'full', onCommit: writes => void groups.push(writes) },
})

/** Writes in a second by so many callers, each one after another. */
const rateOf = async (callers: number, label: string): Promise<number> => {
  const until = performance.now() + seconds * 1000
  let count = 0
  const run = async (caller: number) => {
    for (let index = 0; performance.now() < until; index++) {
      const body = { name: 'A', email: `${label}.${caller}.${index}@example.org` }
      const { status } = await world.ask('POST /api/users', { body })
      if (status !== 201) throw new Error(`a write was answered ${status}`)
      count++
    }
  }
  await Promise.all(Array.from({ length: callers }, (_, caller) => run(caller)))
  return count / seconds
}

await rateOf(16, 'warm')
const one = await rateOf(1, 'one')
groups = []
const many = await rateOf(64, 'many')
const usual = groups.sort((a, b) => a - b)[Math.floor(groups.length / 2)]
process.stdout.write(`${JSON.stringify({ one, many, usual })}\n`)
await world.close()
