/** A service for any entities on either engine, its tables made from the model's own definitions. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAuthenticator } from '#auth/authenticate.ts'
import { mint } from '#auth/token.ts'
import { type Content, defineContent, modelOf } from '#content.ts'
import type { Core } from '#core.ts'
import { ddl as postgresDdl } from '#engines/postgres/schema.ts'
import { postgresStore } from '#engines/postgres/store.ts'
import { type Migration, machineMigrations } from '#engines/shared/migrations.ts'
import { definitionsOf } from '#engines/shared/schema.ts'
import type { Store } from '#engines/shared/store.ts'
import { ddl as sqliteDdl } from '#engines/sqlite/schema.ts'
import { sqliteStore } from '#engines/sqlite/store.ts'
import { folderStore } from '#files/folder.ts'
import { keeping } from '#files/keep.ts'
import type { HttpContext } from '#http/exchange.ts'
import { callersBehind } from '#http/limit/address.ts'
import { createMemory } from '#http/memory.ts'
import { createQueue } from '#http/queue.ts'
import type { App } from '#http/request.ts'
import { createMail } from '#mail/mail.ts'
import { defineModel, type Entities, type Model } from '#model/model.ts'
import type { Versions } from '#model/version.ts'
import type { Event } from '#observe.ts'
import { cachedReader, publishing } from '#read/read.ts'
import { createApp } from '#serve/app.ts'
import { settings as known } from '#settings.ts'
import { freshDatabase, templateFor } from '../postgres/tools/database.ts'
import { keepSession } from '../stores.ts'
import { versions as libraryVersions } from '../support/library/versions.ts'
import { roles } from '../support/roles.ts'
import { longest, until } from '../support/wait.ts'
import { documentLimits, isCached, secret } from '../world.ts'

/** The moment of all writes. */
export const now = Date.UTC(2026, 0, 2, 3, 4, 5, 678)

/** The clock of all services; a test that moves it puts it back. */
export const clock = { now }

export type Viewer = 'anonymous' | 'user' | 'admin'

export type Request = {
  readonly line: string
  readonly as: Viewer
  readonly body?: unknown
  /** A body that is no JSON. */
  readonly text?: string
  readonly headers?: Readonly<Record<string, string>>
}

type Response = {
  readonly status: number
  readonly text: string
  readonly headers: Headers
}

export type Service = {
  readonly store: Store
  /** The database, on PostgreSQL. */
  readonly url: string | undefined
  readonly bugs: unknown[]
  readonly core: Core
  readonly app: App
  readonly tokenOf: (role: 'user' | 'admin') => Promise<string>
  readonly ask: (request: Request) => Promise<Response>
  /** Lets the next row of a table have that id: a refused insert uses one up on PostgreSQL, and none on SQLite. */
  readonly align: (table: string, next: number) => Promise<void>
  readonly close: () => Promise<void>
}

/** Member 1 is who asks as a user, member 2 as an admin. */
export const viewerIds = { anonymous: null, user: 1, admin: 2 } as const

/** The migrations that make the tables of the entities. */
export const historyFor = (engine: 'sqlite' | 'postgres', entities: Entities) => {
  const ddl = engine === 'sqlite' ? sqliteDdl : postgresDdl
  const statements = definitionsOf(ddl, defineModel(entities as never)).map(({ text }) => text)
  return [...machineMigrations(engine), { name: '0001', text: `${statements.join(';\n')};` }]
}

/** The model of entities of which `member` is the one that tokens name. */
export const modelFor = (entities: Entities): Model => modelOf(contentOf(entities), settings)

const settings = { switches: {}, currency: { code: 'USD', digits: 2 } }

/** What a content of a test has beside its entities. */
export type ContentOptions = Partial<Pick<Content, 'actions' | 'viewers'>>

const contentOf = (entities: Entities, versions = libraryVersions, more: ContentOptions = {}) =>
  defineContent({
    entities: defineModel(entities as never),
    viewers: { entity: 'member', blocked: { field: 'status', value: 'blocked' }, roles },
    versions,
    errors: Object.fromEntries(
      Object.values(entities)
        .flatMap(({ sets, fields }) => [
          ...sets.map(({ error }) => error),
          ...Object.values(fields).map(({ unique }) => unique),
        ])
        .flatMap(error => (typeof error === 'object' ? [[error.code, error]] : [])),
    ),
    migrations: new URL('file:///'),
    examples: {
      graphql: '{ members { id } }',
      rest: '/members',
      withToken: { graphql: '', rest: '' },
    },
    ...more,
  })

/** How a store of PostgreSQL is opened. */
export const postgresOptions = {
  replicas: [],
  prepare: true,
  readers: 1,
  pool: 2,
  poolWait: longest,
} as const

/** A new store of the model on an engine; `template` names one that is copied where several are needed. */
const storeFor = async (entities: Entities, on: 'sqlite' | 'postgres', template?: string) => {
  const migrations = historyFor(on, entities)
  if (on === 'postgres') {
    const storeAt = (url: string, of: readonly Migration[] = migrations) =>
      postgresStore({ ...postgresOptions, url, migrations: of })
    // What is the same for all models is copied: to make it takes as long as the rest.
    const source = await templateFor(template ?? 'the machine', async url => {
      await storeAt(url, template ? migrations : machineMigrations(on)).migrate()
    })
    const { url, drop } = await freshDatabase({ template: source })
    return { store: storeAt(url), url, drop }
  }
  const folder = mkdtempSync(join(tmpdir(), 'duet-generated-'))
  const store = sqliteStore({ file: join(folder, 'duet.db'), sync: 'normal', migrations })
  return {
    store,
    url: undefined,
    drop: async () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** A store of the entities with its tables, which nobody serves; drop it in the end. */
export const emptyStore = async (...of: Parameters<typeof storeFor>) => {
  const made = await storeFor(...of)
  await made.store.migrate()
  return made
}

/** Serves the entities from an empty store; close it in the end, which tells the bugs that it met. */
export const serveModel = async (
  entities: Entities,
  on: 'sqlite' | 'postgres',
  template?: string,
  versions?: Versions,
  more: Partial<HttpContext> = {},
  has: ContentOptions = {},
): Promise<Service> => {
  const { store, url, drop } = await emptyStore(entities, on, template)
  const limits = { objects: 100_000, bytes: 33_554_432 }
  const engine = store.open({
    digits: 2,
    limits,
    readTimeout: 60_000,
    queue: 2000,
    isWatched: isCached,
    onFatal: () => {},
  })
  // On a busy machine a new database may answer later than a service waits for it.
  await until('the store answers', () =>
    engine.ready().then(
      () => true,
      () => false,
    ),
  )
  const bugs: unknown[] = []
  const observe = (event: Event) => {
    if (event.kind === 'bug') bugs.push(event.error)
  }
  const mail = createMail({ now: () => clock.now, observe, delivery: { kind: 'shown' } })
  const content = contentOf(entities, versions, has)
  const memory = createMemory()
  const model = modelOf(content, settings)
  const ofStore = { writer: engine, dialect: engine.dialect, now: () => clock.now }
  const place = mkdtempSync(join(tmpdir(), 'duet-generated-files-'))
  const files = { store: folderStore(place), most: 0, former: undefined }
  const core: Core = {
    model,
    actions: content.actions,
    dialect: engine.dialect,
    reader: cachedReader(publishing(engine), engine.changes, memory.cached),
    writer: engine,
    limits,
    cursorKey: Buffer.alloc(32, 'cursor'),
    services: {
      mail,
      key: Buffer.alloc(32, 'mail'),
      publicUrl: () => '',
      keepFile: keeping({ ...ofStore, model, files }),
      now: () => clock.now,
    },
    files,
    wakeOutbox: () => {},
    countUse: undefined,
    now: () => clock.now,
  }
  const { app } = createApp({
    content,
    served: await content.served(),
    core,
    edge: {
      authenticate: createAuthenticator({ secret }, content.viewers, () => now),
      observe,
      callerOf: callersBehind(),
      queue: createQueue({ wait: 60_000, writeWait: 60_000, size: 100_000 }),
      memory,
      active: new Map<string, number>(),
      origins: '*',
      corsHeaders: known.DUET_CORS_HEADERS.usual.split(', '),
      bodyLimit: 1_048_576,
      urlLimit: 4096,
      publicMaxAge: 0,
      ...more,
    },
    graphql: { limits: { ...documentLimits, depth: 20, tokens: 10_000 }, introspection: true },
    development: true,
    hasAdmin: true,
    version: 'test',
    ready: async () => null,
  })
  const tokenOf = (role: 'user' | 'admin') =>
    mint({ sub: viewerIds[role], role, ttl: 3600 }, secret, now)
  const tokens = { user: await tokenOf('user'), admin: await tokenOf('admin') }
  const ask: Service['ask'] = async ({ line, as, body, text, headers: more = {} }) => {
    const [method = '', path = ''] = line.split(' ')
    const headers: Record<string, string> = { 'Content-Type': 'application/json', ...more }
    if (as !== 'anonymous') headers.Authorization = `Bearer ${tokens[as]}`
    const sent = text ?? (body === undefined ? undefined : JSON.stringify(body))
    const init = { method, headers, ...(sent !== undefined && { body: sent }) }
    const response = await app.request(path, init)
    return { status: response.status, text: await response.text(), headers: response.headers }
  }
  let session: ReturnType<Store['session']> | undefined
  const open = async () => (session ??= store.session('filling'))
  if (on === 'postgres') keepSession(store, open)
  const align: Service['align'] = async (table, next) => {
    if (on === 'sqlite') return
    const text = `select setval('${table}_id_seq', $1, false)::text`
    await (await open()).query({ text, values: [next] })
  }
  const close = async () => {
    await (await session)?.close()
    await engine.close()
    rmSync(place, { recursive: true, force: true })
    await drop()
    assert.deepEqual(bugs, [])
  }
  return { store, url, bugs, core, app, tokenOf, ask, align, close }
}

/** Serves the entities, the member among them, from a store that has members of these names. */
export const serveWithMembers = async (
  entities: Entities,
  on: 'sqlite' | 'postgres',
  ...names: readonly string[]
): Promise<Service> => withMembers(await serveModel(entities, on), names)

/** The same service, with members of these names. */
export const withMembers = async (service: Service, names: readonly string[]): Promise<Service> => {
  for (const name of names)
    await service.ask({ line: 'POST /api/members', as: 'admin', body: { name } })
  return service
}
