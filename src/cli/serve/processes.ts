/** Several processes that serve one store on one port: started together, started again when one dies, ended together. */
import cluster, { type Worker } from 'node:cluster'
import type { Program } from '#cli/serve/prepare.ts'
import { start } from '#cli/serve/start.ts'

/** Whether this is one of several, started by `serveMany`. */
export const isOneOfMany = cluster.isWorker

/** Pauses before a process that died is started again, in milliseconds: the first, and the longest. */
const pauses = { first: 100, longest: 5000 }

/** A process that served for so long was well: the next pause is the first again. In milliseconds. */
const isWellAfter = 30_000

type Greeting = { readonly hello: string }

/** Serves as one of several; ends when the first process does, however that came about. */
export const serveAsOne = async (
  program: Program,
  endOnSignals: (stop: () => Promise<void>) => void,
): Promise<void> => {
  const running = await start(program, () => process.exit(1))
  endOnSignals(running.stop)
  process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'))
  process.send?.({ hello: running.hello } satisfies Greeting)
}

/** Starts so many processes, the first one ahead; resolves with its greeting when all of them listen. */
export const serveMany = async (count: number) => {
  let isEnding = false
  let pause = pauses.first
  const { promise: listening, resolve, reject } = Promise.withResolvers<string>()
  let greeted = 0

  const onExit = (worker: Worker, startedAt: number, listened: boolean) => {
    if (isEnding) return
    const how = worker.process.signalCode ?? `exit code ${worker.process.exitCode}`
    // What keeps it from listening would keep the next too; it has said why.
    if (!listened && greeted < count)
      return reject(new Error(`a process ended at its start (${how})`))
    if (performance.now() - startedAt > isWellAfter) pause = pauses.first
    process.stderr.write(`duet: process ${worker.process.pid} ended (${how}); another is started\n`)
    setTimeout(fork, pause)
    pause = Math.min(pause * 2, pauses.longest)
  }
  const fork = () => {
    if (isEnding) return
    const startedAt = performance.now()
    let listened = false
    const worker = cluster.fork()
    worker.once('message', ({ hello }: Greeting) => {
      listened = true
      greeted++
      if (greeted === 1) for (let number = 1; number < count; number++) fork()
      if (greeted === count) resolve(hello)
    })
    worker.once('exit', () => onExit(worker, startedAt, listened))
  }
  // One ahead of the others: what is wrong is told once.
  fork()

  const stop = async (): Promise<void> => {
    isEnding = true
    const workers = Object.values(cluster.workers ?? {}).filter(worker => worker !== undefined)
    const ends = await Promise.all(
      workers.map(
        worker =>
          new Promise<boolean>(resolve => {
            // One that has only just begun dies of the signal, with nothing at hand.
            worker.once('exit', (code, signal) => resolve(code === 0 || signal === 'SIGTERM'))
            worker.process.kill('SIGTERM')
          }),
      ),
    )
    if (ends.includes(false)) throw new Error('a process did not end cleanly')
  }
  try {
    return { hello: await listening, stop }
  } catch (error) {
    await stop().catch(() => {})
    throw error
  }
}
