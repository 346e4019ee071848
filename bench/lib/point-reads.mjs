/** A process that answers point reads without a port; for each line on its input it prints the microseconds of processor that one took. */
import { createInterface } from 'node:readline'
import { collecting } from '../../src/channels.ts'
import { loadConfig } from '../../src/config.ts'
import { logging } from '../../src/serve/log.ts'
import { metricsOf, serveMetrics } from '../../src/serve/metrics.ts'
import { createWorld } from '../../test/world.ts'

const config = loadConfig(process.env)
const { DUET_LOG, DUET_SLOW } = config.values
const log = logging(DUET_LOG, DUET_SLOW)
const metrics = await metricsOf(config)
const observe = metrics
  ? event => {
      log.observe(event)
      metrics.observe(event)
    }
  : log.observe
const collect = DUET_SLOW === undefined ? undefined : collecting()
const world = await createWorld({ on: 'sqlite', development: false, edge: { observe, collect } })
const server = metrics && (await serveMetrics(metrics, config, world))

const headers = { Authorization: `Bearer ${await world.token(2)}` }
const together = 32

/** Reads a user so often, as many at a time as the bench has clients. */
async function read(times) {
  for (let done = 0; done < times; done += together)
    await Promise.all(
      Array.from({ length: together }, () => world.app.request('/api/users/2', { headers })),
    )
}

for await (const line of createInterface({ input: process.stdin })) {
  const times = Number(line)
  const before = process.threadCpuUsage()
  await read(times)
  const { user, system } = process.threadCpuUsage(before)
  process.stderr.write(`${(user + system) / times}\n`)
}
server?.close()
await world.close()
process.exit()
