/**
 * The proxy of `duet dev`: has the port from the first start to the last, and hands each request on to the service behind it. While that
 * one is exchanged, requests wait; where there is none, they are told why.
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { endsWithin } from '#base/retry.ts'

/** What stands behind it: a service on that port of this machine, or the reason why there is none. */
type Behind = { readonly port: number } | { readonly fault: string }

/** Headers of one connection, which are not those of the next. */
const hop = /^(connection|keep-alive|proxy-connection|expect)$/i

/** The headers as they came, in their order, but those of the connection. */
const passed = (raw: readonly string[]): string[] =>
  raw.filter((_, at) => !hop.test(raw[at - (at % 2)] ?? ''))

const escaped = (text: string): string => text.replace(/[&<>]/g, sign => `&#${sign.charCodeAt(0)};`)

/** Tells why nothing is served: as a page to browsers, as a problem to programs. */
const refuse = (fault: string, { headers }: IncomingMessage, res: ServerResponse): void => {
  const isPage = headers.accept?.includes('text/html') === true
  const problem = { title: 'The content cannot be served', status: 503, detail: fault }
  const page = `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Duet: nothing is served</title><style>body{font:1rem/1.5 system-ui;margin:2rem auto;max-width:50rem;padding:0 1rem}pre{white-space:pre-wrap;overflow-wrap:anywhere}</style>
<h1>The content cannot be served</h1><pre role="alert">${escaped(fault)}</pre><p>It is served as soon as a file changes and this is gone.</p></html>`
  res.writeHead(503, {
    'Content-Type': isPage ? 'text/html; charset=utf-8' : 'application/problem+json',
    'Cache-Control': 'no-store',
    'Retry-After': '1',
  })
  res.end(isPage ? page : JSON.stringify(problem))
}

/** Opens the proxy; resolves when it listens. */
export const openProxy = async (host: string, port: number) => {
  let behind = Promise.withResolvers<Behind>()
  let isShut = true
  let passing = 0
  let onIdle = () => {}

  const hand = (port: number, req: IncomingMessage, res: ServerResponse): void => {
    passing++
    res.once('close', () => {
      passing--
      if (passing === 0) onIdle()
    })
    const { method, url: path } = req
    const headers = passed(req.rawHeaders)
    const onward = request({ host: '127.0.0.1', port, method, path, headers })
    onward.on('response', answer => {
      const { statusCode = 502, statusMessage, rawHeaders } = answer
      res.writeHead(statusCode, statusMessage, passed(rawHeaders))
      answer.pipe(res)
      answer.on('error', () => res.destroy())
    })
    onward.on('error', () => {
      if (res.headersSent) res.destroy()
      else refuse('the service ended before it answered: the terminal says why', req, res)
    })
    req.pipe(onward)
    res.once('close', () => onward.destroy())
  }

  const server = createServer(async (req, res) => {
    const found = await behind.promise
    if (res.destroyed) return
    if ('port' in found) hand(found.port, req, res)
    else refuse(found.fault, req, res)
  })
  server.listen(port, host)
  await once(server, 'listening')

  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${(server.address() as AddressInfo).port}`,
    /** Lets requests through to what is there now. */
    lead: (to: Behind): void => {
      if (!isShut) behind = Promise.withResolvers()
      behind.resolve(to)
      isShut = false
    },
    /** Keeps requests waiting; resolves when those that are through are answered, or after so many milliseconds. */
    shut: async (longest: number): Promise<void> => {
      if (!isShut) behind = Promise.withResolvers()
      isShut = true
      if (passing === 0) return
      const { promise, resolve } = Promise.withResolvers<void>()
      onIdle = resolve
      await endsWithin(longest, promise)
    },
    close: (): void => {
      server.close()
      server.closeAllConnections()
    },
  }
}
