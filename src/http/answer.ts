/** An answer on its way out: over the connection of its request, or as a `Response` where there is none, as in tests. */
import type { ServerResponse } from 'node:http'
import type { Reply } from '#http/reply.ts'
import type { Http } from '#http/request.ts'

/** What a handler gives whose answer is on its way. Any `Response` would have Node load its whole `fetch`: base/http.ts. */
export const sent = {} as Response

type Answer = Pick<Reply, 'headers' | 'body' | 'cookies' | 'stream'>

/** Sends an answer whose headers say nothing of its length. */
export const send = (outgoing: ServerResponse, status: number, made: Answer): Response => {
  const { headers, body } = made
  if (body !== null) headers['Content-Length'] ??= String(Buffer.byteLength(body))
  outgoing.writeHead(status, headers).end(body)
  return sent
}

/** The answer to a request that has no connection. */
export const responseOf = (
  status: number,
  { headers, body, stream, cookies = [] }: Answer,
): Response => {
  const bytes = stream ? ReadableStream.from(stream.body) : body
  const response = new Response(bytes, { status, headers })
  for (const cookie of cookies) response.headers.append('Set-Cookie', cookie)
  return response
}

/** Answers a request that is not taken through the life of others, as those for pages. */
export const answer = ({ env }: Http, status: number, made: Answer): Response =>
  env?.outgoing ? send(env.outgoing, status, made) : responseOf(status, made)
