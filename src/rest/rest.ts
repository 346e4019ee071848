/** The REST API: its routes on the app, under every prefix of its versions. */
import { after } from '#base/after.ts'
import { restPath, versionPath } from '#base/paths.ts'
import type { Core } from '#core.ts'
import { ApiError } from '#errors.ts'
import type { HttpContext } from '#http/edge.ts'
import { exchange } from '#http/exchange.ts'
import { type App, type Http, queryString } from '#http/request.ts'
import { queryMethod } from '#http/safe.ts'
import { entityOf } from '#model/model.ts'
import type { OperationDocs } from '#model/operation-docs.ts'
import { judge, type Rule, type Viewer } from '#model/policy.ts'
import { isIn, newest, type Version, versions } from '#model/version.ts'
import { announcing } from '#rest/fail.ts'
import { parametersOf, reportingIgnored } from '#rest/ignored.ts'
import { serveList } from '#rest/list.ts'
import { type Mount, noSuchPath } from '#rest/mount.ts'
import { serveOne } from '#rest/one.ts'
import { checkParameters } from '#rest/query.ts'
import { queriedBy } from '#rest/querying.ts'
import { type Route, routesOf } from '#rest/routes.ts'
import { serveAction, serveCreate, serveDelete, serveUpdate } from '#rest/writes.ts'
import { counted } from '#versions/deprecated-use.ts'
import { type Notices, type Successor, successorOf } from '#versions/deprecation.ts'
import type { VersionedRoute } from '#versions/differences.ts'
import { type RestHandler, versionOf } from '#versions/negotiation.ts'
import type { Action } from '#write/action.ts'

const serving: Readonly<Record<Route['kind'], (mount: Mount, route: Route) => RestHandler>> = {
  list: serveList,
  one: serveOne,
  create: serveCreate,
  replace: serveUpdate,
  update: serveUpdate,
  delete: serveDelete,
}

/** A read that the model does not derive, such as a picture or a report, whatever its method; a write is an action. */
export type ExtraRoute = Endpoint & {
  /** How the documents of the API describe it, and who may use it. */
  readonly described: OperationDocs & { readonly rule: Rule | undefined }
}

type Endpoint = VersionedRoute & {
  /** The entity whose members requests may name; absent where it has no such parameters or body. */
  readonly entity?: string
  /** The rule for who may write by it, and for who may ask an extra route; absent where others decide. */
  readonly rule?: Rule | undefined
  /** Whether it answers QUERY too, with its parameters in a body. */
  readonly isQueried?: boolean
  /** The query parameters that it reads, beside `version`; none unless it says so. */
  readonly parameters?: (mount: Mount) => readonly string[]
  readonly serve: (mount: Mount) => RestHandler
}

/** The same, refusing query parameters where the version is strict: after 404 and 403, so the answer is made first. */
const serveExtra = (mount: Mount, { serve }: ExtraRoute): RestHandler => {
  const answer = serve(mount)
  return (c, viewer, named) =>
    after(answer(c, viewer, named), reply => {
      checkParameters(queryString(c), mount.version)
      return reply
    })
}

const ruleOf = ({ model }: Core, { kind, entity }: Route): Rule | undefined => {
  const { policy } = entityOf(model, entity)
  if (kind === 'list' || kind === 'one') return undefined
  return policy[kind === 'replace' ? 'update' : kind]
}

/** The routes of the model, of its actions and of the content, each with the versions that have it. */
const endpointsOf = (
  core: Core,
  actions: readonly Action[],
  extras: readonly ExtraRoute[],
): readonly Endpoint[] => [
  ...routesOf(core.model).map(route => ({
    ...route.lifetime,
    method: route.method,
    path: route.path,
    entity: route.entity,
    rule: ruleOf(core, route),
    isQueried: route.kind === 'list',
    parameters: (mount: Mount) => parametersOf(mount, route),
    serve: (mount: Mount) => serving[route.kind](mount, route),
  })),
  ...actions.map(action => ({ ...action, serve: (mount: Mount) => serveAction(mount, action) })),
  ...extras.map(extra => ({
    ...extra,
    rule: extra.described.rule,
    serve: (mount: Mount) => serveExtra(mount, extra),
  })),
]

const prefixes: readonly (readonly [string, readonly Version[]])[] = [
  [restPath, versions],
  ...versions.map(version => [versionPath(version), [version]] as const),
]

/** The error for a path or method that another version has. */
const notInVersion = (
  c: Http,
  endpoints: readonly Endpoint[],
  path: string,
  version: Version,
): ApiError => {
  const methods = endpoints
    .filter(endpoint => endpoint.path === path && isIn(endpoint, version))
    .flatMap(({ method, isQueried }) => [
      ...(method === 'GET' ? ['GET', 'HEAD'] : [method]),
      ...(isQueried ? [queryMethod] : []),
    ])
  if (methods.length === 0) return noSuchPath(c.req.path)
  const allow = [...methods, 'OPTIONS'].join(', ')
  const message = `${c.req.method} is not possible at ${c.req.path} in version ${version}; there are ${allow}`
  return new ApiError('METHOD_NOT_ALLOWED', message, { headers: { Allow: allow } })
}

/** The successor of the requests of a group; none where no endpoint of it is in the newest version. */
const successorIn = (
  { model }: Core,
  group: readonly Endpoint[],
  notices: Notices | undefined,
): Successor => {
  const next = group.find(endpoint => isIn(endpoint, newest))
  return notices && next ? successorOf(model, notices.version, next.entity) : () => undefined
}

type RestOptions = {
  readonly actions: readonly Action[]
  readonly extras: readonly ExtraRoute[]
  /** Absent where no version is deprecated. */
  readonly notices: Notices | undefined
  /** Whether answers say which query parameters are ignored. */
  readonly development: boolean
}

/** Mounts the REST API of a model and its actions. */
export const mountRest = (
  app: App,
  core: Core,
  edge: HttpContext,
  { actions, extras, notices, development }: RestOptions,
): void => {
  const endpoints = endpointsOf(core, actions, extras)
  const groups = Map.groupBy(endpoints, ({ method, path }) => `${method} ${path}`)
  for (const [prefix, offered] of prefixes)
    for (const group of groups.values()) {
      const [{ method, path } = { method: '', path: '' }] = group
      const served = new Map<Version, RestHandler>()
      for (const version of offered)
        for (const endpoint of group.filter(endpoint => isIn(endpoint, version))) {
          const mount = { core, edge, prefix, version }
          const serve = counted(endpoint.serve(mount), mount, endpoint)
          const parameters = endpoint.parameters?.(mount) ?? []
          served.set(version, development ? reportingIgnored(serve, mount, parameters) : serve)
        }
      if (served.size === 0) continue
      const { fail, around } = announcing(notices, successorIn(core, group, notices))
      const isOpenTo = (viewer: Viewer) =>
        group.some(({ rule }) => !rule || judge(rule, viewer, core.model) !== 'no')
      const mount = (method: string, served: ReadonlyMap<Version, RestHandler>) => {
        // The viewer comes first, then the version, then the rest.
        const answer = around((c: Http, viewer) => {
          const named = versionOf(c)
          notices?.admit(named.version, viewer)
          const serve = served.get(named.version)
          if (serve) return serve(c, viewer, named)
          throw notInVersion(c, endpoints, path, named.version)
        })
        const route = `${prefix}${path}`
        app.on(method, [route], exchange(edge, fail, answer, route, { isOpenTo }))
      }
      mount(method, served)
      if (group.some(({ isQueried }) => isQueried)) mount(queryMethod, queriedBy(edge, served))
    }
}
