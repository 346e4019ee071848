/** Request bodies as JSON objects, read more strictly than JSON.parse does. */
import { after } from '#base/after.ts'
import { isReadBack, notReadBack } from '#base/number.ts'
import { isObject, type JsonObject } from '#base/object.ts'
import { clipped } from '#base/text.ts'
import { ApiError, type FieldFault, mostFaults, overloaded } from '#errors.ts'
import { acceptFor, type Http, header, hungUp } from '#http/request.ts'

/** How deep a body may nest; the outermost object is level 1. */
const deepest = 32

const malformed = (message: string, cause?: unknown) =>
  new ApiError('MALFORMED_REQUEST', message, { cause })

const decoder = new TextDecoder('utf-8', { fatal: true })

/** The text of UTF-8 bytes; throws `MALFORMED_REQUEST` where they are not UTF-8. */
export const decodeUtf8 = (bytes: Uint8Array): string => {
  try {
    return decoder.decode(bytes)
  } catch (cause) {
    throw malformed('The body is not UTF-8', cause)
  }
}

/** An object or list that is open at some place of a text. */
type Scope = {
  readonly isObject: boolean
  /** The names of an object's members so far; made with the first one, since a body may have many empty objects. */
  names: Set<string> | undefined
  /** The member or element that is being read. */
  at: string | number
}

const mostMembers = 1000
const mostElements = 10_000

/** How many members and elements a body may have in all. */
const mostInAll = 50_000

/** The error for an object or list that is too large, the innermost of these scopes, or for the whole. */
const tooLarge = (named: string, message: string, scopes: readonly Scope[] = []): ApiError => {
  const path = scopes.slice(0, -1).map(({ at }) => at)
  const field = clipped(path.join('.'), 100)
  return new ApiError('VALIDATION_ERROR', `${field || named} ${message}`, {
    details: [{ field, message }],
  })
}

/** The place of the quote that ends the string which begins at `start`; the end of the text where there is none. */
const endOfString = (json: string, start: number): number => {
  for (let end = json.indexOf('"', start + 1); ; end = json.indexOf('"', end + 1)) {
    if (end < 0) return json.length
    let before = end - 1
    while (json[before] === '\\') before--
    if ((end - before) % 2 === 1) return end
  }
}

const marks = {
  quote: 34,
  comma: 44,
  minus: 45,
  zero: 48,
  nine: 57,
  list: 91,
  endOfList: 93,
  object: 123,
  endOfObject: 125,
} as const

const numberAt = /-?\d[\d.eE+-]*/y

/**
 * Throws where JSON nests too deep or gives a member twice, which JSON.parse lets pass: two readers of such a body
 * could see two different requests (RFC 8259, section 4). Throws `VALIDATION_ERROR` where an object, a list or the whole is too
 * large: all that reads it later takes some time for each member, JSON.parse too. Gives a fault for each number that JSON.parse would
 * change (RFC 7493, section 2.2).
 */
const checkStructure = (json: string, named: string): readonly FieldFault[] => {
  const changed: FieldFault[] = []
  const scopes: Scope[] = []
  let scope: Scope | undefined
  let isKeyNext = false
  let inAll = 0
  for (let place = 0; place < json.length; place++) {
    const mark = json.charCodeAt(place)
    if (mark === marks.object || mark === marks.list) {
      isKeyNext = mark === marks.object
      scope = { isObject: isKeyNext, names: undefined, at: isKeyNext ? '' : 0 }
      scopes.push(scope)
      if (scopes.length > deepest) throw malformed(`${named} nests deeper than ${deepest} levels`)
      inAll++
    } else if (mark === marks.endOfObject || mark === marks.endOfList) {
      scopes.pop()
      scope = scopes.at(-1)
    } else if (mark === marks.comma && scope) {
      inAll++
      isKeyNext = scope.isObject
      if (!isKeyNext) {
        scope.at = Number(scope.at) + 1
        if (inAll <= mostInAll && scope.at >= mostElements)
          throw tooLarge(named, `has more than ${mostElements} elements`, scopes)
      }
    } else if (mark === marks.quote) {
      const start = place
      place = endOfString(json, start)
      if (isKeyNext && scope) {
        const token = json.slice(start, place + 1)
        let name = token.slice(1, -1)
        if (name.includes('\\'))
          try {
            name = JSON.parse(token)
          } catch {
            // A bad escape: the text is no JSON, and its parser will say so.
            name = token
          }
        scope.names ??= new Set()
        if (scope.names.has(name))
          throw malformed(`The member ${JSON.stringify(clipped(name, 100))} is given twice`)
        scope.names.add(name)
        scope.at = name
        if (scope.names.size > mostMembers)
          throw tooLarge(named, `has more than ${mostMembers} members`, scopes)
      }
      isKeyNext = false
    } else if (mark === marks.minus || (mark >= marks.zero && mark <= marks.nine)) {
      numberAt.lastIndex = place
      const [number = ''] = numberAt.exec(json) ?? []
      if (number.length > 1) place += number.length - 1
      if (!isReadBack(number) && changed.length < mostFaults)
        changed.push({
          field: clipped(scopes.map(({ at }) => at).join('.'), 100),
          message: notReadBack(number),
        })
    }
    if (inAll > mostInAll)
      throw tooLarge(named, `has more than ${mostInAll} members and elements in all`)
  }
  return changed
}

/**
 * The value of a JSON text, which errors name so; throws `MALFORMED_REQUEST` where it is none, `VALIDATION_ERROR` where a part is too
 * large or a number would be another one.
 */
export const parseJson = (text: string, named: string): unknown => {
  const changed = checkStructure(text, named)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw malformed(`${named} is not JSON: ${(cause as Error).message}`, cause)
  }
  if (changed.length === 0) return value
  const sentences = changed.map(({ field, message }) => `${field || named} ${message}`)
  throw new ApiError('VALIDATION_ERROR', sentences.join('; '), { details: changed })
}

/** The object of a body's JSON text; throws what `parseJson` throws, and `MALFORMED_REQUEST` for another value. */
export const parseObject = (text: string): JsonObject => {
  const value = parseJson(text, 'The body')
  if (!isObject(value)) throw malformed('The body must be a JSON object')
  return value
}

const announcedLength = (c: Http): number => Number(header(c, 'content-length') ?? 0)

/** Whether the head of a request announces a body (RFC 9112, section 6.3); without a socket, whether it has one. */
export const announcesBody = (c: Http): boolean => {
  if (!c.env?.incoming) return c.req.raw.body !== null
  return announcedLength(c) > 0 || header(c, 'transfer-encoding') !== undefined
}

/** The bytes that Node takes up for a chunk beside its own, so that a body of single bytes is not cheap. */
const chunkCost = 256

/** So many small chunks in a row are made one: a MiB that comes byte by byte would else take up hundreds of them. */
const mostLoose = 64

/** From this length on a chunk takes up little beside its own bytes, and copying it would cost more than that. */
const largeChunk = 4096

/** Invites a body that its sender holds back until it is wanted (RFC 9110, section 10.1.1): one that is refused before is never sent. */
const invite = ({ env }: Http): void => {
  const { headers, httpVersionMinor = 0 } = env?.incoming ?? {}
  if (headers?.expect && httpVersionMinor > 0) env?.outgoing?.writeContinue()
}

/**
 * The bytes of a body, at most `limit` of them; throws `PAYLOAD_TOO_LARGE` before more are stored, and `OVERLOADED` where the
 * bodies that are being received would take up too much memory together. Reads Node's stream directly: a web stream around it would
 * cost as much as a small request.
 */
const bodyBytes = (c: Http, limit: number): Uint8Array | Promise<Uint8Array> => {
  const tooLarge = () => new ApiError('PAYLOAD_TOO_LARGE', `The body is above ${limit} bytes`)
  const received = c.get('body')
  if ((received?.length ?? announcedLength(c)) > limit) throw tooLarge()
  if (received) return received
  const incoming = c.env?.incoming
  if (!incoming)
    return c.req.arrayBuffer().then(buffer => {
      if (buffer.byteLength > limit) throw tooLarge()
      return new Uint8Array(buffer)
    })
  // Nothing more would be heard of one that was cut off while its token was verified.
  if (incoming.destroyed) throw hungUp()
  const { account, checkAgain } = c.get('receiving') ?? {}
  let chunks: Uint8Array[] = []
  let size = 0
  let taken = 0
  let loose = 0
  // What it took is given back when it is answered: until then it is there.
  const giveBack = () => {
    chunks = []
    account?.give(taken)
    taken = 0
  }
  c.set('giveBack', giveBack)
  if (incoming.headers.expect) invite(c)
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>()
  const fail = (error: unknown) => {
    giveBack()
    reject(error)
  }
  incoming.on('data', (chunk: Uint8Array) => {
    size += chunk.length
    const cost = chunk.length + chunkCost
    const isTooLarge = size > limit
    if (isTooLarge || account?.take(cost) === false) {
      // The rest is read and dropped, so that the caller can read the answer.
      incoming.removeAllListeners('data').resume()
      return fail(isTooLarge ? tooLarge() : tooManyBodies())
    }
    taken += cost
    chunks.push(chunk)
    loose = chunk.length < largeChunk ? loose + 1 : 0
    if (loose < mostLoose) return
    chunks.push(Buffer.concat(chunks.splice(-mostLoose)))
    const spared = (mostLoose - 1) * chunkCost
    account?.give(spared)
    taken -= spared
    loose = 0
  })
  incoming.once('end', () =>
    resolve(chunks.length === 1 ? (chunks[0] as Uint8Array) : Buffer.concat(chunks)),
  )
  // Every request closes in the end; the body of one that was cut off is incomplete.
  incoming.once('error', error => fail(incoming.complete ? error : hungUp(error)))
  incoming.once('close', () => {
    if (!incoming.complete) fail(hungUp())
  })
  // It may have taken longer than the token of its sender holds.
  return promise.then(bytes => after(checkAgain?.(), () => bytes))
}

const tooManyBodies = () =>
  overloaded(
    'Too much is being received at this moment; send fewer bodies at once, or try again soon',
  )

/** Takes so many bytes more for a request, until it is answered; throws `OVERLOADED` where its caller has not so much room left. */
export const takeMore = (c: Http, bytes: number): void => {
  const { account } = c.get('receiving') ?? {}
  if (account?.take(bytes) === false)
    throw overloaded(
      'Too many rows wait to be written at this moment; send fewer at once, or try again soon',
    )
  const giveBack = c.get('giveBack')
  c.set('giveBack', () => {
    giveBack?.()
    account?.give(bytes)
  })
}

/**
 * Receives a body whose length is declared and within the limit, so that its reader need not wait for it; throws as that does, but for
 * what is too large for it. Any other body is left.
 */
export const receiveBody = async (c: Http, limit: number): Promise<void> => {
  const length = announcedLength(c)
  const incoming = c.env?.incoming
  const isThere = incoming ? length > 0 : c.req.raw.body !== null
  if (!isThere || length > limit) return
  // Node hands over the head first, and then what came with it.
  await undefined
  if (incoming?.readableLength !== length || incoming.destroyed)
    return c.set('body', await bodyBytes(c, Number.POSITIVE_INFINITY))
  // All is there: to wait for events of the stream would take as long as to parse it.
  const { account } = c.get('receiving') ?? {}
  const cost = length + chunkCost
  const body = account?.take(cost) === false ? undefined : incoming.read(length)
  incoming.resume()
  if (body === undefined) throw tooManyBodies()
  c.set('giveBack', () => account?.give(cost))
  c.set('body', body)
}

/** The body of a request that left out an optional one. */
export const noBody: JsonObject = {}

/**
 * Throws `UNSUPPORTED_MEDIA_TYPE` for a body in a content coding, whose names have no case (RFC 9110, section 8.4.1), with what is read (section 15.5.16), and
 * `MALFORMED_REQUEST` for a PUT of a part, which would replace the whole by it (section 14.5).
 */
const checkWhole = (c: Http, types: readonly string[] = []): void => {
  const coding = header(c, 'content-encoding')
  if (coding && coding.toLowerCase() !== 'identity') {
    const read = types.length > 0 ? acceptFor(c.req.method, types) : {}
    const message = `A body in ${clipped(coding, 100)} is not read here; send it plain`
    const headers = { ...read, 'Accept-Encoding': 'identity' }
    throw new ApiError('UNSUPPORTED_MEDIA_TYPE', message, { headers })
  }
  if (c.req.method === 'PUT' && header(c, 'content-range') !== undefined)
    throw new ApiError(
      'MALFORMED_REQUEST',
      'A part of a body cannot be put here: leave out Content-Range, and send the whole',
    )
}

/** What a body that is passed on as it comes takes of the memory for bodies, or for answers: what Node and its receiver hold of it. */
export const transferCost = 131_072

/** How long a sender may pause in such a body, in milliseconds, and by how many bytes it earns a second of that back. */
const pace = { pause: 30_000, rate: 1000 } as const

/** Requests whose bodies take as long as they do, since their pace is watched here. */
const paced = new WeakSet<object>()

/** Whether the pace of a request is watched, so that the time of the whole is no matter. */
export const isPaced = (incoming: object): boolean => paced.has(incoming)

/**
 * The bytes of a body as they come, of any number; `check` is told how many came, with each chunk, and may throw. Throws 415 for a compressed one and 400 for a part, `REQUEST_TIMEOUT` where its
 * sender falls silent or keeps it up by a trickle, `OVERLOADED` where too much is being received, and `UNAUTHENTICATED` at the end of
 * one that its token did not outlive.
 */
export const bodyStream = async function* (
  c: Http,
  check: (bytes: number) => void = () => {},
): AsyncGenerator<Uint8Array, void, undefined> {
  checkWhole(c)
  const received = c.get('body')
  check(received?.length ?? 0)
  if (received) return void (yield received)
  const incoming = c.env?.incoming
  if (incoming?.destroyed) throw hungUp()
  const { account, checkAgain } = c.get('receiving') ?? {}
  if (account?.take(transferCost) === false) throw tooManyBodies()
  invite(c)
  const source: AsyncIterable<Uint8Array> =
    incoming?.iterator({ destroyOnReturn: false }) ?? c.req.raw.body ?? ReadableStream.from([])
  let left: number = pace.pause
  let size = 0
  let fail = (_: Error) => {}
  const late = setTimeout(() => fail(tooSlow()), pace.pause)
  if (incoming) paced.add(incoming)
  const chunks = source[Symbol.asyncIterator]()
  try {
    for (;;) {
      const asked = performance.now()
      // One timer and no race of promises: a large file has thousands of chunks.
      const next = await new Promise<IteratorResult<Uint8Array>>((resolve, reject) => {
        fail = reject
        late.refresh()
        chunks.next().then(resolve, reject)
      })
      if (next.done) break
      size += next.value.length
      check(size)
      left -= performance.now() - asked
      if (left < 0) throw tooSlow()
      // What was sent fast before does not pay for a trickle that keeps the rest on the disk.
      left = Math.min(pace.pause, left + (next.value.length / pace.rate) * 1000)
      yield next.value
    }
    if (incoming && !incoming.complete) throw hungUp()
    await checkAgain?.()
  } catch (error) {
    if (error instanceof ApiError || incoming?.complete) throw error
    throw hungUp(error)
  } finally {
    clearTimeout(late)
    account?.give(transferCost)
    if (incoming) {
      paced.delete(incoming)
      // The rest is read and dropped, so that the caller can read the answer; nothing flows while its iterator listens.
      if (!incoming.complete) void chunks.return?.().finally(() => incoming.resume())
    }
  }
}

/**
 * Gives the memory of a chunk of `bodyStream` back once nobody reads it any more. The collector of garbage would find it late: it counts
 * what chunks take as young objects of a few bytes, until a hundred MiB of them make it look through the whole heap.
 */
export const giveUp = (chunk: Uint8Array): void => {
  const { buffer, length } = chunk
  if (buffer instanceof ArrayBuffer && length === buffer.byteLength) buffer.transfer(0)
}

const tooSlow = () =>
  new ApiError(
    'REQUEST_TIMEOUT',
    'The body did not come in time; send it again, without a pause in it',
  )

/** The bytes of a body of any type; throws as `bodyBytes` does, 415 for a compressed one and 400 for a part. */
export const plainBytes = (c: Http, limit: number): Uint8Array | Promise<Uint8Array> => {
  checkWhole(c)
  return bodyBytes(c, limit)
}

/** The media type that a request says its body has, without parameters; undefined if it says none. */
export const bodyType = (c: Http): string | undefined =>
  header(c, 'content-type')?.split(';', 1)[0]?.trim().toLowerCase()

/** The bytes of a body of one of these types; throws `UNSUPPORTED_MEDIA_TYPE` with the types that are read. */
const typedBytes = (
  c: Http,
  limit: number,
  types: readonly string[],
  mustBeTyped = false,
): Uint8Array | Promise<Uint8Array> => {
  const contentType = header(c, 'content-type')
  checkWhole(c, types)
  const wrongType = () =>
    new ApiError(
      'UNSUPPORTED_MEDIA_TYPE',
      `The body must be ${types.join(' or ')} in UTF-8; send Content-Type: ${types[0]}`,
      { headers: acceptFor(c.req.method, types) },
    )
  if (contentType !== undefined) {
    const type = bodyType(c) ?? ''
    const charset = /;\s*charset\s*=\s*"?([^\s;"]*)/i.exec(contentType)?.[1]?.toLowerCase()
    if (!types.includes(type) || !(charset === undefined || /^utf-?8$/.test(charset)))
      throw wrongType()
    return bodyBytes(c, limit)
  }
  return after(bodyBytes(c, limit), bytes => {
    if (mustBeTyped || bytes.length > 0) throw wrongType()
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

/** The text of the body of a QUERY; throws as `jsonBody` does, and 415 without a type, also for no body (RFC 10008, section 2). */
export const queryBody = async (
  c: Http,
  limit: number,
  types: readonly string[],
): Promise<string> => decodeUtf8(await typedBytes(c, limit, types, true))
