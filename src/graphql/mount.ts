/** The paths of the GraphQL API in an app. */
import { once } from '#base/once.ts'
import { graphqlPath, schemaPath } from '#base/paths.ts'
import type { Core } from '#core.ts'
import type { GraphqlApi, GraphqlOptions } from '#graphql/graphql.ts'
import { loadGraphql } from '#graphql/load.ts'
import { json, negotiate, wantsPage } from '#graphql/media-types.ts'
import type { Fail, HttpContext } from '#http/edge.ts'
import { exchange } from '#http/exchange.ts'
import { errorHeaders } from '#http/reply.ts'
import { type App, type Http, header } from '#http/request.ts'
import { queryMethod } from '#http/safe.ts'

/** The envelope of an error where there may be no code of GraphQL to print it. */
const failPlainly: Fail = (error, requestId, c) => {
  const { status, code, message } = error
  const type = negotiate(header(c, 'accept')) ?? json
  const headers = { 'Content-Type': type, 'Cache-Control': 'no-store', ...errorHeaders(error) }
  const body = JSON.stringify({ errors: [{ message, extensions: { code, requestId } }] })
  return { status, headers, body }
}

/** An API that cannot be opened: each request is refused with the reason. */
const closed = (edge: HttpContext, cause: unknown): GraphqlApi => {
  const refuse = () => {
    throw cause
  }
  const serve = exchange(edge, failPlainly, refuse, graphqlPath)
  return { serve, serveSchema: serve }
}

/**
 * Mounts the API, and gives a page to browsers that open its endpoint. It is opened when the first request for it comes, or by the
 * function that this gives, which rejects where it cannot be: that is tried once, since another time would fail alike.
 */
export const mountGraphql = (
  app: App,
  core: Core,
  edge: HttpContext,
  options: GraphqlOptions,
  page: (c: Http) => Response | Promise<Response>,
): (() => Promise<unknown>) => {
  let api: GraphqlApi | undefined
  const open = once(async () => {
    api = (await loadGraphql()).openGraphql(core, edge, options)
    return api
  })
  const openOrClosed = once(() =>
    open().catch(cause => {
      api = closed(edge, cause)
      return api
    }),
  )
  const serve = (c: Http) => (api ? api.serve(c) : openOrClosed().then(({ serve }) => serve(c)))
  app.post(graphqlPath, serve)
  app.on(queryMethod, graphqlPath, serve)
  app.get(graphqlPath, c => (wantsPage(header(c, 'accept')) ? page(c) : serve(c)))
  app.get(schemaPath, c => openOrClosed().then(({ serveSchema }) => serveSchema(c)))
  return open
}
