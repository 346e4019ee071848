/** The paths of the GraphQL API in an app, and when its code is loaded. */
import { once } from '#base/cache.ts'
import { graphqlPath, schemaPath } from '#base/paths.ts'
import type { Core } from '#core.ts'
import type { GraphqlApi, GraphqlOptions } from '#graphql/graphql.ts'
import { json, negotiate, wantsPage } from '#graphql/over-http.ts'
import type { Fail, HttpContext } from '#http/exchange.ts'
import { exchange } from '#http/exchange.ts'
import { errorHeaders } from '#http/reply.ts'
import { type App, type Http, header, queryMethod } from '#http/request.ts'

/**
 * Loads the code of the API, once; a service does so when it listens already. REST needs none of it: graphql-js alone is as many
 * files as half of Duet, a seventh of a start.
 */
export const loadGraphql = once(() => import('#graphql/graphql.ts'))

/** Prints an error while the code that prints errors in GraphQL is perhaps not there. */
const failPlainly: Fail = (error, requestId, c) => {
  const { status, code, message } = error
  const type = negotiate(header(c, 'accept')) ?? json
  const headers = { 'Content-Type': type, 'Cache-Control': 'no-store', ...errorHeaders(error) }
  const body = JSON.stringify({ errors: [{ message, extensions: { code, requestId } }] })
  return { status, headers, body }
}

/**
 * Mounts the API, and gives a page to browsers that open its endpoint. It is opened when the first request for it comes, or by the
 * function that this returns, which rejects if it cannot be: that is tried once, since another attempt would fail alike.
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
  // If it cannot be opened, each request is refused with the reason.
  const openOrClosed = once(() =>
    open().catch((cause): GraphqlApi => {
      const refuse = () => {
        throw cause
      }
      const serve = exchange(edge, failPlainly, refuse, graphqlPath)
      api = { serve, serveSchema: serve }
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
