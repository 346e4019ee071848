/** Prints the run: what it stands on, a table for each workload, and the targets. */
import { availableParallelism, cpus } from 'node:os'
import { pinning } from './processes.mjs'
import { label } from './verdicts.mjs'

/** Prints what the figures stand on, and gives it. */
export function printHead({ tool, seconds, rounds, data }, size, { inCategory, offset, shown }) {
  const head = {
    date: new Date().toISOString(),
    node: process.version,
    cpu: `${availableParallelism()} × ${cpus()[0]?.model ?? 'unknown'}`,
    pinned: pinning,
    tool,
    seconds,
    rounds,
    data,
    size,
    shown: Object.fromEntries(Object.entries(shown).map(([kind, ids]) => [kind, ids.length])),
    offset,
    inCategory,
  }
  const counts = things =>
    Object.entries(things)
      .map(([kind, n]) => `${n.toLocaleString('en')} ${kind}`)
      .join(', ')
  console.log(
    `Node ${head.node} on ${head.cpu}; ${pinning ? 'servers on core 0, load on core 1' : 'no cores pinned'}`,
  )
  console.log(`${tool}, 32 connections, ${rounds} rounds of ${seconds} s`)
  console.log(`Store (${data}): ${counts(size)}`)
  console.log(
    `The nested query shows ${counts(head.shown)} (offset ${offset}); the category holds ${inCategory} products\n`,
  )
  return head
}

/** Prints one workload, a line for each server. */
export function printWorkload({ title, bytes, rows }) {
  console.log(`${title}, ${bytes.toLocaleString('en')} bytes`)
  printLine(['', 'requests/s', 'p50 ms', 'p99 ms', 'Duet is'])
  for (const { server, rate, p50, p99, times } of rows)
    printLine([
      label[server],
      Math.round(rate).toLocaleString('en'),
      p50.toFixed(2),
      p99.toFixed(2),
      server === 'duet' ? '' : `${times.toFixed(2)} ×`,
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
