// Runs the tests: all of them but the nightly ones, or with --nightly those, or the files named.
import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { ableNode, handOver } from './hand-over.mjs'

const suites = {
  usual: {
    files: ['{src,content}/**/*.test.ts', 'test/*.test.ts', 'test/!(nightly)/**/*.test.ts'],
    secondsPerFile: 120,
    // Many of them wait for programs to start and to end.
    atOnce: Math.max(3, availableParallelism() - 1),
  },
  // Some of these measure.
  nightly: { files: ['test/nightly/**/*.test.ts'], secondsPerFile: 3600, atOnce: 2 },
}

const here = name => fileURLToPath(new URL(name, import.meta.url))
const isFile = arg => !arg.startsWith('-') && (/\.ts$|\*/.test(arg) || existsSync(arg))

process.chdir(here('..'))
const args = process.argv.slice(2).filter(arg => arg !== '--nightly')
const suite = process.argv.includes('--nightly') ? suites.nightly : suites.usual
const named = args.filter(isFile)

handOver(
  ableNode(),
  [
    '--test',
    // A process for each file: one that hangs or exits takes no other with it.
    `--test-concurrency=${suite.atOnce}`,
    `--test-timeout=${suite.secondsPerFile * 1000}`,
    `--import=${new URL('test-watchdog.mjs', import.meta.url)}`,
    `--test-global-setup=${here('test-postgres.mjs')}`,
    ...reporters(),
    ...args.filter(arg => !isFile(arg)),
    ...(named.length > 0 ? named : suite.files),
  ],
  { DUET_TEST_FILE_SECONDS: String(suite.secondsPerFile), ...compileCache() },
)

function reporters() {
  if (args.some(arg => arg.startsWith('--test-reporter'))) return []
  return [
    '--test-reporter=spec',
    '--test-reporter-destination=stdout',
    `--test-reporter=${new URL('test-count.mjs', import.meta.url)}`,
    '--test-reporter-destination=stderr',
  ]
}

// Coverage of code from the cache is told for whole files only.
function compileCache() {
  if (args.some(arg => arg.includes('coverage'))) return { NODE_DISABLE_COMPILE_CACHE: '1' }
  return {
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? here('../node_modules/.cache/compiled'),
  }
}
