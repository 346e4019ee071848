/** Compares two OpenAPI 3.1 documents; whatever it does not know counts as breaking. */
import { isDeepStrictEqual } from 'node:util'
import { isObject, type JsonObject } from '#base/object.ts'
import { compareComponents } from '#contract/components.ts'
import { type Difference, found, sorted } from '#contract/difference.ts'
import { newNotices, noticeOf, removal } from '#contract/notice.ts'
import { compareBody, compareParameters, parametersOf } from '#contract/request.ts'
import { compareResponses } from '#contract/response.ts'
import {
  annotation,
  type Compare,
  commonKeys,
  compareKeys,
  followed,
  free,
  inside,
  type Keys,
  lists,
  maps,
  namesOf,
  nothing,
  own,
  type Place,
  type Run,
  unknown,
} from '#contract/walk.ts'

const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace']

/** An operation with what it has from its path and its document. */
type Operation = {
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
): Operation => {
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
const operationsOf = (document: JsonObject): ReadonlyMap<string, Operation> =>
  new Map(
    Object.entries(isObject(document.paths) ? document.paths : {}).flatMap(([path, part]) => {
      const item = followed(document, part)
      if (!isObject(item)) return []
      return methods
        .filter(method => isObject(own(item, method)))
        .map(method => {
          const operation = operationOf(document, path, item, method)
          return [operation.label.replace(/\{[^}]*\}/g, '{}'), operation] as const
        })
    }),
  )

const compareAccess = (
  before: readonly string[],
  after: readonly string[],
  at: Place,
): readonly Difference[] => {
  const inWords = (way: string) => (way === '{}' ? 'no token' : way)
  const [lost, gained] = [
    before.filter(way => !after.includes(way)),
    after.filter(way => !before.includes(way)),
  ]
  const ruleOf = (way: string) =>
    after.some(other => isMetBy(other, way)) ? 'access-eased' : 'access-closed'
  return [
    ...lost.flatMap(way => found(at, ruleOf(way), `it no longer lets in with ${inWords(way)}`)),
    ...gained.flatMap(way => found(at, 'access-opened', `it lets in with ${inWords(way)}`)),
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

const operationKeys: Keys = {
  ...commonKeys,
  tags: annotation('tags'),
  externalDocs: annotation('link to documents'),
  operationId: compareName,
  requestBody: compareBody,
  responses: compareResponses,
  // Compared with what the path and the document say.
  parameters: free,
  security: free,
}

const compareOperations = (
  before: Operation,
  after: Operation,
  at: Place,
): readonly Difference[] => [
  ...(before.path === after.path
    ? []
    : found(at, 'path-parameter-renamed', `its path is ${after.path} instead of ${before.path}`, [
        after.path,
      ])),
  ...compareParameters(before.parameters, after.parameters, at),
  ...compareAccess(before.access, after.access, at),
  ...compareKeys(operationKeys)(before.keys, after.keys, at),
]

const compareAllOperations = (at: Place): readonly Difference[] => {
  const [before, after] = [operationsOf(at.run.before), operationsOf(at.run.after)]
  return [...new Set([...before.keys(), ...after.keys()])].flatMap(key => {
    const [was, is] = [before.get(key), after.get(key)]
    const label = (is ?? was)?.label ?? ''
    const there = { ...inside(at, label, label), visited: nothing() }
    if (!was)
      return [...found(there, 'operation-added', `${label} is new`), ...newNotices(is?.keys, there)]
    if (!is) return removal(noticeOf(was.keys), there, 'operation-removed', `${label} is gone`)
    return compareOperations(was, is, there)
  })
}

/** All that a path has besides its operations and their parameters; a path without operations promises nothing. */
const comparePaths = maps((before, after, at) =>
  namesOf(before, after).flatMap(path => {
    const [was, is] = [own(before, path), own(after, path)]
    const there = inside(at, path, path)
    if (!isObject(was ?? {}) || !isObject(is ?? {})) return unknown(was, is, there)
    const sides = [was, is].filter(isObject)
    return sides.length === 2 ? comparePathItem(was, is, there) : []
  }),
)

const comparePathItem: Compare = (before, after, at) => {
  const known = Object.fromEntries(methods.map(method => [method, malformed]))
  return compareKeys({ ...commonKeys, ...known, parameters: malformedList })(before, after, at)
}

/** Whether what should be compared elsewhere is there at all. */
const malformed: Compare = (before = {}, after = {}, at) =>
  isObject(before) && isObject(after) ? [] : unknown(before, after, at)

const malformedList: Compare = (before = [], after = [], at) =>
  Array.isArray(before) && Array.isArray(after) ? [] : unknown(before, after, at)

const minor = (version: unknown) => String(version).split('.').slice(0, 2).join('.')

const compareDialect: Compare = (before, after, at) =>
  isDeepStrictEqual(before, after)
    ? []
    : minor(before) === minor(after)
      ? annotation('version of OpenAPI')(before, after, at)
      : found(at, 'openapi-changed', `it is written in OpenAPI ${after} instead of ${before}`, [
          String(after),
        ])

/** The notice of a whole version stands here too. */
const compareInfo = compareKeys({
  ...commonKeys,
  title: annotation('title'),
  version: annotation('version'),
  termsOfService: annotation('terms of service'),
  contact: annotation('contact'),
  license: annotation('license'),
})

const compareServers = lists((before, after, at) =>
  before.length === after.length
    ? before.flatMap((server, index) => compareKeys(commonKeys)(server, after[index], at))
    : unknown(before, after, at),
)

const documentKeys: Keys = {
  ...commonKeys,
  openapi: compareDialect,
  info: compareInfo,
  servers: compareServers,
  tags: annotation('list of tags'),
  externalDocs: annotation('link to documents'),
  paths: comparePaths,
  components: free,
  security: malformedList,
}

/** The differences between two OpenAPI 3.1 documents for callers of the first, on a day (YYYY-MM-DD). */
export const diffOpenApi = (
  before: JsonObject,
  after: JsonObject,
  today: string,
): readonly Difference[] => {
  const run: Run = { before, after, followed: new Set() }
  const at: Place = {
    run,
    visited: nothing(),
    today,
    way: 'either',
    path: '',
    member: 'the document',
  }
  const differences = [
    ...compareKeys(documentKeys)(before, after, at),
    ...compareAllOperations(at),
    // After the operations: what none of them led to is compared here.
    ...compareComponents(
      before.components,
      after.components,
      inside(at, 'components', 'components'),
    ),
  ]
  return sorted(differences.map(difference => ({ ...difference, path: tidy(difference.path) })))
}

/** A path without what joins a step to nothing. */
const tidy = (path: string): string => path.replace(/ → $/, '').replaceAll(' → .', ' → ')
