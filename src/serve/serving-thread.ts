/** One of several threads that serve, and what it and the main thread tell each other. */

import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { callsBetween } from '#base/calls.ts'
import type { OnTotals, ThreadCounts } from '#base/rate-counts.ts'
import { type Tallies, talliesOf } from '#base/tallies.ts'
import type { EngineShare } from '#engines/shared/store.ts'
import type { ThreadMetrics } from '#metrics/metrics.ts'
import type { ThreadCalls } from '#people/messages.ts'
import { shrinkAtRest } from '#serve/heap.ts'
import type { Program } from '#serve/prepare.ts'
import { firstDescriptor } from '#serve/processes.ts'
import { openService } from '#serve/service.ts'
import { serveOn } from '#serve/start.ts'

/** What a serving thread is started with. */
export type ThreadSetup = {
  readonly isServingThread: true
  readonly number: number
  readonly share: EngineShare
  readonly tallies: Tallies
  /** Where requests for sign-in are answered. */
  readonly people: MessagePort
}

/** What a serving thread tells the main thread. */
export type FromThread =
  /** It could listen now. */
  | { readonly kind: 'ready' }
  | { readonly kind: 'listening'; readonly url: string }
  /** It has loaded all, also what it loads after it listens. */
  | { readonly kind: 'loaded' }
  | { readonly kind: 'log'; readonly lines: string }
  /** A write left something to do in the outbox. */
  | { readonly kind: 'effect' }
  /** What is asked is answered in the order in which it was asked. */
  | {
      readonly kind: 'count'
      readonly what: string
      readonly limit: number
      readonly window: number
      readonly seen: ReadonlyMap<string, number>
    }
  | { readonly kind: 'metrics'; readonly metrics: ThreadMetrics }
  | { readonly kind: 'damaged'; readonly message: string }

/** What it is told. */
export type ToThread =
  | { readonly kind: 'listen'; readonly port: number }
  | { readonly kind: 'counted'; readonly totals: ReadonlyMap<string, number> }
  /** What another thread's counts made of totals that are not small. */
  | {
      readonly kind: 'totals'
      readonly what: string
      readonly window: number
      readonly totals: ReadonlyMap<string, number>
    }
  | { readonly kind: 'metrics' }
  | { readonly kind: 'damaged' | 'stopped'; readonly message: string }
  | { readonly kind: 'end' }

/** Serves as one of several threads; ends when the main thread says so. */
export const serveAsThread = async (program: Program): Promise<void> => {
  const { number, share, tallies, people } = workerData as ThreadSetup
  const main = parentPort as MessagePort
  const tell = (message: FromThread) => main.postMessage(message)
  const learning = new Map<string, OnTotals>()
  const uncounted: ((totals: ReadonlyMap<string, number>) => void)[] = []
  // The main thread does what is in it.
  const outbox = { wake: () => tell({ kind: 'effect' }), close: async () => {} }
  const thread = {
    ...{ number, share, tallies, outbox },
    log: (lines: string) => tell({ kind: 'log', lines }),
    counts: {
      threads: talliesOf(tallies, number - 1)('connections').threads,
      of: (what, limit, onTotals) => {
        learning.set(what, onTotals)
        return (window, seen) =>
          new Promise(resolve => {
            uncounted.push(resolve)
            tell({ kind: 'count', what, limit, window, seen })
          })
      },
    } satisfies ThreadCounts,
    onDamage: (message: string) => tell({ kind: 'damaged', message }),
    askPeople: callsBetween<ThreadCalls>(people, {}).there.answer,
  }
  const service = await openService(program, { onFatal: () => process.exit(1), thread })
  const socket = program.socket && firstDescriptor + number - 1
  const serving = await serveOn({ ...program, socket }, service)
  const onLoaded = () => {
    shrinkAtRest()
    tell({ kind: 'loaded' })
  }
  const { engine, metrics } = service
  main.on('message', async (message: ToThread) => {
    switch (message.kind) {
      case 'listen':
        return tell({ kind: 'listening', url: await serving.listen(onLoaded, message.port) })
      case 'counted':
        return uncounted.shift()?.(message.totals)
      case 'totals':
        return learning.get(message.what)?.(message.window, message.totals)
      case 'metrics':
        return tell({ kind: 'metrics', metrics: (await metrics?.json()) ?? [] })
      case 'damaged':
        return engine.tellDamage?.(message.message)
      case 'stopped':
        return engine.stopWriting?.(message.message)
      case 'end':
        await serving.stop()
        await service.close()
        return process.exit(0)
      default:
        return message satisfies never
    }
  })
  // Before that the writer does not know that it reads.
  await engine.ready()
  tell({ kind: 'ready' })
}
