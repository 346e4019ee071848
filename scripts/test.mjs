// Runs the tests: all of them but the nightly ones, or with --nightly those, or the files named. What
// runs on both engines is run on SQLite and, at the same time, on PostgreSQL.
import { once } from 'node:events'
import fs from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { run } from 'node:test'
import { dot, junit, spec, tap } from 'node:test/reporters'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { ableNode, handOver } from './hand-over.mjs'
import { recentEnough } from './pinned-node.mjs'
import { noteFigures } from './reliability.mjs'
import { longFirst, runsOnPostgres, wholeOnPostgres } from './test-engines.mjs'
import { ownFolder } from './test-folder.mjs'
import { testServer } from './test-postgres.mjs'
import { countedIn, keepTimes, usedBy } from './test-processor.mjs'
import { isShared, processesOf, programsFor } from './test-together.mjs'

const patience = Number(process.env.DUET_TEST_PATIENCE ?? 1)

/** Those of the machine in `test/`, those of the content in `content/test/`. */
const usualTests = ['test', 'content/test'].flatMap(folder => [
  `${folder}/*.test.ts`,
  `${folder}/!(nightly)/**/*.test.ts`,
])

const suites = {
  usual: {
    files: ['src/**/*.test.ts', 'content/!(test)/**/*.test.ts', 'content/*.test.ts', ...usualTests],
    onPostgres: files => files.filter(runsOnPostgres),
    secondsPerFile: 1200 * patience,
    // Many of them wait for programs to start and to end, so more than there are processors; nine take a tenth more of two than five.
    atOnce: Math.max(5, availableParallelism() - 1),
  },
  // Some of these measure.
  nightly: {
    files: ['{,content/}test/nightly/**/*.test.ts'],
    onPostgres: () => [],
    secondsPerFile: 3600 * patience,
    atOnce: 2,
  },
}

// With more megabytes for what is new, which is garbage soon, it is seldom collected.
const roomForNew = '--max-semi-space-size=32'

const many = { type: 'string', multiple: true }
const { values: options, positionals: named } = parseArgs({
  options: {
    nightly: { type: 'boolean' },
    slowest: { type: 'boolean' },
    import: many,
    'test-name-pattern': many,
    'test-skip-pattern': many,
    'test-only': { type: 'boolean' },
    'test-reporter': { type: 'string' },
    'experimental-test-coverage': { type: 'boolean' },
  },
  allowPositionals: true,
})
const here = name => fileURLToPath(new URL(name, import.meta.url))
const suite = options.nightly ? suites.nightly : suites.usual
/** Of nights that are shorter than usual, or of another kind, what they find is not kept. */
const isUsual = ['ROUNDS', 'RUNS', 'ABUSE_MINUTES', 'THREADS'].every(
  name => !process.env[`DUET_TEST_${name}`],
)
const isWholeNight = options.nightly && isUsual
/** Only a whole run of the usual tests says what they take. */
const isWholeRun =
  !options.nightly && named.length === 0 && !options['test-name-pattern'] && !options['test-only']
const hasCoverage = options['experimental-test-coverage'] === true

process.chdir(here('..'))
if (recentEnough()) await main()
else handOver(ableNode(), process.argv.slice(1))

async function main() {
  const removeFolder = await ownFolder()
  const server = await testServer()
  const env = { ...process.env, ...server.env, ...compileCache() }
  env.DUET_TEST_FILE_SECONDS = String(suite.secondsPerFile)
  const counts = options.slowest ? fs.mkdtempSync(join(tmpdir(), 'duet-counts-')) : undefined
  if (counts) env.DUET_TEST_PROCESSOR = join(counts, 'counts')
  const runs = runsOf(env)
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => stop.abort())
  const begun = runs.map(one => begin(one, runs.length, env, stop.signal))
  const saves = isWholeNight ? begun.map(({ stream }) => noteFigures(stream)) : []
  for (const { engine, stream } of begun) {
    if (runs.length > 1) console.log(`── on ${engine}`)
    await shown(stream)
  }
  const database = usedBy(server.pid)
  await server.end()
  if (!stop.signal.aborted) for (const save of saves) save()
  if (counts) {
    const ofDatabase = { engine: 'postgres', file: 'the database', seconds: database }
    const counted = [...countedIn(env.DUET_TEST_PROCESSOR), ofDatabase]
    printSlowest(begun, counted)
    const isWhole = isWholeRun && begun.length === 2 && !stop.signal.aborted
    if (isWhole) keepTimes(counted, performance.now() / 1000)
  }
  await removeFolder()
  const ran = begun.reduce((sum, { result }) => sum + result.ran, 0)
  const isWell = begun.every(({ result }) => result.success) && !stop.signal.aborted
  if (ran === 0 && isWell) console.error('No test ran: no test file, or none in them that fits.')
  const isGood = ran > 0 && isWell
  process.exit(isGood ? 0 : 1)
}

/** A folder stands for the test files in it. */
function allIn(name) {
  const isFolder = fs.statSync(name, { throwIfNoEntry: false })?.isDirectory()
  return isFolder ? `${name}/**/*.test.ts` : name
}

/** The files on each engine; on one only where the caller names it in DUET_TEST_STORE. */
function runsOf({ DUET_TEST_STORE: only, DUET_TEST_NO_POSTGRES: noPostgres }) {
  const files = fs
    .globSync(named.length > 0 ? named.map(allIn) : suite.files)
    .map(file => file.replaceAll('\\', '/'))
    .sort(longFirst)
  if (only) return [{ engine: only, files }]
  // Each run has a report of its own, and the first takes the branches of both engines.
  const again = noPostgres || hasCoverage ? [] : suite.onPostgres(files)
  const isWhole = file => Object.hasOwn(wholeOnPostgres, file) && again.includes(file)
  const runs = [
    { engine: 'sqlite', files: files.filter(file => !isWhole(file)) },
    { engine: 'postgres', files: again },
  ]
  return runs.filter(run => run.files.length > 0)
}

/** Begins to run the files, in several processes: one that hangs or exits affects no other. */
function begin({ engine, files }, runs, env, signal) {
  const isSecond = runs > 1 && engine === 'postgres'
  // A third of the processes for a third of the files, so that neither run goes on alone for long.
  const share = runs === 1 ? 1 : isSecond ? 1 / 3 : 2 / 3
  const atOnce = Math.max(1, Math.round(suite.atOnce * share))
  const programs = programsFor(processesOf(files))
  const names = ['../src/base/resolve-imports.ts', 'test-context.mjs', 'test-watchdog.mjs']
  const own = names.map(name => new URL(name, import.meta.url))
  const modules = [...own, ...(options.import ?? [])]
  const stream = run({
    files: programs,
    isolation: 'process',
    concurrency: atOnce,
    // The watchdog ends a process earlier, unless its thread is held.
    timeout: suite.secondsPerFile * 6000,
    env: { ...env, DUET_TEST_STORE: engine },
    execArgv: [roomForNew, ...modules.map(module => `--import=${module}`)],
    signal,
    only: options['test-only'] === true,
    coverage: hasCoverage,
    coverageIncludeGlobs: ['{src,content}/**/*.ts'],
    coverageExcludeGlobs: ['**/*.test.ts', 'content/test/**'],
    testNamePatterns: options['test-name-pattern'] ?? [],
    testSkipPatterns: options['test-skip-pattern'] ?? [],
  })
  const result = { ran: 0, success: true, files: [] }
  stream.on('test:summary', ({ file, counts, duration_ms: milliseconds, success }) => {
    if (!success) result.success = false
    // Only a file's own summary counts its tests; the last one takes a file without any for one.
    if (file === undefined) return
    result.ran += counts.tests - counts.skipped
    if (!isShared(file))
      result.files.push({ file: relative('.', file), seconds: milliseconds / 1000 })
  })
  // Of a process for several files, each file is a suite.
  stream.on('test:complete', ({ name, nesting, details }) => {
    if (nesting === 0 && files.includes(name))
      result.files.push({ file: name, seconds: details.duration_ms / 1000 })
  })
  return { engine, stream, result }
}

async function shown(stream) {
  const report = stream.compose(await reporter(options['test-reporter']))
  report.pipe(process.stdout, { end: false })
  await once(report, 'end')
}

/** One of Node's, or the default export of a file. */
async function reporter(name = 'spec') {
  if (name === 'spec') return new spec()
  return { dot, junit, tap }[name] ?? (await import(pathToFileURL(name).href)).default
}

/** Each file's seconds, and those of the processor; the table `longest` of test-engines.mjs follows from this list. */
function printSlowest(begun, counted) {
  const all = begun.flatMap(({ engine, result }) => {
    const ofEngine = counted.filter(one => one.engine === engine)
    return ofEngine.map(({ file, seconds: busy }) => {
      const seconds = result.files.find(one => one.file === file)?.seconds ?? 0
      return { engine, file, seconds, busy }
    })
  })
  all.sort((a, b) => b.seconds - a.seconds)
  const inColumn = seconds => `${seconds.toFixed(1).padStart(6)} s`
  console.log('    took  processor')
  for (const { engine, file, seconds, busy } of all)
    console.log(`${inColumn(seconds)}  ${inColumn(busy)}  ${engine.padEnd(9)} ${file}`)
  const sum = all.reduce((sum, { busy }) => sum + busy, 0)
  console.log(`${inColumn(sum)} of processor`)
}

// Coverage of code from the cache is reported for whole files only.
function compileCache() {
  if (hasCoverage) return { NODE_DISABLE_COMPILE_CACHE: '1' }
  return {
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? here('../node_modules/.cache/compiled'),
  }
}
