/**
 * `duet dev`: serves while files change. Each change starts another service (`service.ts`) in a process of its own; only when that says that
 * it could serve is the last one ended, behind a proxy (`proxy.ts`) that has the port all the time. So what cannot be served is told, and the last good
 * one goes on.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { type FSWatcher, readdirSync, watch } from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { readArgs } from '#cli/arguments.ts'
import { endingSignals, nowHandled } from '#cli/terminal.ts'
import { loadConfig, settingsBeside } from '#config.ts'
import type { Content } from '#content.ts'
import { openProxy } from '#kit/dev/proxy.ts'
import type { FromService, ToService } from '#kit/dev/service.ts'
import { ConfigError } from '#settings.ts'

export const help = `Usage: duet dev [--yes]

Serves both APIs, and starts again when a file of the content changes; requests wait
meanwhile. What is wrong with a change is told here and on the start page, and the last
good one goes on being served. Where the migrations do not make all that the model has,
it shows the next one and asks whether to write and apply it; with --yes it does not ask.`

/** Files by which a content may change; a store and a log beside it are none. */
const isContent = (path: string): boolean =>
  /(^|[\\/])(\.env|[^.][^\\/]*\.(m?[jt]s|c[jt]s|json|sql|graphql|html|css|svg))$/.test(path)

/** Whether a watched folder is not there any more; on Windows such a one may be looked at by nobody. */
const isGone = (error: unknown): boolean =>
  /^(ENOENT|ENOTDIR|EPERM)$/.test((error as NodeJS.ErrnoException).code ?? '')

/**
 * Calls `onChange` when a file of the folder changes, but for what is installed and stored there. Gives what has the folders below it
 * watched anew: Node follows neither one that is moved nor what comes in its place, as by git.
 */
const watchFolder = (
  folder: string,
  say: (text: string) => void,
  onChange: () => void,
): (() => void) => {
  const faulty = new Set<string>()
  /** Tells of a folder that cannot be watched, once. */
  const tell = (name: string, error: unknown): void => {
    if (!faulty.has(name)) say(`changes in ${name} may go unnoticed: ${(error as Error).message}\n`)
    faulty.add(name)
  }
  const below = new Map<string, FSWatcher>()
  const look = (): void => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const { name } = entry
      if (!entry.isDirectory() || /^\.|^(node_modules|data|dist)$/.test(name) || below.has(name))
        continue
      try {
        const watcher = watch(join(folder, name), { recursive: true }, (_, path) => {
          if (path === '' || isContent(path ?? '')) onChange()
        })
        watcher.on('error', error => (isGone(error) ? onChange() : tell(name, error)))
        below.set(name, watcher)
      } catch (error) {
        // That it went meanwhile the folder above it tells.
        if (!isGone(error)) tell(name, error)
      }
    }
  }
  look()
  watch(folder, (_, path) => {
    look()
    if (below.has(path ?? '') || isContent(path ?? '')) onChange()
  })
  return () => {
    for (const watcher of below.values()) watcher.close()
    below.clear()
    look()
  }
}

/** Where the content of a folder is to be reached, by the environment and by the file of settings beside it. */
const settingsFor = (folder: string) => {
  const given = { ...settingsBeside(folder), ...process.env }
  const { DUET_ENV, DUET_HOST, DUET_PORT, PORT, DUET_PUBLIC_URL } = given
  if (DUET_ENV === 'production')
    throw new ConfigError(
      'duet dev is for development, and DUET_ENV is production: start duet serve, or leave DUET_ENV out',
    )
  const { host, port } = loadConfig({ DUET_HOST, DUET_PORT, PORT })
  return { host, port, publicUrl: DUET_PUBLIC_URL }
}

type Service = {
  readonly child: ChildProcess
  readonly gone: Promise<unknown>
  /** What it wrote until it listened. */
  said: string
}

/** What is typed after a question; undefined if another change comes first, or nobody types any more. */
const typedAfter = async (text: string, signal: AbortSignal): Promise<string | undefined> => {
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  lines.on('SIGINT', () => process.kill(process.pid, 'SIGINT'))
  const closed = once(lines, 'close').then(() => undefined)
  const answer = lines.question(text, { signal }).catch(() => undefined)
  const given = await Promise.race([answer, closed])
  lines.close()
  return given?.trim()
}

/** Starts the content as it is now in a process of its own, for people who come to `url`; `isCurrent` says whether its lines are shown at once. */
const started = (file: string, url: string, isCurrent: (service: Service) => boolean): Service => {
  const program = [...process.execArgv, process.argv[1] as string]
  const child = spawn(process.execPath, [...program, '--config', file, 'dev-service'], {
    env: {
      ...process.env,
      DUET_HOST: '127.0.0.1',
      DUET_PORT: '0',
      DUET_THREADS: '1',
      DUET_PUBLIC_URL: url,
    },
    stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
  })
  const service: Service = { child, gone: once(child, 'close'), said: '' }
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    if (isCurrent(service)) process.stderr.write(text)
    else service.said += text
  })
  return service
}

/** For how long requests to the last service are waited for, in milliseconds. */
const longestWait = 5000

/** Changes that come together, as of an editor that saves all, are one, in milliseconds. */
const together = 50

export const run = async (args: readonly string[], _content: Content, file = ''): Promise<void> => {
  const { values } = readArgs(args, { yes: { type: 'boolean' } }, 0)
  const folder = dirname(file)
  const { host, port, publicUrl } = settingsFor(folder)
  const proxy = await openProxy(host, port)
  const isAsked = process.stdin.isTTY === true && values.yes !== true
  const say = (text: string) => process.stderr.write(text.replace(/^(?=.)/gm, 'duet: '))

  let current: Service | undefined
  let next: Service | undefined
  let round = 0
  let isFirst = true
  let question = new AbortController()
  const typed = (text: string) => typedAfter(text, question.signal)
  /** While a service writes migrations, its files are no change: it is ended when all are there. */
  let isDrafting = false

  const report = (fault: string): void => {
    const text = fault.trim().replace(/^duet: /gm, '')
    say(`${text}\n${current ? 'the last good one goes on being served\n' : ''}`)
    if (current) current.child.send({ kind: 'fault', text } satisfies ToService)
    else proxy.lead({ fault: text })
  }

  /** Ends what was begun before, starts the content as it is now, and does what it asks for until it serves. */
  const begin = async (): Promise<void> => {
    const mine = ++round
    const isOver = () => mine !== round
    question.abort()
    question = new AbortController()
    next?.child.kill()
    await next?.gone
    if (isOver()) return
    const since = performance.now()
    const service = started(file, publicUrl ?? proxy.url, one => one === current)
    next = service
    const send = (message: ToService): void => {
      if (service.child.connected) service.child.send(message)
    }
    const draft = (name: string): void => {
      isDrafting = true
      send({ kind: 'draft', name })
    }
    service.child.on('message', async (message: FromService) => {
      if (isOver()) return
      switch (message.kind) {
        case 'ready': {
          await proxy.shut(longestWait)
          const last = current
          current = undefined
          last?.child.kill()
          await last?.gone
          return isOver() ? undefined : send({ kind: 'go' })
        }
        case 'listening':
          current = service
          next = undefined
          proxy.lead({ port: Number(new URL(message.url).port) })
          process.stderr.write(service.said)
          if (isFirst) process.stderr.write(`${message.hello.replaceAll(message.url, proxy.url)}\n`)
          else say(`serves the change, after ${Math.round(performance.now() - since)} ms\n`)
          isFirst = false
          return undefined
        case 'lacks': {
          const { statements, name } = message
          if (values.yes) return draft(name)
          const what = `the migrations do not make all that the model has:\n\n${statements}\n\n`
          report(`${what}Run: npx duet migrate --draft ${name}`)
          if (!isAsked) return
          const answer = await typed(`Write and apply it as ${name}? [Y, n, or another name] `)
          if (answer === undefined || isOver() || /^no?$/i.test(answer)) return
          return draft(/^(y|yes)?$/i.test(answer) ? name : answer)
        }
        case 'asks': {
          const { what, former, text } = message
          report(text)
          if (!isAsked) return
          const answer = await typed(`Is ${what} what ${former} was? [y, n] `)
          if (answer === undefined || isOver() || !/^(y|yes|n|no)$/i.test(answer)) return
          const renamed = { [what]: /^y/i.test(answer) ? former : false } as const
          return send({ kind: 'renamed', renamed })
        }
        case 'drafted':
          say(`wrote ${message.files.join(', ')}; read what they say before you commit them\n`)
          isDrafting = false
          return void begin()
        default:
          message satisfies never
      }
    })
    await service.gone
    if (!isOver()) isDrafting = false
    if (next === service) next = undefined
    const hasServed = current === service
    if (hasServed) current = undefined
    if (!isOver())
      report(hasServed ? 'the service ended; it starts again when a file changes' : service.said)
  }

  let timer: NodeJS.Timeout | undefined
  const watchAnew = watchFolder(folder, say, () => {
    clearTimeout(timer)
    timer = setTimeout(() => {
      watchAnew()
      if (!isDrafting) void begin()
    }, together)
  })
  for (const signal of endingSignals)
    process.once(signal, async () => {
      round++
      clearTimeout(timer)
      proxy.close()
      const all = [current, next].filter(service => service !== undefined)
      for (const { child } of all) child.kill()
      await Promise.all(all.map(({ gone }) => gone))
      process.exit(0)
    })
  nowHandled()
  void begin()
}
