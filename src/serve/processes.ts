/** Several processes that serve one store on one port: started together, started again when one dies, ended together. */

import type { Worker } from 'node:cluster'
import cluster from 'node:cluster'
import { once } from 'node:events'
import type { Program } from '#serve/prepare.ts'
import { start } from '#serve/start.ts'
import { ConfigError } from '#settings.ts'

/** Whether `serveMany` started this process. */
export const isOneOfMany = cluster.isWorker

/** Pauses before a process that died is started again, in milliseconds: the first, and the longest. */
const pauses = { first: 100, longest: 5000 }

/** After serving for so long, a process that dies is started again after the first pause. In milliseconds. */
const stableAfter = 30_000

type Greeting = { readonly hello: string }

/** Settles when the first process hands no connection to this one any more; those on their way went back, for the others. */
const leave = async ({ worker } = cluster): Promise<void> => {
  if (!worker?.isConnected()) return
  const left = once(process, 'disconnect')
  worker.disconnect()
  await left
}

/** Serves as one of several processes; ends when the first process ends, for whatever reason. */
export const serveAsOne = async (
  program: Program,
  endOnSignals: (stop: () => Promise<void>) => void,
): Promise<void> => {
  const running = await start(program, () => process.exit(1))
  let isEnding = false
  endOnSignals(async () => {
    isEnding = true
    await running.stop()
    await leave()
  })
  const { worker } = cluster
  worker?.on('disconnect', () => {
    // Else Node ends this process at once, amid its requests.
    worker.exitedAfterDisconnect = true
    if (!isEnding) process.kill(process.pid, 'SIGTERM')
  })
  process.send?.({ hello: running.hello } satisfies Greeting)
}

type Workers = {
  /** Starts the process of that number; `onListening` gets its greeting when it listens. */
  readonly fork: (number: number) => void
  /** Ends all; rejects where one did not end cleanly. */
  readonly stop: () => Promise<void>
}

const ended = (worker: Worker): string =>
  worker.process.signalCode ?? `exit code ${worker.process.exitCode}`

/** Ends a process; false where it did not end cleanly. */
const end = (worker: Worker): Promise<boolean> =>
  new Promise(resolve => {
    // A process that has just started dies of the signal, without work to finish.
    worker.once('exit', (code, signal) => resolve(code === 0 || signal === 'SIGTERM'))
    worker.process.kill('SIGTERM')
  })

/** The environment of the process of a number, from 0: its metrics are on a port of its own, the same after it was started again. */
const environmentOf = (number: number, metricsPort: number | undefined) =>
  metricsPort ? { DUET_METRICS_PORT: metricsPort + number } : {}

type Watch = {
  readonly onListening: (hello: string) => void
  /** Decides about one that never listened: true where no other is started for it. */
  readonly onEarlyEnd: (worker: Worker) => boolean
  /** Called when none listens any more, before another is started. */
  readonly onNoneLeft: () => void
}

/** Processes that are started again when they die. */
const workersOf = (
  metricsPort: number | undefined,
  { onListening, onEarlyEnd, onNoneLeft }: Watch,
): Workers => {
  let isEnding = false
  let pause = pauses.first
  let left = 0
  const onExit = (worker: Worker, number: number, startedAt: number, listened: boolean) => {
    if (listened) left--
    if (isEnding || (!listened && onEarlyEnd(worker))) return
    if (left === 0) onNoneLeft()
    if (performance.now() - startedAt > stableAfter) pause = pauses.first
    process.stderr.write(
      `duet: process ${worker.process.pid} ended (${ended(worker)}); another is started\n`,
    )
    setTimeout(fork, pause, number)
    pause = Math.min(pause * 2, pauses.longest)
  }
  const fork = (number: number) => {
    if (isEnding) return
    const startedAt = performance.now()
    let listened = false
    const worker = cluster.fork(environmentOf(number, metricsPort))
    worker.once('message', ({ hello }: Greeting) => {
      listened = true
      left++
      onListening(hello)
    })
    worker.once('exit', () => onExit(worker, number, startedAt, listened))
  }
  const stop = async (): Promise<void> => {
    isEnding = true
    const running = Object.values(cluster.workers ?? {}).filter(worker => worker !== undefined)
    const ends = await Promise.all(running.map(end))
    if (ends.includes(false)) throw new Error('a process did not end cleanly')
  }
  return { fork, stop }
}

/** Ends the first process, whose socket Node has closed with the last one that listened: nobody could listen on it again. */
const endWithSocket = () => {
  process.stderr.write(
    'duet: all processes ended, and the socket that was handed over is closed with them: this one ends too, so that its supervisor starts it anew\n',
  )
  process.exit(1)
}

/** Starts so many processes, the first one ahead; resolves with its greeting when all of them listen. */
export const serveMany = async (
  count: number,
  metricsPort: number | undefined,
  isHandedOver: boolean,
) => {
  const { promise: listening, resolve, reject } = Promise.withResolvers<string>()
  let greeted = 0
  const workers = workersOf(metricsPort, {
    onListening: hello => {
      greeted++
      if (greeted === 1) for (let number = 1; number < count; number++) workers.fork(number)
      if (greeted === count) resolve(hello)
    },
    onEarlyEnd: worker => {
      // The reason why one cannot listen holds for the next too; it has printed it.
      if (greeted < count) reject(new Error(`a process ended at its start (${ended(worker)})`))
      return greeted < count
    },
    onNoneLeft: isHandedOver ? endWithSocket : () => {},
  })
  // One ahead of the others: a fault is reported once.
  workers.fork(0)
  try {
    return { hello: await listening, stop: workers.stop }
  } catch (error) {
    await workers.stop().catch(() => {})
    throw error
  }
}

/** The first descriptor that is handed over. */
const firstDescriptor = 3

type Environment = Readonly<Record<string, string | undefined>>

/**
 * The descriptor of the socket that was handed over to the process with that id; undefined where there is none, or it is for another
 * process. Throws ConfigError for more than one.
 */
export const handedOver = (environment: Environment, pid: number): number | undefined => {
  const { LISTEN_PID, LISTEN_FDS } = environment
  if (LISTEN_PID !== String(pid) || LISTEN_FDS === undefined) return undefined
  if (LISTEN_FDS !== '1')
    throw new ConfigError(
      `LISTEN_FDS is ${LISTEN_FDS}: one socket is served, so hand over one; a unit of systemd has one ListenStream=`,
    )
  return firstDescriptor
}
