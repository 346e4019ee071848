/**
 * Files in a store that speaks S3. Requests are signed by aws4fetch, two kilobytes of code, where the SDK of AWS brings 88 packages.
 * A file waits on the disk of this machine until it is whole: then its digest, which is its key, and its length are known, and what
 * fails on the way to the store can be sent again.
 */
import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { lstat, mkdir } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pipeline } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { AwsClient } from 'aws4fetch'
import { http, https } from '#base/http.ts'
import { ApiError, Failure } from '#errors.ts'
import { folderStore } from '#files/folder.ts'
import { type FileStore, isDigest, missing, placeOf, puttingBy, sweepParts } from '#files/store.ts'
import { ConfigError } from '#settings.ts'

export type S3Settings = {
  readonly bucket: string
  /** What stands before each key; empty or with a slash at its end. */
  readonly prefix: string
  /** The address of the store, without a slash at its end. */
  readonly endpoint: string
  readonly region: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string | undefined
  /** How long the store may be silent, in milliseconds. */
  readonly patience?: number
  /** The folder in which files wait until they are whole. */
  readonly spool?: string
}

type S3Request = {
  readonly method?: string
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  /** The file that is sent, and its length. */
  readonly body?: { readonly path: string; readonly bytes: number }
  /** Whether what it is about may be missing, so that a 404 is an answer. */
  readonly mayLack?: true
  /** Whether the answer is read by who asked, as it comes. */
  readonly isStreamed?: true
}

const tries = 3

const removal: S3Request = { method: 'DELETE', mayLack: true }

const noBucket = 'there is no such bucket: make it, or name another one in DUET_FILES'

const escapes: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"' }

/** The texts of all elements of a name in XML that has no attributes there, as S3 answers it. */
const elements = (xml: string, name: string): readonly string[] =>
  [...xml.matchAll(new RegExp(`<${name}>([\\s\\S]*?)</${name}>`, 'g'))].map(([, text = '']) =>
    text.replace(/&(amp|lt|gt|quot|apos);/g, (_, name) => escapes[name] ?? "'"),
  )

/** The text of the first of them; empty if there is none. */
const element = (xml: string, name: string): string => elements(xml, name)[0] ?? ''

/** So much of a body may wait for the line once it was handed over: that of a connection of Linux. */
const mostWaiting = 4 * 2 ** 20

/** Sends signed requests to a bucket. What S3 does not answer as it should is `UNAVAILABLE`; the log has what came instead. */
const bucketClient = (settings: S3Settings, patience: number) => {
  const { bucket, endpoint, region, accessKeyId, secretAccessKey, sessionToken } = settings
  const client = new AwsClient({
    accessKeyId,
    secretAccessKey,
    ...(sessionToken !== undefined && { sessionToken }),
    region,
    service: 's3',
  })
  const label = `the bucket ${bucket} at ${endpoint}`
  const unavailable = (why: string, cause?: unknown) =>
    new ApiError('UNAVAILABLE', 'The store of files does not answer as it should; try again', {
      retryAfter: 5,
      cause: new Failure(`${label}: ${why}`, { cause }),
    })

  /** The answer to one request, whose body tears where the store falls silent in it. */
  const sendOnce = async (
    key: string,
    { method = 'GET', query = {}, headers = {}, body }: S3Request,
  ): Promise<IncomingMessage> => {
    const url = new URL(`${endpoint}/${bucket}${key === '' ? '' : `/${key}`}`)
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
    const signed = Object.fromEntries((await client.sign(url, { method, headers })).headers)
    const length = body && { 'Content-Length': body.bytes }
    const { request } = url.protocol === 'https:' ? https() : http
    const asked = request(url, { method, headers: { ...signed, ...length }, timeout: patience })
    asked.on('error', () => {})
    let answer: IncomingMessage | undefined
    const silent = () => {
      // Where bytes wait for who reads them, it is that one who is slow, and the store is looked at again.
      if (answer?.readableLength) asked.setTimeout(patience)
      else (answer ?? asked).destroy(new Error('it is silent'))
    }
    // A request tells of it once alone.
    asked.once('socket', socket => {
      socket.on('timeout', silent)
      asked.once('close', () => socket.off('timeout', silent))
    })
    // Nothing shows how what waits for a slow line leaves.
    const longer = patience * (1 + Math.min(body?.bytes ?? 0, mostWaiting) / 2 ** 20)
    asked.once('finish', () => asked.setTimeout(longer))
    // What fails there ends the request, and is told by it.
    if (body) pipeline(createReadStream(body.path), asked, () => {})
    else asked.end()
    ;[answer] = await once(asked, 'response')
    return answer as IncomingMessage
  }

  /** Asks again what was not answered whole, or with a fault of the store; each request of ours may be repeated. */
  const send = async (key: string, request: S3Request) => {
    const { method = 'GET', isStreamed = false, mayLack = false } = request
    const what = `${method} /${key}`
    for (let left = tries - 1; ; left--) {
      let failed: ApiError
      try {
        const answer = await sendOnce(key, request)
        const { statusCode: status = 0 } = answer
        const isOk = status >= 200 && status < 300
        const isDone = isOk || (mayLack && status === 404)
        // A torn answer may be that of a proxy, which passed nothing on.
        const signal = AbortSignal.timeout(patience)
        const isRead = isOk && isStreamed
        const text = isRead ? '' : Buffer.concat(await answer.toArray({ signal })).toString()
        if (isDone) return { answer, text }
        const code = element(text, 'Code')
        const why = `${status} ${code} ${element(text, 'Message')}`
        failed = unavailable(`${what} was answered ${why}`.trim())
        if (code === 'NoSuchBucket') failed = unavailable(noBucket)
        // Another try of any other would be answered alike.
        if (!(status >= 500 && status !== 501) && status !== 429 && status !== 408) throw failed
      } catch (error) {
        if (error instanceof ApiError) throw error
        failed = unavailable(`${what} was not answered: ${(error as Error).message}`, error)
      }
      if (left === 0) throw failed
      await sleep(Math.random() * 200 * (tries - left))
    }
  }

  /** All files of a listing, page after page. */
  async function* listing(prefix: string) {
    let token = ''
    do {
      const next = { ...(token !== '' && { 'continuation-token': token }) }
      const { text } = await send('', { query: { 'list-type': '2', prefix, ...next } })
      if (!text.includes('<ListBucketResult')) throw unavailable('what it lists is no bucket')
      yield* elements(text, 'Contents')
      token = element(text, 'NextContinuationToken')
    } while (token !== '')
  }
  return { label, unavailable, send, listing }
}

/** The store of a bucket. */
export const s3Store = (settings: S3Settings): FileStore => {
  const { prefix, patience = 30_000 } = settings
  const { spool = join(tmpdir(), `duet-files-${process.getuid?.() ?? 0}`) } = settings
  const { label, unavailable, send, listing } = bucketClient(settings, patience)
  const keyOf = (name: string) => `${prefix}${placeOf(name)}`

  const makeSpool = async (): Promise<void> => {
    await mkdir(spool, { recursive: true, mode: 0o700 }).catch(error => {
      error.message += ': set TMPDIR to a folder that this user may write'
      throw error
    })
    const found = await lstat(spool)
    // In a folder of somebody else, who may have made it first, that one could put other bytes in place of these.
    if (!found.isDirectory() || found.uid !== (process.getuid?.() ?? found.uid))
      throw new Error(`${spool} is no folder of this user: remove it, or set TMPDIR to another one`)
  }
  return {
    label,
    put: puttingBy(spool, makeSpool, async (path, name, { digest, bytes }) => {
      const headers = { 'X-Amz-Content-Sha256': digest }
      const { answer } = await send(keyOf(name), { method: 'PUT', headers, body: { path, bytes } })
      // What is no store, such as a page to sign in at, may say 200 to anything.
      if (!answer.headers.etag)
        throw unavailable(`PUT /${keyOf(name)} was answered without an ETag`)
    }),
    open: async (name, range) => {
      const headers = range ? { Range: `bytes=${range.first}-${range.last}` } : {}
      const { answer } = await send(keyOf(name), { headers, mayLack: true, isStreamed: true })
      if (answer.statusCode === 404) throw missing(label, name)
      const failed = (why: string) => unavailable(`GET /${keyOf(name)} ${why}`)
      const { 'content-range': sent = 'bytes 0-' } = answer.headers
      // Some answer more than was asked for, which is cut off; another beginning would be other bytes.
      if (!range || sent.startsWith(`bytes ${range.first}-`))
        return telling(answer, failed, range && range.last - range.first + 1)
      answer.destroy()
      throw failed(`was answered with ${sent} in place of ${headers.Range}`)
    },
    size: async name => {
      const { answer } = await send(keyOf(name), { method: 'HEAD', mayLack: true })
      return answer.statusCode === 404 ? undefined : Number(answer.headers['content-length'])
    },
    remove: async name => {
      const key = keyOf(name)
      for await (const entry of listing(`${key}.`)) await send(element(entry, 'Key'), removal)
      await send(key, removal)
    },
    list: async function* () {
      for await (const entry of listing(prefix)) {
        const key = element(entry, 'Key')
        const digest = key.split('/').at(-1) ?? ''
        // Below the prefix may be another store, under a longer one.
        if (!isDigest(digest) || key !== keyOf(digest)) continue
        const changed = new Date(element(entry, 'LastModified'))
        yield { digest, bytes: Number(element(entry, 'Size')), changed }
      }
    },
    sweep: before => sweepParts(spool, before),
  }
}

/** The body of an answer as it comes, or so many bytes of it; what it tears by is told as the fault of the store. */
async function* telling(
  answer: IncomingMessage,
  failed: (why: string) => Error,
  most = Number.POSITIVE_INFINITY,
) {
  let left = most
  try {
    for await (const chunk of answer) {
      yield chunk.subarray(0, left) as Uint8Array
      left -= chunk.length
      if (left <= 0) return
    }
  } catch (error) {
    throw failed(`was torn: ${(error as Error).message}`)
  }
}

/**
 * The store at `s3://BUCKET/PREFIX?endpoint=URL&region=NAME` or in a folder. The keys of a bucket are in the variables that all tools of
 * S3 read; throws a ConfigError without them.
 */
export const fileStoreAt = (
  place: string,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): FileStore => {
  if (!place.startsWith('s3://')) return folderStore(resolve(place))
  const { hostname: bucket, pathname, searchParams } = new URL(place)
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = environment
  if (!accessKeyId || !secretAccessKey)
    throw new ConfigError(
      'DUET_FILES names a bucket: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY to a key that may read, write, list and delete in it',
    )
  const region = searchParams.get('region') ?? environment.AWS_REGION ?? 'us-east-1'
  const endpoint = searchParams.get('endpoint') ?? `https://s3.${region}.amazonaws.com`
  if (!/^https?:\/\/[^/?#]+\/?$/.test(endpoint))
    throw new ConfigError(
      'the endpoint in DUET_FILES must be the address of a server, such as https://s3.example.org',
    )
  const prefix = decodeURIComponent(pathname.replace(/^\//, ''))
  return s3Store({
    ...{ bucket, region, accessKeyId, secretAccessKey },
    prefix: prefix === '' || prefix.endsWith('/') ? prefix : `${prefix}/`,
    endpoint: endpoint.replace(/\/$/, ''),
    sessionToken: environment.AWS_SESSION_TOKEN,
  })
}
