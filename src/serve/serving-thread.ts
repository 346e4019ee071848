/** One of several threads that serve, and what it and the main thread tell each other. */

import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { callsBetween } from '#base/calls.ts'
import { type Tallies, talliesOf } from '#base/tallies.ts'
import type { EngineShare } from '#engines/shared/store.ts'
import type { SharedCells } from '#http/limit/shared.ts'
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
  readonly cells: SharedCells
  /** Where requests for sign-in are answered. */
  readonly people: MessagePort
}

/** What the main thread does for a serving one. */
export type MainOffers = {
  /** The thread could listen now. */
  readonly ready: () => void
  /** It has loaded all, also what it loads after it listens. */
  readonly loaded: () => void
  readonly log: (lines: string) => void
  /** A write left something to do in the outbox. */
  readonly effect: () => void
  readonly damaged: (message: string) => void
}

/** What a serving thread does for the main thread, once it has opened the service. */
export type ThreadOffers = {
  /** Gives the address. */
  readonly listen: (port: number) => Promise<string>
  readonly metrics: () => Promise<ThreadMetrics>
  readonly damaged: (message: string) => void
  readonly stopped: (message: string) => void
  readonly end: () => void
}

/** Serves as one of several threads; ends when the main thread says so. */
export const serveAsThread = async (program: Program): Promise<void> => {
  const { number, share, tallies, cells, people } = workerData as ThreadSetup
  // What fails after `opened` ends this thread and not the main one.
  const { there: main } = callsBetween<MainOffers>(parentPort as MessagePort, {
    listen: async port => (await opened).serving.listen(onLoaded, port),
    metrics: async () => (await (await opened).service.metrics?.json()) ?? [],
    damaged: message => void opened.then(({ service }) => service.engine.tellDamage?.(message)),
    stopped: message => void opened.then(({ service }) => service.engine.stopWriting?.(message)),
    end: () =>
      void opened.then(async ({ service, serving }) => {
        await serving.stop()
        await service.close()
        process.exit(0)
      }),
  } satisfies ThreadOffers)
  // The main thread does what is in it.
  const outbox = { wake: () => void main.effect(), close: async () => {} }
  const thread = {
    ...{ number, share, tallies, outbox },
    log: (lines: string) => void main.log(lines),
    counts: { cells, threads: talliesOf(tallies, number - 1)('connections').threads },
    onDamage: (message: string) => void main.damaged(message),
    askPeople: callsBetween<ThreadCalls>(people, {}).there.answer,
  }
  const onLoaded = () => {
    shrinkAtRest()
    void main.loaded()
  }
  const open = async () => {
    const service = await openService(program, { onFatal: () => process.exit(1), thread })
    const socket = program.socket && firstDescriptor + number - 1
    return { service, serving: await serveOn({ ...program, socket }, service) }
  }
  const opened = open()
  // Before that the writer does not know that it reads.
  await (await opened).service.engine.ready()
  void main.ready()
}
