/** Reads requests in the cheapest way: from Node's own parsed headers where there are any. */
import type { HttpBindings } from '@hono/node-server'
import type { Context, Hono } from 'hono'
import { after } from '#base/after.ts'
import type { JsonObject } from '#base/object.ts'
import { clipped } from '#base/text.ts'
import { ApiError } from '#errors.ts'
import { decodeUtf8, parseObject } from '#http/json.ts'
import type { Part } from '#http/memory.ts'
import { acceptQuery, formType, isQuery } from '#http/safe.ts'

type Env = {
  Bindings: Partial<HttpBindings>
  /** What its body is received under; the body, once it is received, and how to give back what it took; the parameters of a QUERY. */
  Variables: {
    receiving?: Receiving
    body?: Uint8Array
    giveBack?: () => void
    parameters?: string
  }
}

type Receiving = {
  /** The caller's part of the account of bodies. */
  readonly account: Part
  /** Throws or rejects where the token does not hold any more. */
  readonly checkAgain: () => unknown
}

export type App = Hono<Env>
export type Http = Context<Env>

/** A request header by its lower-case name. */
export const header = (c: Http, name: string): string | undefined => {
  const incoming = c.env?.incoming
  if (!incoming) return c.req.header(name)
  const value = incoming.headers[name]
  return Array.isArray(value) ? value.join(', ') : value
}

/** The query string without its question mark; empty where there is none. */
export const queryString = (c: Http): string => {
  const { url } = c.req
  const start = url.indexOf('?')
  return start < 0 ? '' : url.slice(start + 1)
}

/** The parameters of a request: its query string, and for a QUERY those of its body too, once they are read. */
export const parametersOf = (c: Http): string => c.get('parameters') ?? queryString(c)

/**
 * The bytes of a body, at most `limit` of them; throws `PAYLOAD_TOO_LARGE` before more are stored, and `OVERLOADED` where the
 * bodies that are being received would take up too much memory together.
 */
const bodyBytes = (c: Http, limit: number): Uint8Array | Promise<Uint8Array> => {
  const tooLarge = () => new ApiError('PAYLOAD_TOO_LARGE', `The body is above ${limit} bytes`)
  if (announcedLength(c) > limit) throw tooLarge()
  const checked = (bytes: Uint8Array): Uint8Array => {
    if (bytes.length > limit) throw tooLarge()
    return bytes
  }
  const received = c.get('body')
  if (received) return checked(received)
  const incoming = c.env?.incoming
  if (incoming) {
    const receiving = c.get('receiving')
    const collected = collecting(limit, tooLarge, receiving?.account)
    c.set('giveBack', collected.end)
    // A body may take longer than the token of its sender holds.
    return nodeBody(incoming, collected).then(bytes => after(receiving?.checkAgain(), () => bytes))
  }
  return c.req.arrayBuffer().then(bytes => checked(new Uint8Array(bytes)))
}

const announcedLength = (c: Http): number => Number(header(c, 'content-length') ?? 0)

/** Whether a request has a body whose length is declared and within the limit; without a socket, whether it has any. */
export const hasKnownBody = (c: Http, limit: number): boolean => {
  if (!c.env?.incoming) return c.req.raw.body !== null && announcedLength(c) <= limit
  const length = announcedLength(c)
  return length > 0 && length <= limit
}

/** Whether the head of a request announces a body (RFC 9112, section 6.3); without a socket, whether it has one. */
const announcesBody = (c: Http): boolean => {
  if (!c.env?.incoming) return c.req.raw.body !== null
  return announcedLength(c) > 0 || header(c, 'transfer-encoding') !== undefined
}

/** Receives the body, so that `bodyBytes` need not wait for it; throws as that does, but for what is too large for its reader. */
export const receiveBody = (c: Http): void | Promise<void> =>
  after(bodyBytes(c, Number.POSITIVE_INFINITY), bytes => c.set('body', bytes))

const tooManyBodies = () =>
  new ApiError(
    'OVERLOADED',
    'Too much is being received at this moment; send fewer bodies at once, or try again soon',
    { retryAfter: 1 },
  )

/** The bytes that Node takes up for a chunk beside its own, so that a body of single bytes is not cheap. */
const chunkCost = 256

/** So many small chunks in a row are made one: a MiB that comes byte by byte would else take up hundreds of them. */
const mostLoose = 64

/** From this length on a chunk takes up little beside its own bytes, and copying it would cost more than that. */
const largeChunk = 4096

type Collecting = ReturnType<typeof collecting>

/** Collects the chunks of a body within its limit and the account. */
const collecting = (limit: number, tooLarge: () => ApiError, account: Part | undefined) => {
  let chunks: Uint8Array[] = []
  let size = 0
  let taken = 0
  let loose = 0
  const join = () => {
    chunks.push(Buffer.concat(chunks.splice(-mostLoose)))
    const spared = (mostLoose - 1) * chunkCost
    account?.give(spared)
    taken -= spared
    loose = 0
  }
  return {
    /** Keeps a chunk; throws where that is too much. */
    add: (chunk: Uint8Array) => {
      size += chunk.length
      if (size > limit) throw tooLarge()
      const cost = chunk.length + chunkCost
      if (account?.take(cost) === false) throw tooManyBodies()
      taken += cost
      chunks.push(chunk)
      loose = chunk.length < largeChunk ? loose + 1 : 0
      if (loose === mostLoose) join()
    },
    whole: (): Uint8Array =>
      chunks.length === 1 ? (chunks[0] as Uint8Array) : Buffer.concat(chunks),
    /** Forgets the chunks and gives back what they took. */
    end: () => {
      chunks = []
      account?.give(taken)
      taken = 0
    },
  }
}

/** Reads Node's stream directly: a web stream around it would cost as much as a small request. */
const nodeBody = (
  incoming: HttpBindings['incoming'],
  { add, whole, end }: Collecting,
): Promise<Uint8Array> =>
  new Promise<Uint8Array>((resolve, reject) => {
    const fail = (error: unknown) => {
      end()
      reject(error)
    }
    // Nothing more would be heard of one that was cut off while its token was checked.
    if (incoming.destroyed) return reject(hungUp())
    incoming.on('data', (chunk: Uint8Array) => {
      try {
        add(chunk)
      } catch (error) {
        // The rest is read and dropped, so that the caller can read the answer.
        incoming.removeAllListeners('data').resume()
        fail(error)
      }
    })
    // What it took is given back when it is answered: until then it is there.
    incoming.once('end', () => resolve(whole()))
    // Every request closes in the end; the body of one that was cut off is incomplete.
    incoming.once('error', error => fail(incoming.complete ? error : hungUp(error)))
    incoming.once('close', () => {
      if (!incoming.complete) fail(hungUp())
    })
  })

/** The error for a client that does not wait for its answer; only the log shows it. */
export const hungUp = (cause?: unknown): ApiError =>
  new ApiError('CLIENT_CLOSED_REQUEST', undefined, { cause })

/** Whether the client of a request hung up. Node destroys the socket too where a client says that it sends no more. */
export const hasHungUp = (c: Http): boolean => c.env?.incoming?.socket.destroyed === true

const charsetOf = (contentType: string): string | undefined =>
  /;\s*charset\s*=\s*"?([^\s;"]*)/i.exec(contentType)?.[1]?.toLowerCase()

const isUtf8Of = (contentType: string, types: readonly string[]): boolean => {
  const charset = charsetOf(contentType)
  const type = contentType.split(';', 1)[0]?.trim().toLowerCase() ?? ''
  return (
    types.includes(type) && (charset === undefined || charset === 'utf-8' || charset === 'utf8')
  )
}

/** The body of a request that left out an optional one. */
export const noBody: JsonObject = {}

/**
 * Throws `UNSUPPORTED_MEDIA_TYPE` for a body in a content coding, whose names have no case (RFC 9110, section 8.4.1), with what is read (section 15.5.16), and
 * `MALFORMED_REQUEST` for a PUT of a part, which would replace the whole by it (section 14.5).
 */
const checkWhole = (c: Http, headers: Readonly<Record<string, string>> = {}): void => {
  const coding = header(c, 'content-encoding')
  if (coding && coding.toLowerCase() !== 'identity')
    throw new ApiError(
      'UNSUPPORTED_MEDIA_TYPE',
      `A body in ${clipped(coding, 100)} is not read here; send it plain`,
      { headers: { ...headers, 'Accept-Encoding': 'identity' } },
    )
  if (c.req.method === 'PUT' && header(c, 'content-range') !== undefined)
    throw new ApiError(
      'MALFORMED_REQUEST',
      'A part of a body cannot be put here: leave out Content-Range, and send the whole',
    )
}

/** The bytes of a body of any type; throws as `bodyBytes` does, 415 for a compressed one and 400 for a part. */
export const plainBytes = (c: Http, limit: number): Uint8Array | Promise<Uint8Array> => {
  checkWhole(c)
  return bodyBytes(c, limit)
}

/** The bytes of a body of one of these types; throws `UNSUPPORTED_MEDIA_TYPE`, for a QUERY with the types that are read (RFC 10008, section 3). */
const typedBytes = (
  c: Http,
  limit: number,
  types: readonly string[],
  mustBeTyped = false,
): Uint8Array | Promise<Uint8Array> => {
  const contentType = header(c, 'content-type')
  const headers = isQuery(c.req.method) ? acceptQuery(types) : {}
  checkWhole(c, headers)
  const wrongType = () =>
    new ApiError(
      'UNSUPPORTED_MEDIA_TYPE',
      `The body must be ${types.join(' or ')} in UTF-8; send Content-Type: ${types[0]}`,
      { headers },
    )
  if (contentType !== undefined && !isUtf8Of(contentType, types)) throw wrongType()
  return after(bodyBytes(c, limit), bytes => {
    if (contentType === undefined && (mustBeTyped || bytes.length > 0)) throw wrongType()
    return bytes
  })
}

/**
 * The JSON object of a body. Throws 415 for another media type or a compressed body, 413 above the limit,
 * 400 where it is not a JSON object, or a part of one. Without a body, 400 unless `optional`: no type of it is then looked at.
 */
export const jsonBody = (
  c: Http,
  limit: number,
  types: readonly string[],
  optional = false,
): JsonObject | Promise<JsonObject> => {
  // Clients such as curl -d '' name a type for a body that they do not send.
  if (optional && !announcesBody(c)) return noBody
  return after(typedBytes(c, limit, types), bytes => {
    if (bytes.length > 0) return parseObject(decodeUtf8(bytes))
    if (optional) return noBody
    throw new ApiError('MALFORMED_REQUEST', 'A JSON object is needed as the body')
  })
}

/** The text of a body in the form of a query string; throws as `jsonBody` does, and 415 without a type, also for no body (RFC 10008, section 2). */
export const formBody = async (c: Http, limit: number): Promise<string> =>
  decodeUtf8(await typedBytes(c, limit, [formType], true))

const saneId = /^[\w.:/+=@-]{1,128}$/

/** The caller's request id if it sent a valid one, else a new one. */
export const requestIdOf = (c: Http): string => {
  const sent = header(c, 'x-request-id')
  return sent !== undefined && saneId.test(sent) ? sent : crypto.randomUUID()
}
