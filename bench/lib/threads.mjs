/** What more serving threads do for one store: rate, processor time of a request and memory, with the load on the same cores. */
import { copyFileSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { workloads } from '../workloads.mjs'
import { prepare, sizes } from './dataset.mjs'
import { patient } from './duet.mjs'
import { load } from './load.mjs'
import { median } from './measure.mjs'
import { inFolder } from './on-copy.mjs'
import { cores, privateMemory } from './processes.mjs'
import { endedTime, processorTime } from './processor.mjs'
import { printHead } from './report.mjs'
import { benchLocks } from './thread-locks.mjs'
import { ordersOf } from './writes.mjs'

const counts = [1, 2, 4]

/** Each request in turns of all numbers of threads: its rate, the processor time of all threads and the kernel, and that of the load for it. */
async function measured(served, { title, ask, connections }, { tool, token, seconds, rounds }) {
  const round = async (server, length) => {
    const before = processorTime(server.pid)
    const loadBefore = endedTime()
    const { method, path, body } = ask
    const request = { method, url: server.url + path, body, token }
    const { requests, rate } = await load(tool, request, length, connections)
    server.emptyLog()
    const time = (processorTime(server.pid) - before) / requests
    return { rate, time, ofLoad: (endedTime() - loadBefore) / requests }
  }
  const taken = new Map(counts.map(count => [count, []]))
  for (const count of counts) await round(served.get(count), Math.min(seconds, 2))
  for (let at = 0; at < rounds; at++)
    for (const count of at % 2 ? counts.toReversed() : counts)
      taken.get(count).push(await round(served.get(count), seconds))
  const [first] = taken.values()
  const rows = counts.map(threads => {
    const all = taken.get(threads)
    const through = key => median(all.map((one, at) => one[key] / first[at][key]))
    const least = key => Math.min(...all.map(one => one[key]))
    return {
      ...{ title, threads, rate: median(all.map(({ rate }) => rate)) },
      ...{ least: least('time'), ofLoad: least('ofLoad') },
      ...{ rateThroughOne: through('rate'), timeThroughOne: through('time') },
    }
  })
  // One thread has a core to itself and the load another; several share all cores with the load.
  const [{ least, ofLoad }] = rows
  const bound = (cores.all * least) / (least + ofLoad)
  console.log(
    `${title}: the load takes ${ofLoad.toFixed(1)} µs a request, which leaves ${bound.toFixed(2)} × the rate of one thread at most`,
  )
  for (const { threads, rate, least, rateThroughOne, timeThroughOne } of rows)
    console.log(
      `  ${threads} threads ${rate.toFixed(0).padStart(7)}/s  ${rateThroughOne.toFixed(2)} × one  ${least.toFixed(1).padStart(7)} µs each, ${timeThroughOne.toFixed(2)} × one`,
    )
  return rows
}

/** Serves copies of the store with one, two and four threads, each read anew and cached, and with orders of 64 callers. */
export async function benchThreads(options, { duet, log }) {
  const { files, facts } = await prepare(duet, options)
  // The point is what a machine does with all its cores, the load included.
  const all = availableParallelism()
  Object.assign(cores, { server: `0-${all - 1}`, load: `0-${all - 1}`, all })
  const results = []
  await inFolder(async folder => {
    const head = printHead(options, sizes[options.data], facts)
    const token = await duet.token(files.all, 'admin')
    const run = { ...options, token }
    if (options.locks) results.push(...(await benchLocks(run, { duet, log, folder, files, facts })))
    for (const cached of options.locks ? [] : [false, true]) {
      const served = new Map()
      for (const count of counts) {
        const store = join(folder, `${count}-${cached}.db`)
        copyFileSync(files.all, store)
        const settings = { ...patient, ...(cached ? {} : duet.uncached), DUET_THREADS: `${count}` }
        served.set(count, await duet.serve(store, log(`threads-${count}-${cached}`), settings))
      }
      const kind = cached ? 'cached' : 'fresh'
      const memory = () => counts.map(count => privateMemory(served.get(count).pid) / 1e6)
      // Until all is loaded, and what that took is given back.
      await sleep(25_000)
      const rest = memory()
      for (const name of ['user', 'graphql-tree']) {
        const { title, ask } = workloads.find(workload => workload.name === name)
        results.push(
          ...(await measured(served, { title: `${title}, ${kind}`, ask: ask(facts) }, run)),
        )
      }
      if (!cached) {
        // Copies of one store give their products the same ids.
        let order
        for (const { url } of served.values()) [order] = await ordersOf(url, token)
        const asked = { title: 'orders of 64 callers', ask: order, connections: 64 }
        results.push(...(await measured(served, asked, run)))
      }
      for (const [when, each] of [
        ['at rest', rest],
        ['after that', memory()],
      ]) {
        const more = (at, from) => (each[at] - each[from]) / (counts[at] - counts[from])
        console.log(
          `own memory ${when}, ${kind}: ${counts.map((count, at) => `${count} threads ${each[at].toFixed(0)} MB`).join(', ')}; the second takes ${more(1, 0).toFixed(0)} MB, each more ${more(2, 1).toFixed(0)} MB`,
        )
        results.push({ title: `memory ${when}, ${kind}`, memory: each })
      }
      for (const server of served.values()) await server.stop()
    }
    if (options.json) writeFileSync(options.json, `${JSON.stringify({ head, results }, null, 2)}\n`)
  })
}
