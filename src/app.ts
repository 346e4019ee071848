/** Puts content, engine and APIs together as one app; no other file imports every room. */
import { Hono } from 'hono'
import { graphqlPath } from '#base/paths.ts'
import type { Content, Served } from '#content.ts'
import type { Core } from '#core.ts'
import { type GraphqlOptions, mountGraphql } from '#graphql/graphql.ts'
import { type Edge, exchange } from '#http/exchange.ts'
import { retryAfterHeader } from '#http/reply.ts'
import type { App, Http } from '#http/request.ts'
import { type Known, unrouted } from '#http/unrouted.ts'
import { mountOpenApi } from '#openapi/serve.ts'
import { machineAssets, mountAssets, openAssets } from '#pages/assets.ts'
import { graphiqlPage } from '#pages/graphiql.ts'
import { send } from '#pages/page.ts'
import { mountStart } from '#pages/start.ts'
import { fail } from '#rest/fail.ts'
import { noSuchPath } from '#rest/mount.ts'
import { mountRest } from '#rest/rest.ts'
import { noSuchVersion, versionHeader } from '#rest/version.ts'

export type AppOptions = {
  readonly content: Content
  readonly served: Served
  readonly core: Core
  readonly edge: Edge
  readonly graphql: Omit<GraphqlOptions, 'page'>
  readonly development: boolean
  readonly version: string
  /** Why the service cannot do its work now; null where it can. */
  readonly ready: () => Promise<string | null>
  /** Why the store can only be read now; null where it can be written. */
  readonly readOnly?: () => string | null
}

const text = (status: number, body: string) => ({
  status,
  headers: { 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'no-store' },
  body: `${body}\n`,
})

/** Mounts the pages for people: the start page, GraphiQL and the content's own, with the files they load. */
const mountPages = (
  app: App,
  { content, served, core, graphql, development, version }: AppOptions,
) => {
  const ownAssets = served.pages.map(({ assets }) => assets)
  const assets = openAssets(Object.assign({}, machineAssets, ...ownAssets))
  const { introspection } = graphql
  mountAssets(app, assets)
  for (const { path, page } of served.pages) app.get(path, async c => send(await page(assets), c))
  const { model } = core
  const start = { model, examples: content.examples, development, introspection, version }
  mountStart(app, start, assets)
  const graphiql = { endpoint: graphqlPath, introspection, examples: content.examples }
  return async (c: Http) => send(await graphiqlPage(graphiql, assets), c)
}

const mountProbes = (app: App, { edge, ready, readOnly }: AppOptions) => {
  // Probes ask often and without a token; they are neither authenticated nor logged.
  const quiet = {
    ...edge,
    authenticate: () => ({ id: null, role: 'anonymous' as const }),
    observe: () => {},
  }
  const readiness = async () => {
    const reason = await ready()
    const why = readOnly?.() ?? null
    // Still 200: a balancer that took it out of service would also stop the reads.
    if (reason === null) return text(200, why === null ? 'ready' : `read-only: ${why}`)
    const reply = text(503, reason)
    return { ...reply, headers: { ...reply.headers, ...retryAfterHeader(2) } }
  }
  app.get(
    '/healthz',
    exchange(quiet, fail, () => text(200, 'ok')),
  )
  app.get('/readyz', exchange(quiet, fail, readiness))
}

/** The whole service as one Hono app; `app.request()` calls it without a port. */
export const createApp = (options: AppOptions): App => {
  const { core, edge, content } = options
  const app: App = new Hono()
  mountRest(app, core, edge, content.actions, options.served.routes)
  mountOpenApi(app, content, core.model, edge)
  const graphiql = mountPages(app, options)
  mountGraphql(app, core, edge, { ...options.graphql, page: graphiql })
  mountProbes(app, options)
  const known: Known[] = app.routes.map(({ method, path }) => ({ method, path }))
  app.notFound(
    unrouted(known, edge, fail, path => noSuchVersion(path) ?? noSuchPath(path), versionHeader),
  )
  app.onError((error, c) => {
    // The APIs' own handlers never throw, so this error is of a page.
    const handle = exchange(edge, fail, () => {
      throw error
    })
    return handle(c)
  })
  return app
}
