/** What no route serves: 404, 405 with `Allow`, and OPTIONS. */
import { ApiError } from '#errors.ts'
import { type Edge, exchange, type Fail } from '#http/exchange.ts'
import { preflightHeaders, type Reply } from '#http/reply.ts'
import type { Http } from '#http/request.ts'

export type Known = { readonly method: string; readonly path: string }

type Pattern = { readonly form: RegExp; readonly methods: Set<string> }

const patternOf = (path: string): RegExp =>
  new RegExp(`^${path.replace(/[.]/g, '\\.').replace(/:[A-Za-z]+/g, '[^/]+')}$`)

/** The methods of each path; GET stands for HEAD too, and OPTIONS is always there. */
const patternsOf = (known: readonly Known[]): readonly Pattern[] => {
  const patterns = new Map<string, Pattern>()
  for (const { method, path } of known) {
    const pattern = patterns.get(path) ?? { form: patternOf(path), methods: new Set<string>() }
    patterns.set(path, pattern)
    pattern.methods.add(method)
    if (method === 'GET') pattern.methods.add('HEAD')
  }
  return [...patterns.values()]
}

/** The handler for everything that no route takes, given all the routes there are; OPTIONS says `headersAt` a path too. */
export const unrouted = (
  known: readonly Known[],
  edge: Edge,
  fail: Fail,
  explain: (path: string) => ApiError,
  headersAt: (path: string) => Readonly<Record<string, string>>,
) => {
  const patterns = patternsOf(known)
  const allowedAt = (path: string): string | undefined => {
    const methods = new Set(
      patterns.filter(({ form }) => form.test(path)).flatMap(({ methods }) => [...methods]),
    )
    return methods.size === 0 ? undefined : [...methods, 'OPTIONS'].join(', ')
  }
  const options = (path: string, allow: string): Reply => ({
    status: 204,
    headers: {
      Allow: allow,
      'Access-Control-Allow-Methods': allow,
      ...preflightHeaders,
      ...headersAt(path),
    },
    body: null,
  })
  // Path and method come before the token: whoever asks is not looked at.
  return exchange(
    { ...edge, authenticate: () => ({ id: null, role: 'anonymous' }) },
    fail,
    (c: Http) => {
      const { path, method } = c.req
      const allow = allowedAt(path)
      if (allow === undefined) throw explain(path)
      if (method === 'OPTIONS') return options(path, allow)
      throw new ApiError(
        'METHOD_NOT_ALLOWED',
        `${method} is not possible at ${path}; there are ${allow}`,
        {
          headers: { Allow: allow },
        },
      )
    },
  )
}
