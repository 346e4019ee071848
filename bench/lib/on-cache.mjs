/** The run about cached answers, on SQLite: the same requests to a service with its cache and to one without. */
import { copyFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { workloads } from '../workloads.mjs'
import { prepare, sizes } from './dataset.mjs'
import { median } from './measure.mjs'
import { inFolder } from './on-copy.mjs'
import { cores, finish } from './processes.mjs'
import { processorTime } from './processor.mjs'
import { printCached, printHead } from './report.mjs'

const script = fileURLToPath(new URL('mix.mjs', import.meta.url))
const keys = 10_000

/** Each service has a copy of its own, as what is written changes it, and one process alone may serve it. */
export async function benchCache(options, { duet, log }) {
  const { files, facts } = await prepare(duet, options)
  await inFolder(async folder => {
    const store = name => join(folder, `${name}.db`)
    for (const name of ['fresh', 'cached']) copyFileSync(files.all, store(name))
    const token = await duet.token(store('fresh'), 'admin')
    const run = { ...options, token, task: join(folder, 'task.json') }
    const head = printHead(run, sizes[options.data], facts)
    const servers = {
      fresh: await duet.serve(store('fresh'), log('fresh'), duet.uncached),
      cached: await duet.serve(store('cached'), log('cached')),
    }
    const results = []
    for (const row of rowsOf(files.all, facts)) results.push(await measured(row, servers, run))
    printCached(results)
    for (const server of Object.values(servers)) await server.stop()
    if (options.json) writeFileSync(options.json, `${JSON.stringify({ head, results }, null, 2)}\n`)
  })
}

const get = path => ({ method: 'GET', path })

/** The usual requests, each alone, and mixes of many with writes among them. */
function rowsOf(file, facts) {
  const repeated = workloads
    .filter(({ name }) => name !== 'graphql-rows')
    .map(({ title, ask }) => ({ title, reads: [ask(facts)], writes: [], every: 0 }))
  const db = new DatabaseSync(file, { readOnly: true })
  const idsOf = table =>
    db
      .prepare(`select id from ${table} order by id * 7919 % 10007, id limit ${keys}`)
      .all()
      .map(({ id }) => id)
  const [products, posts] = [idsOf('products'), idsOf('posts')]
  const categories = db.prepare('select distinct category from products').all()
  db.close()
  // Of ten requests seven are for a product, two for a page of them, one for the comments of a post.
  const page = place => {
    const { category } = categories[place % categories.length]
    return `/api/products?category=${encodeURIComponent(category)}&sort=price&page=${1 + (place % 5)}`
  }
  const reads = products.map((id, place) =>
    get(
      place % 10 === 9
        ? `/api/posts/${posts[place % posts.length]}/comments`
        : place % 10 > 6
          ? page(place)
          : `/api/products/${id}`,
    ),
  )
  const comments = posts.slice(0, 500).map(id => ({
    method: 'POST',
    path: `/api/posts/${id}/comments`,
    body: JSON.stringify({ text: 'Of the bench' }),
  }))
  const stocks = products.slice(0, 500).map(id => ({
    method: 'PATCH',
    path: `/api/products/${id}`,
    body: JSON.stringify({ stock: 7 }),
  }))
  const mix = (title, writes, every) => ({ title, reads, writes, every })
  return [
    ...repeated,
    mix('10,000 reads by Zipf, nothing is written', [], 0),
    mix('the same, 1 in 100 writes a comment', comments, 100),
    mix('the same, 1 in 10 writes a comment', comments, 10),
    mix('the same, 1 in 100 writes a product', stocks, 100),
    mix('the same, 1 in 10 writes a product', stocks, 10),
  ]
}

/** The processor time of one request to each, in microseconds: the least of the rounds, which take turns, and the median. */
async function measured({ title, ...asked }, servers, { token, task, seconds, rounds }) {
  const taken = { fresh: [], cached: [] }
  const round = async (name, length, seed) => {
    const { url, pid, emptyLog } = servers[name]
    const before = processorTime(pid)
    writeFileSync(task, JSON.stringify({ ...asked, url, token, seconds: length, seed }))
    const out = await finish(process.execPath, [script, task], { core: cores.load })
    const { requests } = JSON.parse(out.trim().split('\n').at(-1))
    emptyLog()
    return (processorTime(pid) - before) / requests
  }
  for (const name of Object.keys(servers)) await round(name, Math.min(seconds, 2), 1)
  for (let seed = 2; seed < rounds + 2; seed += 1)
    for (const name of Object.keys(servers)) taken[name].push(await round(name, seconds, seed))
  const figures = times => ({ least: Math.min(...times), median: median(times) })
  const [fresh, cached] = [figures(taken.fresh), figures(taken.cached)]
  return { title, fresh, cached, times: fresh.least / cached.least }
}
