/** A content served for a check: on a store of its own with generated rows, asked through both APIs, with a look into the store. */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, type IncomingMessage, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join as joinPath } from 'node:path'
import { Readable } from 'node:stream'
import { text as textOf } from 'node:stream/consumers'
import { mapped } from '#base/object.ts'
import { loadConfig } from '#config.ts'
import type { Content, OpenStore } from '#content.ts'
import { anonymous, callersOf, named } from '#kit/check/callers.ts'
import {
  type ReferenceRows,
  type RowsReference,
  referenceOver,
  rowsOf,
  type View,
  viewsOf,
} from '#kit/check/reference.ts'
import { fillWith, subjectFor } from '#kit/check/rows.ts'
import { noteUploads } from '#kit/check/uploads.ts'
import { fileBytes, learnFrom } from '#kit/check/values.ts'
import type { After } from '#model/entity.ts'
import { isDerived } from '#model/field.ts'
import { columnName, entityOf, type Model } from '#model/model.ts'
import type { Viewer } from '#model/policy.ts'
import { dependenciesFirst } from '#model/references.ts'
import { checkSchema, filesOf, migrateStore, modelFor, storeOf } from '#serve/store.ts'
import { startService } from '#serve/temporary.ts'
import { queryOf, type Session } from '#sql/engine.ts'
import { comma, join, name, type Sql, sql } from '#sql/sql.ts'

/** What a check found: a sentence about the content. */
export class Fault extends Error {
  override readonly name = 'Fault'
}

/** What the machine did not do in time: no fault of the content, and no proof that it has none. */
export class TooSlow extends Error {
  override readonly name = 'TooSlow'
}

/** The fault of a request: what was asked, what should have come, what came, and what its author can do. */
export const faultOf = (
  asked: string,
  expected: string,
  got: string,
  remedy = 'mend the rule, or the hook; if both are as you mean them, this is a fault of Duet: report it',
): Fault =>
  new Fault([asked, `  expected: ${expected}`, `  got: ${got}`, `  remedy: ${remedy}`].join('\n'))

/** An answer of either API. */
export type CheckAnswer = {
  readonly status: number
  readonly headers: Headers
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
  /** One who may write nothing; undefined where the content blocks nobody. */
  readonly blocked: Viewer | undefined
  /** Those of the store, for another process that serves it. */
  readonly settings: Readonly<Record<string, string>>
  /** Sends a request such as `GET /api/things`; an answer of 500 is a fault, and one for want of time is TooSlow. `url`: to another process. */
  readonly ask: (line: string, viewer: Viewer, body?: unknown, url?: string) => Promise<CheckAnswer>
  readonly gql: (query: string, viewer: Viewer, variables?: object) => Promise<CheckAnswer>
  /** All rows that are there now, and what the reference says of them. */
  readonly rows: () => Promise<ReferenceRows>
  readonly reference: () => Promise<RowsReference>
  /** A session beside the service, for changes that no API offers. */
  readonly session: Session
  readonly change: (piece: Sql) => Promise<unknown>
  /** How many requests were sent. */
  readonly asked: () => number
  /** What hooks after writes would have done, each with how often; nothing of it was done. */
  readonly effects: ReadonlyMap<string, number>
  /** What is worth a line: drift that does not stop a start, rows that could not be made. */
  readonly notes: readonly string[]
  /** Serves no more, so that another process may; what looks into the store goes on. */
  readonly stopServing: () => Promise<void>
  readonly close: () => Promise<void>
}

/** A whole answer may be long. */
export const brief = (text: string): string => (text.length > 300 ? `${text.slice(0, 300)}…` : text)

/** Brings the rows back to what they were, past the service. */
export const restore = async (
  service: CheckService,
  before: ReferenceRows,
  isSecond = false,
): Promise<void> => {
  const { model, session, change } = service
  const now = await service.rows()
  let isRaised = false
  const entities = dependenciesFirst(model.entities).filter(([, { view }]) => !view)
  const idsIn = (rows: ReferenceRows, entity: string) =>
    new Map((rows.get(entity) ?? []).map(row => [row.id, row]))
  await session.transaction(async () => {
    for (const [entity, { table }] of entities.toReversed()) {
      const kept = idsIn(before, entity)
      for (const id of idsIn(now, entity).keys())
        if (!kept.has(id)) await change(sql`delete from ${name(table)} where id = ${id}`)
    }
    for (const [entity, { table, fields }] of entities) {
      const there = idsIn(now, entity)
      isRaised ||= Object.values(fields).some(({ kept }) => kept)
      const keys = Object.entries(fields).flatMap(([key, field]) =>
        !isDerived(field) || field.foldedFrom !== undefined ? [key] : [],
      )
      for (const row of before.get(entity) ?? []) {
        const found = there.get(row.id)
        const changed = keys.filter(key => !found || found[key] !== row[key])
        if (changed.length === 0) continue
        const columns = changed.map(key => name(columnName(key)))
        const values = changed.map(key => sql`${row[key] ?? null}`)
        const sets = columns.map((column, index) => sql`${column} = ${values[index] as Sql}`)
        await change(
          found
            ? sql`update ${name(table)} set ${join(sets, comma)} where id = ${row.id}`
            : sql`insert into ${name(table)} (${join(columns, comma)}) values (${join(values, comma)})`,
        )
      }
    }
  })
  // Rows below that were put back raised the revision of those that count them.
  if (isRaised && !isSecond) await restore(service, before, true)
}

/** The rows without what differs from run to run: times, and the ids that new rows get. */
export const stateOf = ({ model }: CheckService, before: ReferenceRows, now: ReferenceRows) =>
  [...now].map(([entity, rows]) => {
    const { fields } = entityOf(model, entity)
    const last = (of: string) => Math.max(0, ...(before.get(of) ?? []).map(({ id }) => id))
    const plain = rows.map(row =>
      Object.entries(row).flatMap(([key, value]) => {
        const { scalar, references, initial } = fields[key] ?? {}
        const to = key === 'id' ? entity : references?.entity
        const isMade = typeof initial === 'object' && 'slugOf' in initial
        if (scalar === 'time' || isMade) return []
        return [[key, to !== undefined && Number(value) > last(to) ? 'new' : value]]
      }),
    )
    return [entity, plain.map(one => JSON.stringify(one)).sort()] as const
  })

/** Lets go what keeps rows that are only added, in the check's own store: it brings back what was. Gives the texts that make it anew. */
const letGo = async (model: Model, { session, dialect }: OpenStore): Promise<readonly string[]> => {
  const isPostgres = dialect.name === 'postgres'
  const texts: string[] = []
  for (const { table, appendOnly } of Object.values(model.entities)) {
    if (!appendOnly) continue
    const found = isPostgres
      ? sql`select tgname, pg_get_triggerdef(pg_trigger.oid) from pg_trigger
          join pg_proc on pg_proc.oid = tgfoid
          where tgrelid = ${table}::regclass and prosrc like '%only ever added%'`
      : sql`select name, sql from sqlite_schema
          where type = 'trigger' and tbl_name = ${table} and sql like '%only ever added%'`
    for (const [trigger, text] of await session.query(queryOf(found, dialect))) {
      const of = isPostgres ? sql` on ${name(table)}` : sql``
      await session.query(queryOf(sql`drop trigger ${name(String(trigger))}${of}`, dialect))
      texts.push(String(text))
    }
  }
  return texts
}

/** The content as a check serves it: what its hooks do after a write is recorded, and not done, as it may reach other people; and a caller may create any number of rows. */
export const harmless = (content: Content, record: (effect: string) => void): Content => ({
  ...content,
  creationRates: () => ({}),
  entities: mapped(content.entities, (entity, name) => ({
    ...entity,
    after: mapped(entity.after as Readonly<Record<string, After>>, (hook, occasion) => ({
      ...hook,
      run: () => record(`after.${occasion} of ${name}`),
    })),
  })),
})

/** For requests by node:http: fetch takes the processor for several times as long. */
const agent = new Agent({ keepAlive: true })

/** Serves a content for a check, on a SQLite file in a temporary folder or on that PostgreSQL database, which must be empty. */
export const serveForCheck = async (
  declared: Content,
  database?: string,
): Promise<CheckService> => {
  const effects = new Map<string, number>()
  const content = harmless(declared, effect => effects.set(effect, (effects.get(effect) ?? 0) + 1))
  const folder = mkdtempSync(joinPath(tmpdir(), 'duet-check-'))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  process.on('exit', remove)
  const settings = {
    DUET_DATABASE_URL: database ?? `sqlite:${joinPath(folder, 'duet.db')}`,
    DUET_FILES: joinPath(folder, 'files'),
    DUET_AUTH_SECRET: randomBytes(32).toString('base64url'),
    // A busy machine is given time.
    DUET_QUEUE_WAIT: '60000',
    DUET_READ_TIMEOUT: '60000',
    DUET_WRITE_WAIT: '60s',
    DUET_THREADS: '1',
    // Mails would be shown.
    DUET_LOG: 'silent',
  }
  const config = loadConfig(settings, content.settings)
  const model = modelFor(config, content)
  learnFrom(model, (await content.demo?.()) ?? {})
  const store = await storeOf(config, content)
  await migrateStore(store, content.entities)
  const drift = await checkSchema(store, content.entities)
  const { dialect } = store
  const session = await store.session('filling')
  const notes = [...drift, ...(await fillWith(model, { session, dialect }))]
  await filesOf(config, model)?.store.put(Readable.from([fileBytes]))
  const service = await startService(content, { settings })
  const kept = await letGo(model, { session, dialect })
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
    const sent = body instanceof Uint8Array ? body : JSON.stringify(body)
    if (sent !== undefined)
      headers['Content-Type'] = `application/${sent === body ? 'octet-stream' : 'json'}`
    if (typeof sent === 'string')
      await noteUploads({ session, dialect }, sent, viewer, content.viewers)
    const response = await new Promise<IncomingMessage>((resolve, reject) =>
      request(url + path, { agent, method, headers }, resolve)
        .on('error', reject)
        .end(sent),
    )
    const text = await textOf(response)
    const { statusCode: status = 0 } = response
    if (/"code":"(OVERLOADED|TIMEOUT)"/.test(text))
      throw new TooSlow(`${line} by ${named(viewer)} was answered ${brief(text)}`)
    if (status === 500 || text.includes('"code":"INTERNAL'))
      throw faultOf(
        `${line} by ${named(viewer)}${sent === undefined ? '' : ` with ${brief(JSON.stringify(body))}`}`,
        'any answer but an error of the program',
        `500 ${brief(text)}`,
        'send it to a service that you start with npm start: its log has the stack',
      )
    const told = new Headers(response.headers as Record<string, string>)
    const isJson = /json/.test(told.get('content-type') ?? '')
    return { status, headers: told, text, json: isJson && text !== '' ? JSON.parse(text) : {} }
  }
  const look = { core: { model }, rows: (text: string) => session.query({ text, values: [] }) }
  // Most requests change nothing: what is read is read anew only after a write. Of one's own connection SQLite tells none.
  const stampText =
    dialect.name === 'postgres' ? 'select pg_current_snapshot()::text' : 'pragma data_version'
  let ownChanges = 0
  let seen:
    | { readonly stamp: string; readonly reference: RowsReference; readonly rows: ReferenceRows }
    | undefined
  const read = async () => {
    const [[stamp] = []] = await session.query({ text: stampText, values: [] })
    const now = `${stamp} ${ownChanges}`
    if (seen?.stamp === now) return seen
    const rows = await rowsOf(look)
    seen = { stamp: now, rows, reference: referenceOver(model, rows) }
    return seen
  }
  const view = viewsOf(content).find(({ version }) => version === content.versions.newest) as View
  let isServing = true
  const stopServing = async () => {
    if (!isServing) return
    isServing = false
    await service.stop()
    // The next process that serves the store looks for it.
    for (const text of kept) await session.query({ text, values: [] })
  }
  const { blocked, callers } = callersOf({ content })
  return {
    ...{ content, model, view, callers, blocked, settings, session, notes },
    ask,
    rows: async () => (await read()).rows,
    change: piece => {
      ownChanges += 1
      return session.query(queryOf(piece, dialect))
    },
    gql: (query, viewer, variables = {}) => ask('POST /graphql', viewer, { query, variables }),
    reference: async () => (await read()).reference,
    asked: () => asked,
    effects,
    stopServing,
    close: async () => {
      await stopServing()
      await session.close()
      process.off('exit', remove)
      remove()
    },
  }
}
