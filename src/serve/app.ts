/** Puts content, engine and APIs together as one app; no other file imports every room. */
import { Hono } from 'hono'
import { mountAdmin } from '#admin/mount.ts'
import { once } from '#base/cache.ts'
import { graphqlPath, versionPath } from '#base/paths.ts'
import type { Content, Served } from '#content.ts'
import type { Core } from '#core.ts'
import { ApiError, machineErrors, mergeErrors } from '#errors.ts'
import type { GraphqlOptions } from '#graphql/graphql.ts'
import { mountGraphql } from '#graphql/mount.ts'
import { bodyTypes } from '#graphql/over-http.ts'
import { exchange, type HttpContext } from '#http/exchange.ts'
import { createMemory } from '#http/memory.ts'
import { noQueue } from '#http/queue.ts'
import { retryAfterHeader } from '#http/reply.ts'
import { type App, acceptFor, acceptQuery, type Http, queryMethod } from '#http/request.ts'
import { allowing, ExactFirst, unrouted, wholeServer } from '#http/routes.ts'
import type { Model } from '#model/model.ts'
import { anonymous, judge, type Rule } from '#model/policy.ts'
import type { Version, Versions } from '#model/version.ts'
import { mountOpenApi } from '#openapi/serve.ts'
import { type Assets, machineAssets, mountAssets, openAssets } from '#pages/assets.ts'
import { send } from '#pages/page.ts'
import { graphiqlPage, mountReference, type ReferenceOptions } from '#pages/reference.ts'
import { mountStart } from '#pages/start.ts'
import { answeringInPages, failingInPages } from '#pages/visits.ts'
import { didYouMean } from '#rest/did-you-mean.ts'
import { announcing, failAsNamed, failIn } from '#rest/fail.ts'
import { mountRest } from '#rest/rest.ts'
import { routesOf } from '#rest/routes.ts'
import { queryTypes } from '#rest/where.ts'
import { patchTypes } from '#rest/writes.ts'
import type { ServedPeople } from '#serve/people.ts'
import { type Notices, successorAmong } from '#versions/deprecation.ts'
import { differencesOf } from '#versions/differences.ts'
import { errorVersionOf, noSuchVersion, versionHeader } from '#versions/negotiation.ts'

export type AppOptions = {
  readonly content: Content
  readonly served: Served<Rule>
  readonly core: Core
  readonly edge: HttpContext
  readonly graphql: GraphqlOptions
  readonly development: boolean
  readonly hasAdmin: boolean
  /** Whether this program makes the tokens that it takes; true unless it is said. */
  readonly makesTokens?: boolean
  readonly version: string
  /** Why the service cannot do its work now; null if it can. */
  readonly ready: () => Promise<string | null>
  /** Why the store can only be read now; null if it can be written. */
  readonly readOnly?: () => string | null
  /** Sign-in; absent where nobody signs in. */
  readonly people?: Pick<ServedPeople, 'mount' | 'mountPages'> | undefined
  /** Absent if no version of the REST API is deprecated. */
  readonly notices?: Notices | undefined
}

const text = (status: number, body: string) => ({
  status,
  headers: { 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'no-store' },
  body: `${body}\n`,
})

const errorExamples = async (versions: Versions) => {
  const { entriesOf } = await import('#graphql/errors.ts')
  const id = '08b7cdfb-3a4b-4d45-ad4e-5e1c76d1a036'
  const [field, message] = ['name', 'must be 1 to 200 characters']
  const details = [{ field, message }]
  const error = new ApiError('VALIDATION_ERROR', `${field} ${message}`, { details })
  const ofRest = versions.all.map(version => {
    const { status, headers, body } = failIn(versions, version, error, id)
    const contentType = headers['Content-Type'] ?? ''
    return { where: `REST, version ${version}`, status, contentType, body: String(body) }
  })
  const ofGraphql = {
    where: 'GraphQL',
    status: 200,
    contentType: 'application/json; charset=utf-8',
    body: JSON.stringify({ errors: entriesOf(error, id) }),
  }
  return [...ofRest, ofGraphql]
}

/** The rows that the guide asks for: of the first list of both APIs that callers without a token may read. */
const guidedIn = (model: Model): string =>
  Object.values(model.entities).find(
    ({ rest, graphql: { type, roots }, policy: { read, enter = read } }) =>
      rest.list && type && roots && enter && judge(enter, anonymous, model) !== 'no',
  )?.plural ?? 'notes'

const referenceOf = ({ content, served, core, notices }: AppOptions): ReferenceOptions => {
  const derived = routesOf(core.model).map(({ lifetime, method, path }) => ({
    ...lifetime,
    method,
    path,
  }))
  const routes = [...derived, ...content.actions, ...served.routes]
  const { versions } = core.model
  const unsupported = noSuchVersion(versions, `${versionPath(99)}/`)
  const offered = (version: Version) => {
    const lifecycle = notices?.lifecycle()
    const days = lifecycle?.version === version && {
      deprecated: lifecycle.from,
      sunset: lifecycle.end,
      isWithdrawn: lifecycle.state === 'withdrawn',
    }
    return { version, document: `${versionPath(version)}/openapi.json`, ...days }
  }
  return {
    versions: {
      // The day on which a version ends may change while it is served.
      get versions() {
        return versions.all.map(offered)
      },
      differences: once(() => differencesOf(core.model, routes)),
      example: content.examples.rest,
    },
    guided: guidedIn(core.model),
    errors: {
      errors: [...mergeErrors(machineErrors, content.errors).values()].map(kind =>
        kind.code === unsupported?.code ? { ...kind, example: unsupported.message } : kind,
      ),
      examples: () => errorExamples(versions),
    },
  }
}

/** Whether GraphiQL can ask for the schema: where only stored documents are served, what it asks at first is none of them. */
const mayIntrospect = ({ graphql: { introspection, stored } }: AppOptions): boolean =>
  introspection && stored?.only !== true

const assetsOf = (options: AppOptions): Assets => {
  const { content, served, development } = options
  const { title, description, colours } = content
  const hasPeople = options.people !== undefined
  const site = { title, description, colours, hasGraphiql: mayIntrospect(options), hasPeople }
  const ownAssets = served.pages.map(({ assets }) => assets)
  return openAssets(Object.assign({}, machineAssets, ...ownAssets), site, development)
}

/** Mounts the pages for people: the start page, the reference, GraphiQL and the content's own, with the files they load; gives the handler of GraphiQL. */
const mountPages = (app: App, options: AppOptions, assets: Assets) => {
  const { content, served, core, graphql, development, hasAdmin, version } = options
  const { introspection } = graphql
  mountAssets(app, assets)
  if (hasAdmin)
    mountAdmin(app, core, content, options.edge, failAsNamed(core.model.versions), assets)
  for (const { path, page } of served.pages) app.get(path, async c => send(await page(assets), c))
  const { model } = core
  const { examples } = content
  const rest = versionPath(model.versions.newest)
  const takesOperations = graphql.stored?.only !== true
  const start = {
    ...{ model, examples, development, introspection, hasAdmin, takesOperations, rest, version },
    makesTokens: options.makesTokens ?? true,
  }
  mountStart(app, start, assets)
  mountReference(app, referenceOf(options), assets)
  options.people?.mountPages(app, assets, hasAdmin)
  const graphiql = { endpoint: graphqlPath, introspection: mayIntrospect(options), examples }
  return async (c: Http) => send(await graphiqlPage(graphiql, assets), c)
}

const mountProbes = (app: App, { core, edge, ready, readOnly }: AppOptions) => {
  const fail = failAsNamed(core.model.versions)
  // Probes ask often and without a token; they are neither authenticated nor logged, and they wait behind nobody: a process
  // that is busy is alive.
  const quiet = {
    ...edge,
    queue: noQueue,
    connections: undefined,
    memory: createMemory(),
    authenticate: () => anonymous,
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

/** The whole service as one Hono app, which `app.request()` calls without a port; and the function that opens its GraphQL API. */
export const createApp = (
  options: AppOptions,
): { readonly app: App; readonly openGraphql: () => Promise<unknown> } => {
  const { core, content, notices } = options
  const edge: HttpContext = { ...options.edge, positionStatus: core.reader.positionStatus }
  const { versions } = core.model
  const app: App = new Hono({ router: new ExactFirst() })
  const { actions } = content
  const { development, served } = options
  const assets = assetsOf(options)
  const inPages = failingInPages(assets, edge.observe)
  const answered = answeringInPages(assets, edge.observe)
  mountRest(app, core, edge, { actions, extras: served.routes, notices, development, answered })
  mountOpenApi(app, content, core.model, edge, notices)
  const graphiql = mountPages(app, options, assets)
  const openGraphql = mountGraphql(app, core, edge, options.graphql, graphiql)
  mountProbes(app, options)
  options.people?.mount(app, edge, content)
  const allowedAt = allowing(app.routes)
  const announced = announcing(versions, notices, successorAmong(versions.newest, allowedAt))
  const paths = app.routes.map(({ path }) => path)
  const astray = unrouted(
    allowedAt,
    edge,
    { ...announced, around: handle => announced.around(inPages(handle)) },
    didYouMean(core.model, paths, development),
    (c, allow) => {
      const { path } = c.req
      const isQueried = allow.includes(queryMethod) && path !== wholeServer
      const style = versions.styleOf(errorVersionOf(versions, c))
      const bodies = path === graphqlPath ? bodyTypes : queryTypes(style)
      return {
        ...versionHeader(versions, c),
        ...(isQueried && acceptQuery(bodies)),
        ...(allow.includes('PATCH') && acceptFor('PATCH', patchTypes)),
      }
    },
  )
  app.notFound(astray)
  app.onError((error, c) => {
    // The APIs answer what their own handlers throw, so this error is of a page, or of the end of an answer.
    const failed = inPages(() => {
      throw error
    })
    return exchange(edge, failAsNamed(versions), failed)(c)
  })
  return { app, openGraphql }
}
