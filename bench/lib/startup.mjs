/** How long Duet takes from its start to the first answer out of an existing store. */
import { setTimeout as sleep } from 'node:timers/promises'
import { median } from './measure.mjs'

const tries = 5

/** Median of five starts, in milliseconds; `serve` starts a server and `path` may be read by anybody. */
export async function measureStart(serve, path) {
  const times = []
  for (let i = 0; i < tries; i += 1) {
    const began = performance.now()
    const server = await serve(`start-${i}`)
    await untilAnswered(server.url + path)
    times.push(performance.now() - began)
    await server.stop()
  }
  return median(times)
}

async function untilAnswered(url) {
  for (;;) {
    const response = await fetch(url).catch(() => undefined)
    await response?.arrayBuffer()
    if (response?.status === 200) return
    await sleep(1)
  }
}
