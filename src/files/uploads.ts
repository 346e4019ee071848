/** Files as callers send them: within their share, passed on to the store as they come, and known to the database before anybody is told of them. */
import { hash, randomBytes } from 'node:crypto'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Core } from '#core.ts'
import { ApiError } from '#errors.ts'
import { storeOf } from '#files/by-hand.ts'
import { noRoom, noteFile } from '#files/keep.ts'
import { checkSize, type Incoming, type TakenFiles, takeFile } from '#files/take.ts'
import { bodyStream, bodyType, giveUp } from '#http/body.ts'
import { type Http, header, readOptionsOf } from '#http/request.ts'
import type { Model } from '#model/model.ts'
import { judge, type Rule, type Viewer } from '#model/policy.ts'
import { type FileField, fileFields, type StoredFile, storedText } from '#model/stored-file.ts'
import type { Mount } from '#rest/represent.ts'
import type { Dialect } from '#sql/dialect.ts'
import type { Rows } from '#sql/engine.ts'
import { comma, join, type Sql, sql } from '#sql/sql.ts'
import { inBytes, ownerOf } from '#write/claims.ts'
import { commandOf, type Writing } from '#write/command.ts'
import { parseKey } from '#write/idempotency.ts'
import { type Idempotency, writePieces } from '#write/job.ts'
import { commit, type Done } from '#write/write.ts'

/** The fields that are files and that a caller may give some row. */
export const givable = (model: Model, viewer: Viewer): readonly FileField[] => {
  const may = (rule: Rule | undefined) => rule !== undefined && judge(rule, viewer, model) !== 'no'
  return fileFields(model.entities).filter(
    ({ entity: { policy }, field }) =>
      (may(policy.create) || may(policy.update)) && may(field.settableBy),
  )
}

/** How many bytes of one caller may wait for their rows: so many of the largest file that it may send; and how many files. */
const mostWaiting = { largest: 20, files: 1000 } as const

/** The room that is left for a file: of its sender's share for uploads that wait, and in the store; as SQL, with the refusal of what does not fit. */
const roomFor = ({ dialect, files, model }: Core, viewer: Viewer, sender: string) => {
  const largest = Math.max(...givable(model, viewer).map(({ file }) => file.max))
  const share = mostWaiting.largest * largest
  // A small one counts as so many, since its row takes room too.
  const least = Math.ceil(share / mostWaiting.files)
  const { most = 0 } = files ?? {}
  const whole = (value: number) => dialect.typed(value, 'int')
  const ofSender = sql`${whole(share)} - (select coalesce(sum(case when bytes < ${least} then ${least} else bytes end), 0)
    from uploads where sender = ${sender})`
  const inStore =
    most > 0 ? sql`${whole(most)} - (select coalesce(sum(bytes), 0) from files)` : sql`null`
  const refused = () =>
    new ApiError(
      'RATE_LIMITED',
      `Your uploads that no row has yet have ${inBytes(share)} together, or are ${mostWaiting.files}: give them to rows, or wait until they end after 24 hours`,
      { retryAfter: 3600 },
    )
  return {
    left: sql`select ${ofSender}, ${inStore}`,
    /** Throws where so many bytes are above what is left. */
    check: (bytes: number, [ofSender, inStore]: Rows[number]): void => {
      if (inStore != null && bytes > Number(inStore)) throw noRoom(most)
      if (Math.max(bytes, least) > Number(ofSender)) throw refused()
    },
    fitsSender: (bytes: number) => sql`${whole(Math.max(bytes, least))} <= ${ofSender}`,
    refused,
  }
}

/** A file that was received, and waits for its row under this id; or, where its request was answered before, what `done` has of that. */
export type Upload = { readonly id: string; readonly file: StoredFile; readonly done: Done }

/** The statement, without what follows, that lets a file wait for its row, where it may. */
export const insertUpload = (
  { typed }: Pick<Dialect, 'typed'>,
  file: StoredFile,
  { id, owner, sender, now }: Readonly<Record<'id' | 'owner' | 'sender', string>> & { now: number },
  where: Sql = sql`true`,
): Sql => {
  const { digest, type, bytes } = file
  const texts = [id, owner, sender, digest, type, storedText(file)].map(one => typed(one, 'text'))
  const numbers = [bytes, now].map(one => typed(one, 'int'))
  return sql`insert into uploads (id, owner, sender, digest, type, stored, bytes, created_at)
    select ${join([...texts, ...numbers], comma)} where ${where}`
}

/** Takes back an upload whose sender is not told of it, so that it does not count among those that wait. */
export const withdraw = async (core: Core, id: string): Promise<void> => {
  await writePieces(core, sql`delete from uploads where id = ${id} returning id`)
}

/** The name in `Content-Disposition` (RFC 6266); undefined where there is none. */
const nameIn = (disposition = ''): string | undefined => {
  const [, encoded] = /;\s*filename\*\s*=\s*UTF-8''([^;\s]+)/i.exec(disposition) ?? []
  try {
    if (encoded !== undefined) return decodeURIComponent(encoded)
  } catch {
    throw new ApiError('MALFORMED_REQUEST', 'The filename* of Content-Disposition is not UTF-8')
  }
  const [, quoted, plain] =
    /;\s*filename\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;\s]+))/i.exec(disposition) ?? []
  // Node reads headers as Latin-1, and browsers write UTF-8.
  const text = quoted?.replaceAll(/\\(.)/g, '$1') ?? plain
  return text === undefined ? undefined : Buffer.from(text, 'latin1').toString()
}

/** What a form may have around its file: other fields are not looked at. */
const formLimits = { files: 1, fields: 100, fieldSize: 65_536, parts: 101, headerPairs: 100 }

/** So many bytes of a form may be of other fields, and of what stands before each. */
const mostOfForm = 16_777_216

const malformedForm = (why: string, cause?: unknown) =>
  new ApiError('MALFORMED_REQUEST', `The form ${why}`, { cause })

/** Gives the one file of a `multipart/form-data` body (RFC 7578) to who receives it; what it gives for a form that fails later is taken back. */
const receiveForm = async (
  takeBack: (id: string) => Promise<void>,
  c: Http,
  check: (bytes: number) => void,
  receive: (incoming: Incoming) => Promise<Upload>,
): Promise<Upload> => {
  const { Busboy } = await import('@fastify/busboy')
  const sent = bodyStream(c, bytes => check(bytes - mostOfForm))
  let file: Readable | undefined
  let upload: Promise<Upload> | undefined
  try {
    const headers = { 'content-type': header(c, 'content-type') ?? '' }
    const parser = new Busboy({ headers, limits: formLimits })
    parser.on('file', (_, stream, name, __, type) => {
      file = stream
      // What it fails of is told to who reads it, which may be later.
      file.on('error', () => {})
      // The parser says so of a part whose sender says nothing, as Python's requests does (RFC 7578, section 4.4).
      const said = type === 'text/plain' ? undefined : type
      upload = receive({ stream, name, type: said })
      upload.catch(error => parser.destroy(error))
    })
    for (const event of ['filesLimit', 'fieldsLimit', 'partsLimit'])
      parser.on(event, () =>
        parser.destroy(malformedForm('has more than one file, or too many fields')),
      )
    await pipeline(sent, parser)
    if (!upload) throw malformedForm('has no file: send one, with its name')
    return await upload
  } catch (error) {
    const told =
      error instanceof ApiError
        ? error
        : malformedForm('cannot be read as multipart/form-data', error)
    // The parser leaves the stream of a form that is cut off open, and its receiver would wait forever.
    file?.destroy(told)
    upload?.then(({ id }) => takeBack(id)).catch(() => {})
    throw told
  }
}

/**
 * Receives the file of a request of a caller that may send one: its body, or the one file of a form. Throws before the first byte where
 * its announced length is above the limit, or too much of the caller waits for rows. `keyFor` gives the key of the request, if it may have one.
 */
export const receiveUpload = async (
  { core, edge }: Pick<Mount, 'core' | 'edge'>,
  writing: Writing,
  c: Http,
  taken: TakenFiles,
  keyFor?: (file: StoredFile) => Idempotency | undefined,
): Promise<Upload> => {
  const sender = hash('sha256', edge.callerOf(c, writing.viewer))
  const room = roomFor(core, writing.viewer, sender)
  const isForm = taken.field === undefined && bodyType(c) === 'multipart/form-data'
  const announced = Number(header(c, 'content-length') ?? 0) - (isForm ? mostOfForm : 0)
  checkSize(announced, taken)
  const begin = commandOf(writing, { name: 'begin an upload', steps: [{ sql: room.left }] })
  const { rows } = await commit(core, begin, null)
  const left = rows[begin.makes ?? 0]?.[0] ?? []
  room.check(announced, left)
  const check = (bytes: number) => {
    checkSize(bytes, taken)
    room.check(bytes, left)
  }
  const isKeyed = keyFor !== undefined && parseKey(header(c, 'idempotency-key')) !== undefined
  // Under a key it waits for the same request, which is told of it.
  const takeBack = async (id: string) => {
    if (!isKeyed) await withdraw(core, id)
  }
  const from = readOptionsOf(edge, c, writing.viewer)
  const receive = async (incoming: Incoming): Promise<Upload> => {
    const id = `up_${randomBytes(16).toString('base64url')}`
    let kept: Omit<Upload, 'id'> | undefined
    try {
      await takeFile(storeOf(core), { ...incoming, from }, taken, check, async file => {
        const upload = { id, owner: ownerOf(writing.viewer), sender, now: core.now() }
        const waits = insertUpload(core.dialect, file, upload, room.fitsSender(file.bytes))
        const step = { sql: sql`${waits} returning id`, refused: room.refused }
        const text = JSON.stringify({ id, ...file, digest: undefined })
        const draft = { steps: [step], text }
        const context = { idempotency: keyFor?.(file) }
        kept = { file, done: await noteFile(core, writing.viewer, file, draft, context) }
      })
      if (!kept) throw new Error('the store of files told of no bytes')
      return { id, ...kept }
    } catch (error) {
      if (kept) await takeBack(id).catch(() => {})
      throw error
    }
  }
  if (isForm) return receiveForm(takeBack, c, check, receive)
  const name = nameIn(header(c, 'content-disposition'))
  const stream = Object.assign(bodyStream(c), { spent: giveUp })
  return receive({ stream, name, type: header(c, 'content-type') })
}
