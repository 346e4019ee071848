/** Which route takes a request, and what is answered where none does: 404, 405 with `Allow`, and OPTIONS. */
import type { Result, Router } from 'hono/router'
import { RegExpRouter } from 'hono/router/reg-exp-router'
import { SmartRouter } from 'hono/router/smart-router'
import { TrieRouter } from 'hono/router/trie-router'
import { ApiError } from '#errors.ts'
import { exchange, type Fail, type Handle, type HttpContext } from '#http/exchange.ts'
import { preflightHeaders } from '#http/reply.ts'
import type { Http } from '#http/request.ts'
import { anonymous } from '#model/policy.ts'

/**
 * Routes a path that is written out before one with parameters: `/things/aggregate` before `/things/:id`. Hono's fast router, one regular
 * expression for all, refuses such a pair, and all routes together would fall back to the slow one. There is no middleware: throws for a
 * route of all methods, or with a wildcard, since a path that is written out has its own handlers alone.
 */
export const createRouter = <T>(): Router<T> => {
  const exact = new Map<string, Map<string, Result<T>>>()
  const patterns = new SmartRouter<T>({ routers: [new RegExpRouter(), new TrieRouter()] })
  return {
    /** Once a request was routed, it names the router of Hono that serves. */
    get name() {
      return patterns.name
    },
    add(method, path, handler) {
      if (method === 'ALL' || path.includes('*'))
        throw new TypeError(`${method} ${path}: a route has one method, and no wildcard`)
      if (path.includes(':')) return patterns.add(method, path, handler)
      const paths = exact.get(method) ?? new Map<string, Result<T>>()
      exact.set(method, paths)
      // As with a pattern, the first of two handlers answers.
      if (!paths.has(path)) paths.set(path, [[[handler, {}]], []])
    },
    match: (method, path) => exact.get(method)?.get(path) ?? patterns.match(method, path),
  }
}

/** The path that stands for the server as a whole: the `*` of `OPTIONS *`, which has all methods (RFC 9110, section 9.3.7). */
export const wholeServer = '/*'

/** What is told of a request that no route takes: the error for its path, and what is added where only its method is wrong. */
export type Astray = {
  readonly absent: (c: Http) => ApiError
  readonly elsewhere: (c: Http) => string
}

export type Known = { readonly method: string; readonly path: string }

/** The methods at a path by all the routes, as `Allow` lists them: HEAD beside GET, and OPTIONS; undefined where there are none. */
export const allowing = (known: readonly Known[]) => {
  const routes = known.map(({ method, path }) => ({
    pattern: new RegExp(`^${path.replace(/[.]/g, '\\.').replace(/:[A-Za-z]+/g, '[^/]+')}$`),
    methods: method === 'GET' ? ['GET', 'HEAD'] : [method],
  }))
  return (path: string): string | undefined => {
    const there = path === wholeServer ? routes : routes.filter(({ pattern }) => pattern.test(path))
    const methods = there.flatMap(r => r.methods)
    return methods.length === 0 ? undefined : [...new Set(methods), 'OPTIONS'].join(', ')
  }
}

/**
 * The handler for everything that no route takes, by the methods that `allowedAt` gives for a path; `headersFor` is added
 * to the answers to OPTIONS.
 */
export const unrouted = (
  allowedAt: (path: string) => string | undefined,
  edge: HttpContext,
  { fail, around }: { readonly fail: Fail; readonly around: (handle: Handle) => Handle },
  { absent, elsewhere }: Astray,
  headersFor: (c: Http, allow: string) => Readonly<Record<string, string>>,
) => {
  // Path and method come before the token, which is not looked at.
  const handle = around((c: Http) => {
    const { path, method } = c.req
    const allow = allowedAt(path)
    if (allow === undefined) throw absent(c)
    const methods = { Allow: allow, 'Access-Control-Allow-Methods': allow }
    if (method === 'OPTIONS')
      return {
        status: 204,
        headers: { ...methods, ...preflightHeaders, ...headersFor(c, allow) },
        body: null,
      }
    throw new ApiError(
      'METHOD_NOT_ALLOWED',
      `${method} is not possible at ${path}; there are ${allow}${elsewhere(c)}`,
      { headers: { Allow: allow } },
    )
  })
  return exchange({ ...edge, authenticate: () => anonymous }, fail, handle)
}
