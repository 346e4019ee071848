/** A running service for a test: a real store of its own with the rows that the test gives, tokens for its people. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAuthenticator } from '#auth/authenticate.ts'
import { collecting } from '#channels.ts'
import { loadConfig } from '#config.ts'
import usualContent from '#content/duet.config.ts'
import { type Content, modelOf, type OpenStore } from '#content.ts'
import type { Core } from '#core.ts'
import type { Migration } from '#engines/shared/migrations.ts'
import type { Engine, Store } from '#engines/shared/store.ts'
import type { SqliteOptions } from '#engines/sqlite/file.ts'
import { folderStore } from '#files/folder.ts'
import { formerFiles } from '#files/former.ts'
import { keeping } from '#files/keep.ts'
import type { FileStore } from '#files/store.ts'
import type { DocumentLimits } from '#graphql/limits.ts'
import type { StoredDocuments } from '#graphql/stored.ts'
import type { HttpContext } from '#http/exchange.ts'
import { callersBehind } from '#http/limit/address.ts'
import { createMemory } from '#http/memory.ts'
import { createQueue } from '#http/queue.ts'
import type { App } from '#http/request.ts'
import { createMail, type MailOptions } from '#mail/mail.ts'
import type { Model } from '#model/model.ts'
import type { Event } from '#observe.ts'
import type { PeopleSettings } from '#people/settings.ts'
import { cachedReader, publishing } from '#read/read.ts'
import { createApp } from '#serve/app.ts'
import { putRows } from '#serve/insert.ts'
import { servePeople } from '#serve/people.ts'
import { announcedIn } from '#serve/service.ts'
import { settings } from '#settings.ts'
import type { Used } from '#versions/deprecated-use.ts'
import { createNotices, type DeprecationDays } from '#versions/deprecation.ts'
import { type OutboxOptions, startOutbox } from '#write/outbox.ts'
import { type Asks, askingOf, secret } from './asking.ts'
import { digestOf } from './history.ts'
import {
  changeIn,
  filledDatabase,
  filledFile,
  filling,
  type Look,
  lookInto,
  onPostgres,
} from './stores.ts'
import { longest, until } from './support/wait.ts'

export { type Answered, type Asking, pluck, secret } from './asking.ts'
export { filling, onPostgres, sqliteSuite, sqliteTest } from './stores.ts'
export { forAllTests, forEachTest } from './support/fixture.ts'

export type WorldOptions = {
  /** What it serves; else the content in `content/`. */
  readonly content?: Content
  /** Which database it is on; else the one that the test run is on. */
  readonly on?: 'sqlite' | 'postgres'
  readonly rows?: Rows
  /** Whether the store is kept with its rows for the next world that begins with the same ones. */
  readonly isKept?: boolean
  /** Puts more than rows into the store before it is served. */
  readonly also?: (line: OpenStore) => Promise<void>
  /** Where the store is; else in a folder of the world's own. */
  readonly file?: string
  readonly model?: Model
  readonly migrations?: readonly Migration[]
  readonly edge?: Partial<HttpContext>
  readonly documents?: Partial<DocumentLimits>
  readonly engine?: Partial<SqliteOptions>
  /** How many connections it has on PostgreSQL for writes, and for slow reads. */
  readonly pool?: number
  readonly introspection?: boolean
  readonly stored?: StoredDocuments
  /** True unless it says otherwise. */
  readonly development?: boolean
  readonly now?: () => number
  /** The deprecation of version 1. */
  readonly deprecation?: DeprecationDays
  /** Where its files are; else in a folder of its own. */
  readonly fileStore?: FileStore
  /** How many bytes its files may have in all; any number unless it says. */
  readonly mostFiles?: number
  /** Mail is put into `letters` unless this says how it leaves. */
  readonly mail?: Partial<MailOptions>
  /** Has people sign in, with these settings in place of the usual ones. */
  readonly people?: Partial<PeopleSettings>
  /** How often the outbox looks, and how soon it tries again, in milliseconds. */
  readonly outbox?: Pick<OutboxOptions, 'every' | 'retryAfter'>
}

/** Rows by entity. */
export type Rows = Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>

/** When the rows of a world begin; the n-th of all was made n minutes later. */
const epoch = Date.UTC(2026, 0, 1)

/** The secret of sign-in in tests. */
export const peopleSecret = 'fQ2o8w0v3nYc7ZrT1xKqL5mB9sHdGjUe4aP6iNyVtRkC'

/** The contract's own limits. */
export const documentLimits: DocumentLimits = {
  depth: 8,
  source: 16_384,
  tokens: 1000,
  comments: 100,
  aliases: 30,
  directives: 20,
  rootFields: 20,
}

/** The model of a content whose settings are the usual ones. */
export const modelAsUsual = (content: Content): Model =>
  modelOf(content, content.decide(loadConfig({}, content.settings).content))

export const usualModel: Model = modelAsUsual(usualContent)

/** A message as a developer sees it. */
type Letter = Event & { readonly kind: 'mail' }

export type World = Asks & {
  readonly app: App
  readonly engine: Engine
  readonly core: Core
  readonly edge: HttpContext
  readonly store: Store
  readonly file: string
  /** Reads and changes the store directly, past the service. */
  readonly rows: Look
  readonly change: Look
  readonly events: Event[]
  /** The uses of what is deprecated, in the order in which they were counted. */
  readonly uses: readonly Used[]
  /** The messages that would have been sent; a sign-up's is there soon after its answer. */
  readonly letters: Letter[]
  readonly close: () => Promise<void>
  /** Closes it where it was made with `await using`. */
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

/** Whether services of tests cache answers; `DUET_TEST_CACHE=0` runs the tests without. */
export const isCached = process.env.DUET_TEST_CACHE !== '0'

/** Makes a world: `await using world = await createWorld()` closes it in the end. */
export const createWorld = async (options: WorldOptions = {}): Promise<World> => {
  const folder = mkdtempSync(join(tmpdir(), 'duet-test-'))
  const file = options.file ?? join(folder, 'duet.db')
  const { content = usualContent, rows = {}, isKept = false } = options
  const model = options.model ?? (content === usualContent ? usualModel : modelAsUsual(content))
  const { sync, minDisk, ...serving } = options.engine ?? {}
  const fill = (store: Store) =>
    filling(store, async line => {
      await putRows({ ...line, model }, rows, epoch, 60_000)
      await options.also?.(line)
    })
  const on = options.on ?? (onPostgres ? 'postgres' : 'sqlite')
  const beginning = { content, name: `${isKept ? 'filled' : 'empty'} ${digestOf(content)}`, isKept }
  const { store, drop } =
    on === 'postgres'
      ? await filledDatabase(fill, { ...beginning, shared: options.file, pool: options.pool })
      : await filledFile(fill, beginning, {
          file,
          ...(options.migrations && { migrations: options.migrations }),
          ...(sync && { sync }),
          ...(minDisk !== undefined && { minDisk }),
        })
  const limits = { objects: 10_000, bytes: 33_554_432, ...serving.limits }
  const { digits } = model.settings.currency
  const engine = store.open({
    digits,
    limits,
    readTimeout: longest,
    queue: 2000,
    writeWait: longest,
    isWatched: isCached,
    onFatal: () => {},
    ...serving,
  })
  const now = options.now ?? Date.now
  const events: Event[] = []
  const letters: Letter[] = []
  // Messages are no part of the log.
  const observe = (event: Event) =>
    void (event.kind === 'mail' ? letters.push(event) : events.push(event))
  const mailing: MailOptions = { now, observe, delivery: { kind: 'shown' }, ...options.mail }
  const mail = createMail(mailing)
  const memory = createMemory()
  const files = {
    store: options.fileStore ?? folderStore(join(folder, 'files')),
    most: options.mostFiles ?? 0,
  }
  const secrets = await store.secrets()
  const services = {
    mail,
    key: secrets.mail,
    publicUrl: () => 'https://duet.example.org',
    keepFile: keeping({ model, writer: engine, dialect: engine.dialect, files, now }),
    now,
  }
  const reader = cachedReader(publishing(engine), engine.changes, memory.cached)
  const outbox = startOutbox({
    entities: model.entities,
    reader,
    writer: engine,
    dialect: engine.dialect,
    services,
    observe: event => void events.push(event),
    ...options.outbox,
  })
  const uses: Used[] = []
  const core: Core = {
    model,
    actions: content.actions,
    dialect: engine.dialect,
    reader,
    writer: engine,
    limits,
    cursorKey: secrets.cursor,
    services,
    files: {
      ...files,
      former: formerFiles({
        ...{ reader: engine, writer: engine, dialect: engine.dialect },
        ...{ entities: model.entities, keepFile: services.keepFile },
      }),
    },
    wakeOutbox: outbox.wake,
    countUse: used => void uses.push(used),
    now,
  }
  const peopleSettings = options.people && {
    title: 'Duet',
    url: 'https://duet.example.org',
    secret: peopleSecret,
    oldSecret: undefined,
    ways: ['code'] as const,
    signUp: true,
    signUpRate: Number.POSITIVE_INFINITY,
    limited: false,
    providers: [],
    origins: ['https://duet.example.org', 'https://app.example.org'],
    development: false,
    ...options.people,
  }
  const people =
    peopleSettings && model.people
      ? servePeople(
          engine,
          {
            ...{ ...mailing, model, people: model.people, wakeOutbox: outbox.wake },
            settings: () => peopleSettings,
          },
          now,
        )
      : undefined
  const edge: HttpContext = {
    authenticate: createAuthenticator({ secret }, content.viewers, now, undefined, people?.own),
    observe: event => void events.push(event),
    callerOf: callersBehind(),
    queue: createQueue({ wait: 10 * longest, writeWait: 10 * longest, size: 100_000 }),
    memory,
    active: new Map<string, number>(),
    origins: '*',
    corsHeaders: settings.DUET_CORS_HEADERS.usual.split(', '),
    bodyLimit: 1_048_576,
    urlLimit: 4096,
    publicMaxAge: 0,
    ...((options.development ?? true) && { collect: collecting() }),
    ...options.edge,
  }
  const { app } = createApp({
    content,
    served: await content.served(),
    core,
    edge,
    graphql: {
      limits: { ...documentLimits, ...options.documents },
      introspection: options.introspection ?? true,
      stored: options.stored,
    },
    development: options.development ?? true,
    hasAdmin: true,
    version: 'test',
    ready: async () => null,
    people,
    notices:
      options.deprecation && createNotices(options.deprecation, core, await announcedIn(store, 1)),
  })
  const { token, ask, gql } = askingOf({ app, content, model, now })
  const look = lookInto(store)
  const close = async () => {
    try {
      await people?.close(longest)
      await outbox.close(0)
      await look.close()
      await engine.close()
      await drop()
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }
  // A busy machine may take longer than a service has to say that it is ready.
  const isReady = () =>
    engine.ready().then(
      () => true,
      () => false,
    )
  await until('the store of the world answers', isReady)
  const change = changeIn(store)
  return {
    app,
    engine,
    core,
    edge,
    store,
    file,
    rows: look.rows,
    change,
    events,
    letters,
    uses,
    token,
    ask,
    gql,
    close,
    [Symbol.asyncDispose]: close,
  }
}
