/** Model, engine and voices made one app: the only place that knows every room. */
import { Hono } from 'hono'
import type { Core } from '#core.ts'
import { ApiError, machineErrors, mergeErrors } from '#errors.ts'
import { type GraphqlOptions, mountGraphql } from '#graphql/graphql.ts'
import { type Edge, exchange } from '#http/exchange.ts'
import { retryAfterHeader } from '#http/reply.ts'
import type { App, Http } from '#http/request.ts'
import { type Known, unrouted } from '#http/unrouted.ts'
import { mountAssets } from '#pages/assets.ts'
import { graphiqlPage } from '#pages/graphiql.ts'
import { send } from '#pages/page.ts'
import { mountStart } from '#pages/start.ts'
import { mountVerify } from '#pages/verify.ts'
import { reportGenerate } from '#reports/report.ts'
import { errors } from '#resources/errors.ts'
import { actions } from '#resources/index.ts'
import { pictureOf } from '#resources/user/avatar.ts'
import { avatarRead } from '#rest/avatar.ts'
import { fail } from '#rest/fail.ts'
import { noSuchPath } from '#rest/reads.ts'
import { receiptRead } from '#rest/receipt.ts'
import { mountRest } from '#rest/rest.ts'
import { versionHeader, versions } from '#rest/version.ts'

export type AppOptions = {
  readonly core: Core
  readonly edge: Edge
  readonly graphql: Omit<GraphqlOptions, 'page'>
  readonly development: boolean
  readonly version: string
  /** Whether the service can do its work now; the reason where it cannot. */
  readonly ready: () => Promise<string | null>
  /** Why the store can only be read now; null where it can be written. */
  readonly readOnly?: () => string | null
}

/** The error for a path that leads nowhere: a version that is not offered says so. */
const noPath = (path: string): ApiError => {
  const named = /^\/api\/v(\d+)(\/|$)/.exec(path)?.[1]
  if (named === undefined || (versions as readonly number[]).includes(Number(named)))
    return noSuchPath(path)
  return new ApiError(
    'UNSUPPORTED_VERSION',
    `Version ${named} of the API not found; offered: ${versions.join(', ')}`,
    { status: 404 },
  )
}

const text = (status: number, body: string) => ({
  status,
  headers: { 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'no-store' },
  body: `${body}\n`,
})

/** The whole service as one Hono app; `app.request()` asks it without a port. */
export const createApp = (options: AppOptions): App => {
  const { core, edge } = options
  // A code that is defined twice stops the start.
  mergeErrors(machineErrors, errors)
  const app: App = new Hono()
  mountRest(app, core, edge, actions, [avatarRead(pictureOf), receiptRead, reportGenerate])
  const page = async (c: Http) =>
    send(
      await graphiqlPage({ endpoint: '/graphql', introspection: options.graphql.introspection }),
      c.req.raw,
    )
  mountGraphql(app, core, edge, { ...options.graphql, page })
  mountAssets(app)
  mountVerify(app)
  mountStart(app, {
    development: options.development,
    introspection: options.graphql.introspection,
    version: options.version,
  })
  // Probes ask often and without a token; they are neither authenticated nor logged.
  const quiet = {
    ...edge,
    authenticate: () => ({ id: null, role: 'anonymous' as const }),
    observe: () => {},
  }
  app.get(
    '/healthz',
    exchange(quiet, fail, () => text(200, 'ok')),
  )
  app.get(
    '/readyz',
    exchange(quiet, fail, async () => {
      const reason = await options.ready()
      const readOnly = options.readOnly?.() ?? null
      // Still 200: taken out of service, it would not even be read.
      return reason === null
        ? text(200, readOnly === null ? 'ready' : `read-only: ${readOnly}`)
        : { ...text(503, reason), headers: { ...text(503, '').headers, ...retryAfterHeader(2) } }
    }),
  )
  const known: Known[] = app.routes.map(({ method, path }) => ({ method, path }))
  app.notFound(unrouted(known, edge, fail, noPath, versionHeader))
  app.onError((error, c) => {
    // A handler of ours never throws: what comes here is of a page.
    const handle = exchange(edge, fail, () => {
      throw error
    })
    return handle(c)
  })
  return app
}
