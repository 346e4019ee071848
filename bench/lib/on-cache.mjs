/** The run about cached answers, on SQLite: the same requests to a service with its cache and to one without. */
import { copyFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { workloads } from '../workloads.mjs'
import { prepare, sizes } from './dataset.mjs'
import { patient } from './duet.mjs'
import { inFolder } from './on-copy.mjs'
import { printCached, printHead } from './report.mjs'
import { inTurns } from './turns.mjs'

const keys = 10_000

/** Each service has a copy of its own, as what is written changes it, and one process alone may serve it. */
export async function benchCache(options, { duet, log }) {
  const { files, facts } = await prepare(duet, options)
  await inFolder(async folder => {
    const store = name => join(folder, `${name}.db`)
    for (const name of ['fresh', 'cached']) copyFileSync(files.all, store(name))
    const token = await duet.token(store('fresh'), 'admin')
    const head = printHead({ ...options, tool: 'mix.mjs' }, sizes[options.data], facts)
    const fresh = await duet.serve(store('fresh'), log('fresh'), { ...patient, ...duet.uncached })
    const cached = await duet.serve(store('cached'), log('cached'), patient)
    const sides = [
      { name: 'fresh', server: fresh, token },
      { name: 'cached', server: cached, token },
    ]
    const results = []
    for (const { title, ...asked } of [...repeated(facts), ...mixes(files.all)]) {
      const taken = await inTurns(asked, sides, { ...options, folder })
      results.push({ title, ...taken, times: taken.fresh.least / taken.cached.least })
    }
    printCached(results)
    for (const { server } of sides) await server.stop()
    if (options.json) writeFileSync(options.json, `${JSON.stringify({ head, results }, null, 2)}\n`)
  })
}

const get = path => ({ method: 'GET', path })

/** The usual requests, each alone. */
export const repeated = facts =>
  workloads
    .filter(({ name }) => name !== 'graphql-rows')
    .map(({ title, ask }) => ({ title, reads: [ask(facts)], writes: [], every: 0 }))

/** Mixes of 10,000 reads with writes among them. */
export function mixes(file) {
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
    mix('10,000 reads by Zipf, nothing is written', [], 0),
    mix('the same, 1 in 100 writes a comment', comments, 100),
    mix('the same, 1 in 10 writes a comment', comments, 10),
    mix('the same, 1 in 100 writes a product', stocks, 100),
    mix('the same, 1 in 10 writes a product', stocks, 10),
  ]
}
