/** Files as they are received: told by their first bytes, passed on to the store as they come, and known to the database before anybody is told of them. */
import { hash, randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import type { Core } from '#core.ts'
import { ApiError } from '#errors.ts'
import { onceRemoved } from '#files/garbage.ts'
import { arrivalStep, noRoom } from '#files/keep.ts'
import { pictureHead, pictureSize } from '#files/picture.ts'
import { cleaned, isCleaned, isUncleanable } from '#files/sizes.ts'
import { headBytes, safeName, typeOf } from '#files/type.ts'
import { bodyStream, bodyType, giveUp } from '#http/body.ts'
import { type Http, header } from '#http/request.ts'
import { type StoredFile, storedText } from '#model/stored-file.ts'
import type { Mount } from '#rest/represent.ts'
import type { Dialect } from '#sql/dialect.ts'
import type { Rows } from '#sql/engine.ts'
import { comma, join, type Sql, sql } from '#sql/sql.ts'
import { accepts, inBytes, ownerOf } from '#write/claims.ts'
import { commandOf, type GuardedStep, type Writing } from '#write/command.ts'
import { writePieces } from '#write/job.ts'
import { commit, type Done } from '#write/write.ts'

/** A file on its way, with what its sender says of it. */
type Incoming = {
  readonly stream: AsyncIterable<Uint8Array>
  readonly spent?: (chunk: Uint8Array) => void
  readonly name: string | undefined
  readonly type: string | undefined
}

/** What is taken: the types and the most bytes; and the field that says so, if it is one. */
type TakenFiles = {
  /** Whether a picture keeps what a camera wrote into it. */
  readonly exif: 'kept' | undefined
  readonly accept: readonly string[]
  readonly max: number
  readonly field?: string
}

/** The error for a file that does not fit what is taken, which names the field. */
const misfit = (
  { field }: TakenFiles,
  code: 'PAYLOAD_TOO_LARGE' | 'UNSUPPORTED_MEDIA_TYPE',
  message: string,
  headers: Readonly<Record<string, string>> = {},
) => {
  const details = field === undefined ? {} : { details: [{ field, message }] }
  return new ApiError(code, `The file ${message}`, { headers, ...details })
}

/** Throws for a file of so many bytes, which its head may announce. */
const checkSize = (bytes: number, taken: TakenFiles): void => {
  if (bytes > taken.max)
    throw misfit(taken, 'PAYLOAD_TOO_LARGE', `must be at most ${inBytes(taken.max)}`)
}

/** The first bytes of a stream, and all of it. */
const withHead = async (stream: AsyncIterable<Uint8Array>) => {
  const chunks = stream[Symbol.asyncIterator]()
  const first: Uint8Array[] = []
  let size = 0
  let most = headBytes
  while (size < most) {
    const next = await chunks.next()
    if (next.done) break
    first.push(next.value)
    size += next.value.length
    // Pictures alone are looked at further.
    if (size >= headBytes && /^(?:\xff\xd8\xff|\x89PNG|RIFF|GIF8)/.test(start(first)))
      most = pictureHead
  }
  const head = first.length === 1 && first[0] ? first[0] : Buffer.concat(first)
  const next = async () => {
    const value = first.shift()
    return value ? { value } : chunks.next()
  }
  return { head, all: { [Symbol.asyncIterator]: () => ({ next }) }, end: () => chunks.return?.() }
}

const start = ([first]: readonly Uint8Array[]): string =>
  Buffer.from((first ?? new Uint8Array()).subarray(0, 4)).toString('latin1')

const endings: Readonly<Record<string, string>> = { jpeg: 'jpg', plain: 'txt', 'svg+xml': 'svg' }

/** A name for a file that was sent without one. */
const nameFor = (field: string, type: string): string => {
  const kind = type.slice(type.indexOf('/') + 1)
  const ending = endings[kind] ?? (/^[a-z0-9]{2,5}$/.test(kind) ? kind : undefined)
  return ending === undefined ? field : `${field}.${ending}`
}

/** How many bytes of one caller may wait for their rows: so many of the largest file that it may send; and how many files. */
const mostWaiting = { largest: 20, files: 1000 } as const

/** The room that is left for a file: of its sender's share for uploads that wait, and in the store; as SQL, with the refusal of what does not fit. */
const roomFor = (
  { core: { dialect, files }, sender }: Pick<Receiving, 'core' | 'sender'>,
  { max }: TakenFiles,
) => {
  const share = mostWaiting.largest * max
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

/** A file that was received, and waits for its row under this id. */
export type Upload = { readonly id: string; readonly file: StoredFile; readonly done: Done }

/** Who sends a file, and on what it is received. */
type Receiving = {
  readonly core: Core
  readonly writing: Writing
  /** The caller, as its share of what is scarce is counted. */
  readonly sender: string
  readonly taken: TakenFiles
  readonly room: ReturnType<typeof roomFor>
  /** Throws for a file that has so many bytes by now. */
  readonly check: (bytes: number) => void
}

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

/** Remembers bytes that are about to get their place, and the upload that they are; from then on no collector of garbage takes them. */
const keep = ({ core, writing, sender, room }: Receiving, id: string, file: StoredFile) => {
  const { dialect } = core
  const { bytes } = file
  const now = core.now()
  const upload = { id, owner: ownerOf(writing.viewer), sender, now }
  const steps: readonly GuardedStep[] = [
    arrivalStep(dialect, file, now, core.files?.most ?? 0),
    {
      sql: sql`${insertUpload(dialect, file, upload, room.fitsSender(bytes))} returning id`,
      refused: room.refused,
    },
  ]
  return commit(core, commandOf(writing, { name: 'upload a file', steps, text: 'true' }), null)
}

/** Takes back an upload whose sender is not told of it, so that it does not count among those that wait. */
export const withdraw = async (core: Core, id: string): Promise<void> => {
  await writePieces(core, sql`delete from uploads where id = ${id} returning id`)
}

/**
 * Receives a file into the store: by its first bytes it is refused with 415 if it is not what it is said to be or not accepted, by its
 * length with 413. Its bytes are in the store and it waits for its row when it resolves.
 */
const receiveFile = async (
  receiving: Receiving,
  { stream, spent, name, type: declared }: Incoming,
): Promise<Upload> => {
  const { core, taken, check } = receiving
  if (!core.files) throw new Error('there is no store of files')
  const { head, all, end } = await withHead(stream)
  const id = `up_${randomBytes(16).toString('base64url')}`
  let kept: Omit<Upload, 'id'> | undefined
  try {
    const { accept, field } = taken
    check(head.length)
    const type = await typeOf(head, name ?? '', declared)
    if (!accepts(accept, type)) {
      const message = `must be ${accept.join(' or ')}, and is ${type}`
      throw misfit(taken, 'UNSUPPORTED_MEDIA_TYPE', message, { Accept: accept.join(', ') })
    }
    if (taken.exif !== 'kept' && isUncleanable(type)) {
      const message = `must be a picture out of which place and camera can be taken, such as a JPEG, and is ${type}`
      throw misfit(taken, 'UNSUPPORTED_MEDIA_TYPE', message)
    }
    const shown = name ? safeName(name) : nameFor(field ?? 'file', type)
    let size = pictureSize(type, head)
    const through =
      taken.exif !== 'kept' &&
      isCleaned(type) &&
      cleaned(type, found => {
        size = found
      })
    await core.files.store.put(all, {
      check,
      ...(spent && { spent }),
      ...(through && { through }),
      arriving: async (digest, bytes) => {
        const file = { digest, name: shown, type, bytes, ...size }
        kept = { file, done: await onceRemoved(() => keep(receiving, id, file)) }
      },
    })
    if (!kept) throw new Error('the store of files told of no bytes')
    return { id, ...kept }
  } catch (error) {
    if (kept) await withdraw(core, id).catch(() => {})
    throw error
  } finally {
    await end()
  }
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

/** Receives the one file of a `multipart/form-data` body (RFC 7578). */
const receiveForm = async (receiving: Receiving, c: Http): Promise<Upload> => {
  const { check } = receiving
  const { Busboy } = await import('@fastify/busboy')
  const sent = bodyStream(c, bytes => check(bytes - mostOfForm))
  const body = Readable.from(sent, { objectMode: false })
  const { promise, resolve, reject } = Promise.withResolvers<Upload>()
  let file: Readable | undefined
  let upload: Promise<Upload> | undefined
  try {
    const parser = new Busboy({
      headers: { 'content-type': header(c, 'content-type') ?? '' },
      limits: formLimits,
    })
    parser.on('file', (_, stream, name, __, type) => {
      file = stream
      // The parser says so of a part whose sender says nothing, as Python's requests does (RFC 7578, section 4.4).
      const said = type === 'text/plain' ? undefined : type
      upload = receiveFile(receiving, { stream, name, type: said })
      upload.catch(reject)
    })
    for (const event of ['filesLimit', 'fieldsLimit', 'partsLimit'])
      parser.on(event, () => reject(malformedForm('has more than one file, or too many fields')))
    parser.on('error', cause =>
      reject(malformedForm('cannot be read as multipart/form-data', cause)),
    )
    parser.on('finish', () =>
      upload
        ? upload.then(resolve, reject)
        : reject(malformedForm('has no file: send one, with its name')),
    )
    body.on('error', reject)
    body.pipe(parser)
    return await promise
  } catch (error) {
    const told =
      error instanceof ApiError
        ? error
        : malformedForm('cannot be read as multipart/form-data', error)
    // The parser leaves the stream of a form that is cut off open, and its receiver would wait forever.
    file?.destroy(told)
    upload?.then(({ id }) => withdraw(receiving.core, id)).catch(() => {})
    throw told
  } finally {
    body.destroy()
  }
}

/**
 * Receives the file of a request of a caller that may send one: its body, or the one file of a form. Throws before the first byte where
 * its announced length is above the limit, or too much of the caller waits for rows.
 */
export const receiveUpload = async (
  { core, edge }: Pick<Mount, 'core' | 'edge'>,
  writing: Writing,
  c: Http,
  taken: TakenFiles,
): Promise<Upload> => {
  const sender = hash('sha256', edge.callerOf(c, writing.viewer))
  const room = roomFor({ core, sender }, taken)
  const isForm = taken.field === undefined && bodyType(c) === 'multipart/form-data'
  const announced = Number(header(c, 'content-length') ?? 0) - (isForm ? mostOfForm : 0)
  checkSize(announced, taken)
  const steps = [{ sql: room.left }]
  const begin = commandOf(writing, { name: 'begin an upload', steps })
  const { rows } = await commit(core, begin, null)
  const left = rows[begin.makes ?? 0]?.[0] ?? []
  room.check(announced, left)
  const check = (bytes: number) => {
    checkSize(bytes, taken)
    room.check(bytes, left)
  }
  const receiving = { core, writing, sender, taken, room, check }
  if (isForm) return receiveForm(receiving, c)
  const name = nameIn(header(c, 'content-disposition'))
  const sent = { stream: bodyStream(c), spent: giveUp, name, type: header(c, 'content-type') }
  return receiveFile(receiving, sent)
}
