/** The same request in the newest version, to which answers of a deprecated version point. */
import { own } from '#base/object.ts'
import { restPath, versionPath } from '#base/paths.ts'
import { type Http, queryString } from '#http/request.ts'
import type { Model } from '#model/model.ts'
import { type Resource, resourceOf } from '#model/resource.ts'
import { newest, type Version } from '#model/version.ts'

/** The target of a request in the newest version, escaped for a `Link`; undefined where that version does not have it. */
export type Successor = (c: Http) => string | undefined

const prefix = new RegExp(`^${restPath}(?:/v\\d+)?(?=/)`)

/** Whether a path is one of the REST API's. */
export const isBelowApi = (path: string): boolean => prefix.test(path)

const successorPath = (path: string): string => path.replace(prefix, versionPath(newest))

/** The names that the newest version has, of the values of parameters that list members. */
type Renames = Readonly<Record<string, (name: string) => string>>

const renamesOf = (older: Resource, newer: Resource): Renames => ({
  fields: name => {
    const field = older.fieldNamed(name)
    return field === undefined ? name : newer.nameOf(field)
  },
  sort: name => {
    const term = older.sorts.find(sort => sort.name === name)
    const same = newer.sorts.find(
      sort => sort.field === term?.field && sort.descending === term.descending,
    )
    return same?.name ?? name
  },
})

/** A parameter with its members renamed; as it was sent where none is called differently. */
const renamed = (part: string, renames: Renames): string => {
  const [[name, text] = ['', '']] = new URLSearchParams(part)
  const rename = own(renames, name)
  if (!rename) return part
  const found = text.split(',').map(rename).join(',')
  return found === text ? part : `${name}=${encodeURIComponent(found).replaceAll('%2C', ',')}`
}

/** The query, with its question mark, without the parameter that names a version. */
const successorQuery = (query: string, renames: Renames): string => {
  const parts = query
    .split('&')
    .filter(part => !/^version(?:=|$)/.test(part))
    .map(part => renamed(part, renames))
  return parts.length === 0 ? '' : `?${parts.join('&')}`
}

/** What may not stand between angle brackets (RFC 3986, section 2). */
const unsafe = /[^\x21-\x7e]|[<>"\\^`{|}]/gu

const targetOf = (c: Http, renames: Renames): string => {
  const query = queryString(c)
  const target = `${successorPath(c.req.path)}${query && successorQuery(query, renames)}`
  return target.replace(unsafe, encodeURIComponent)
}

/** The successor of the requests of a route of the newest version; those about an entity name its members. */
export const successorOf = (
  model: Model,
  older: Version,
  entity: string | undefined,
): Successor => {
  const renames =
    entity === undefined
      ? {}
      : renamesOf(resourceOf(model, entity, older), resourceOf(model, entity, newest))
  return c => targetOf(c, renames)
}

/** The successor of requests that no route takes, by the methods that `allowedAt` gives for a path. */
export const successorAmong =
  (allowedAt: (path: string) => string | undefined): Successor =>
  c => {
    const methods = allowedAt(successorPath(c.req.path))?.split(', ') ?? []
    return methods.includes(c.req.method) ? targetOf(c, {}) : undefined
  }
