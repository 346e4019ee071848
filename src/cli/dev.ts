/**
 * `duet dev`: serves while files change. Each change starts another service in a process of its own, which says whether it could serve, or
 * what is wrong; only then the last one is ended, behind a door that has the port all the time. So what cannot be served is told,
 * and the last good one goes on.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  type FSWatcher,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  watch,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { parseEnv } from 'node:util'
import { mapped } from '#base/object.ts'
import { readArgs } from '#cli/arguments.ts'
import { openDoor } from '#cli/dev-door.ts'
import { draftings } from '#cli/migrate.ts'
import { endingSignals, nowHandled } from '#cli/terminal.ts'
import { loadConfig } from '#config.ts'
import type { Content } from '#content.ts'
import { draftMigrations, lackOf, RenameQuestion } from '#engines/shared/draft.ts'
import { historyOf } from '#engines/shared/migrations.ts'
import type { Entities } from '#model/model.ts'
import { tellOnStart } from '#pages/start.ts'
import { authOf } from '#serve/auth.ts'
import { checkedGraphql } from '#serve/graphql.ts'
import type { Program } from '#serve/prepare.ts'
import type { Running } from '#serve/service.ts'
import { checkSchema, migrateStore, modelFor, storeOf } from '#serve/store.ts'
import { ConfigError } from '#settings.ts'

export const help = `Usage: duet dev [--yes]

Serves both APIs, and starts again when a file of the content changes; requests wait
meanwhile. What is wrong with a change is told here and on the start page, and the last
good one goes on being served. Where the migrations do not make all that the model has,
it shows the next one and asks whether to write and apply it; with --yes it does not ask.`

/** Former names by fields, such as \`note.text\`; false of one that is new. */
type Renamed = Readonly<Record<string, string | false>>

/** What a service tells before it serves, and when it does. */
type FromService =
  /** It could serve. */
  | { readonly kind: 'ready' }
  /** No migration makes what these statements make. */
  | { readonly kind: 'lacks'; readonly statements: string; readonly name: string }
  | { readonly kind: 'asks'; readonly what: string; readonly former: string; readonly text: string }
  | { readonly kind: 'drafted'; readonly files: readonly string[] }
  | { readonly kind: 'listening'; readonly url: string; readonly hello: string }

/** What it is told. */
type ToService =
  /** The one before has ended. */
  | { readonly kind: 'go' }
  | { readonly kind: 'draft'; readonly name: string }
  | { readonly kind: 'renamed'; readonly renamed: Renamed }
  /** Why the change after it is not served. */
  | { readonly kind: 'fault'; readonly text: string }

const tell = (message: FromService): void => void process.send?.(message)

/** Drafts what the migrations lack, as its starter wants it; resolves when they make all that the model has. */
const untilMigrated = async (
  { config, content }: Program,
  answer: () => Promise<ToService>,
): Promise<void> => {
  const engines = await draftings()
  let renamed: Renamed = {}
  for (;;) {
    const entities: Entities = mapped(content.entities, (entity, name) => ({
      ...entity,
      fields: mapped(entity.fields, (field, key) => {
        const former = renamed[`${name}.${key}`]
        return former === undefined ? field : { ...field, renamed: former }
      }),
    }))
    try {
      const lacks = engines.map(drafting => {
        const history = historyOf(drafting.engine, content.migrations)
        const { inside, outside } = lackOf(drafting, entities, history)
        return { engine: drafting.engine, statements: [...inside, ...outside] }
      })
      const lacking = lacks.filter(({ statements }) => statements.length > 0)
      const own = lacking.find(({ engine }) => engine === config.store.kind) ?? lacking[0]
      if (!own) return
      const statements = `${own.statements.join(';\n')};`
      const [, table = 'change', added, to] =
        /^(?:(?:create|alter) table|create (?:unique )?index \w+ on) (\w+)(?: add column (\w+)| rename column \w+ to (\w+))?/m.exec(
          statements,
        ) ?? []
      const name = [table, added ?? to ?? []].flat().join('-').replaceAll('_', '-')
      tell({ kind: 'lacks', statements, name })
    } catch (error) {
      if (!(error instanceof RenameQuestion)) throw error
      const { entity, field, former, message: text } = error
      tell({ kind: 'asks', what: `${entity}.${field}`, former, text })
    }
    const told = await answer()
    if (told.kind === 'renamed') renamed = { ...renamed, ...told.renamed }
    if (told.kind !== 'draft') continue
    const files = draftMigrations(engines, entities, told.name, content.migrations)
    tell({ kind: 'drafted', files: files.map(file => relative('', file)) })
    // Its starter ends it: the next one finds the files.
    await answer()
  }
}

/**
 * Applies what the store lacks while the one before still serves: to a copy of a file, which nobody misses; to a database itself, where
 * a migration that fails leaves nothing.
 */
const tryMigrations = async ({ config, content }: Program): Promise<void> => {
  const { entities, migrations } = content
  const store = await storeOf(config, migrations)
  if (config.store.kind === 'postgres') return void (await migrateStore(store, entities))
  const { file } = config.store
  if (!existsSync(file) || (await store.pending()).length === 0) return
  const { backUp } = await import('#engines/sqlite/backup.ts')
  const folder = mkdtempSync(join(tmpdir(), 'duet-dev-'))
  try {
    const copy = join(folder, 'duet.db')
    await backUp(file, copy, { force: false, onPages: () => {} })
    const tried = await storeOf({ ...config, store: { kind: 'sqlite', file: copy } }, migrations)
    await migrateStore(tried, entities)
    await checkSchema(tried, entities)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** In a service of `duet dev`: says whether it could serve, and waits until the one before has ended. */
export const untilTurn = async (program: Program): Promise<void> => {
  const { config, content } = program
  let answered = Promise.withResolvers<ToService>()
  process.on('message', (told: ToService) => {
    if (told.kind === 'fault') return tellOnStart(told.text)
    answered.resolve(told)
    answered = Promise.withResolvers()
  })
  process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'))
  authOf(config, content.viewers)
  await checkedGraphql(config, modelFor(config, content), content.actions)
  await content.served()
  await untilMigrated(program, () => answered.promise)
  await tryMigrations(program)
  const go = answered.promise
  tell({ kind: 'ready' })
  await go
}

/** In a service of `duet dev`: says where it listens. */
export const tellListening = ({ url, hello }: Running): void =>
  tell({ kind: 'listening', url, hello })

/** Files by which a content may change; a store and a log beside it are none. */
const isContent = (path: string): boolean =>
  /(^|[\\/])(\.env|[^.][^\\/]*\.(m?[jt]s|c[jt]s|json|sql|graphql|html|css|svg))$/.test(path)

/** Calls `onChange` when a file of the folder changes, but for what is installed and stored there. */
const watchFolder = (folder: string, onChange: () => void): void => {
  const below = new Map<string, FSWatcher>()
  const look = (): void => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const { name } = entry
      if (!entry.isDirectory() || /^\.|^(node_modules|data|dist)$/.test(name) || below.has(name))
        continue
      const watcher = watch(join(folder, name), { recursive: true }, (_, path) => {
        if (path !== null && isContent(path)) onChange()
      })
      // A folder that is taken away is looked for again.
      watcher.on('error', () => below.delete(name))
      below.set(name, watcher)
    }
  }
  look()
  watch(folder, (_, path) => {
    look()
    if (path !== null && isContent(path)) onChange()
  })
}

/** A service in a process of its own. */
type Service = {
  readonly child: ChildProcess
  readonly gone: Promise<unknown>
  /** What it wrote until it listened. */
  said: string
}

/** For how long requests to the last service are waited for, in milliseconds. */
const longestWait = 5000

/** Changes that come together, as of an editor that saves all, are one, in milliseconds. */
const together = 50

export const run = async (args: readonly string[], _content: Content, file = ''): Promise<void> => {
  const { values } = readArgs(args, { yes: { type: 'boolean' } }, 0)
  const folder = dirname(file)
  const beside = join(folder, '.env')
  const fromFile = existsSync(beside) ? parseEnv(readFileSync(beside, 'utf8')) : {}
  const { DUET_ENV, DUET_HOST, DUET_PORT, PORT, DUET_PUBLIC_URL } = { ...fromFile, ...process.env }
  if (DUET_ENV === 'production')
    throw new ConfigError(
      'duet dev is for development, and DUET_ENV is production: start duet serve, or leave DUET_ENV out',
    )
  const { host, port } = loadConfig({ DUET_HOST, DUET_PORT, PORT })
  const door = await openDoor(host, port)
  const isAsked = process.stdin.isTTY === true && values.yes !== true
  const say = (text: string) => process.stderr.write(text.replace(/^(?=.)/gm, 'duet: '))

  let current: Service | undefined
  let next: Service | undefined
  let round = 0
  let isFirst = true
  let question = new AbortController()
  /** While a service writes migrations, its files are no change: it is ended when all are there. */
  let isDrafting = false

  const report = (fault: string): void => {
    const text = fault.trim().replace(/^duet: /gm, '')
    say(`${text}\n${current ? 'the last good one goes on being served\n' : ''}`)
    if (current) current.child.send({ kind: 'fault', text } satisfies ToService)
    else door.lead({ fault: text })
  }

  /** What is typed after a question; undefined if another change comes first, or nobody types any more. */
  const ask = async (text: string): Promise<string | undefined> => {
    const lines = createInterface({ input: process.stdin, output: process.stderr })
    lines.on('SIGINT', () => process.kill(process.pid, 'SIGINT'))
    const { signal } = question
    const closed = once(lines, 'close').then(() => undefined)
    const answer = lines.question(text, { signal }).catch(() => undefined)
    const given = await Promise.race([answer, closed])
    lines.close()
    return given?.trim()
  }

  const started = (): Service => {
    const program = [...process.execArgv, process.argv[1] as string]
    const child = spawn(
      process.execPath,
      [...program, '--config', file, 'serve', '--reloads', '--migrate'],
      {
        env: {
          ...process.env,
          DUET_HOST: '127.0.0.1',
          DUET_PORT: '0',
          DUET_THREADS: '1',
          DUET_PUBLIC_URL: DUET_PUBLIC_URL ?? door.url,
        },
        stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
      },
    )
    const service: Service = { child, gone: once(child, 'close'), said: '' }
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      if (service === current) process.stderr.write(text)
      else service.said += text
    })
    return service
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
    const service = started()
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
          await door.shut(longestWait)
          const last = current
          current = undefined
          last?.child.kill()
          await last?.gone
          return isOver() ? undefined : send({ kind: 'go' })
        }
        case 'listening':
          current = service
          next = undefined
          door.lead({ port: Number(new URL(message.url).port) })
          process.stderr.write(service.said)
          if (isFirst) process.stderr.write(`${message.hello.replaceAll(message.url, door.url)}\n`)
          else say(`serves the change, after ${Math.round(performance.now() - since)} ms\n`)
          isFirst = false
          return undefined
        case 'lacks': {
          const { statements, name } = message
          if (values.yes) return draft(name)
          const what = `the migrations do not make all that the model has:\n\n${statements}\n\n`
          report(`${what}Run: npx duet migrate --draft ${name}`)
          if (!isAsked) return
          const answer = await ask(`Write and apply it as ${name}? [Y, n, or another name] `)
          if (answer === undefined || isOver() || /^no?$/i.test(answer)) return
          return draft(/^(y|yes)?$/i.test(answer) ? name : answer)
        }
        case 'asks': {
          const { what, former, text } = message
          report(text)
          if (!isAsked) return
          const answer = await ask(`Is ${what} what ${former} was? [y, n] `)
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
  watchFolder(folder, () => {
    clearTimeout(timer)
    timer = setTimeout(() => {
      if (!isDrafting) void begin()
    }, together)
  })
  for (const signal of endingSignals)
    process.once(signal, async () => {
      round++
      clearTimeout(timer)
      door.close()
      const all = [current, next].filter(service => service !== undefined)
      for (const { child } of all) child.kill()
      await Promise.all(all.map(({ gone }) => gone))
      process.exit(0)
    })
  nowHandled()
  void begin()
}
