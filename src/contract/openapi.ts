/** Compares two OpenAPI 3.1 documents; whatever it does not know counts as breaking. */
import { isObject, type JsonObject, own } from '#base/object.ts'
import {
  type Differences,
  found,
  newNotices,
  noticeOf,
  removal,
  sorted,
} from '#contract/difference.ts'
import {
  compareBody,
  compareComponents,
  compareParameters,
  compareResponses,
  parametersOf,
} from '#contract/operation.ts'
import {
  annotation,
  byPlace,
  type Compare,
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
} from '#contract/walk.ts'

const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace']

/** An operation with what it has from its path and its document. */
type PathOperation = {
  readonly path: string
  readonly label: string
  readonly keys: JsonObject
  readonly parameters: JsonObject
  readonly access: readonly string[]
}

/** A value with the keys of all objects in it in order, as text. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, part) =>
    isObject(part) ? Object.fromEntries(Object.entries(part).toSorted()) : part,
  )

/** Whether those who are let in by one way are let in by the other too: it asks for no other scheme or scope. */
const isMetBy = (other: string, way: string): boolean => {
  const [asked, given] = [other, way].map(text => JSON.parse(text) as JsonObject)
  return Object.entries(asked ?? {}).every(([scheme, scopes]) => {
    const had = own(given ?? {}, scheme)
    return Array.isArray(scopes) && Array.isArray(had) && scopes.every(scope => had.includes(scope))
  })
}

/** The ways to be let in, each as text; an empty list lets everybody in, as `{}` does. */
const accessOf = (security: unknown): readonly string[] =>
  Array.isArray(security) && security.length > 0 ? security.map(canonical) : ['{}']

const operationOf = (
  document: JsonObject,
  path: string,
  item: JsonObject,
  method: string,
): PathOperation => {
  const keys = own(item, method) as JsonObject
  return {
    path,
    label: `${method.toUpperCase()} ${path}`,
    keys,
    parameters: parametersOf(document, [item.parameters, keys.parameters], path),
    access: accessOf(keys.security ?? document.security),
  }
}

/** All operations of a document by method and path, whatever is in its braces. */
const operationsOf = (document: JsonObject): Readonly<Record<string, PathOperation>> =>
  Object.fromEntries(
    Object.entries(isObject(document.paths) ? document.paths : {}).flatMap(([path, part]) => {
      const item = followed(document, part)
      if (!isObject(item)) return []
      return methods
        .filter(method => isObject(own(item, method)))
        .map(method => operationOf(document, path, item, method))
        .map(operation => [operation.label.replace(/\{[^}]*\}/g, '{}'), operation] as const)
    }),
  )

const accessChanges = (before: PathOperation, after: PathOperation, at: Place): Differences => {
  const inWords = (way: string) => (way === '{}' ? 'no token' : way)
  const ruleOf = (way: string) =>
    after.access.some(other => isMetBy(other, way)) ? 'access-eased' : 'access-closed'
  return [
    ...missing(before.access, after.access).flatMap(way =>
      found(at, ruleOf(way), `it no longer lets in with ${inWords(way)}`),
    ),
    ...missing(after.access, before.access).flatMap(way =>
      found(at, 'access-opened', `it lets in with ${inWords(way)}`),
    ),
  ]
}

const compareName: Compare = (before, after, at) =>
  before === after
    ? []
    : found(
        at,
        'operation-renamed',
        `its operationId is ${after ?? 'gone'} instead of ${before ?? 'none'}`,
        [String(after ?? before)],
      )

const compareOperation = compareKeys({
  tags: annotation('tags'),
  externalDocs: annotation('link to documents'),
  operationId: compareName,
  requestBody: compareBody,
  responses: compareResponses,
  // Compared with what the path and the document say.
  parameters: free,
  security: free,
})

const compareAllOperations = (at: Place): Differences =>
  pairs(operationsOf(at.run.before), operationsOf(at.run.after)).flatMap(([, was, is]) => {
    const { label = '', path = '' } = is ?? was ?? {}
    const there = { ...inside(at, label, label), visited: nothing() }
    if (!was)
      return [...found(there, 'operation-added', `${label} is new`), ...newNotices(is?.keys, there)]
    if (!is) return removal(noticeOf(was.keys), there, 'operation-removed', `${label} is gone`)
    return [
      ...(was.path === path
        ? []
        : found(there, 'path-parameter-renamed', `its path is ${path} instead of ${was.path}`, [
            path,
          ])),
      ...compareParameters(was.parameters, is.parameters, there),
      ...accessChanges(was, is, there),
      ...compareOperation(was.keys, is.keys, there),
    ]
  })

/** Whether what is compared elsewhere is there at all. */
const aMap = objects(() => [])
const aList = lists(() => [])

const comparePath = compareKeys({
  ...Object.fromEntries(methods.map(method => [method, aMap])),
  parameters: aList,
})

/** All that a path has besides its operations and their parameters; a path without operations promises nothing. */
const comparePaths = maps(([path, was, is], at) => {
  const isOneSided =
    [was, is].some(side => side == null) && [was, is].every(side => isObject(side ?? {}))
  return isOneSided ? [] : comparePath(was, is, inside(at, path, path))
})

const minor = (version: unknown) => String(version).split('.').slice(0, 2).join('.')

const compareDialect: Compare = (before, after, at) =>
  minor(before) === minor(after)
    ? annotation('version of OpenAPI')(before, after, at)
    : found(at, 'openapi-changed', `it is written in OpenAPI ${after} instead of ${before}`, [
        String(after),
      ])

const compareDocuments = compareKeys({
  openapi: compareDialect,
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
    today,
    way: 'either',
    path: '',
    member: 'the document',
  }
  const components = inside(at, 'components', 'components')
  const differences = [
    ...compareDocuments(before, after, at),
    ...compareAllOperations(at),
    // After the operations: what none of them led to is compared here.
    ...compareComponents(before.components, after.components, components),
  ]
  return sorted(differences.map(difference => ({ ...difference, path: tidy(difference.path) })))
}

/** A path without what joins a step to nothing. */
const tidy = (path: string): string => path.replace(/ → $/, '').replaceAll(' → .', ' → ')
