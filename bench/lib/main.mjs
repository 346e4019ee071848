/** The usual run: make the data, start the servers, measure each workload, print what came out. */
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { workloads } from '../workloads.mjs'
import { benchAdmin, names as namesOfAdmin } from './admin.mjs'
import { benchAsking, names as namesToAsk } from './asking.mjs'
import { commitOf } from './commit.mjs'
import { benchCompare, names as namesToCompare } from './compare.mjs'
import { prepare, sizes } from './dataset.mjs'
import { duetAt, patient } from './duet.mjs'
import { benchFiles, names as namesOfFiles } from './files.mjs'
import { chooseTool, load } from './load.mjs'
import { answerOf, checkSame, measure } from './measure.mjs'
import { benchMetrics } from './metrics.mjs'
import { benchCache } from './on-cache.mjs'
import { inFolder } from './on-copy.mjs'
import { benchOnPostgres, names as namesOnPostgres } from './on-postgres.mjs'
import { benchWrites } from './on-sqlite.mjs'
import { readOptions, UsageError, usage } from './options.mjs'
import { benchOverload } from './overload.mjs'
import { benchPeople, names as namesOfPeople } from './people.mjs'
import { hasPocketbase, servePocketbase } from './pocketbase.mjs'
import { stopAll } from './processes.mjs'
import { benchProject, names as namesInProject } from './project.mjs'
import { printHead, printTargets, printWorkload } from './report.mjs'
import { benchRules } from './rules.mjs'
import { servePeer, servePlain } from './servers.mjs'
import { measureStart } from './startup.mjs'
import { benchThreads } from './threads.mjs'
import { judge, label } from './verdicts.mjs'

const logs = fileURLToPath(new URL('../.data/logs/', import.meta.url))
const names = {
  usual: [...workloads.map(workload => workload.name), 'start'],
  postgres: namesOnPostgres,
  writes: [],
  cache: [],
  overload: [],
  metrics: [],
  threads: [],
  rules: [],
  project: namesInProject,
  asking: namesToAsk,
  people: namesOfPeople,
  files: namesOfFiles,
  admin: namesOfAdmin,
  compare: namesToCompare,
}
const benches = {
  usual: bench,
  postgres: benchOnPostgres,
  writes: benchWrites,
  cache: benchCache,
  overload: benchOverload,
  metrics: benchMetrics,
  threads: benchThreads,
  rules: benchRules,
  project: benchProject,
  asking: benchAsking,
  people: benchPeople,
  files: benchFiles,
  admin: benchAdmin,
  compare: benchCompare,
}

/** Runs the bench with these arguments and gives its exit code. */
export async function main(args) {
  endOnSignals()
  try {
    const options = readOptions(args, { workloads: names, datasets: Object.keys(sizes) })
    if (options.help) console.log(usage)
    else await run(options)
    return 0
  } catch (error) {
    return complain(error)
  } finally {
    await stopAll()
  }
}

async function run(options) {
  rmSync(logs, { recursive: true, force: true })
  mkdirSync(logs, { recursive: true })
  const tool = chooseTool(options.load)
  const log = name => join(logs, `${name}.log`)
  console.log(`${new Date().toISOString()}, ${commitOf(options.duet)}`)
  await benches[options.run]({ ...options, tool }, { duet: duetAt(options.duet), log })
}

async function bench(options, { duet, log }) {
  const { files, facts } = await prepare(duet, options)
  await inFolder(async folder => {
    // One process alone may serve a file.
    const copy = join(folder, 'copy.db')
    copyFileSync(files.all, copy)
    await benchStores({ ...files, copy }, facts, options, { duet, log, folder })
    await stopAll()
  })
}

async function benchStores(files, facts, options, { duet, log, folder }) {
  const run = { ...options, token: await duet.token(files.all) }
  const wanted = name => options.only.length === 0 || options.only.includes(name)
  const head = printHead(run, sizes[options.data], facts)

  const start = wanted('start')
    ? await measureStart(
        name => duet.serve(files.all, log(name)),
        `/api/products/${facts.productId}`,
      )
    : undefined
  const server = onceEach({
    duet: () => duet.serve(files.all, log('duet'), { ...patient, ...duet.uncached }),
    cached: () => duet.serve(files.copy, log('cached'), patient),
    few: () => duet.serve(files.few, log('few'), { ...patient, ...duet.uncached }),
    mercurius: () => servePeer('mercurius', files.all, log('mercurius')),
    yoga: () => servePeer('yoga', files.all, log('yoga')),
    fastify: () => servePeer('fastify', files.all, log('fastify'), duet.secret),
    pocketbase: () => servePocketbase(files.all, folder, log('pocketbase')),
  })
  const isPocketbaseHere = hasPocketbase()
  if (!isPocketbaseHere)
    console.log('PocketBase is left out: npm installs no program of it that runs here\n')
  const results = []
  for (const workload of workloads.filter(({ name }) => wanted(name))) {
    const beside = workload.beside.filter(name => isPocketbaseHere || name !== 'pocketbase')
    const plain = answer => servePlain(answer, log(`plain-${workload.name}`))
    const rows = await runWorkload({ ...workload, beside }, facts, { server, plain, run })
    results.push({ workload: workload.name, ...rows })
  }
  const verdicts = judge(results, start)
  printTargets(verdicts)
  if (options.json)
    writeFileSync(options.json, `${JSON.stringify({ head, results, start, verdicts }, null, 2)}\n`)
}

/** The servers that are not ours. */
const others = new Set(['mercurius', 'yoga', 'fastify', 'pocketbase'])

/** Lines up who takes part, checks that all say the same, and measures them. */
async function runWorkload(workload, facts, { server, plain, run }) {
  const asked = {
    name: 'duet',
    server: await server(workload.cached ? 'cached' : 'duet'),
    ask: workload.ask(facts),
  }
  const answer = await answerOf(asked, run.token)
  const ask = { ...asked.ask, ...(workload.unchanged && { ifNoneMatch: answer.tag }) }
  const first = { ...asked, ask }
  const make = {
    plain: async () => ({ server: await plain(answer), ask }),
    rest: async () => ({ server: first.server, ask: workload.rest(facts) }),
    newest: async () => ({ server: first.server, ask: workload.newest(facts) }),
    few: async () => ({
      server: await server('few'),
      ask: workload.ask({ ...facts, offset: facts.fewOffset }),
    }),
    pocketbase: async () => {
      const { requests, ask } = workload.pocketbase
      const contender = { server: await server('pocketbase'), ask: ask(facts) }
      const { url } = contender.server
      const one = { ...contender.ask, url: url + contender.ask.path, token: run.token }
      return { ...contender, ...(requests && { run: () => load('counted', one, requests, 1) }) }
    },
  }
  const peer = name => async () => ({ server: await server(name), ask })
  const contenders = [first]
  for (const name of workload.beside) {
    let contender
    let theirs
    try {
      contender = { name, ...(await (make[name] ?? peer(name))()) }
      theirs = await answerOf(
        { ...contender, ask: { ...contender.ask, ifNoneMatch: undefined } },
        run.token,
      )
    } catch (error) {
      // Another's failure is no reason to measure nothing.
      if (!others.has(name)) throw error
      console.log(`${workload.title}: ${label[name]} is left out: ${clipped(error.message)}\n`)
      continue
    }
    if (name === 'pocketbase') theirs.json = workload.pocketbase.read(theirs.json, answer.json)
    if (name !== 'rest' && name !== 'newest') checkSame(answer, theirs, name)
    contenders.push(contender)
  }
  const requests = run.requests && Math.ceil(run.requests * (workload.share ?? 1))
  const rows = await measure(contenders, { ...run, requests })
  await contenders.find(({ name }) => name === 'plain')?.server.stop()
  const result = { title: workload.title, bytes: answer.bytes.length, rows }
  printWorkload(result)
  return result
}

/** Starts a server when it is first asked for. */
function onceEach(starts) {
  const started = new Map()
  return name => {
    if (!started.has(name)) started.set(name, starts[name]())
    return started.get(name)
  }
}

const clipped = text => (text.length > 200 ? `${text.slice(0, 200)}…` : text)

function complain(error) {
  console.error(`bench: ${error instanceof UsageError ? error.message : error.stack}`)
  if (error instanceof UsageError) return 2
  console.error(`bench: what the servers said is in ${logs}`)
  return 1
}

function endOnSignals() {
  const codes = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 }
  for (const [signal, code] of Object.entries(codes))
    process.once(signal, async () => {
      await stopAll()
      process.exit(code)
    })
}
