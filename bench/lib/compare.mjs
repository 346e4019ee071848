/** The run that compares two commits: both serve the same content, and take turns. */

import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import { workloads } from '../workloads.mjs'
import { checkOut, ownCommit } from './commit.mjs'
import { prepare, sizes } from './dataset.mjs'
import { duetAt, patient } from './duet.mjs'
import { answerOf, median } from './measure.mjs'
import { mixes, repeated } from './on-cache.mjs'
import { inFolder } from './on-copy.mjs'
import { worst } from './overload.mjs'
import { fillDatabase, serveDatabase } from './postgres.mjs'
import { printCompared, printHead } from './report.mjs'
import { inTurns } from './turns.mjs'
import { eachWrite } from './writes.mjs'

const kept = fileURLToPath(new URL('../.data/compared/', import.meta.url))

const alone = (title, ask) => ({ title, reads: [ask], writes: [], every: 0 })
const named = (facts, ...names) =>
  names.map(name => {
    const { title, ask } = workloads.find(workload => workload.name === name)
    return alone(title, ask(facts))
  })

/** What is measured with which service: the settings and options that it is started with, and the requests. */
const services = {
  fresh: { settings: duet => duet.uncached, rows: ({ facts }) => repeated(facts) },
  cached: { rows: ({ facts }) => repeated(facts) },
  mix: { rows: ({ file }) => mixes(file) },
  writes: { rows: eachWrite, areWrites: true },
  readers: {
    settings: duet => ({ ...duet.uncached, ...duet.twoReaders }),
    rows: () => [alone('the slowest read, two threads for such', { method: 'GET', path: worst })],
  },
  postgres: {
    onPostgres: true,
    rows: ({ facts }) => named(facts, 'user', 'product', 'graphql-user', 'graphql-tree'),
  },
  processes: {
    onPostgres: true,
    args: ['--processes', '2'],
    rows: ({ facts }) => named(facts, 'user', 'graphql-tree'),
  },
}

/** Names to choose from by `--only`, and those that are measured without it. */
export const names = Object.keys(services)
const usual = ['fresh', 'cached', 'mix', 'readers']

/** Compares this checkout with another commit, and keeps the figures under the ids of both. */
export async function benchCompare(options, { duet, log }) {
  const { id, bin, hasSameStores } = checkOut(options.commit)
  const older = duetAt(bin)
  // The other commit makes the store where it would make another one: this checkout then migrates its copy.
  const { files, facts } = await (hasSameStores
    ? prepare(duet, options)
    : prepare(older, { ...options, duet: bin }))
  const printed = printHead({ ...options, tool: 'mix.mjs' }, sizes[options.data], facts)
  const head = { ...printed, base: id, own: ownCommit() }
  const sides = { base: older, own: duet }
  const wanted = names.filter(name =>
    options.only.length > 0 ? options.only.includes(name) : usual.includes(name),
  )
  const results = []
  for (const name of wanted) {
    const run = services[name].onPostgres ? onPostgres : onSqlite
    const rows = await run(name, { sides, log, options, files, facts })
    printCompared(head, rows)
    results.push(...rows.map(row => ({ service: name, ...row })))
  }
  keep(options.json, { head, results })
}

const onSqlite = (name, { sides, log, options, files, facts }) =>
  inFolder(async folder => {
    const stores = { base: join(folder, 'base.db'), own: join(folder, 'own.db') }
    for (const store of Object.values(stores)) copyFileSync(files.all, store)
    return await measured(name, { sides, stores, log, options, folder, facts, file: files.all })
  })

const onPostgres = (name, { sides, log, options }) =>
  inFolder(async folder => {
    const stores = {}
    const databases = []
    try {
      let facts
      for (const side of Object.keys(sides)) {
        const database = await serveDatabase()
        databases.push(database)
        stores[side] = database.url
        // Both are filled by the older program, so that they have the same rows.
        facts = await fillDatabase(sides.base, database.url, sizes[options.data])
        await sides[side].command(database.url, ['migrate'])
      }
      return await measured(name, { sides, stores, log, options, folder, facts })
    } finally {
      for (const database of databases) await database.stop()
    }
  })

/** The rows of one service, started from both commits. */
async function measured(name, { sides, stores, log, options, folder, facts, file }) {
  const { settings = () => ({}), args, rows, areWrites = false } = services[name]
  const served = []
  for (const [side, duet] of Object.entries(sides)) {
    const token = await duet.token(stores[side], 'admin')
    const started = { ...patient, ...settings(duet) }
    const server = await duet.serve(stores[side], log(`${name}-${side}`), started, args)
    served.push({ name: side, server, token })
  }
  const results = []
  for (const { title, ...asked } of await rows({ facts, file, served })) {
    const [first, second] = await Promise.all(
      served.map(({ server, token }) => answerOf({ server, ask: asked.reads[0] }, token)),
    )
    // What is written has times of its own.
    const differs = !areWrites && !isDeepStrictEqual(first.json, second.json)
    const taken = await inTurns(asked, served, { ...options, folder })
    results.push({ title: `${name}: ${title}`, differs, ...compared(taken) })
  }
  for (const { server } of served) await server.stop()
  return results
}

/** Both sides with the ratios of their rounds, this checkout's time through the other's. */
function compared({ base, own }) {
  const ratios = own.times.map((time, round) => time / base.times[round])
  return { base, own, ratio: median(ratios), from: Math.min(...ratios), to: Math.max(...ratios) }
}

function keep(json, found) {
  mkdirSync(kept, { recursive: true })
  const { base, own, date } = found.head
  const file =
    json ?? join(kept, `${base}-${own.replaceAll(' ', '-')}-${date.replaceAll(':', '')}.json`)
  writeFileSync(file, `${JSON.stringify(found, null, 2)}\n`)
  console.log(`All figures: ${file}`)
}
