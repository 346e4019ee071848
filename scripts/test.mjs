// Runs the tests: all of them but the nightly ones, or with --nightly those, or the files named. What
// runs on both engines is run on SQLite, and then again on PostgreSQL.
import { spawn } from 'node:child_process'
import fs from 'node:fs'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { ableNode, handOver } from './hand-over.mjs'
import { recentEnough } from './pinned-node.mjs'
import { noneRan } from './test-count.mjs'
import { runsOnPostgres } from './test-engines.mjs'
import { testServer } from './test-postgres.mjs'

const patience = Number(process.env.DUET_TEST_PATIENCE ?? 1)

const suites = {
  usual: {
    files: ['{src,content}/**/*.test.ts', 'test/*.test.ts', 'test/!(nightly)/**/*.test.ts'],
    onPostgres: files => files.filter(runsOnPostgres),
    secondsPerFile: 300 * patience,
    // Many of them wait for programs to start and to end.
    atOnce: Math.max(4, availableParallelism() - 1),
  },
  // Some of these measure.
  nightly: {
    files: ['test/nightly/**/*.test.ts'],
    onPostgres: () => (named.length > 0 ? [] : ['test/cli/transfer.test.ts']),
    secondsPerFile: 3600 * patience,
    atOnce: 2,
  },
}

const here = name => fileURLToPath(new URL(name, import.meta.url))
const isFile = arg => !arg.startsWith('-') && (/\.ts$|\*/.test(arg) || fs.existsSync(arg))

process.chdir(here('..'))
const args = process.argv.slice(2).filter(arg => arg !== '--nightly')
const suite = process.argv.includes('--nightly') ? suites.nightly : suites.usual
const named = args.filter(isFile)

if (recentEnough()) await main()
else handOver(ableNode(), process.argv.slice(1))

async function main() {
  const server = await testServer()
  const env = { ...process.env, ...server.env, ...compileCache() }
  env.DUET_TEST_FILE_SECONDS = String(suite.secondsPerFile)
  const codes = []
  let isStopped = false
  const runs = runsOf(env)
  for (const { engine, files } of runs) {
    if (runs.length > 1) console.log(`── on ${engine}`)
    const stop = () => {
      isStopped = true
    }
    codes.push(await run(files, { ...env, DUET_TEST_STORE: engine }, stop))
    if (isStopped) break
  }
  await server.end()
  const failed = codes.filter(code => code !== 0 && code !== noneRan)
  const ran = codes.includes(0)
  if (failed.length === 0 && !ran)
    console.error('No test ran: no test file, or none in them that fits.')
  process.exit(failed[0] ?? (ran ? 0 : 1))
}

/** The files on each engine; on one only where the caller names it in DUET_TEST_STORE. */
function runsOf({ DUET_TEST_STORE: only, DUET_TEST_NO_POSTGRES: noPostgres }) {
  const files = fs
    .globSync(named.length > 0 ? named : suite.files)
    .map(file => file.replaceAll('\\', '/'))
  if (only) return [{ engine: only, files }]
  const again = noPostgres ? [] : suite.onPostgres(files)
  const runs = [
    { engine: 'sqlite', files },
    { engine: 'postgres', files: again },
  ]
  return runs.filter(run => run.files.length > 0)
}

/** Runs the files, each in a process of its own: one that hangs or exits affects no other. Gives the exit code; reports a signal. */
function run(files, env, onSignal) {
  const child = spawn(
    process.execPath,
    [
      '--test',
      `--test-concurrency=${suite.atOnce}`,
      `--test-timeout=${suite.secondsPerFile * 1000}`,
      `--import=${new URL('test-watchdog.mjs', import.meta.url)}`,
      ...reporters(),
      ...args.filter(arg => !isFile(arg)),
      ...files,
    ],
    { stdio: 'inherit', env },
  )
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']
  const pass = signal => {
    onSignal()
    child.kill(signal)
  }
  for (const signal of signals) process.on(signal, pass)
  return new Promise(resolve => {
    child.once('exit', (code, signal) => {
      for (const signal of signals) process.off(signal, pass)
      resolve(signal === null ? code : 1)
    })
  })
}

function reporters() {
  if (args.some(arg => arg.startsWith('--test-reporter'))) return []
  return [
    '--test-reporter=spec',
    '--test-reporter-destination=stdout',
    `--test-reporter=${new URL('test-count.mjs', import.meta.url)}`,
    '--test-reporter-destination=stderr',
  ]
}

// Coverage of code from the cache is reported for whole files only.
function compileCache() {
  if (args.some(arg => arg.includes('coverage'))) return { NODE_DISABLE_COMPILE_CACHE: '1' }
  return {
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? here('../node_modules/.cache/compiled'),
  }
}
