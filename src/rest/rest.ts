/** The REST API: its routes on the app, under every prefix of its versions. */

import { restPath } from '#base/paths.ts'
import type { Core } from '#core.ts'
import { type Edge, exchange } from '#http/exchange.ts'
import { type App, type Http, queryString } from '#http/request.ts'
import { fail } from '#rest/fail.ts'
import { serveList } from '#rest/list.ts'
import type { Mount, Serve } from '#rest/mount.ts'
import { serveOne } from '#rest/one.ts'
import { type Route, routesOf } from '#rest/routes.ts'
import { type Version, versionOf, versions } from '#rest/version.ts'
import { serveAction, serveCreate, serveDelete, serveUpdate } from '#rest/writes.ts'
import type { Action } from '#write/action.ts'

const serving: Readonly<Record<Route['kind'], (mount: Mount, route: Route) => Serve>> = {
  list: serveList,
  one: serveOne,
  create: serveCreate,
  replace: (mount, route) => serveUpdate(mount, route, 'replace'),
  update: (mount, route) => serveUpdate(mount, route, 'update'),
  delete: serveDelete,
}

/** The handler of a path: the viewer first, then the version, then the rest. */
const endpoint = (edge: Edge, inPath: Version | null, serve: Serve) =>
  exchange(edge, fail, (c: Http, viewer) => serve(c, viewer, versionOf(c, inPath, queryString(c))))

/** A route that the model does not derive, such as a picture or a report. */
export type ExtraRoute = {
  readonly method: string
  readonly path: string
  readonly serve: (mount: Mount) => Serve
}

const prefixes: readonly (readonly [string, Version | null])[] = [
  [restPath, null],
  ...versions.map(version => [`${restPath}/v${version}`, version] as const),
]

/** Mounts the REST API of a model and its actions. */
export const mountRest = (
  app: App,
  core: Core,
  edge: Edge,
  actions: readonly Action[],
  extras: readonly ExtraRoute[],
): void => {
  for (const [prefix, version] of prefixes) {
    const mount: Mount = { core, edge, prefix }
    for (const route of routesOf(core.model))
      app.on(
        route.method,
        [`${prefix}${route.path}`],
        endpoint(edge, version, serving[route.kind](mount, route)),
      )
    for (const action of actions)
      app.on(
        action.method,
        [`${prefix}${action.path}`],
        endpoint(edge, version, serveAction(mount, action)),
      )
    for (const extra of extras)
      app.on(extra.method, [`${prefix}${extra.path}`], endpoint(edge, version, extra.serve(mount)))
  }
}
