/** A running service for a test: a real store of its own, a small world in it, tokens for its people. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createApp } from '#app.ts'
import { createAuthenticator } from '#auth/authenticate.ts'
import { mint } from '#auth/token.ts'
import { putRows } from '#cli/fill.ts'
import type { OpenStore } from '#cli/row-sources.ts'
import { announcedIn } from '#cli/serve/notices.ts'
import { loadConfig } from '#config.ts'
import { content as usualContent } from '#content/index.ts'
import { type Content, modelOf } from '#content.ts'
import type { Core } from '#core.ts'
import type { Migration } from '#engines/migrations.ts'
import type { SqliteOptions } from '#engines/sqlite/options.ts'
import type { Engine, Store } from '#engines/store.ts'
import type { DocumentLimits } from '#graphql/limits.ts'
import type { Stored } from '#graphql/stored.ts'
import { createActive } from '#http/active.ts'
import type { Edge } from '#http/edge.ts'
import { callersBehind } from '#http/limit/caller.ts'
import { createMemory } from '#http/memory.ts'
import { createQueue } from '#http/queue.ts'
import type { App } from '#http/request.ts'
import { collecting } from '#http/work.ts'
import { createMail, type MailOptions } from '#mail/mail.ts'
import type { Model } from '#model/model.ts'
import type { Event } from '#observe.ts'
import { publishing } from '#read/publishing.ts'
import { cachedReader } from '#read/read.ts'
import { createNotices, type Deprecation } from '#rest/deprecation.ts'
import { createUsage } from '#write/usage.ts'
import { checkTraffic } from './openapi/traffic.ts'
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

export { filling, onPostgres } from './stores.ts'

export const secret = 'kX9vQ2mT7pLwZ4rB8nYc5hJd1sGf6aEu3oNi0tRq'

type Rows = Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>

/** People: 1 Ada (admin), 2 Ben, 3 Cleo, 4 Dan (suspended). Ben wrote posts 1 to 3, Cleo 4; see the rest below. */
const small: Rows = {
  user: [
    { name: 'Ada', email: 'ada@example.org', age: 36, role: 'admin', emailVerified: true },
    { name: 'Ben', email: 'ben@example.org', age: 28, emailVerified: true },
    { name: 'Cleo', email: 'Cleo@Example.org' },
    { name: 'Dan', email: 'dan@example.org', age: 28, status: 'suspended' },
  ],
  post: [
    { authorId: 2, title: 'First', content: 'one' },
    { authorId: 2, title: 'Second', content: 'two' },
    { authorId: 2, title: 'Third', content: 'three' },
    { authorId: 3, title: 'Fourth', content: 'four' },
  ],
  comment: [
    { postId: 1, authorId: 3, text: 'a' },
    { postId: 1, authorId: 1, text: 'b' },
    { postId: 4, authorId: 2, text: 'c' },
  ],
  like: [
    { userId: 2, commentId: 1 },
    { userId: 3, commentId: 1 },
  ],
  product: [
    { name: 'Desk lamp', category: 'lighting', price: 79.9, stock: 12 },
    { name: 'Lantern', category: 'lighting', price: 14.5, stock: 0 },
    { name: 'Notebook', category: 'office', price: 9.95, stock: 230 },
    { name: 'CAFÉ bowl 100%', category: 'kitchen', price: 14.5, stock: 31 },
    {
      name: 'Snow_globe',
      category: 'decor',
      price: 14.5,
      stock: 3,
      image: 'https://images.example.org/globe.jpg',
    },
  ],
}

/** When the small world begins; its n-th row of all was made n minutes later. */
const epoch = Date.UTC(2026, 0, 1)

export type WorldOptions = {
  /** What it serves; with another content than the usual one it begins without rows. */
  readonly content?: Content
  /** Which database it is on; else the one that the test run is on. */
  readonly on?: 'sqlite' | 'postgres'
  readonly rows?: Rows
  /** Puts more than rows into the store before it is served. */
  readonly also?: (line: OpenStore) => Promise<void>
  /** Where the store is; else in a folder of the world's own. */
  readonly file?: string
  readonly model?: Model
  readonly migrations?: readonly Migration[]
  readonly edge?: Partial<Edge>
  readonly documents?: Partial<DocumentLimits>
  readonly engine?: Partial<SqliteOptions>
  /** How many connections it has on PostgreSQL for writes, and for slow reads. */
  readonly pool?: number
  readonly introspection?: boolean
  readonly stored?: Stored
  /** True unless it says otherwise. */
  readonly development?: boolean
  readonly now?: () => number
  /** The deprecation of version 1. */
  readonly deprecation?: Deprecation
  /** Mail is put into `letters` unless this says how it leaves. */
  readonly mail?: Partial<MailOptions>
}

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

export type Asking = {
  as?: number | 'anonymous'
  /** The role of its token, where it is not the usual one. */
  role?: string
  headers?: Record<string, string>
  body?: unknown
  raw?: string | Uint8Array<ArrayBuffer>
}

export type Answered = {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: an answer may be anything; the assertion says what it is.
  readonly json: any
}

/** A message as a developer sees it. */
type Letter = Event & { readonly kind: 'mail' }

export type World = {
  readonly app: App
  readonly engine: Engine
  readonly core: Core
  readonly edge: Edge
  readonly store: Store
  readonly file: string
  /** Reads and changes the store directly, past the service. */
  readonly rows: Look
  readonly change: Look
  readonly events: Event[]
  /** The messages that would have been sent; a sign-up's is there soon after its answer. */
  readonly letters: Letter[]
  /** A token for user `id`; Ada's (1) has the role that may do everything. */
  readonly token: (id: number, role?: string) => Promise<string>
  /** Sends a request such as 'GET /api/users/1' as a user by id (or anonymous), with a JSON body or a raw one. */
  readonly ask: (line: string, asking?: Asking) => Promise<Answered>
  /** POSTs a GraphQL operation. */
  readonly gql: (
    query: string,
    asking?: Asking & { variables?: unknown; operationName?: string },
  ) => Promise<Answered>
  readonly close: () => Promise<void>
}

/** Whether services of tests cache answers; `DUET_TEST_CACHE=0` runs the tests without. */
export const isCached = process.env.DUET_TEST_CACHE !== '0'

/** Makes a world; close it in the end. */
export const createWorld = async (options: WorldOptions = {}): Promise<World> => {
  const folder = mkdtempSync(join(tmpdir(), 'duet-test-'))
  const file = options.file ?? join(folder, 'duet.db')
  const { content = usualContent } = options
  const isOther = content !== usualContent
  const model = options.model ?? (isOther ? modelAsUsual(content) : usualModel)
  const rows = options.rows ?? (isOther ? {} : small)
  const { sync, minDisk, ...serving } = options.engine ?? {}
  const fill = (store: Store) =>
    filling(store, async line => {
      await putRows({ ...line, model }, rows, epoch, 60_000)
      await options.also?.(line)
    })
  const on = options.on ?? (onPostgres ? 'postgres' : 'sqlite')
  const isUsual = !options.rows && !options.model && !options.also && !isOther
  const beginning = {
    isUsual,
    ...(isOther && { other: { content, name: content.viewers.entity } }),
  }
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
    isWatched: isCached,
    onFatal: () => {},
    ...serving,
  })
  const now = options.now ?? Date.now
  const events: Event[] = []
  const letters: Letter[] = []
  const mail = createMail({
    now,
    // Messages are no part of the log.
    observe: event => void (event.kind === 'mail' ? letters.push(event) : events.push(event)),
    delivery: { kind: 'shown' },
    ...options.mail,
  })
  const memory = createMemory()
  const core: Core = {
    model,
    dialect: engine.dialect,
    reader: cachedReader(publishing(engine), engine.changes, memory.cached),
    writer: engine,
    limits,
    cursorKey: await store.secret('cursor'),
    services: {
      mail,
      key: await store.secret('mail'),
      publicUrl: () => 'https://duet.example.org',
      now,
    },
    usage: createUsage({
      writer: engine,
      dialect: engine.dialect,
      now,
      ...(options.deprecation && { announced: await announcedIn(store) }),
    }),
    now,
  }
  const edge: Edge = {
    authenticate: createAuthenticator({ secret }, content.viewers, now),
    observe: event => void events.push(event),
    callerOf: callersBehind(),
    queue: createQueue({ wait: 60_000, size: 100_000 }),
    memory,
    active: createActive(),
    origins: '*',
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
    version: 'test',
    ready: async () => null,
    notices: options.deprecation && createNotices(options.deprecation, now, core.usage),
  })
  const tokens = new Map<string, Promise<string>>()
  const { superuser, default: usual } = content.viewers.roles
  const token = (id: number, role: string = id === 1 ? superuser : usual) => {
    const key = `${id} ${role}`
    const made = tokens.get(key) ?? mint({ sub: id, role, ttl: 3600 }, secret, now())
    tokens.set(key, made)
    return made
  }
  const ask = async (line: string, asking: Asking = {}): Promise<Answered> => {
    const [method = 'GET', path = '/'] = line.split(/ (.*)/s)
    const headers: Record<string, string> = { ...asking.headers }
    if (typeof asking.as === 'number')
      headers.Authorization ??= `Bearer ${await token(asking.as, asking.role)}`
    const body = asking.raw ?? (asking.body === undefined ? undefined : JSON.stringify(asking.body))
    if (asking.body !== undefined) headers['Content-Type'] ??= 'application/json'
    const response = await app.request(path, {
      method,
      headers,
      ...(body !== undefined && { body }),
    })
    const text = await response.text()
    await checkTraffic(content, model, line, {
      status: response.status,
      headers: response.headers,
      text,
    })
    const isJson = /json/.test(response.headers.get('content-type') ?? '')
    return {
      status: response.status,
      headers: response.headers,
      text,
      json: isJson && text !== '' ? JSON.parse(text) : undefined,
    }
  }
  const gql: World['gql'] = (query, { variables, operationName, ...asking } = {}) =>
    ask('POST /graphql', {
      ...asking,
      body: {
        query,
        ...(variables !== undefined && { variables }),
        ...(operationName && { operationName }),
      },
    })
  const look = lookInto(store)
  const close = async () => {
    await mail.close(0)
    await look.close()
    await engine.close()
    await drop()
    rmSync(folder, { recursive: true, force: true })
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
    token,
    ask,
    gql,
    close,
  }
}
