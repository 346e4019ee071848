/** What a request that no route takes may have meant, for its error: a misspelt path, or a thing that is created elsewhere. */
import { nearest } from '#base/nearest.ts'
import { restPath } from '#base/paths.ts'
import type { Http } from '#http/request.ts'
import type { Astray } from '#http/unrouted.ts'
import { entityOf, type Model } from '#model/model.ts'
import { isIn } from '#model/version.ts'
import { noSuchPath } from '#rest/mount.ts'
import { type Route, routesOf } from '#rest/routes.ts'
import { errorVersionOf, noSuchVersion } from '#versions/negotiation.ts'

/** A longer path is no slip of the fingers, and would cost more to compare. */
const longest = 200

/** The word that a segment is, or is near to, among those that may stand in its place; an empty one is none. */
const meantBy = (segment: string, words: readonly string[]): string | undefined => {
  if (words.includes(segment)) return segment
  if (segment !== '' && words.some(word => word.startsWith(':'))) return segment
  return nearest(
    segment,
    words.filter(({ length }) => Math.abs(length - segment.length) <= 2),
  )
}

/** Finds the path that somebody meant, near to one of these patterns or to one below the API's prefix; undefined where there is none. */
const nearestPath = (patterns: readonly string[]) => {
  const known = [...new Set(patterns)].map(path => path.split('/'))
  const meant = (path: string): string | undefined => {
    const asked = path.split('/')
    let left = known.filter(({ length }) => length === asked.length)
    const found: string[] = []
    for (const [at, segment] of asked.entries()) {
      const word = meantBy(segment, [...new Set(left.map(pattern => pattern[at] ?? ''))])
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

/** Says below which parents the things of a collection are created; nothing for other requests than a POST to such a one. */
const createdBelow = (model: Model) => {
  const creations = routesOf(model).filter(({ kind, below }) => kind === 'create' && below)
  const shown = ({ path, below }: Route) => path.replace(':parentId', `{${below?.entity}Id}`)
  return (c: Http): string => {
    const [, prefix, plural] = collection.exec(c.req.path) ?? []
    if (c.req.method !== 'POST' || plural === undefined) return ''
    const version = errorVersionOf(c)
    const places = creations
      .filter(({ entity }) => entityOf(model, entity).plural === plural)
      .filter(({ lifetime }) => isIn(lifetime, version))
      .map(route => `POST ${prefix}${shown(route)}`)
    return places.length === 0 ? '' : `; ${plural} are created by ${places.join(' or ')}`
  }
}

/** What is told of a request that no route takes, by the model and the paths of all routes. */
export const astray = (model: Model, paths: readonly string[]): Astray => {
  const elsewhere = createdBelow(model)
  const near = nearestPath(paths)
  const hint = (c: Http): string => {
    const place = elsewhere(c)
    const meant = place === '' ? near(c.req.path) : undefined
    return meant === undefined ? `${place}; ` : `; did you mean ${meant}? `
  }
  return {
    absent: c => noSuchVersion(c.req.path) ?? noSuchPath(c.req.path, hint(c)),
    elsewhere,
  }
}
