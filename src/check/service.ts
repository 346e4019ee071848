/** A content served for a check: on a store of its own with generated rows, asked through both APIs, with a look into the store. */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { anonymous, callersOf, named } from '#check/callers.ts'
import {
  type ReferenceRows,
  type RowsReference,
  referenceOver,
  rowsOf,
  type View,
  viewsOf,
} from '#check/reference.ts'
import { rowCount, rowOf, subjectFor } from '#check/rows.ts'
import { learnFrom } from '#check/values.ts'
import { loadConfig } from '#config.ts'
import type { Content } from '#content.ts'
import type { Model } from '#model/model.ts'
import type { Viewer } from '#model/policy.ts'
import { dependenciesFirst } from '#model/references.ts'
import { manyInserter } from '#serve/insert.ts'
import { checkSchema, migrateStore, modelFor, storeOf } from '#serve/store.ts'
import { startService } from '#serve/temporary.ts'
import type { Dialect } from '#sql/dialect.ts'
import type { Session } from '#sql/engine.ts'

/** What a check found: a sentence about the content. */
export class Fault extends Error {
  override readonly name = 'Fault'
}

/** An answer of either API. */
export type CheckAnswer = {
  readonly status: number
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: an answer may be anything; the check says what it must be.
  readonly json: any
}

export type CheckService = {
  readonly content: Content
  readonly model: Model
  /** The newest version of the REST API. */
  readonly view: View
  readonly callers: readonly Viewer[]
  readonly admin: Viewer
  /** Those of the store, for another process that serves it. */
  readonly settings: Readonly<Record<string, string>>
  /** Sends a request such as `GET /api/things`; an answer of 500 is a fault. `url`: to another process. */
  readonly ask: (line: string, viewer: Viewer, body?: unknown, url?: string) => Promise<CheckAnswer>
  readonly gql: (query: string, viewer: Viewer, variables?: object) => Promise<CheckAnswer>
  /** All rows that are there now, and what the reference says of them. */
  readonly rows: () => Promise<ReferenceRows>
  readonly reference: () => Promise<RowsReference>
  /** A session beside the service, for changes that no API offers. */
  readonly session: Session
  readonly dialect: Dialect
  /** How many requests were sent. */
  readonly asked: () => number
  /** What is worth a line: drift that does not stop a start, rows that could not be made. */
  readonly notes: readonly string[]
  /** Serves no more, so that another process may; what looks into the store goes on. */
  readonly stopServing: () => Promise<void>
  readonly close: () => Promise<void>
}

/** A whole answer may be long. */
export const brief = (text: string): string => (text.length > 300 ? `${text.slice(0, 300)}…` : text)

/** Puts generated rows of each entity into a new store; gives a sentence for each entity of which some could not be made. */
const fill = async (model: Model, store: Parameters<typeof manyInserter>[0]) => {
  const notes: string[] = []
  const entities = dependenciesFirst(model.entities).filter(([, { view }]) => !view)
  for (const [name, entity] of entities) {
    const put = manyInserter(store, entity)
    const faults: string[] = []
    for (let n = 0; n < rowCount; n++)
      try {
        await put([rowOf(model, name, n)])
      } catch (error) {
        faults.push((error as Error).message)
      }
    if (faults.length > 0)
      notes.push(`${faults.length} of ${rowCount} rows of ${name} could not be made: ${faults[0]}`)
  }
  await store.session.transaction(() =>
    store.session.settleIds(entities.map(([, { table }]) => table)),
  )
  return notes
}

/** Serves a content for a check, on a SQLite file in a temporary folder or on that PostgreSQL database, which must be empty. */
export const serveForCheck = async (content: Content, database?: string): Promise<CheckService> => {
  const folder = mkdtempSync(join(tmpdir(), 'duet-check-'))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  const settings = {
    DUET_DATABASE_URL: database ?? `sqlite:${join(folder, 'duet.db')}`,
    DUET_AUTH_SECRET: randomBytes(32).toString('base64url'),
    // On a busy machine no request is refused for that.
    DUET_QUEUE_WAIT: '60000',
    DUET_WRITE_WAIT: '60s',
    DUET_THREADS: '1',
  }
  const config = loadConfig(settings, content.settings)
  const model = modelFor(config, content)
  learnFrom(model.entities, (await content.demo?.()) ?? {})
  const store = await storeOf(config, content.migrations)
  await migrateStore(store, content.entities)
  const drift = await checkSchema(store, content.entities)
  const session = await store.session('filling')
  const notes = [...drift, ...(await fill(model, { session, dialect: store.dialect }))]
  // What one caller may create in a minute is no matter of right and wrong.
  const service = await startService({ ...content, creationRates: () => ({}) }, { settings })
  const tokens = new Map<string, Promise<string>>()
  const tokenOf = (viewer: Viewer) =>
    tokens.getOrInsertComputed(named(viewer), () => {
      const id = viewer.id ?? 0
      const sub = content.viewers.by === undefined ? id : subjectFor(id)
      return service.token({ sub, role: viewer.role })
    })
  let asked = 0
  const ask: CheckService['ask'] = async (line, viewer, body, url = service.url) => {
    asked += 1
    const [method = 'GET', path = '/'] = line.split(' ')
    const headers: Record<string, string> = {}
    if (viewer !== anonymous) headers.Authorization = `Bearer ${await tokenOf(viewer)}`
    if (body !== undefined) headers['Content-Type'] = 'application/json'
    const sent = body === undefined ? {} : { body: JSON.stringify(body) }
    const response = await fetch(url + path, { method, headers, ...sent })
    const text = await response.text()
    if (response.status === 500)
      throw new Fault(
        `${line} of ${named(viewer)}${body === undefined ? '' : ` with ${brief(JSON.stringify(body))}`} is answered with 500: ${brief(text)}`,
      )
    const isJson = /json/.test(response.headers.get('content-type') ?? '')
    return { status: response.status, text, json: isJson && text !== '' ? JSON.parse(text) : {} }
  }
  const look = { core: { model }, rows: (text: string) => session.query({ text, values: [] }) }
  const rows = () => rowsOf(look)
  const view = viewsOf(content).find(({ version }) => version === content.versions.newest) as View
  let isServing = true
  const stopServing = async () => {
    if (!isServing) return
    isServing = false
    await service.stop()
  }
  const { admin, callers } = callersOf({ content })
  return {
    ...{
      content,
      model,
      view,
      callers,
      admin,
      settings,
      session,
      dialect: store.dialect,
      notes,
      ask,
      rows,
    },
    gql: (query, viewer, variables = {}) => ask('POST /graphql', viewer, { query, variables }),
    reference: async () => referenceOver(model, await rows()),
    asked: () => asked,
    stopServing,
    close: async () => {
      await session.close()
      await stopServing()
    },
  }
}

/** Makes a database beside the one of a URL, which is not touched, and gives its URL and what drops it. Throws a plain error with the remedy. */
export const databaseFor = async (given: string) => {
  const url = new URL(given)
  const name = `duet_check_${randomBytes(6).toString('hex')}`
  // Loaded only here: most checks need no driver.
  const { default: pg } = await import('pg')
  const asked = async (text: string): Promise<void> => {
    const client = new pg.Client({ connectionString: given })
    try {
      await client.connect()
      await client.query(text)
    } catch (cause) {
      throw new Error(
        `no database can be made at DUET_CHECK_DATABASE_URL (${(cause as Error).message}): name a server that is there, and a user who may create databases`,
        { cause },
      )
    } finally {
      await client.end().catch(() => {})
    }
  }
  await asked(`create database ${name} template template0`)
  url.pathname = name
  return { url: url.href, drop: () => asked(`drop database if exists ${name} with (force)`) }
}
