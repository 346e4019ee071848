/** Stores for tests, on the engine that the run is on: SQLite, or PostgreSQL. */
import { copyFileSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { suite, test } from 'node:test'
import type { Content, OpenStore } from '#content.ts'
import { postgresStore } from '#engines/postgres/store.ts'
import { createTimelines } from '#engines/postgres/timelines.ts'
import type { Secrets, Store } from '#engines/shared/store.ts'
import { sqliteStore } from '#engines/sqlite/store.ts'
import type { Dialect } from '#sql/dialect.ts'
import type { Rows, Session } from '#sql/engine.ts'
import type { SqlValue } from '#sql/sql.ts'
import { digestOf, historyFor } from './history.ts'
import { freshDatabase, templateFor } from './postgres/tools/database.ts'
import { reusedDatabase } from './postgres/tools/reused.ts'
import { ownFolder } from './support/folders.ts'
import { longest } from './support/wait.ts'

/** Whether the run is on PostgreSQL. A test asks only where the engines differ and may, and says why. */
export const onPostgres = process.env.DUET_TEST_STORE === 'postgres'

const leftOut = (() => {}) as never

/** A test or a suite of what no store decides, in a file that runs on both engines: on PostgreSQL it is left out. */
export const sqliteTest: typeof test = onPostgres ? leftOut : test
export const sqliteSuite: typeof suite = onPostgres ? leftOut : suite

/** On a busy machine a burst of writes to one row takes longer than a service waits. */
const timeouts = {
  statement: longest,
  lock: longest,
  key: longest,
  silence: longest,
  tries: longest,
}

/** PostgreSQL settings for the services of tests: as many connections as usual, for which a burst of writes waits on a busy machine too. */
export const postgresOf = (url: string, content?: Content, pool = 10): Store =>
  postgresStore({
    url,
    replicas: [],
    prepare: true,
    readers: 1,
    pool,
    poolWait: longest,
    timeouts,
    migrations: historyFor('postgres', content),
  })

/** Migrates, and records the timeline as the first service would, which takes a connection of each service on a copy. */
const migrate = async (url: string, content?: Content): Promise<void> => {
  const store = postgresOf(url, content)
  await store.migrate()
  const { query, close } = await store.session('filling')
  await createTimelines(query, query, () => {}).refresh()
  await close()
}

type Open = () => Promise<Session>

/** The sessions of databases that are kept, and when the last change of each is over. */
const kept = new WeakMap<Store, { readonly open: Open; last: Promise<unknown> }>()

/** Has what changes or looks into a store share a session, which its owner opens once and closes: to connect takes longer than most changes. */
export const keepSession = (store: Store, open: Open): void =>
  void kept.set(store, { open, last: Promise.resolve() })

/** Changes a store directly in one transaction, past any service on it. */
export const filling = async <Result>(
  store: Store,
  work: (line: OpenStore) => Promise<Result>,
): Promise<Result> => {
  const own = kept.get(store)
  if (own) {
    const done = own.last.then(async () => {
      const session = await own.open()
      return session.transaction(() => work({ session, dialect: store.dialect }))
    })
    own.last = done.catch(() => {})
    return done
  }
  const session = await store.session('filling')
  try {
    return await session.transaction(() => work({ session, dialect: store.dialect }))
  } finally {
    await session.close()
  }
}

type Fill = (store: Store) => Promise<unknown>

/** A store with rows in it, and how to be rid of it. */
export type Filled = { readonly store: Store; readonly drop: () => Promise<void> }

/** What a store begins with. */
type Beginning = {
  readonly content: Content
  /** What it is kept under for the next store that begins so. */
  readonly name: string
  /** Whether it is kept with its rows. */
  readonly isKept: boolean
}

const files = new Map<string, Promise<string>>()

/** A migrated file, made once in a process: to copy it takes a tenth of the time. */
const templateFile = (fill: Fill, of: Beginning): Promise<string> =>
  files.getOrInsertComputed(of.name, async () => {
    const folder = ownFolder('template')
    const file = join(folder, 'duet.db')
    const store = sqliteStore({ file, migrations: historyFor('sqlite', of.content) })
    await store.migrate()
    if (of.isKept) await fill(store)
    return file
  })

type SqliteSettings = Partial<Parameters<typeof sqliteStore>[0]> & { readonly file: string }

/** One in a file, with keys of its own. */
export const filledFile = async (
  fill: Fill,
  of: Beginning,
  options: SqliteSettings,
): Promise<Filled> => {
  const migrations = historyFor('sqlite', of.content)
  const store = sqliteStore({ migrations, sync: 'normal', ...options })
  const isCopy = !options.migrations && !existsSync(options.file)
  if (!isCopy) {
    await store.migrate()
    await fill(store)
    return { store, drop: async () => {} }
  }
  copyFileSync(await templateFile(fill, of), options.file)
  // Each connection by itself would write its log back into the file, and read the keys from it.
  const database = new DatabaseSync(options.file)
  database.exec('pragma synchronous = off')
  const rows = database
    .prepare('update secrets set value = randomblob(32) returning name, value')
    .all()
  database.close()
  const keys = Object.fromEntries(rows.map(({ name, value }) => [name, value])) as Secrets
  if (of.isKept) return { store: { ...store, secrets: async () => keys }, drop: async () => {} }
  // It may set the keys too.
  await fill(store)
  return { store, drop: async () => {} }
}

const shared = new Map<string, string>()

/** One in PostgreSQL; `shared` names one that several worlds use, which goes with the test file. */
export const filledDatabase = async (
  fill: Fill,
  of: Beginning & { readonly shared: string | undefined; readonly pool?: number | undefined },
): Promise<Filled> => {
  const known = of.shared === undefined ? undefined : shared.get(of.shared)
  if (known !== undefined) return { store: postgresOf(known, of.content), drop: async () => {} }
  const { url, drop, secrets, session } = await reusedDatabase(of.name, {
    make: async url => {
      await migrate(url, of.content)
      if (of.isKept) await fill(postgresOf(url, of.content))
    },
    connect: url => postgresOf(url, of.content).session('filling'),
  })
  const store: Store = { ...postgresOf(url, of.content, of.pool), secrets }
  keepSession(store, async () => session)
  if (!of.isKept) await fill(store)
  if (of.shared === undefined) return { store, drop }
  shared.set(of.shared, url)
  return { store, drop: async () => {} }
}

/** Reads rows of a store directly; parameters are `?1`, `?2` … whatever the engine writes there. */
export type Look = (text: string, ...values: readonly SqlValue[]) => Promise<Rows>

/** A statement with its parameters, `?1`, `?2` …, as the engine writes them. */
export const placed = (text: string, { dialect }: { readonly dialect: Dialect }): string =>
  text.replace(/\?(\d+)/g, (_, n) => dialect.placeholder(Number(n)))

const queryFor = (store: Store, text: string, values: readonly SqlValue[]) => ({
  text: placed(text, store),
  values,
})

/** Reads a store directly, past any service on it. It stays connected until it is closed. */
export const lookInto = (
  store: Store,
): { readonly rows: Look; readonly close: () => Promise<void> } => {
  // To connect takes longer than most looks.
  const own = kept.get(store)
  let session: Promise<Session> | undefined
  return {
    rows: async (text, ...values) => {
      session ??= own?.open() ?? store.session('reading')
      return (await session).query(queryFor(store, text, values))
    },
    close: async () => (own ? undefined : (await session)?.close()),
  }
}

/** Changes a store directly, past any service on it; gives the rows that the statement returns. */
export const changeIn =
  (store: Store): Look =>
  (text, ...values) =>
    filling(store, ({ session }) => session.query(queryFor(store, text, values)))

/** What a command says of a store that nobody has made; a database is there before its tables are. */
export const notMade = onPostgres
  ? /the store lacks the migration .*; run duet migrate first/
  : /there is no store .*DUET_DATABASE_URL/

/** A store of its own for services and commands: what their settings name it, and what reads and changes it past them. */
export type OwnStore = { readonly url: string; readonly rows: Look; readonly change: Look }

/** Connects for one query only: the service or command under test must find no other connections. */
const lookOnce =
  (store: Store): Look =>
  async (text, ...values) => {
    const look = lookInto(store)
    try {
      return await look.rows(text, ...values)
    } finally {
      await look.close()
    }
  }

const storeAt = (file: string, content?: Content) =>
  sqliteStore({ file, migrations: historyFor('sqlite', content) })

/** A look into a file. */
export const lookAtFile = (file: string, content?: Content): Look =>
  lookOnce(storeAt(file, content))

/** A store that nobody has filled: on SQLite `file`, not there yet; on PostgreSQL a database, with its tables or bare. */
export const ownStore = async (
  file: string,
  bare: boolean,
  content?: Content,
): Promise<OwnStore> => {
  const looks = (store: Store) => ({ rows: lookOnce(store), change: changeIn(store) })
  if (!onPostgres) return { url: `sqlite:${file}`, ...looks(storeAt(file, content)) }
  const migrated = () => templateFor(`migrated ${digestOf(content)}`, url => migrate(url, content))
  const { url } = await freshDatabase(bare ? {} : { template: await migrated() })
  return { url, ...looks(postgresOf(url, content)) }
}
