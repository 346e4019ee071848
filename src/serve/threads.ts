/** Several threads that serve one store on one port: how many, started together, started again when one dies, ended together. */

import { availableParallelism, totalmem } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { isMainThread, MessageChannel, Worker, workerData } from 'node:worker_threads'
import { callsBetween, type Remote } from '#base/calls.ts'
import { createTallies, forget, numbersOf, type Tallies } from '#base/tallies.ts'
import type { Config } from '#config.ts'
import type { EngineShare } from '#engines/shared/store.ts'
import { createSharedCells } from '#http/limit/shared.ts'
import type { ThreadMetrics } from '#metrics/metrics.ts'
import { authOf } from '#serve/auth.ts'
import { halveYoung, keepHeapSmall } from '#serve/heap.ts'
import { freePort } from '#serve/listen.ts'
import { serveMetrics } from '#serve/metrics.ts'
import type { Program } from '#serve/prepare.ts'
import { greetingOf, openService, type Running } from '#serve/service.ts'
import type { MainOffers, ThreadOffers, ThreadSetup } from '#serve/serving-thread.ts'
import { ConfigError } from '#settings.ts'

/** The most threads unless an operator asks for more, and the memory that each is given, in bytes. */
const usual = { most: 8, memory: 256 * 1_048_576 }

/** What decides how many threads serve. */
export type Machine = {
  readonly platform: string
  readonly cores: number
  /** The memory that the process may take, in bytes. */
  readonly memory: number
}

const thisMachine = (): Machine => ({
  platform: process.platform,
  cores: availableParallelism(),
  // Node says 0, or more than there is, where no limit is set.
  memory: Math.min(process.constrainedMemory() || Number.POSITIVE_INFINITY, totalmem()),
})

/**
 * How many threads serve: as many as are asked for, or by `auto` one less than the cores, which the writer and the readers of slow reads
 * have, and one for each socket that was handed over. Throws ConfigError where so many cannot be had.
 */
export const threadsFor = (
  { store }: Pick<Config, 'store'>,
  wanted: number | 'auto',
  sockets: number,
  { platform, cores, memory }: Machine = thisMachine(),
): number => {
  const most = Math.min(cores - 1, usual.most, Math.floor(memory / usual.memory))
  const spreads = platform === 'linux' && store.kind === 'sqlite'
  const count = wanted === 'auto' ? sockets || (spreads ? Math.max(1, most) : 1) : wanted
  if (sockets > 1 && store.kind === 'postgres')
    throw new ConfigError(
      `LISTEN_FDS is ${sockets}: one process serves one socket, so hand over one; a unit of systemd has one ListenStream=`,
    )
  if (count > 1 && store.kind === 'postgres')
    throw new ConfigError(
      'several threads are for SQLite: on PostgreSQL set DUET_THREADS to 1 and use --processes',
    )
  if (count > 1 && platform !== 'linux')
    throw new ConfigError(
      `only Linux spreads the connections of a port over several threads, and this is ${platform}: set DUET_THREADS to 1 or auto`,
    )
  if (sockets > 0 && sockets !== count)
    throw new ConfigError(
      `LISTEN_FDS is ${sockets} and DUET_THREADS ${count}: each thread serves a socket of its own, so hand over as many, by ListenStream= as often and ReusePort=yes in a unit of systemd, or leave DUET_THREADS at auto`,
    )
  return count
}

/** Whether this is a thread that `serveInThreads` started. */
export const isServingThread =
  !isMainThread && (workerData as Partial<ThreadSetup> | null)?.isServingThread === true

/** So many deaths within so many milliseconds end the process: whatever it is, another thread does not help. */
const deadly = { deaths: 3, within: 60_000 }

/** Counts deaths of threads; gives why the process is lost by one, if it is. */
const countingDeaths = (hasSocket: boolean) => {
  const deaths: number[] = []
  return (why: string): string | undefined => {
    const now = performance.now()
    deaths.push(now)
    if (hasSocket)
      return `a serving thread ended (${why}), and with it the socket that was handed over is closed`
    const lately = deaths.filter(at => now - at < deadly.within).length
    return lately < deadly.deaths
      ? undefined
      : `${lately} serving threads ended within a minute, the last one for this reason: ${why}`
  }
}

/** How long a scrape waits for a thread, in milliseconds. */
const scrapeWait = 1000

/** How much longer than its last requests and counts may take a thread gets to end, in milliseconds. */
const grace = 2000

type KnownThread = {
  readonly there: Remote<ThreadOffers>
  /** Ends it at once, for this reason. */
  readonly cut: (why?: string) => void
  readonly exited: Promise<unknown>
  /** What it had counted when it was last asked. */
  metrics: ThreadMetrics
}

const connectionsIn = (tallies: Tallies) => ({
  name: 'duet_thread_connections',
  help: 'Connections of clients that each serving thread has.',
  label: 'thread',
  read: () => new Map(numbersOf(tallies, 'connections').map((n, at) => [`${at + 1}`, n])),
})

const metricsOf = (threads: ReadonlyMap<number, KnownThread>) => {
  /** What threads that ended had counted. */
  let counted: ThreadMetrics = []
  /** The metrics of all threads; of one that does not answer soon those that it told before. */
  const gather = async (): Promise<readonly ThreadMetrics[]> => {
    const answers = [...threads.values()].map(known =>
      Promise.race([
        known.there.metrics().then(metrics => {
          known.metrics = metrics
          return metrics
        }),
        sleep(scrapeWait, undefined, { ref: false }).then(() => known.metrics),
      ]),
    )
    return [counted, ...(await Promise.all(answers))]
  }
  /** Keeps what a thread that ended had counted. */
  const retire = async (metrics: ThreadMetrics): Promise<void> => {
    if (metrics.length === 0) return
    const { countsOf, summed } = await import('#metrics/metrics.ts')
    counted = await summed([counted, countsOf(metrics)])
  }
  return { gather, retire }
}

/** Starts a thread of that number, with its part of the store and what it is offered, and calls `onEnd` with the reason. */
const startThread = (
  setup: ThreadSetup,
  offered: MainOffers,
  onEnd: (why: string) => void,
): KnownThread => {
  const worker = new Worker(process.argv[1] as string, {
    argv: process.argv.slice(2),
    workerData: setup,
    transferList: [setup.share.port, setup.people],
  })
  const { promise: exited, resolve: setExited } = Promise.withResolvers<void>()
  let why: string | undefined
  worker.on('error', (error: Error) => {
    why = error.message
  })
  worker.once('exit', code => {
    setExited()
    onEnd(why ?? `exit code ${code}`)
  })
  const cut = (reason?: string): void => {
    why ??= reason
    void worker.terminate()
  }
  const { there } = callsBetween<ThreadOffers>(worker, offered)
  return { there, cut, exited, metrics: [] }
}

/** Starts `count` threads that serve the prepared store, and starts each that dies again; resolves when all of them listen. */
export const serveInThreads = async (
  program: Program,
  count: number,
  onFatal: () => void,
): Promise<Running> => {
  const { config, socket } = program
  const { values, development } = config
  const threads = new Map<number, KnownThread>()
  const tellAll = (what: 'damaged' | 'stopped') => (message: string) => {
    for (const { there } of threads.values()) void there[what](message)
  }
  const service = await openService(program, {
    thread: 'host',
    onFatal,
    onDamage: tellAll('damaged'),
    onStop: tellAll('stopped'),
  })
  const { engine, log, observe, outbox } = service
  const tallies = createTallies(count)
  const cells = createSharedCells()
  const { gather, retire } = metricsOf(threads)
  let port: number | undefined
  let isEnding = false
  let ready = 0
  let loaded = 0
  const urls: string[] = []
  const lossBy = countingDeaths(socket !== undefined)
  const { promise: allListen, resolve, reject } = Promise.withResolvers<void>()

  const listenOn = async ({ there, cut }: KnownThread, port: number) => {
    try {
      urls.push(await there.listen(port))
      if (urls.length === count) resolve()
    } catch (error) {
      cut((error as Error).message)
    }
  }
  const listenAll = async () => {
    // Without this another program that shares its port so would be given a part of the connections.
    port = socket === undefined ? await freePort(config) : config.port
    for (const known of threads.values()) void listenOn(known, port)
  }
  const died = async (number: number, why: string) => {
    const { metrics = [] } = threads.get(number) ?? {}
    threads.delete(number)
    forget(tallies, number - 1)
    if (isEnding) return
    // Whatever keeps one from its start keeps the others too; it has said why.
    if (urls.length < count) return reject(new Error(`a serving thread ended at its start: ${why}`))
    const loss = lossBy(why)
    if (loss !== undefined) return service.reportFatal(loss)
    observe({ kind: 'problem', message: `a serving thread ended (${why}); another is started` })
    begin(number)
    await retire(metrics)
  }
  const begin = (number: number): void => {
    const share = engine.shareWith?.(number) as EngineShare
    const { port1, port2: people } = new MessageChannel()
    if (service.people) callsBetween(port1, { answer: service.people.ask })
    const setup = { isServingThread: true, number, share, tallies, cells, people } as const
    const known = startThread(
      setup,
      {
        ready: () => {
          if (port !== undefined) void listenOn(known, port)
          else if (++ready === count) listenAll().catch(reject)
        },
        loaded: () => {
          // Code is cached for the flags of the process, so these wait until all is loaded.
          if (++loaded === count) keepHeapSmall()
        },
        log: log.add,
        effect: outbox.wake,
        damaged: message => engine.tellDamage?.(message),
      },
      why => void died(number, why),
    )
    threads.set(number, known)
  }
  const stop = async (): Promise<void> => {
    isEnding = true
    for (const { there } of threads.values()) void there.end()
    const longest = values.DUET_DRAIN_WAIT + values.DUET_SHUTDOWN_TIMEOUT + grace
    const cut = setTimeout(() => {
      for (const { cut } of threads.values()) cut()
    }, longest)
    await Promise.all([...threads.values()].map(({ exited }) => exited))
    clearTimeout(cut)
    await service.close()
    forPrometheus?.close()
  }
  service.metrics?.gauge(connectionsIn(tallies))
  const forPrometheus =
    service.metrics && (await serveMetrics(service.metrics, config, { engine, others: gather }))
  halveYoung()
  for (let number = 1; number <= count; number++) begin(number)
  try {
    await allListen
  } catch (error) {
    isEnding = true
    for (const { cut } of threads.values()) cut()
    throw error
  }
  const [url = ''] = urls
  service.state.url = url
  const token = development ? await authOf(config, program.content).superuserToken() : null
  const invitation = development ? await service.people?.invitation() : undefined
  const hello = greetingOf(program, url, forPrometheus?.url, token, invitation, count)
  return { url, hello, stop }
}
