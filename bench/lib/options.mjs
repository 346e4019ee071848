/** The command line of the bench. */
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

/** The `bin/duet` of this checkout. */
export const ownDuet = fileURLToPath(new URL('../../bin/duet', import.meta.url))

/** The runs there are: the usual one is the one that is not named. */
export const runs = [
  'usual',
  'postgres',
  'writes',
  'overload',
  'metrics',
  'rules',
  'asking',
  'cache',
  'threads',
  'project',
  'people',
  'files',
  'admin',
  'compare',
]

export const usage = `Usage: npm run bench -- [postgres | writes | overload | metrics | rules | asking | cache | threads | project | people | files | admin | compare COMMIT] [options]

  postgres        on PostgreSQL: beside PostGraphile, beside the driver alone, and reads while orders are written
  writes          on SQLite: inserts beside Fastify by hand and PocketBase, and reads while 64 callers write
  overload        on SQLite: 1, 2, 5 and 10 times what it can serve, and 20 clients of the slowest read
  metrics         what metrics and the slow log cost in a small read, without HTTP
  rules           what a rule by value costs a read, without HTTP
  asking          what conditions of callers cost beside declared filters, without HTTP, and point reads beside groups on SQLite;
                  --only names conditions or groups
  cache           on SQLite: processor time of a request with cached answers and without, also beside writes
  threads         on SQLite: rate, processor time and memory with one, two and four threads, the load on the same cores
  project         on SQLite: processor time of a request in a project of the package beside the service of this checkout, in
                  turns; --seconds 1 --rounds 60 for a steady figure
  people          on SQLite: reads with tokens of sign-in beside those of a secret, content during the first sign-in and beside
                  many, memory, and a known address beside an unknown one; --only names token, first, others or address
  files           a file of 1 GB through the service and the folder alone, beside plain streams of Node that hash and flush; point
                  reads beside uploads, kept sizes of pictures, memory; --only names large, beside, sizes or memory
  admin           the admin in Chromium, on SQLite: lists of 100,000 products, and 10,000 imported;
                  --only names lists, bulk or single, an import by 1,000 rows in a request or by one
  compare COMMIT  processor time of a request here beside that of another commit, in turns; --only names some of fresh,
                  cached, mix, readers and writes (on SQLite), postgres and processes (on PostgreSQL); the first four unless given

  --seconds N     length of one measurement (5; of a step under overload 60)
  --requests N    requests of one measurement in the usual run, instead of seconds: for a machine that does other work, on
                  which a server would not be warm after some seconds; of the nested ones a fifteenth
  --rounds N      measurements of each server, in turns; the median counts (3)
  --heap MIB      the most for V8's old objects (--max-old-space-size) of the service under overload
  --locks         of threads: how long they wait for SQLite's locks instead; needs cc and nm
  --data SIZE     full (the one the targets speak of) or small (made in a moment, for trials)
  --fresh         make the data again
  --only NAME     only this workload; may be given more than once
  --load TOOL     wrk or autocannon (wrk where it is installed)
  --json FILE     write all figures there too
  --duet FILE     measure this bin/duet, say of another checkout
  --help
`

const spec = {
  seconds: { type: 'string' },
  requests: { type: 'string' },
  rounds: { type: 'string', default: '3' },
  data: { type: 'string', default: 'full' },
  fresh: { type: 'boolean', default: false },
  only: { type: 'string', multiple: true, default: [] },
  load: { type: 'string' },
  heap: { type: 'string' },
  locks: { type: 'boolean', default: false },
  json: { type: 'string' },
  duet: { type: 'string', default: ownDuet },
  help: { type: 'boolean', default: false },
}

/** The options, checked; throws a UsageError naming the first that is wrong. */
export function readOptions(args, { workloads, datasets }) {
  const { values, positionals } = parsed(args)
  const { run, commit } = runOf(positionals)
  oneOf('data', values.data, datasets)
  if (values.load !== undefined) oneOf('load', values.load, ['wrk', 'autocannon'])
  if (values.heap !== undefined && run !== 'overload')
    throw new UsageError('--heap goes with overload alone')
  if (values.locks && run !== 'threads') throw new UsageError('--locks goes with threads alone')
  for (const name of values.only) oneOf('only', name, workloads[run])
  return {
    ...values,
    run,
    commit,
    seconds: count('seconds', { seconds: run === 'overload' ? 60 : 5, ...values }),
    rounds: count('rounds', values),
    ...(values.heap !== undefined && { heap: count('heap', values) }),
    ...(values.requests !== undefined && { requests: count('requests', values), load: 'counted' }),
    duet: resolve(values.duet),
  }
}

export class UsageError extends Error {}

function parsed(args) {
  try {
    return parseArgs({ args, options: spec, allowPositionals: true })
  } catch (error) {
    throw new UsageError(error.message)
  }
}

function runOf([name = 'usual', ...more]) {
  if (name === 'compare' && more.length === 1) return { run: name, commit: more[0] }
  if (name === 'compare') throw new UsageError('compare needs one commit, such as HEAD~1 or main')
  if (runs.includes(name) && more.length === 0) return { run: name }
  throw new UsageError(
    `a run is one of ${runs.slice(1).join(', ')}; without a name it is the usual one`,
  )
}

function oneOf(name, value, allowed) {
  if (!allowed.includes(value)) throw new UsageError(`--${name} is one of ${allowed.join(', ')}`)
}

function count(name, values) {
  const number = Number(values[name])
  if (!Number.isInteger(number) || number < 1)
    throw new UsageError(`--${name} is a number from 1 on`)
  return number
}
