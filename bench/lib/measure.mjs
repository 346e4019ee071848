/** Measures one workload: everybody's answer first, then everybody's speed in turns. */
import { deepStrictEqual } from 'node:assert'
import { load } from './load.mjs'
import { residentMemory } from './processes.mjs'
import { processorTime, tellsTime } from './processor.mjs'

/**
 * Each of `contenders` is `{ name, server, ask }`, or has a `run` of its own where no HTTP is spoken; the first
 * is Duet. Gives the medians of each, the least and the median processor time of a request, and how much faster Duet is than each: `times` by the
 * rates, `cheaper` by the processor times.
 */
export async function measure(contenders, { tool, token, seconds, rounds, requests }) {
  const run = async (contender, length) => {
    const { server, ask } = contender
    const figures = contender.run
      ? await contender.run(length)
      : await load(tool, { ...ask, url: server.url + ask.path, token }, length)
    server.emptyLog()
    return figures
  }
  const warming = requests ? Array(5).fill(requests) : [Math.min(seconds, 2)]
  for (const contender of contenders) for (const amount of warming) await run(contender, amount)
  const taken = contenders.map(() => [])
  for (let round = 0; round < rounds; round += 1)
    for (const [i, contender] of contenders.entries())
      taken[i].push(await watched(contender.server, () => run(contender, requests ?? seconds)))
  const processors = taken.map(all => all.map(figures => figures.processor))
  const least = processors.map(times => Math.min(...times))
  return contenders.map(({ name }, i) => ({
    server: name,
    processor: least[i],
    usualProcessor: median(processors[i]),
    cheaper: least[i] / least[0],
    rate: median(taken[i].map(figures => figures.rate)),
    p50: median(taken[i].map(figures => figures.p50)),
    p99: median(taken[i].map(figures => figures.p99)),
    memory: Math.max(...taken[i].map(figures => figures.memory)),
    times: median(taken[i].map((figures, round) => taken[0][round].rate / figures.rate)),
  }))
}

/** What a server answers, or an error that says what it answered instead. */
export async function answerOf({ server, ask }, token) {
  const response = await fetch(server.url + ask.path, {
    method: ask.method,
    body: ask.body,
    headers: {
      authorization: `Bearer ${token}`,
      ...(ask.body && { 'content-type': 'application/json' }),
    },
  })
  const bytes = Buffer.from(await response.arrayBuffer())
  const json = response.ok ? JSON.parse(bytes) : undefined
  if (!json || json.errors)
    throw new Error(`${ask.method} ${ask.path} is answered ${response.status}: ${bytes}`)
  const [type, tag] = ['content-type', 'etag'].map(name => response.headers.get(name))
  return { bytes, json, type, tag }
}

/** Throws unless both say the same; the order of members is free. */
export function checkSame(duet, other, name) {
  try {
    deepStrictEqual(other.json, duet.json)
  } catch (error) {
    throw new Error(`${name} and Duet answer differently\n${error.message}`)
  }
}

export function median(numbers) {
  const sorted = numbers.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

async function watched({ pid }, run) {
  let memory = 0
  const timer = setInterval(() => {
    memory = Math.max(memory, residentMemory(pid) ?? 0)
  }, 100)
  try {
    const before = tellsTime ? processorTime(pid) : Number.NaN
    const figures = await run()
    const spent = tellsTime ? processorTime(pid) - before : Number.NaN
    return { ...figures, memory, processor: spent / figures.requests }
  } finally {
    clearInterval(timer)
  }
}
