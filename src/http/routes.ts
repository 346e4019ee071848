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

/** Hono's router of one regular expression, which refuses a path that is written out beside one with parameters: here it has those in its table alone. */
class FastRouter<T> extends RegExpRouter<T> {
  readonly #exact = new Map<string, Record<string, Result<T>>>()
  override add(method: string, path: string, handler: T) {
    if (path.includes(':')) return super.add(method, path, handler)
    const paths = this.#exact.get(method) ?? {}
    this.#exact.set(method, paths)
    // As with a pattern, the first of two handlers answers.
    paths[path] ??= [[[handler, {}]], []]
  }
  protected override buildAllMatchers() {
    const matchers = super.buildAllMatchers()
    for (const [method, paths] of this.#exact) {
      const [pattern, handlers] = matchers[method] ?? [/^$/, []]
      matchers[method] = [pattern, handlers, paths]
    }
    return matchers
  }
}

/**
 * Routes a path that is written out before one with parameters: `/things/aggregate` before `/things/:id`, whichever is added first; by
 * the fast router, or by a slower one for all routes where a segment is a name in one path and a parameter in another, and more follows.
 * There is no middleware: throws for a route of all methods, or with a wildcard, since a path that is written out has its own handlers alone.
 */
export class ExactFirst<T> extends SmartRouter<T> {
  /** Undefined once requests are routed, after which there are no more routes. */
  #patterns: Parameters<Router<T>['add']>[] | undefined = []
  constructor() {
    super({ routers: [new FastRouter<T>(), new TrieRouter<T>()] })
  }
  override add(method: string, path: string, handler: T) {
    if (method === 'ALL' || path.includes('*'))
      throw new TypeError(`${method} ${path}: a route has one method, and no wildcard`)
    if (this.#patterns && path.includes(':')) this.#patterns.push([method, path, handler])
    else super.add(method, path, handler)
  }
  /** Runs once, as the router that it finds takes its place. */
  override match(method: string, path: string) {
    for (const route of this.#patterns ?? []) super.add(...route)
    this.#patterns = undefined
    return super.match(method, path)
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
        headers: { ...methods, ...preflightHeaders(edge.corsHeaders), ...headersFor(c, allow) },
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
