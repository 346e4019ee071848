// Runs tests: those of `npm test`, with --all all but the nightly ones, with --nightly those, or the files
// named. What runs on both engines is run on SQLite and, at the same time, on PostgreSQL.
import { once } from 'node:events'
import fs from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from 'node:test'
import { dot, junit, spec, tap } from 'node:test/reporters'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { ableNode, handOver } from './hand-over.mjs'
import { recentEnough } from './pinned-node.mjs'
import { calibrate, inLoops, overBudget } from './test-budget.mjs'
import { longFirst, runsOnPostgres, wholeOnPostgres } from './test-engines.mjs'
import { filesOf, suites } from './test-files.mjs'
import { ownFolder } from './test-folder.mjs'
import { testServer } from './test-postgres.mjs'
import { countedIn, keepTimes, lastTimes, sharesBy, timesOf, usedBy } from './test-processor.mjs'
import { createReport } from './test-report.mjs'
import { makeThreads } from './test-threads.mjs'
import { processesOf, programsFor } from './test-together.mjs'
import { noteFigures } from './threats.mjs'

const patience = Number(process.env.DUET_TEST_PATIENCE ?? 1)

// With more megabytes for what is new, which is garbage soon, it is seldom collected.
const roomForNew = '--max-semi-space-size=32'

const many = { type: 'string', multiple: true }
const { values: options, positionals: named } = parseArgs({
  options: {
    all: { type: 'boolean' },
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
const command = options.nightly ? 'test:nightly' : options.all ? 'test:all' : 'test'
const isNight = command === 'test:nightly'
const secondsPerFile = (isNight ? 3600 : 1200) * patience
// Many tests wait for programs to start and to end, so more than there are processors; nine take a tenth more of two than five. Some of the nightly ones measure.
const atOnce = isNight ? 2 : Math.max(5, availableParallelism() - 1)
/** Of nights that are shorter than usual, or of another kind, what they find is not kept. */
const isUsual = ['ROUNDS', 'RUNS', 'ABUSE_MINUTES', 'THREADS'].every(
  name => !process.env[`DUET_TEST_${name}`],
)
const isWholeNight = isNight && isUsual
const hasCoverage = options['experimental-test-coverage'] === true
/** Whether only some tests of a file run. */
const isChosen = ['test-name-pattern', 'test-skip-pattern', 'test-only'].some(name => options[name])
/** Only a whole run says what it takes. */
const isWholeRun =
  !(isNight || hasCoverage || isChosen || process.env.DUET_TEST_STORE) && named.length === 0

process.chdir(here('..'))
if (recentEnough()) await main()
else handOver(ableNode(), process.argv.slice(1))

async function main() {
  const absent = named.filter(name => filesOf([allIn(name)]).length === 0)
  if (absent.length > 0) {
    console.error(`no test file is called ${absent.join(', ')}: nothing was run`)
    process.exitCode = 1
    return
  }
  const calibrated = isWholeRun ? calibrate() : async () => ({ loopTook: 1, calibrationTook: 0 })
  const removeFolder = await ownFolder()
  const server = await testServer()
  const env = { ...process.env, ...server.env, ...compileCache() }
  env.DUET_TEST_FILE_SECONDS = String(secondsPerFile)
  // Generated models and examples are then tried on one engine or a few, see test/support/short.ts.
  if (command === 'test' && named.length === 0) env.DUET_TEST_SHORT = '1'
  // Only the nights draw what was not tried before: a run that fails shows what was changed.
  if (isNight) env.DUET_SEED ??= String(Date.now() % 1_000_000)
  const counts = fs.mkdtempSync(join(tmpdir(), 'duet-counts-'))
  env.DUET_TEST_PROCESSOR = join(counts, 'counts')
  // Coverage is told of the modules themselves.
  if (!isNight && !hasCoverage) env.DUET_TEST_THREADS_MADE = await makeThreads()
  const noPostgres = env.DUET_TEST_NO_POSTGRES
  const files = chosen()
  const runs = runsOf(files, noPostgres)
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => stop.abort())
  const begun = runs.map(one => begin(one, runs.length, env, stop.signal))
  const programs = begun.flatMap(({ programs }) => programs)
  const isQuiet = options['test-reporter'] !== undefined || hasCoverage
  const shareOf = sharesBy(command, programs)
  const report = createReport({ programs, command, shareOf, isChosen, isQuiet })
  for (const { engine, stream } of begun) report.follow(engine, stream)
  if (noPostgres) for (const file of files.postgres) report.skip(noPostgres, `${file} (postgres)`)
  const saves = isWholeNight ? begun.map(({ stream }) => noteFigures(stream)) : []
  for (const { engine, stream } of begun) {
    if (isQuiet && begun.length > 1) console.log(`── on ${engine}`)
    await (isQuiet ? shown(stream) : once(stream.resume(), 'end'))
  }
  const isStopped = stop.signal.aborted
  const { loopTook, calibrationTook } = await calibrated()
  const used = [
    ...countedIn(env.DUET_TEST_PROCESSOR),
    { engine: 'postgres', file: 'the database', seconds: usedBy(server.pid) },
    { engine: 'sqlite', file: 'the run itself', seconds: ownSeconds() - calibrationTook },
  ]
  const sessions = server.sessions?.()
  const times = timesOf(command, used, { took: performance.now() / 1000, loop: loopTook })
  await server.end()
  const isWhole = isWholeRun && !isStopped
  const faults = isWhole && command === 'test' ? overBudget(times, lastTimes(command)) : []
  if (options.slowest) printSlowest(report.took, used, sessions)
  const drawn = isNight ? [`drawn by DUET_SEED=${env.DUET_SEED}`] : []
  const notes = [...(isWhole ? [inLoops(times)] : []), ...drawn]
  const { passed, failed } = report.end({ isStopped, faults, notes })
  if (!isStopped) for (const save of saves) save()
  const isGood = failed === 0 && passed > 0 && !isStopped
  // Without a PostgreSQL of its own, or with failures, it is no measure for others.
  if (options.slowest && isWhole && isGood && server.pid) keepTimes(times)
  await removeFolder()
  process.exit(isGood ? 0 : 1)
}

function ownSeconds() {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6
}

/** A folder stands for the test files in it. */
function allIn(name) {
  const isFolder = fs.statSync(name, { throwIfNoEntry: false })?.isDirectory()
  return isFolder ? `${name}/**/*.test.ts` : name
}

/** The files to run, on each engine; a folder stands for its nightly ones only at night, or where it is theirs. */
function chosen() {
  if (named.length === 0) return suites[command]()
  const isForNight = isNight || named.some(name => name.includes('nightly'))
  const files = filesOf(named.map(allIn), isForNight ? [] : ['**/nightly/**'])
  return { sqlite: files, postgres: files.filter(runsOnPostgres) }
}

/** The runs of these files, one for each engine; only one where the caller names it in DUET_TEST_STORE. */
function runsOf({ sqlite, postgres }, noPostgres) {
  const only = process.env.DUET_TEST_STORE
  // Each run has a report of its own, and the first takes the branches of both engines.
  const again = noPostgres || hasCoverage ? [] : postgres
  const isWhole = file => Object.hasOwn(wholeOnPostgres, file) && again.includes(file)
  const both = [
    { engine: 'sqlite', files: sqlite.filter(file => !isWhole(file)) },
    { engine: 'postgres', files: again },
  ]
  // Named ones run on the engine that is named with them, whatever they do by themselves.
  const onlyFiles = named.length === 0 && only === 'postgres' ? postgres : sqlite
  const runs = only ? [{ engine: only, files: onlyFiles }] : both
  for (const { files } of runs) files.sort(longFirst)
  return runs.filter(({ files }) => files.length > 0)
}

/** Begins to run the files, in several processes: one that hangs or exits affects no other. */
function begin({ engine, files }, runs, env, signal) {
  const isSecond = runs > 1 && engine === 'postgres'
  // A third of the processes for a third of the files, so that neither run goes on alone for long.
  const share = runs === 1 ? 1 : isSecond ? 1 / 3 : 2 / 3
  const programs = programsFor(processesOf(files))
  const names = [
    '../src/base/resolve-imports.ts',
    'test-context.mjs',
    'test-chance.mjs',
    'test-threads.mjs',
    'test-watchdog.mjs',
  ]
  const own = names.map(name => new URL(name, import.meta.url))
  const modules = [...own, ...(options.import ?? [])]
  const stream = run({
    files: programs.map(({ program }) => program),
    isolation: 'process',
    concurrency: Math.max(1, Math.round(atOnce * share)),
    // The watchdog ends a process earlier, unless its thread is held.
    timeout: secondsPerFile * 6000,
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
  return { engine, stream, programs: programs.map(one => ({ engine, ...one })) }
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

/** Each file's seconds, those of the processor, and the programs and threads that it starts; the table `longest` of test-engines.mjs follows from this list. */
function printSlowest(took, used, sessions) {
  const all = used.map(({ engine, file, seconds: busy, programs = 0, threads = 0 }) => {
    const seconds = took.find(one => one.engine === engine && one.file === file)?.seconds ?? 0
    return { engine, file, seconds, busy, programs, threads }
  })
  all.sort((a, b) => b.busy - a.busy)
  const inColumn = seconds => `${seconds.toFixed(1).padStart(6)} s`
  console.log('    took  processor  programs  threads')
  for (const { engine, file, seconds, busy, programs, threads } of all)
    console.log(
      `${inColumn(seconds)}  ${inColumn(busy)}  ${String(programs).padStart(8)}  ${String(threads).padStart(7)}  ${engine.padEnd(9)} ${file}`,
    )
  const sumOf = name => all.reduce((sum, one) => sum + one[name], 0)
  const held = sessions === undefined ? '' : `, and ${sessions} sessions of the run's PostgreSQL`
  console.log(
    `${sumOf('programs')} programs and ${sumOf('threads')} threads were started by tests${held}`,
  )
}

// Coverage of code from the cache is reported for whole files only.
function compileCache() {
  if (hasCoverage) return { NODE_DISABLE_COMPILE_CACHE: '1' }
  return {
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? here('../node_modules/.cache/compiled'),
  }
}
