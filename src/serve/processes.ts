/** Several processes that serve one store on one port: started together, started again when one dies, ended together. */
import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import type { Program } from '#serve/prepare.ts'
import { ConfigError } from '#settings.ts'

/** Whether `serveMany` started this process. */
export const isOneOfMany = cluster.isWorker

/** Pauses before a process that died is started again, in milliseconds: the first, and the longest. */
const pauses = { first: 100, longest: 5000 }

/** After serving for so long, a process that dies is started again after the first pause. In milliseconds. */
const stableAfter = 30_000

type Greeting = { readonly hello: string }

/** Serves as one of several processes; ends when the first process ends, for whatever reason. */
export const serveAsOne = async (
  program: Program,
  endOnSignals: (stop: () => Promise<void>) => void,
): Promise<void> => {
  const { start } = await import('#serve/start.ts')
  const running = await start(program, () => process.exit(1))
  const { worker } = cluster
  let isEnding = false
  endOnSignals(async () => {
    isEnding = true
    await running.stop()
    if (!worker?.isConnected()) return
    // The first process hands no connection to this one any more; connections on their way go back, for the others.
    const left = once(process, 'disconnect')
    worker.disconnect()
    await left
  })
  worker?.on('disconnect', () => {
    // Without this Node ends the process at once, amid its requests.
    worker.exitedAfterDisconnect = true
    if (!isEnding) process.kill(process.pid, 'SIGTERM')
  })
  process.send?.({ hello: running.hello } satisfies Greeting)
}

const ended = (worker: Worker): string =>
  worker.process.signalCode ?? `exit code ${worker.process.exitCode}`

/** Ends a process; false if it did not end cleanly. */
const end = (worker: Worker): Promise<boolean> =>
  new Promise(resolve => {
    // A process that has just started dies of the signal, without work to finish.
    worker.once('exit', (code, signal) => resolve(code === 0 || signal === 'SIGTERM'))
    worker.process.kill('SIGTERM')
  })

/** Starts `count` processes, and starts each that dies again; resolves with the greeting of the last one when all of them listen. */
export const serveMany = async (
  count: number,
  metricsPort: number | undefined,
  isHandedOver: boolean,
) => {
  const { promise: allListen, resolve, reject } = Promise.withResolvers<string>()
  let isEnding = false
  let pause = pauses.first
  let greeted = 0
  let listening = 0
  const fork = (number: number): void => {
    if (isEnding) return
    const startedAt = performance.now()
    let hasListened = false
    // Its metrics are on a port of its own, the same after it was started again.
    const worker = cluster.fork(metricsPort ? { DUET_METRICS_PORT: metricsPort + number } : {})
    worker.once('message', ({ hello }: Greeting) => {
      hasListened = true
      listening++
      greeted++
      if (greeted === 1) for (let next = 1; next < count; next++) fork(next)
      if (greeted === count) resolve(hello)
    })
    worker.once('exit', () => {
      if (hasListened) listening--
      if (isEnding) return
      // The reason why one cannot listen holds for the next too; it has printed it.
      if (!hasListened && greeted < count)
        return reject(new Error(`a process ended at its start (${ended(worker)})`))
      if (listening === 0 && isHandedOver) {
        // Node has closed the socket with the last one that listened: nobody could listen on it again.
        process.stderr.write(
          'duet: all processes ended, and the socket that was handed over is closed with them: this one ends too, so that its supervisor starts it anew\n',
        )
        process.exit(1)
      }
      if (performance.now() - startedAt > stableAfter) pause = pauses.first
      process.stderr.write(
        `duet: process ${worker.process.pid} ended (${ended(worker)}); another is started\n`,
      )
      setTimeout(fork, pause, number)
      pause = Math.min(pause * 2, pauses.longest)
    })
  }
  /** Ends all; rejects if one did not end cleanly. */
  const stop = async (): Promise<void> => {
    isEnding = true
    const running = Object.values(cluster.workers ?? {}).filter(worker => worker !== undefined)
    const ends = await Promise.all(running.map(end))
    if (ends.includes(false)) throw new Error('a process did not end cleanly')
  }
  // One ahead of the others: a fault is reported once.
  fork(0)
  try {
    return { hello: await allListen, stop }
  } catch (error) {
    await stop().catch(() => {})
    throw error
  }
}

/** The first descriptor that is handed over. */
export const firstDescriptor = 3

type Environment = Readonly<Record<string, string | undefined>>

/** How many sockets were handed over to the process with that id, from descriptor 3 on; 0 if none was, or they are for another process. */
export const socketsFor = ({ LISTEN_PID, LISTEN_FDS }: Environment, pid: number): number => {
  if (LISTEN_PID !== String(pid) || LISTEN_FDS === undefined) return 0
  const sockets = /^\d{1,2}$/.test(LISTEN_FDS) ? Number(LISTEN_FDS) : 0
  if (sockets > 0) return sockets
  throw new ConfigError(
    `LISTEN_FDS is ${LISTEN_FDS}: hand over one socket, or one for each thread; a unit of systemd has one ListenStream= for each`,
  )
}
