// Writes through the whole service but for its sockets, by one caller and by 64, and reads beside them; prints what it measured.
import { createWorld } from '../world.ts'

const seconds = 4
const world = await createWorld({ engine: { sync: 'full' } })

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

/** The 99th percentile of a small read's time, one each 5 ms. */
const readsUntil = async (isOver: () => boolean): Promise<number> => {
  const times: number[] = []
  while (!isOver()) {
    const begun = performance.now()
    await world.ask('GET /api/products?limit=1')
    times.push(performance.now() - begun)
    await new Promise(resolve => setTimeout(resolve, 5))
  }
  return times.sort((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? 0
}

await rateOf(16, 'warm')
const one = await rateOf(1, 'one')
const idleUntil = performance.now() + seconds * 1000
const idle = await readsUntil(() => performance.now() > idleUntil)
let isDone = false
const reading = readsUntil(() => isDone)
const many = await rateOf(64, 'many')
isDone = true
const busy = await reading
process.stdout.write(`${JSON.stringify({ one, many, idle, busy })}\n`)
await world.close()
