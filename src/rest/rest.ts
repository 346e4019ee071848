/** The REST API: its routes on the app, under every prefix of its versions. */
import { after } from '#base/after.ts'
import { restPath, versionPath } from '#base/paths.ts'
import type { Core } from '#core.ts'
import { ApiError } from '#errors.ts'
import { exchange, type Handle, type HttpContext } from '#http/exchange.ts'
import { type App, type Http, queryMethod, queryString } from '#http/request.ts'
import { entityOf } from '#model/model.ts'
import type { OperationDocs } from '#model/operation-docs.ts'
import type { DeclaredRule, Rule } from '#model/policy.ts'
import { isIn, type Version } from '#model/version.ts'
import { serveAggregate } from '#rest/aggregate.ts'
import { announcing, noSuchPath } from '#rest/fail.ts'
import { queriedBy, serveList } from '#rest/list.ts'
import { serveOne } from '#rest/one.ts'
import { refuseParameters, reportingIgnored } from '#rest/query.ts'
import type { Mount } from '#rest/represent.ts'
import { type Route, routesOf, ruleOfRoute } from '#rest/routes.ts'
import {
  serveAction,
  serveBulk,
  serveCreate,
  serveDelete,
  serveLink,
  serveUpdate,
} from '#rest/writes.ts'
import { countingUses } from '#versions/deprecated-use.ts'
import { type Notices, type Successor, successorOf } from '#versions/deprecation.ts'
import type { VersionedRoute } from '#versions/differences.ts'
import { inRequestedVersion, type RestHandler } from '#versions/negotiation.ts'
import { permit } from '#write/command.ts'
import type { RuledAction } from '#write/steps/action.ts'

const serving: Readonly<Record<Route['kind'], (mount: Mount, route: Route) => RestHandler>> = {
  list: serveList,
  aggregate: serveAggregate,
  one: serveOne,
  create: serveCreate,
  replace: serveUpdate,
  update: serveUpdate,
  delete: serveDelete,
  link: serveLink,
  unlink: serveLink,
  bulk: serveBulk,
}

/** A read that the model does not derive, such as a picture or a report, whatever its method; a write is an action. */
export type ExtraRoute<R = DeclaredRule> = VersionedRoute & {
  /** How the documents of the API describe it, and who may use it; a rule that looks at a row is guarded by its handler. */
  readonly described: OperationDocs & { readonly rule: R | undefined }
  /** Whether a request brings a right of its own in its address, which its handler guards in place of the rule. */
  readonly isSigned?: (c: Http) => boolean
  readonly serve: (mount: Mount) => RestHandler
}

/** Such a route of a content that is made. */
export type RuledRoute = ExtraRoute<Rule>

type RestEndpoint = VersionedRoute & {
  /** The route of the model that it is; the entity is that whose members requests may name. */
  readonly derived?: Route
  readonly entity?: string
  /** The rule for who may write by it, and for who may call an extra route; absent if others decide, and then an extra route is nobody's. */
  readonly rule?: Rule | undefined
  readonly serve: (mount: Mount) => RestHandler
}

/** Whether it answers QUERY too, with its parameters in a body. */
const isQueried = ({ derived }: RestEndpoint): boolean =>
  derived?.kind === 'list' || derived?.kind === 'aggregate'

/** The routes of the model, of its actions and of the content, each with the versions that have it. */
const endpointsOf = (
  { model }: Core,
  actions: readonly RuledAction[],
  extras: readonly RuledRoute[],
): readonly RestEndpoint[] => [
  ...routesOf(model).map((derived): RestEndpoint => {
    const { kind, method, path, entity, lifetime } = derived
    return {
      ...lifetime,
      method,
      path,
      derived,
      entity,
      rule: ruleOfRoute(model, derived),
      serve: mount => serving[kind](mount, derived),
    }
  }),
  ...actions.map(action => ({ ...action, serve: (mount: Mount) => serveAction(mount, action) })),
  ...extras.map(extra => ({
    ...extra,
    rule: extra.described.rule,
    serve: (mount: Mount): RestHandler => {
      const handle = extra.serve(mount)
      const { rule, summary, parameters = {} } = extra.described
      const known = Object.keys(parameters)
      const what = summary.charAt(0).toLowerCase() + summary.slice(1)
      // A strict version refuses query parameters after 404 and 403, so the answer is made first.
      return (c, viewer, named) => {
        if (!extra.isSigned?.(c)) permit({ model, viewer }, rule, what)
        return after(handle(c, viewer, named), reply => {
          refuseParameters(queryString(c), mount.style, known)
          return reply
        })
      }
    },
  })),
]

type RestOptions = {
  readonly actions: readonly RuledAction[]
  readonly extras: readonly RuledRoute[]
  /** Absent if no version is deprecated. */
  readonly notices: Notices | undefined
  /** Whether answers say which query parameters are ignored. */
  readonly development: boolean
  /** How the answers of a handler are shown to people who open its address in a browser. */
  readonly answered: (handle: Handle) => Handle
}

/** Mounts the REST API of a model and its actions. */
export const mountRest = (
  app: App,
  core: Core,
  edge: HttpContext,
  { actions, extras, notices, development, answered }: RestOptions,
): void => {
  const endpoints = endpointsOf(core, actions, extras)
  const groups = Map.groupBy(endpoints, ({ method, path }) => `${method} ${path}`)
  const { versions } = core.model
  const prefixes: readonly (readonly [string, readonly Version[]])[] = [
    [restPath, versions.all],
    ...versions.all.map(version => [versionPath(version), [version]] as const),
  ]
  for (const [prefix, offered] of prefixes)
    for (const group of groups.values()) {
      const [{ method, path } = { method: '', path: '' }] = group
      const handlers = new Map<Version, RestHandler>()
      if (!offered.some(version => group.some(endpoint => isIn(endpoint, version)))) continue
      // To a version that has no groups of rows their path is that of one row, whose id is no number.
      const hasGroups = group.some(({ derived }) => derived?.kind === 'aggregate')
      const instead = hasGroups ? path.replace(/aggregate$/, ':id') : path
      for (const version of offered) {
        const isHere = (endpoint: RestEndpoint) => isIn(endpoint, version)
        const endpoint =
          group.find(isHere) ??
          endpoints.find(one => one.method === method && one.path === instead && isHere(one))
        if (!endpoint) continue
        const mount = { core, edge, prefix, version, style: versions.styleOf(version) }
        const { derived, serve } = endpoint
        const handle = countingUses(serve(mount), mount, endpoint)
        handlers.set(version, development ? reportingIgnored(handle, mount, derived) : handle)
      }

      const next = group.find(endpoint => isIn(endpoint, versions.newest))
      const successor: Successor =
        notices && next ? successorOf(core.model, notices.version, next.entity) : () => undefined
      const { fail, around } = announcing(versions, notices, successor)
      const rules = group.flatMap(({ rule }) => rule ?? [])
      // One without a rule decides by itself.
      const openTo = rules.length === group.length ? { rules, conditions: core.model } : undefined
      /** The error for a path or method that another version has. */
      const absent = (c: Http, version: Version): ApiError => {
        const methods = endpoints
          .filter(one => (one.path === path || one.path === instead) && isIn(one, version))
          .flatMap(endpoint => [
            ...(endpoint.method === 'GET' ? ['GET', 'HEAD'] : [endpoint.method]),
            ...(isQueried(endpoint) ? [queryMethod] : []),
          ])
        if (methods.length === 0) return noSuchPath(c.req.path)
        const allow = [...methods, 'OPTIONS'].join(', ')
        const message = `${c.req.method} is not possible at ${c.req.path} in version ${version}; there are ${allow}`
        return new ApiError('METHOD_NOT_ALLOWED', message, { headers: { Allow: allow } })
      }
      const route = `${prefix}${path}`
      const mount = (method: string, handlers: ReadonlyMap<Version, RestHandler>) => {
        const handle = inRequestedVersion(versions, handlers, notices, absent)
        const visited = around(answered(handle))
        app.on(method, [route], exchange(edge, fail, around(handle), route, { openTo, visited }))
      }
      mount(method, handlers)
      if (group.some(isQueried)) {
        const filters = group.flatMap(({ derived }) =>
          derived
            ? Object.keys(entityOf(core.model, derived.entity).rest.listing.filters ?? {})
            : [],
        )
        // A filter of the content may have the name of the condition.
        const inBody = [
          ...(filters.includes('where') ? [] : ['where']),
          ...(hasGroups ? ['having'] : []),
        ]
        const queried = [...handlers].flatMap(([version, handle]) =>
          group.some(endpoint => isIn(endpoint, version))
            ? [[version, queriedBy(edge, handle, versions.styleOf(version), inBody)] as const]
            : [],
        )
        mount(queryMethod, new Map(queried))
      }
    }
}
