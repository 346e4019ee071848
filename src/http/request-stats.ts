/** What each request does in the store, collected from the diagnostics channels for those who ask where the time went. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { jobs, onEnd, reads } from '#channels.ts'
import type { RequestEvent, RequestStats } from '#observe.ts'

/** The most statements of a request that are collected. */
const mostStatements = 20

export const noStats = (): RequestStats => ({
  reads: 0,
  slow: 0,
  writes: 0,
  levels: 0,
  rows: 0,
  store: 0,
  statements: [],
})

/** Runs a request so that what it does in the store is added to `stats`. */
export type CollectStats = <Result>(stats: RequestStats, run: () => Result) => Result

const current = new AsyncLocalStorage<RequestStats>()

const add = (stats: RequestStats, statements: () => readonly string[], milliseconds: number) => {
  stats.store += milliseconds
  const room = mostStatements - stats.statements.length
  if (room > 0) stats.statements.push(...statements().slice(0, room))
}

let isListening = false

const listen = () => {
  isListening = true
  onEnd(reads, ({ levels, lane, rows = 0, statements }, milliseconds) => {
    const stats = current.getStore()
    if (!stats) return
    stats.reads++
    if (lane === 'slow') stats.slow++
    stats.levels += levels
    stats.rows += rows
    add(stats, statements, milliseconds)
  })
  onEnd(jobs, ({ statements }, milliseconds) => {
    const stats = current.getStore()
    if (!stats) return
    stats.writes++
    add(stats, statements, milliseconds)
  })
}

/** A collector; the first one subscribes to the channels of reads and writes. */
export const collecting = (): CollectStats => {
  if (!isListening) listen()
  return (stats, run) => current.run(stats, run)
}

/** The header `Server-Timing` (W3C) of an answer: its wait, its run, and the store's part of that with the objects it read. */
export const serverTiming = ({ milliseconds, wait, work }: RequestEvent): string => {
  const times = `wait;dur=${wait.toFixed(2)}, run;dur=${(milliseconds - wait).toFixed(2)}`
  return work ? `${times}, store;dur=${work.store.toFixed(2)}, rows;desc=${work.rows}` : times
}
