/** The diagnostics channels of the service (`node:diagnostics_channel`), for tracing, and what a request does in the store, collected by them; without subscribers they cost nothing. */

import { AsyncLocalStorage } from 'node:async_hooks'
import { type TracingChannel, tracingChannel } from 'node:diagnostics_channel'
import { once } from '#base/cache.ts'
import type { RequestEvent, RequestStats, Trace } from '#observe.ts'

/** When something began and ended, in milliseconds of `performance.now()`; without `ended` it still runs. */
export type Timed = { readonly started: number; ended?: number }

/** A request: what is known at its start, and in the end all of its event. A subscriber to `start` may put another trace here. */
export type RequestFacts = Pick<RequestEvent, 'requestId' | 'method' | 'path' | 'route'> &
  Partial<RequestEvent> & { trace: Trace | undefined }

/** A read of the store, from one snapshot. */
export type ReadFacts = {
  readonly levels: number
  /** Whether it waited for a place among the slow ones. */
  readonly lane: 'quick' | 'slow'
  /** The texts of its statements, without values. */
  readonly statements: () => readonly string[]
  /** How many objects were read; absent if it failed. */
  rows?: number
}

/** A write to the store, in one transaction. */
export type JobFacts = {
  readonly statements: () => readonly string[]
  /** `done`, or why nothing was changed; absent if it failed. */
  outcome?: string
  /** Whether a stored response was given. */
  replayed?: boolean
}

export const requests = tracingChannel<RequestFacts & Timed>('duet:request')
export const reads = tracingChannel<ReadFacts & Timed>('duet:read')
export const jobs = tracingChannel<JobFacts & Timed>('duet:job')

/**
 * Runs what a channel publishes: `start` and `end` around it, `asyncStart` and `asyncEnd` when its promise has settled, `error`
 * if it fails. `finish` adds the outcome to the facts.
 */
export const traced = <Facts extends object, Result>(
  channel: TracingChannel<Facts & Timed>,
  facts: Facts,
  run: () => Result | Promise<Result>,
  finish: (facts: Facts, result: Result) => void,
): Result | Promise<Result> => {
  const context: Facts & Timed & { error?: unknown } = Object.assign(facts, {
    started: performance.now(),
  })
  const failed = (error: unknown): never => {
    context.ended = performance.now()
    context.error = error
    channel.error.publish(context)
    throw error
  }
  try {
    const result = channel.start.runStores(context, run)
    if (result instanceof Promise)
      return result
        .then(found => {
          context.ended = performance.now()
          finish(facts, found)
          return found
        }, failed)
        .finally(() => {
          channel.asyncStart.publish(context)
          channel.asyncEnd.publish(context)
        })
    context.ended = performance.now()
    finish(facts, result)
    return result
  } catch (error) {
    return failed(error)
  } finally {
    channel.end.publish(context)
  }
}

/** Calls `listener` for all that a channel publishes when it has ended, failed or not; gives a function that ends it. */
export const onEnd = <Facts extends object>(
  channel: TracingChannel<Facts & Timed>,
  listener: (facts: Facts, milliseconds: number) => void,
): (() => void) => {
  const end = (message: unknown) => {
    const context = message as Facts & Timed
    // The synchronous part of what is still running ends too.
    if (context.ended !== undefined) listener(context, context.ended - context.started)
  }
  channel.end.subscribe(end)
  channel.asyncEnd.subscribe(end)
  return () => {
    channel.end.unsubscribe(end)
    channel.asyncEnd.unsubscribe(end)
  }
}

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

/** Listens to the channels of reads and writes, once for all collectors. */
const listenOnce = once(() => {
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
})

/** A collector; the first one subscribes to the channels of reads and writes. */
export const collecting = (): CollectStats => {
  listenOnce()
  return current.run.bind(current)
}

/**
 * The header `Server-Timing` (W3C) of an answer: its wait, its run, and the store's part of that with the objects it read, its statements,
 * whether it went among the slow reads, and the indexes of its statements, as far as they are known.
 */
export const serverTiming = (
  { milliseconds, wait, work }: RequestEvent,
  indexesOf: (statements: readonly string[]) => readonly string[] = () => [],
): string => {
  const times = `wait;dur=${wait.toFixed(2)}, run;dur=${(milliseconds - wait).toFixed(2)}`
  if (!work) return times
  const { store, rows, statements, slow } = work
  const lane = slow > 0 ? 'slow' : 'quick'
  const indexes = work.reads > 0 ? indexesOf(statements) : []
  const through = indexes.length > 0 ? `, index;desc="${indexes.join(', ')}"` : ''
  return `${times}, store;dur=${store.toFixed(2)}, rows;desc=${rows}, statements;desc=${statements.length}, lane;desc=${lane}${through}`
}
