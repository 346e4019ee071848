/** Says of each target what was measured for it and whether it is reached. */
import {
  evenWithin,
  memoryWithin,
  postgresWorkloads,
  readsWithin,
  startWithin,
  targets,
  workloads,
} from '../workloads.mjs'

export const label = {
  duet: 'Duet',
  plain: 'node:http, same bytes',
  rest: 'Duet, REST',
  newest: 'Duet, version 2',
  few: 'Duet, few rows',
  mercurius: 'mercurius + jit + loaders',
  yoga: 'yoga + DataLoader',
  fastify: 'Fastify, by hand',
  pocketbase: 'PocketBase',
  postgraphile: 'PostGraphile 5',
  statement: 'pg, one nested statement',
  lookup: 'pg, pipelined lookups',
}

/** One entry for each target; `measured` and `reached` are undefined where nothing was measured. */
export function judge(results, start) {
  const tree = { workload: 'graphql-tree', beside: 'duet' }
  const { p50, p99 } = rowOf(results, tree) ?? {}
  return [
    ...judgeSpeeds(results, targets, ({ times, cheaper }) => cheaper || times),
    verdict(
      `${titleOf(tree.workload)}: p99 at most ${inTimes(evenWithin)} p50`,
      p50 && p99 / p50,
      p99 / p50 <= evenWithin,
      inTimes,
    ),
    verdict(`start to first answer under ${startWithin} ms`, start, start < startWithin, inMs),
    ...['graphql-tree', 'graphql-tree-again'].map(workload => {
      const memory = rowOf(results, { workload, beside: 'duet' })?.memory || undefined
      const target = `${titleOf(workload)}: resident memory under ${inMegabytes(memoryWithin)}`
      return verdict(target, memory, memory < memoryWithin, inMegabytes)
    }),
  ]
}

/** The targets that compare Duet's speed with another's: by the rates, unless `timesOf` says otherwise. */
export const judgeSpeeds = (results, targets, timesOf = ({ times }) => times) =>
  targets.map(target => {
    const row = rowOf(results, target)
    const times = row && timesOf(row)
    return target.most === undefined
      ? verdict(speedTarget(target), times, times >= target.least, inTimes)
      : verdict(timeTarget(target), times && 1 / times, 1 / times <= target.most, inTimes)
  })

/** Whether reads stay quick while 200 orders/s are written. */
export const judgeReads = reads =>
  verdict(
    `p99 of reads while 200 orders/s are written: at most ${inTimes(readsWithin)} idle`,
    reads?.times,
    reads?.times <= readsWithin,
    inTimes,
  )

const verdict = (target, measured, reached, show) =>
  measured === undefined ? { target } : { target, measured, shown: show(measured), reached }

const speedTarget = ({ workload, beside, least }) =>
  `${titleOf(workload)}: at least ${inTimes(least)} ${label[beside]}`

const timeTarget = ({ workload, beside, most }) =>
  `${titleOf(workload)}: at most ${inTimes(most)} the time of ${label[beside]}`

const titleOf = name =>
  [...workloads, ...postgresWorkloads].find(workload => workload.name === name).title

const rowOf = (results, { workload, beside }) =>
  results.find(result => result.workload === workload)?.rows.find(row => row.server === beside)

const inTimes = number => `${number.toFixed(2)} ×`
const inMs = time => `${Math.round(time)} ms`
const inMegabytes = bytes => `${Math.round(bytes / 2 ** 20)} MB`
