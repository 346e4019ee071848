/** Compares two OpenAPI 3.1 documents; whatever it does not know counts as breaking. */
import { isObject, type JsonObject, own } from '#base/object.ts'
import {
  type Differences,
  noticeOf,
  sorted,
  tell,
  tellNewNotices,
  tellRemoval,
} from '#kit/contract/difference.ts'
import {
  compareBody,
  compareComponents,
  compareParameters,
  compareResponses,
  parametersOf,
} from '#kit/contract/operation.ts'
import {
  annotation,
  byPlace,
  compareKeys,
  followed,
  free,
  inside,
  lists,
  maps,
  missing,
  nothing,
  objects,
  type Place,
  pairs,
} from '#kit/contract/walk.ts'

const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace']

/** An operation with what it has from its path and its document. */
type PathOperation = {
  readonly path: string
  readonly label: string
  readonly keys: JsonObject
  readonly parameters: JsonObject
  /** The ways to be let in, each as text; `{}` lets everybody in. */
  readonly access: readonly string[]
}

/** A value with the keys of all objects in it in order, as text. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, part) =>
    isObject(part) ? Object.fromEntries(Object.entries(part).toSorted()) : part,
  )

/** All operations of a document by method and path, whatever is in its braces. */
const operationsOf = (document: JsonObject): Readonly<Record<string, PathOperation>> =>
  Object.fromEntries(
    Object.entries(isObject(document.paths) ? document.paths : {}).flatMap(([path, part]) => {
      const item = followed(document, part)
      if (!isObject(item)) return []
      return methods.flatMap(method => {
        const keys = own(item, method)
        if (!isObject(keys)) return []
        const label = `${method.toUpperCase()} ${path}`
        const security = keys.security ?? document.security
        const isRestricted = Array.isArray(security) && security.length > 0
        const operation = {
          path,
          label,
          keys,
          parameters: parametersOf(document, [item.parameters, keys.parameters], path),
          access: isRestricted ? security.map(canonical) : ['{}'],
        }
        return [[label.replace(/\{[^}]*\}/g, '{}'), operation] as const]
      })
    }),
  )

const compareAccess = (before: PathOperation, after: PathOperation, at: Place): void => {
  const inWords = (way: string) => (way === '{}' ? 'no token' : way)
  /** Whether those who are let in by one way are let in by the other too: it asks for no other scheme or scope. */
  const isMetBy = (other: string, way: string): boolean => {
    const [asked, given]: readonly JsonObject[] = [other, way].map(text => JSON.parse(text))
    return Object.entries(asked ?? {}).every(([scheme, scopes]) => {
      const had = own(given ?? {}, scheme)
      return Array.isArray(scopes) && Array.isArray(had) && scopes.every(one => had.includes(one))
    })
  }
  for (const way of missing(before.access, after.access)) {
    const isEased = after.access.some(other => isMetBy(other, way))
    const rule = isEased ? 'access-eased' : 'access-closed'
    tell(at, rule, `it no longer lets in with ${inWords(way)}`)
  }
  for (const way of missing(after.access, before.access))
    tell(at, 'access-opened', `it lets in with ${inWords(way)}`)
}

const compareOperation = compareKeys({
  tags: annotation('tags'),
  externalDocs: annotation('link to documents'),
  operationId: (before, after, at) => {
    if (before === after) return
    const message = `its operationId is ${after ?? 'gone'} instead of ${before ?? 'none'}`
    tell(at, 'operation-renamed', message, [String(after ?? before)])
  },
  requestBody: compareBody,
  responses: compareResponses,
  // Compared with what the path and the document say.
  parameters: free,
  security: free,
})

const compareAllOperations = (at: Place): void => {
  for (const [, was, is] of pairs(operationsOf(at.run.before), operationsOf(at.run.after))) {
    const { label = '', path = '' } = is ?? was ?? {}
    const there = { ...inside(at, label, label), visited: nothing() }
    if (was && is) {
      const renamed = `its path is ${path} instead of ${was.path}`
      if (was.path !== path) tell(there, 'path-parameter-renamed', renamed, [path])
      compareParameters(was.parameters, is.parameters, there)
      compareAccess(was, is, there)
      compareOperation(was.keys, is.keys, there)
    } else if (was) tellRemoval(noticeOf(was.keys), there, 'operation-removed', `${label} is gone`)
    else {
      tell(there, 'operation-added', `${label} is new`)
      tellNewNotices(is?.keys, there)
    }
  }
}

/** Whether a part that is compared elsewhere is there at all. */
const aMap = objects(() => {})
const aList = lists(() => {})

const comparePath = compareKeys({
  ...Object.fromEntries(methods.map(method => [method, aMap])),
  parameters: aList,
})

/** All that a path has besides its operations and their parameters; a path without operations promises nothing. */
const comparePaths = maps((path, was, is, at) => {
  const isOneSided =
    [was, is].some(side => side == null) && [was, is].every(side => isObject(side ?? {}))
  if (!isOneSided) comparePath(was, is, inside(at, path, path))
})

const compareDocuments = compareKeys({
  openapi: (before, after, at) => {
    const [was, is] = [before, after].map(text => String(text).split('.').slice(0, 2).join('.'))
    const message = `it is written in OpenAPI ${after} instead of ${before}`
    if (was === is) annotation('version of OpenAPI')(before, after, at)
    else tell(at, 'openapi-changed', message, [String(after)])
  },
  // The notice of a whole version stands here too.
  info: compareKeys({
    title: annotation('title'),
    version: annotation('version'),
    termsOfService: annotation('terms of service'),
    contact: annotation('contact'),
    license: annotation('license'),
  }),
  servers: byPlace(compareKeys({})),
  tags: annotation('list of tags'),
  externalDocs: annotation('link to documents'),
  paths: comparePaths,
  components: free,
  security: aList,
})

/** The differences between two OpenAPI 3.1 documents for callers of the first, on a day (YYYY-MM-DD). */
export const diffOpenApi = (before: JsonObject, after: JsonObject, today: string): Differences => {
  const at: Place = {
    run: { before, after, followed: new Set() },
    visited: nothing(),
    found: [],
    today,
    way: 'either',
    path: '',
    member: 'the document',
  }
  compareDocuments(before, after, at)
  compareAllOperations(at)
  // Components that no operation led to are compared here.
  const components = inside(at, 'components', 'components')
  compareComponents(before.components, after.components, components)
  // A path without what joins a step to nothing.
  const tidy = (path: string) => path.replace(/ → $/, '').replaceAll(' → .', ' → ')
  return sorted(at.found.map(difference => ({ ...difference, path: tidy(difference.path) })))
}
