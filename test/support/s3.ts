/** A store that speaks S3, behind a proxy that lets its requests fail in any way. */
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type S3Settings, s3Store } from '#files/s3.ts'
import type { FileStore } from '#files/store.ts'

/** The part of s3rver that is used here; it has no types. */
type S3rver = new (options: object) => { run(): Promise<AddressInfo>; close(): Promise<void> }
const require = createRequire(import.meta.url)
const S3rver: S3rver = require('s3rver')

/** What becomes of a request in place of being passed on. */
export type Fault = (
  passOn: () => void,
  outgoing: ServerResponse,
  incoming: IncomingMessage,
) => void

const answering = (status: number, code: string): Fault => {
  return (_, outgoing) => void outgoing.writeHead(status).end(`<Error><Code>${code}</Code></Error>`)
}

/** What requests meet by how S3 fails, and what is told of it. */
export const faults = {
  'is silent': [() => {}, /was not answered/],
  tears: [(_, outgoing) => void outgoing.destroy(), /was not answered/],
  'tears its answer': [
    (_, outgoing) => {
      outgoing.writeHead(200, { 'Content-Length': '500' })
      outgoing.write('%PDF', () => outgoing.destroy())
    },
    /was not answered/,
  ],
  'says 200 to anything': [
    (_, outgoing) => void outgoing.end('<html>'),
    /answered without an ETag/,
  ],
  'answers for ever': [
    (_, outgoing) => {
      // It ends after many, so that whoever waits for all of it fails a test and does not hang.
      let left = 50
      const more = setInterval(() => (left-- > 0 ? outgoing.write(' ') : outgoing.end()), 50)
      outgoing.on('close', () => clearInterval(more))
    },
    /was not answered/,
  ],
  'answers 503': [answering(503, 'SlowDown'), /was answered 503 SlowDown/],
  'refuses the keys': [answering(403, 'AccessDenied'), /was answered 403 AccessDenied/],
} satisfies Readonly<Record<string, readonly [Fault, RegExp]>>

export type S3 = {
  /** What DUET_FILES names it. */
  readonly address: string
  /** The store of its bucket, at the proxy. */
  readonly store: (more?: Partial<S3Settings>) => FileStore
  /** What requests meet from now on; they are passed on again where it is undefined. */
  fault: Fault | undefined
  readonly close: () => Promise<void>
}

/** Starts one with an empty bucket, which keeps its files in that folder. */
export const startS3 = async (root: string): Promise<S3> => {
  const bucket = 'duet'
  const s3 = new S3rver({
    ...{ address: '127.0.0.1', port: 0, silent: true, directory: join(root, 's3') },
    configureBuckets: [{ name: bucket }],
  })
  const { port } = await s3.run()
  // S3 takes a file whole or not at all, and shows it so. S3rver writes it in its place as it comes, so each is asked for by one at a time.
  const turns = new Map<string, Promise<unknown>>()
  const pass = async (incoming: IncomingMessage, outgoing: ServerResponse, body: Buffer) => {
    const { method, url: path, headers } = incoming
    const { promise, resolve } = Promise.withResolvers<void>()
    const asked = request({ port, host: '127.0.0.1', method, path, headers }, answer => {
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers)
      // A pipe to who is gone would wait for ever, and with it whoever asks for this file next.
      if (outgoing.destroyed) answer.resume()
      else answer.pipe(outgoing)
      outgoing.on('close', () => answer.resume())
      answer.on('close', resolve)
    })
    asked.on('error', () => {
      outgoing.destroy()
      resolve()
    })
    // Whoever asks may be killed meanwhile, and takes no more of the answer; what was asked for is done as a whole yet.
    outgoing.on('close', () => {
      if (method === 'GET' && !outgoing.writableFinished) asked.destroy()
    })
    asked.end(body)
    await promise
  }
  const proxy = createServer((incoming, outgoing) => {
    const passOn = () => {
      const key = incoming.url?.split('?', 1)[0] ?? ''
      incoming.toArray().then(
        chunks => {
          const turn = () => pass(incoming, outgoing, Buffer.concat(chunks))
          turns.set(key, (turns.get(key) ?? Promise.resolve()).then(turn))
        },
        () => outgoing.destroy(),
      )
    }
    if (started.fault) started.fault(passOn, outgoing, incoming)
    else passOn()
  })
  await new Promise<void>(resolve => proxy.listen(0, '127.0.0.1', resolve))
  const endpoint = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
  const prefix = 'a prefix & more/'
  const started: S3 = {
    address: `s3://${bucket}/${encodeURI(prefix)}?endpoint=${endpoint}`,
    fault: undefined,
    store: (more = {}) =>
      s3Store({
        ...{ bucket, endpoint, prefix, region: 'us-east-1' },
        ...{ accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER', spool: join(root, 'spool') },
        ...more,
      }),
    close: async () => {
      proxy.closeAllConnections()
      proxy.close()
      await s3.close()
    },
  }
  return started
}
