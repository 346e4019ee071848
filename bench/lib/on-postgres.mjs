/** The run on PostgreSQL: Duet beside PostGraphile and beside the driver alone, and its reads while orders are written. */
import { writeFileSync } from 'node:fs'
import { postgresTargets, postgresWorkloads } from '../workloads.mjs'
import { sizes } from './dataset.mjs'
import { serveDriver } from './driver.mjs'
import { measureBursts, measureNewcomers } from './edge.mjs'
import { answerOf, checkSame, measure } from './measure.mjs'
import { fillDatabase, serveDatabase } from './postgres.mjs'
import { printEdge, printPostgresHead, printReads, printTargets, printWorkload } from './report.mjs'
import { servePeer } from './servers.mjs'
import { judgeReads, judgeSpeeds } from './verdicts.mjs'
import { measureReads, ordersPerSecond } from './writes.mjs'

/** Names to choose from by `--only`. */
export const names = [...postgresWorkloads.map(({ name }) => name), 'orders', 'edge']

/** Everything in one run, on a server of its own. */
export async function benchOnPostgres(options, { duet, log }) {
  const database = await serveDatabase()
  try {
    await measureAll({ ...options, duet, log, database })
  } finally {
    await database.stop()
  }
}

async function measureAll({ duet, log, database, ...options }) {
  const wanted = name => options.only.length === 0 || options.only.includes(name)
  const facts = await fillDatabase(duet, database.url, sizes[options.data])
  const run = { ...options, token: await duet.token(database.url) }
  const head = printPostgresHead(run, sizes[options.data], database.version)

  const server = await duet.serve(database.url, log('duet'))
  const peers = {
    postgraphile: await servePeer('postgraphile', database.url, log('postgraphile')),
    driver: await serveDriver(database.url, log('driver')),
  }
  const results = []
  for (const workload of postgresWorkloads.filter(({ name }) => wanted(name)))
    results.push({
      workload: workload.name,
      ...(await measureOne(workload, facts, server, peers, run)),
    })

  // Only now, as what is written changes the store.
  const reads = wanted('orders')
    ? await measureReads({
        ...run,
        duet,
        store: database.url,
        server,
        facts,
        write: ordersPerSecond,
      })
    : undefined
  if (reads) printReads(reads)
  if (wanted('edge')) {
    const admin = await duet.token(database.url, 'admin')
    const newcomers = await measureNewcomers(server, run, facts)
    printEdge({ newcomers, bursts: await measureBursts(server, { ...run, admin }) })
  }
  const verdicts = [...judgeSpeeds(results, postgresTargets), judgeReads(reads)]
  printTargets(verdicts)
  if (options.json)
    writeFileSync(options.json, `${JSON.stringify({ head, results, reads, verdicts }, null, 2)}\n`)
}

/** Sees to it that all say the same, and measures them in turns. */
async function measureOne({ title, ask, postgraphile, driver }, facts, server, peers, run) {
  const first = { name: 'duet', server, ask: ask(facts) }
  const answer = await answerOf(first, run.token)
  const contenders = [first]
  if (postgraphile) {
    const peer = { name: 'postgraphile', server: peers.postgraphile, ask: postgraphile(facts) }
    checkSame(answer, { json: withoutNodes((await answerOf(peer, run.token)).json) }, peer.name)
    contenders.push(peer)
  }
  if (driver) {
    const { job, values, read } = driver(facts)
    const [row] = await peers.driver.ask({ job, values })
    checkSame(answer, { json: read(row, answer.json) }, job)
    contenders.push({
      name: job,
      server: peers.driver,
      run: seconds => peers.driver.ask({ job, values, seconds }),
    })
  }
  const rows = await measure(contenders, run)
  const result = { title, bytes: answer.bytes.length, rows }
  printWorkload(result)
  return result
}

/** PostGraphile's lists are connections: `{ nodes: [ … ] }` is read as the list. */
function withoutNodes(value) {
  if (Array.isArray(value)) return value.map(withoutNodes)
  if (value === null || typeof value !== 'object') return value
  if (value.nodes) return withoutNodes(value.nodes)
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, withoutNodes(part)]))
}
