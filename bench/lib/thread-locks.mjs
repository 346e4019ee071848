/** How long the threads that serve wait inside SQLite for its locks, while all read one store and orders are written. */
import { copyFileSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { workloads } from '../workloads.mjs'
import { patient } from './duet.mjs'
import { load } from './load.mjs'
import { median } from './measure.mjs'
import { finish } from './processes.mjs'
import { tick } from './processor.mjs'
import { ordersOf, ordersPerSecond } from './writes.mjs'

const kinds = ['mutexes', 'locks of files', 'sleep']
const threads = 4

/** What makes a service count its waits into `file`: a library that stands before libc, and where SQLite's code is in this Node. */
async function counting(folder, file) {
  const library = join(folder, 'lock-waits.so')
  const source = fileURLToPath(new URL('lock-waits.c', import.meta.url))
  await finish('cc', ['-O2', '-shared', '-fPIC', '-o', library, source, '-ldl'])
  const symbols = (await finish('nm', [process.execPath]))
    .split('\n')
    .map(line => line.split(' '))
    .flatMap(([at, kind, name]) =>
      /^[tT]$/.test(kind) && /^(sqlite3|unix[A-Z]|wal[A-Z])/.test(name) ? [at] : [],
    )
    .sort()
  if (symbols.length === 0) throw new Error('this Node does not show where its SQLite is')
  const env = { LOCK_CODE: `${symbols.at(0)}-${symbols.at(-1)}`, LOCK_WAITS: file }
  return { ...env, LD_PRELOAD: library }
}

/** The waits of each thread so far, by its number: nanoseconds and times of each kind. */
function waitsIn(file) {
  const all = new BigInt64Array(new Uint8Array(readFileSync(file)).buffer)
  const width = 1 + 2 * kinds.length
  const found = new Map()
  for (let at = 0; at < all.length && all[at] !== 0n; at += width)
    found.set(Number(all[at]), [...all.slice(at + 1, at + width)].map(Number))
  return found
}

/** The processor time of each thread that serves, in microseconds: the main thread does not, and the writer and the readers are nicer. */
function servingTimes(pid) {
  const fieldsOf = thread =>
    readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8').split(') ')[1].split(' ').map(Number)
  const nice = fieldsOf(pid)[16]
  const times = readdirSync(`/proc/${pid}/task`)
    .filter(thread => thread !== String(pid))
    .filter(thread =>
      /^WorkerThread/.test(readFileSync(`/proc/${pid}/task/${thread}/comm`, 'utf8')),
    )
    .map(thread => [Number(thread), fieldsOf(thread)])
    .filter(([, fields]) => fields[16] === nice)
  return new Map(times.map(([thread, fields]) => [thread, (fields[11] + fields[12]) * tick]))
}

/** Prints the part of the time of four serving threads that they wait for SQLite's locks beside 200 orders a second. */
export async function benchLocks(run, { duet, log, folder, files, facts }) {
  const { tool, token, seconds, rounds } = run
  const store = join(folder, 'locks.db')
  copyFileSync(files.all, store)
  const file = join(folder, 'waits')
  const own = { ...patient, ...duet.uncached, ...(await counting(folder, file)) }
  const server = await duet.serve(store, log('locks'), { ...own, DUET_THREADS: `${threads}` })
  const orders = await ordersOf(server.url, token)
  const results = []
  for (const name of ['user', 'graphql-tree']) {
    const { title, ask } = workloads.find(workload => workload.name === name)
    const { method, path, body } = ask(facts)
    const request = { method, url: server.url + path, body, token }
    const found = []
    for (let round = 0; round <= rounds; round++) {
      const writing = ordersPerSecond.start({ server, token, orders, seconds: seconds + 2 })
      await sleep(1000)
      const [waited, times] = [waitsIn(file), servingTimes(server.pid)]
      const { rate } = await load(tool, request, seconds)
      const [waitedThen, timesThen] = [waitsIn(file), servingTimes(server.pid)]
      await writing
      server.emptyLog()
      const sum = at =>
        [...times.keys()].reduce(
          (all, thread) =>
            all + (waitedThen.get(thread)?.[at] ?? 0) - (waited.get(thread)?.[at] ?? 0),
          0,
        )
      const busy = [...times].reduce((all, [thread, time]) => all + timesThen.get(thread) - time, 0)
      const waits = kinds.map((_, at) => sum(2 * at) / 1000)
      const waiting = waits.reduce((all, wait) => all + wait, 0)
      // The first round warms the service up.
      if (round > 0) found.push({ rate, busy, waits, part: waiting / (busy + waiting) })
    }
    const part = median(found.map(one => one.part))
    const told = kinds.map((kind, at) => {
      const each = median(found.map(({ waits, busy }) => waits[at] / busy))
      return `${kind} ${(100 * each).toFixed(2)} %`
    })
    console.log(
      `${title}, ${threads} threads beside 200 orders/s: ${(100 * part).toFixed(2)} % of their time (${told.join(', ')} of the processor time)`,
    )
    results.push({ title, part, rounds: found })
  }
  await server.stop()
  return results
}
