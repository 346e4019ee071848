/** Prints the run: what it stands on, a table for each workload, and the targets. */
import { availableParallelism, cpus } from 'node:os'
import { pinning } from './processes.mjs'
import { label } from './verdicts.mjs'

const machine = () => ({
  date: new Date().toISOString(),
  node: process.version,
  cpu: `${availableParallelism()} × ${cpus()[0]?.model ?? 'unknown'}`,
  pinned: pinning,
})
const pins = pinning ? 'servers on core 0, load on core 1' : 'no cores pinned'
const counts = things =>
  Object.entries(things)
    .map(([kind, n]) => `${n.toLocaleString('en')} ${kind}`)
    .join(', ')

/** Prints what the figures stand on, and gives it. */
export function printHead(
  { tool, seconds, requests, rounds, data },
  size,
  { inCategory, offset, shown },
) {
  const head = {
    ...machine(),
    tool,
    seconds,
    requests,
    rounds,
    data,
    size,
    shown: Object.fromEntries(Object.entries(shown).map(([kind, ids]) => [kind, ids.length])),
    offset,
    inCategory,
  }
  console.log(`Node ${head.node} on ${head.cpu}; ${pins}`)
  const length = requests ? `${requests.toLocaleString('en')} requests` : `${seconds} s`
  console.log(`${tool}, 32 connections, ${rounds} rounds of ${length}`)
  console.log(`Store (${data}): ${counts(size)}`)
  console.log(
    `The nested query shows ${counts(head.shown)} (offset ${offset}); the category holds ${inCategory} products\n`,
  )
  return head
}

/** The same for the run on PostgreSQL. */
export function printPostgresHead({ tool, seconds, rounds, data }, size, version) {
  const head = { ...machine(), postgres: version, tool, seconds, rounds, data, size }
  console.log(
    `Node ${head.node} and PostgreSQL ${version} on ${head.cpu}; ${pins}, PostgreSQL on both`,
  )
  console.log(`${tool}, 32 connections, ${rounds} rounds of ${seconds} s`)
  console.log(`Store (${data}): ${counts(size)}\n`)
  return head
}

/** Prints how long reads took, alone and beside writers. */
export function printReads({ title, idle, busy, written, times, timesUsual }) {
  console.log(`Reads of users and products, timed from when they were due`)
  printLine(['', 'requests/s', 'p50 ms', 'p99 ms', 'p50', 'p99'])
  const line = (name, { rate, p50, p99 }, ...through) => {
    const figures = [Math.round(rate).toLocaleString('en'), p50.toFixed(2), p99.toFixed(2)]
    printLine([name, ...figures, ...through.map(times => `${times.toFixed(2)} ×`)])
  }
  line('nothing is written', idle)
  line(title, busy, timesUsual, times)
  line('the orders themselves', written)
  console.log()
}

/** Prints one workload, a line for each server. */
export function printWorkload({ title, bytes, rows }) {
  console.log(`${title}, ${bytes.toLocaleString('en')} bytes`)
  printLine(['', 'requests/s', 'p50 ms', 'p99 ms', 'Duet is', 'µs each', 'median', 'Duet is'])
  for (const { server, rate, p50, p99, times, processor, usualProcessor, cheaper } of rows)
    printLine([
      label[server],
      Math.round(rate).toLocaleString('en'),
      p50.toFixed(2),
      p99.toFixed(2),
      server === 'duet' ? '' : `${times.toFixed(2)} ×`,
      processor ? processor.toFixed(1) : '',
      processor ? usualProcessor.toFixed(1) : '',
      server === 'duet' || !cheaper ? '' : `${cheaper.toFixed(2)} ×`,
    ])
  console.log()
}

/** Prints the processor time of a request, read anew each time and with cached answers. */
export function printCached(results) {
  console.log('Processor time of one request, µs: the least of the rounds and their median')
  const line = cells => {
    const [name, ...others] = cells
    console.log(`  ${name.padEnd(50)}${others.map(cell => cell.padStart(11)).join('')}`)
  }
  line(['', 'fresh', 'median', 'cached', 'median', 'through', 'p50 ms', 'p99 ms'])
  for (const { title, fresh, cached, times } of results)
    line([
      title,
      ...[fresh.least, fresh.median, cached.least, cached.median].map(time => time.toFixed(1)),
      `${times.toFixed(2)} ×`,
      ...[cached.p50, cached.p99].map(time => time.toFixed(2)),
    ])
  console.log()
}

/** Prints a request in two commits: its processor time, p50 and p99 in each, and the ratio of the times, with the least and the most of the rounds. */
export function printCompared({ base, own }, results) {
  console.log(`Processor time of one request, µs, and latency, ms: ${base}, then ${own}`)
  const line = ([name, ...others]) =>
    console.log(`  ${name.padEnd(60)}${others.map(cell => cell.padStart(8)).join('')}`)
  const figures = ['least', 'median', 'p50', 'p99']
  line(['', ...figures, ...figures, 'ratio', 'from', 'to'])
  const cells = ({ least, median, p50, p99 }) => [
    ...[least, median, p50].map(figure => figure.toFixed(1)),
    p99.toFixed(0),
  ]
  for (const { title, differs, ratio, from, to, ...sides } of results)
    line([
      title,
      ...cells(sides.base),
      ...cells(sides.own),
      ...[ratio, from, to].map(times => times.toFixed(2)),
      differs ? '  answers differ' : '',
    ])
  console.log()
}

const printLine = ([name, ...cells]) =>
  console.log(`  ${name.padEnd(26)}${cells.map(cell => cell.padStart(12)).join('')}`)

/** Prints the targets, reached or not. */
export function printTargets(verdicts) {
  console.log('Targets')
  for (const { target, shown = '', reached } of verdicts) {
    const verdict = reached === undefined ? 'not measured' : reached ? 'reached' : 'NOT REACHED'
    console.log(`  ${verdict.padEnd(13)}${shown.padStart(8)}  ${target}`)
  }
}

/** Prints point reads beside the clients of the slowest read. */
export function printSlow({ clients, idle, busy }) {
  console.log(`Point reads beside ${clients} clients of the slowest read`)
  printLine(['', 'p50 ms', 'p99 ms', 'p99', '/healthz p99'])
  const line = (name, { points, probes }, last) =>
    printLine([name, points.p50.toFixed(2), points.p99.toFixed(2), last, probes.p99.toFixed(2)])
  line('idle', idle, '')
  line(`${clients} clients`, busy, `${(busy.points.p99 / idle.points.p99).toFixed(2)} ×`)
  console.log(`The slow reads: ${statusesOf(busy.slow)}; p50 ${busy.slow.p50.toFixed(0)} ms\n`)
}

const part = (some, all) => (all === 0 ? 0 : some / all)
const percent = value => `${(100 * value).toFixed(1)} %`
const answered = ({ statuses }) => Object.values(statuses).reduce((sum, n) => sum + n, 0)
const statusesOf = group =>
  Object.entries(group.statuses)
    .map(([status, n]) => `${status} ${percent(part(n, answered(group)))}`)
    .join(', ')

/** Prints what is got through by few connections and by many. */
export function printClosed({ connections, ...servers }) {
  console.log('Reads whose connection sends the next when the last is answered')
  printLine(['', 'requests/s', 'of few', 'p50 ms', 'p99 ms', 'refused', 'µs each', 'late ms'])
  for (const [name, of] of Object.entries(servers))
    for (const [size, { reads, server, own }] of Object.entries(of))
      printLine([
        `${name === 'plain' ? 'node:http' : 'Duet'}, ${connections[size].toLocaleString('en')}`,
        Math.round(reads.goodput).toLocaleString('en'),
        percent(reads.goodput / of.few.reads.goodput),
        reads.p50.toFixed(1),
        reads.p99.toFixed(1),
        percent(part(reads.statuses[503] ?? 0, answered(reads))),
        ((1000 * server) / reads.ok).toFixed(0),
        own.late.toFixed(1),
      ])
  console.log()
}

const ms = ({ p50, p99 }) => `${p50.toFixed(1)} ms p50, ${p99.toFixed(1)} p99`

/** Prints what new connections, bursts and pipelining without end do. */
export function printEdge({ newcomers, bursts, pipelining }) {
  if (newcomers) {
    const { alone, beside, probes } = newcomers
    console.log(`300 busy connections alone: ${ms(alone)}`)
    console.log(`300 busy connections beside 300 new ones a second: ${ms(beside)}`)
    console.log(`the new ones: ${ms(newcomers.newcomers)}; /healthz on new ones: ${ms(probes)}`)
  }
  for (const { count, of, inTurn, all, refused, refusedP99 } of bursts)
    console.log(
      `${count} orders of ${of === 1 ? 'one product' : `${of} products`} at one moment: all in ${all.toFixed(0)} ms, one after another ${inTurn.toFixed(0)}; ${refused} refused${refused ? ` (p99 ${refusedP99.toFixed(0)} ms)` : ''}`,
    )
  if (pipelining) {
    const { probes, failed, grown } = pipelining
    console.log(
      `4 connections that pipeline without end: /healthz ${ms(probes)}, ${failed} failed; RSS + ${(grown / 2 ** 20).toFixed(0)} MiB`,
    )
  }
  console.log()
}

/** Prints what became of the requests at each multiple of what the service can serve. */
export function printOverload({ rate, costAtPeak, before, steps }) {
  const peak = Math.max(rate, ...steps.map(({ reads }) => reads.goodput))
  console.log(
    `Overload: it can serve ${Math.round(rate)} reads/s; peak ${Math.round(peak)}; pays and probes come on top`,
  )
  printLine([
    '',
    'goodput',
    'of peak',
    'time for it',
    'p50 ms',
    'p99 ms',
    'refused p99',
    'pays',
    '/healthz p99',
    'RSS + MiB',
    'back ms',
  ])
  for (const { times, reads, pays, probes, memory, back, cost } of steps)
    printLine([
      `${times} ×`,
      String(Math.round(reads.goodput)),
      percent(reads.goodput / peak),
      `${(cost / costAtPeak).toFixed(2)} ×`,
      reads.p50.toFixed(1),
      reads.p99.toFixed(1),
      reads.refusedP99.toFixed(1),
      percent(part(pays.ok, answered(pays))),
      probes.p99.toFixed(1),
      ((memory - before) / 2 ** 20).toFixed(0),
      String(back),
    ])
  for (const { times, reads, pays, probes, own } of steps) {
    const bare = reads.withoutRetryAfter + pays.withoutRetryAfter
    console.log(
      `${times} ×: reads ${statusesOf(reads)}, ${reads.unsent} found no free connection; pays ${statusesOf(pays)}; probes ${statusesOf(probes)}; ${bare} refusals without Retry-After; the load was busy ${percent(own.busy)} and late by ${own.late.toFixed(1)} ms (p99)`,
    )
  }
  console.log()
}

/** Prints that the service outlived each step in a heap of so many MiB, which a run that came so far has shown. */
export function printHeap(heap, steps) {
  const most = Math.max(...steps.map(({ memory }) => memory)) / 2 ** 20
  console.log(`Alive with --max-old-space-size=${heap}; at most ${most.toFixed(0)} MiB resident\n`)
}
