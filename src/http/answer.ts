/** An answer on its way out: over the connection of its request, or as a `Response` where there is none, as in tests. */
import type { ServerResponse } from 'node:http'
import type { Reply } from '#http/reply.ts'
import type { Http } from '#http/request.ts'

/** What a handler gives whose answer is on its way. Any `Response` would have Node load its whole `fetch`: base/http.ts. */
export const sent = {} as Response

/** The part of a reply that goes out at once. */
type Whole = Pick<Reply, 'headers' | 'body'>

/** Sends an answer whose headers say nothing of its length. */
export const send = (
  outgoing: ServerResponse,
  status: number,
  { headers, body }: Whole,
): Response => {
  if (body !== null) headers['Content-Length'] ??= String(Buffer.byteLength(body))
  outgoing.writeHead(status, headers).end(body)
  return sent
}

/** The answer to a request that has no connection. */
export const responseOf = (
  status: number,
  { headers, body, stream, cookies = [] }: Whole & Pick<Reply, 'cookies' | 'stream'>,
): Response => {
  const bytes = stream ? ReadableStream.from(stream.body) : body
  const response = new Response(bytes, { status, headers })
  for (const cookie of cookies) response.headers.append('Set-Cookie', cookie)
  return response
}

/** Answers a request that is not taken through the life of others, as those for pages. */
export const answer = ({ env }: Http, status: number, made: Whole): Response =>
  env?.outgoing ? send(env.outgoing, status, made) : responseOf(status, made)
