/** Measures services in turns by the processor time that each takes for a request, which a busy machine disturbs least. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { median } from './measure.mjs'
import { cores, finish } from './processes.mjs'
import { processorTime } from './processor.mjs'

const script = fileURLToPath(new URL('mix.mjs', import.meta.url))

/**
 * The figures of each of `sides`, `{ name, server, token }`, for `{ reads, writes, every }`: the processor time of a request in
 * microseconds, its least and its median over the rounds and all of them, and the medians of p50 and p99 in milliseconds. The sides
 * take turns, and each round begins with another one.
 */
export async function inTurns(asked, sides, { folder, seconds, rounds }) {
  const task = join(folder, 'task.json')
  const round = async ({ server, token }, length, seed) => {
    const before = processorTime(server.pid)
    writeFileSync(task, JSON.stringify({ ...asked, url: server.url, token, seconds: length, seed }))
    const out = await finish(process.execPath, [script, task], { core: cores.load })
    const { requests, p50, p99 } = JSON.parse(out.trim().split('\n').at(-1))
    server.emptyLog()
    return { time: (processorTime(server.pid) - before) / requests, p50, p99 }
  }
  for (const side of sides) await round(side, Math.min(seconds, 2), 1)
  const taken = new Map(sides.map(({ name }) => [name, []]))
  for (let seed = 2; seed < rounds + 2; seed += 1)
    for (const side of seed % 2 ? sides.toReversed() : sides)
      taken.get(side.name).push(await round(side, seconds, seed))
  return Object.fromEntries([...taken].map(([name, all]) => [name, figuresOf(all)]))
}

function figuresOf(rounds) {
  const of = name => rounds.map(round => round[name])
  const times = of('time')
  return {
    least: Math.min(...times),
    median: median(times),
    p50: median(of('p50')),
    p99: median(of('p99')),
    times,
  }
}
