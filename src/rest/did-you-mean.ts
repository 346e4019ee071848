/** What a request that no route takes may have meant, for its error: a misspelt path, or a thing that is created elsewhere. */

import { restPath } from '#base/paths.ts'
import { nearest } from '#base/text.ts'
import type { Http } from '#http/request.ts'
import type { Astray } from '#http/routes.ts'
import { entityOf, type Model } from '#model/model.ts'
import type { Policy } from '#model/policy.ts'
import { isIn } from '#model/version.ts'
import { noSuchPath } from '#rest/fail.ts'
import { routesOf } from '#rest/routes.ts'
import { errorVersionOf, noSuchVersion } from '#versions/negotiation.ts'

/** A longer path is no slip of the fingers, and would cost more to compare. */
const longest = 200

/** Finds the path that somebody meant, near to one of these patterns or to one below the API's prefix; undefined if there is none. */
const nearestPath = (patterns: readonly string[]) => {
  const known = [...new Set(patterns)].map(path => path.split('/'))
  const meant = (path: string): string | undefined => {
    const segments = path.split('/')
    let left = known.filter(({ length }) => length === segments.length)
    const found: string[] = []
    for (const [at, segment] of segments.entries()) {
      const words = [...new Set(left.map(pattern => pattern[at] ?? ''))]
      // A parameter may be anything but empty.
      const isThere =
        words.includes(segment) || (segment !== '' && words.some(word => word.startsWith(':')))
      const similar = words.filter(({ length }) => Math.abs(length - segment.length) <= 2)
      const word = isThere ? segment : nearest(segment, similar)
      if (word === undefined) return undefined
      left = left.filter(pattern => pattern[at] === word || pattern[at]?.startsWith(':'))
      found.push(word)
    }
    return found.join('/')
  }
  return (path: string): string | undefined => {
    if (path.length > longest) return undefined
    const bare = path.replace(/\/$/, '')
    return meant(bare) ?? meant(`${restPath}${bare}`)
  }
}

const collection = new RegExp(`^(${restPath}(?:/v\\d+)?)/([^/]+)$`)

/** The write that each method does, at the path of a collection and at that of a row. */
const wished = {
  collection: { POST: 'create' },
  row: { PUT: 'update', PATCH: 'update', DELETE: 'delete' },
} as const satisfies Record<string, Readonly<Record<string, keyof Policy>>>

const placeOf = new RegExp(`^${restPath}(?:/v\\d+)?/([^/]+)(/[^/]+)?$`)

/** In development: why a path that is there does not take a method, where the policy or the routes of its entity are the cause; else nothing. */
const closedBecause = ({ entities }: Model, { path, method }: Http['req']): string => {
  const [, plural, row] = placeOf.exec(path) ?? []
  const name = Object.keys(entities).find(one => entities[one]?.plural === plural)
  const { policy, rest } = (name && entities[name]) || {}
  const wish: Readonly<Record<string, keyof Policy>> = wished[row ? 'row' : 'collection']
  const operation = wish[method]
  if (!name || !policy || !rest || !operation) return ''
  if (policy[operation] === undefined)
    return `; nobody may ${operation} ${plural}, as the policy of ${name} has no rule for it: add ${operation}: signedIn, say`
  return `; the policy of ${name} has a rule for it, and its rest.writes does not: add the write there`
}

/** The hints for requests that no route takes, by the model and the paths of all routes. */
export const didYouMean = (
  model: Model,
  paths: readonly string[],
  isDevelopment: boolean,
): Astray => {
  const creations = routesOf(model).filter(({ kind, below }) => kind === 'create' && below)
  const near = nearestPath(paths)
  /** Below which parents the things of a collection are created; nothing for other requests than a POST to a collection. */
  const elsewhere = (c: Http): string => {
    const [, prefix, plural] = collection.exec(c.req.path) ?? []
    if (c.req.method !== 'POST' || plural === undefined) return ''
    const version = errorVersionOf(model.versions, c)
    const places = creations
      .filter(({ entity }) => entityOf(model, entity).plural === plural)
      .filter(({ lifetime }) => isIn(lifetime, version))
      .map(({ path, below }) => path.replace(':parentId', `{${below?.entity}Id}`))
      .map(path => `POST ${prefix}${path}`)
    return places.length === 0 ? '' : `; ${plural} are created by ${places.join(' or ')}`
  }
  return {
    absent: c => {
      const unknown = noSuchVersion(model.versions, c.req.path)
      if (unknown) return unknown
      const place = elsewhere(c)
      const meant = place === '' ? near(c.req.path) : undefined
      const hint = meant === undefined ? `${place}; ` : `; did you mean ${meant}? `
      return noSuchPath(c.req.path, hint)
    },
    elsewhere: c => elsewhere(c) || (isDevelopment ? closedBecause(model, c.req) : ''),
  }
}
