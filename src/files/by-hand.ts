/** Files of rows for routes and actions by hand, which choose the address, the headers and who may: the file is then a thing with an ETag of its own. */
import { hash } from 'node:crypto'
import { Readable } from 'node:stream'
import type { Core } from '#core.ts'
import type { FileAt } from '#files/former.ts'
import type { FileStore } from '#files/store.ts'
import { allowedTags, excludedTags, isOfRow, mismatchOf } from '#http/conditional.ts'
import type { HttpContext } from '#http/exchange.ts'
import { checkFileRoom } from '#http/memory.ts'
import type { Reply } from '#http/reply.ts'
import type { Http } from '#http/request.ts'
import { columnName, entityOf, notFound } from '#model/model.ts'
import type { Viewer } from '#model/policy.ts'
import { digestAt, type StoredFile } from '#model/stored-file.ts'
import { type ReplyFacts, represent } from '#rest/represent.ts'
import { queryOf, type ReadOptions, type Rows } from '#sql/engine.ts'
import { comma, join, name, type Sql, sql } from '#sql/sql.ts'
import type { GuardedStep, Writing } from '#write/command.ts'
import { changedSince, stillThat } from '#write/guard.ts'
import type { Given } from '#write/steps/action.ts'

/** The store of files of a core whose model has some. */
export const storeOf = ({ files }: Core): FileStore => {
  if (!files) throw new Error('there is no store of files')
  return files.store
}

/** What the first column of a row says of a file. */
const fileIn = (row: Rows[number] | undefined): StoredFile | null | undefined =>
  row && (row[0] === null ? null : JSON.parse(String(row[0])))

/** What a row keeps of a file, whoever asks; null if it has none, undefined if there is no such row. */
export const storedFile = async (
  { reader, dialect, model }: Core,
  { entity, field, id }: FileAt,
  options?: ReadOptions,
): Promise<StoredFile | null | undefined> => {
  const found = sql`select ${name(columnName(field))} from ${name(entityOf(model, entity).table)} where id = ${id}`
  const [row] = await reader.query({ ...queryOf(found, dialect), isQuick: true }, options)
  return fileIn(row)
}

/** A file of a row: what is known of it, and its bytes. */
export type FileOfRow = Pick<StoredFile, 'digest' | 'type' | 'bytes'> & {
  readonly open: () => Promise<AsyncIterable<Uint8Array>>
}

/** The file of a row, null if it has none; throws `NOT_FOUND` if there is no such row. It guards no rule: that is the route's. */
export const fileOf = async (
  core: Core,
  at: FileAt,
  options?: ReadOptions,
): Promise<FileOfRow | null> => {
  const both = await core.files?.former?.find(core, at, options ?? {})
  const stored = both ? fileIn(both[0]) : await storedFile(core, at, options)
  if (stored === undefined) throw notFound(at.entity, at.id)
  const [, bytes, type] = both?.[0] ?? []
  if (bytes instanceof Uint8Array) {
    const digest = hash('sha256', bytes)
    const open = async () => Readable.from([bytes])
    return { digest, type: String(type), bytes: bytes.length, open }
  }
  return stored && { ...stored, open: () => storeOf(core).open(stored.digest) }
}

/** How many letters of Base64 of its digest the ETag of such a file has, and of how many of hexadecimal these are made. */
const letters = { inTag: 22, inDigest: 33 } as const

/** The reply to a GET with a file, as `represent` makes one of a text: whole, with its validators, or 304 with the same. */
export const representFile = async (
  c: Http,
  edge: HttpContext,
  file: FileOfRow,
  { viewer, ...facts }: ReplyFacts & { readonly viewer: Viewer },
): Promise<Reply> => {
  const { type, bytes, digest } = file
  const tag = `"${Buffer.from(digest, 'hex').toString('base64url').slice(0, letters.inTag)}"`
  const reply = represent(c, edge, null, { type, tag, ...facts })
  if (reply.status !== 200) return reply
  if (c.req.method === 'HEAD') {
    reply.headers['Content-Length'] = String(bytes)
    return reply
  }
  checkFileRoom(edge.memory, edge.callerOf(c, viewer))
  return { ...reply, stream: { body: await file.open(), bytes } }
}

type Giving = Pick<FileAt, 'entity' | 'field'> & {
  /** What `keepFile` gave; null takes the file away. */
  readonly file: string | null
  /** The ETags of what is shown of a row that has none, if something is. */
  readonly instead?: () => readonly string[]
}

/**
 * The step that gives the row of an action a file, or takes it away, where `If-Match` and `If-None-Match` allow it: they are compared
 * with the ETag of the file, as `representFile` sends it. The row's revision stays, as no member of it changes.
 */
export const giveFile = (
  { model }: Writing,
  given: Pick<Given, 'id' | 'ifMatch' | 'ifNoneMatch'>,
  { entity, field, file, instead = () => [] }: Giving,
): GuardedStep => {
  const { id, ifMatch, ifNoneMatch } = given
  const table = name(entityOf(model, entity).table)
  const column = name(columnName(field))
  const [allowed = 'any', excluded = []] = [allowedTags(ifMatch), excludedTags(ifNoneMatch)]
  const hasOneOf = (tags: readonly string[]): Sql => {
    const digests = tags
      .filter(tag => tag.length === letters.inTag + 2)
      .map(tag => Buffer.from(`${tag.slice(1, -1)}AA`, 'base64url').toString('hex'))
      .map(digest => sql`${digest.slice(0, letters.inDigest)}`)
    if (digests.length === 0) return sql`false`
    return sql`substr(${column}, ${digestAt.from}, ${letters.inDigest}) in (${join(digests, comma)})`
  }
  const isMatched = allowed === 'any' ? sql`true` : hasOneOf(allowed)
  const isFree = excluded === 'any' ? sql`false` : sql`not ${hasOneOf(excluded)}`
  /** The same of what is shown in its place; to `If-None-Match: *` that is nothing. */
  const isIn = (tags: readonly string[]) =>
    tags.length > 0 && instead().some(tag => tags.includes(tag))
  const isMatchedInstead = allowed === 'any' || isIn(allowed)
  const isFreeInstead = excluded === 'any' || !isIn(excluded)
  const none = file !== null && isMatchedInstead && isFreeInstead ? sql`true` : sql`false`
  return {
    sql: sql`update ${table} set ${column} = ${file} where id = ${id}
      and case when ${column} is null then ${none} else ${isMatched} and ${isFree} end returning id`,
    explain: sql`select ${isMatched} from ${table} where id = ${id} and ${column} is not null`,
    refused: ([row]) => {
      if (!row && file === null) return notFound(field, id)
      return (row ? row[0] : isMatchedInstead) && ifNoneMatch !== undefined
        ? stillThat(field)
        : changedSince(
            field,
            mismatchOf(ifMatch ?? '*', field, tag => !isOfRow(tag)),
          )
    },
  }
}
