/** The schema as text in GraphQL's own language (SDL), for tools that make typed clients of it. */
import { printSchema } from 'graphql'
import { schemaPath } from '#base/paths.ts'
import { ApiError } from '#errors.ts'
import type { Schema } from '#graphql/schema.ts'
import { preferred } from '#http/accept.ts'
import { bodyTag, unlessKnown } from '#http/conditional.ts'
import type { Fail, HttpContext } from '#http/edge.ts'
import { exchange } from '#http/exchange.ts'
import type { Reply } from '#http/reply.ts'
import { type Http, header } from '#http/request.ts'

/** The text of a schema, with a line break at its end. */
export const schemaText = ({ schema }: Schema): string => `${printSchema(schema)}\n`

/** Serves the text of the schema; 404 with the setting to turn on where introspection is off. */
export const schemaHandler = (
  edge: HttpContext,
  fail: Fail,
  { schema, introspection }: { readonly schema: Schema; readonly introspection: boolean },
) => {
  let made: string | undefined
  const answer = (c: Http): Reply => {
    if (!introspection)
      throw new ApiError(
        'NOT_FOUND',
        'Schema not found: this service shows it only with DUET_INTROSPECTION=on',
      )
    // Not at the start, which printing it would delay.
    made ??= schemaText(schema)
    const body = made
    // Browsers would save a type that they do not know.
    const form = preferred(header(c, 'accept') ?? '*/*', ['application/graphql', 'text/html'])
    const type = form === 'text/html' ? 'text/plain' : 'application/graphql'
    const tag = bodyTag(body)
    const headers = {
      ETag: tag,
      'Cache-Control': 'public, no-cache',
      Vary: 'Accept',
      'Content-Type': `${type}; charset=utf-8`,
    }
    return unlessKnown(c, { status: 200, headers, body }, tag)
  }
  return exchange(edge, fail, answer, schemaPath)
}
