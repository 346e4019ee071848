/** The OpenAPI 3.1.1 document of a version of the REST API, derived from all that it is made of. */
import { versionPath } from '#base/paths.ts'
import type { Content } from '#content.ts'
import type { Model } from '#model/model.ts'
import type { JsonSchema } from '#model/operation-docs.ts'
import { isIn, type Lifetime, newest, type Version } from '#model/version.ts'
import { examplesOf, schemasOf } from '#openapi/components.ts'
import { actionOperation, extraOperation } from '#openapi/described.ts'
import { type Operation, routeOperation, tagOf } from '#openapi/operations.ts'
import { parameter, sharedParameters } from '#openapi/parameters.ts'
import { type Parts, partsOf } from '#openapi/parts.ts'
import { headers } from '#openapi/responses.ts'
import { marksOf, type Schemas } from '#openapi/schemas.ts'
import { type Route, routesOf } from '#rest/routes.ts'
import type { Lifecycle } from '#versions/deprecation.ts'

/** The operations of a path by method, and the parameters of all of them. */
type PathItem = Readonly<Record<string, JsonSchema | readonly JsonSchema[]>>

export type OpenApi = JsonSchema & {
  readonly openapi: string
  readonly paths: Readonly<Record<string, PathItem>>
  readonly components: Readonly<Record<string, Schemas>>
}

const structureOf = (path: string): string => path.replace(/\{\w+\}/g, '{}')

/** The operations by path and method; throws a plain error where two have one name. */
const pathsOf = (operations: readonly Operation[]): Readonly<Record<string, PathItem>> => {
  const known = new Map<unknown, Operation>()
  for (const made of operations) {
    const { operationId } = made.operation
    const other = known.get(operationId)
    if (other)
      throw new Error(
        `${other.method} ${other.path} and ${made.method} ${made.path} are both the operation ${operationId}: give one of them another name`,
      )
    known.set(operationId, made)
  }
  const common = { parameters: (['version', 'apiVersion', 'requestId'] as const).map(parameter) }
  const byPath = Map.groupBy(operations, ({ path }) => structureOf(path))
  return Object.fromEntries(
    [...byPath.values()].map(group => [
      group[0]?.path ?? '',
      {
        ...common,
        ...Object.fromEntries(group.map(({ method, operation }) => [method, operation])),
      },
    ]),
  )
}

const about = `Objects, lists and errors are JSON. A list is answered page by page; QUERY (RFC 10008) asks for it as GET does, with query parameters in a body. An unknown member of a body is refused.
A GET answers with an ETag, and with 304 where If-None-Match names it. If-Match guards PUT, PATCH, DELETE and actions against lost updates.
With an Idempotency-Key a POST may be sent again without a second effect.
New members and links may appear without notice: ignore those you do not know.`

/** What a document says first of a version that comes to its end. */
const noticeOf = ({ version, state, from, end }: Lifecycle): string => {
  if (state === 'withdrawn') return `Version ${version} ended on ${end}: use version ${newest}.`
  const until = end === undefined ? '' : ` and ends on ${end}`
  return `Version ${version} is deprecated since ${from}${until}: use version ${newest}.`
}

const infoOf = ({ version }: Parts, ending: Lifecycle | undefined): JsonSchema => ({
  title: `Duet, version ${version}`,
  version: String(version),
  description: ending ? `${noticeOf(ending)}\n\n${about}` : about,
  license: { name: 'MIT', identifier: 'MIT' },
})

const securitySchemes = {
  bearer: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description:
      'A JSON Web Token, from the operator of the service; `bin/duet token` makes one with its secret.',
  },
} as const

const tagsOf = ({ model }: Parts, operations: readonly Operation[]): readonly JsonSchema[] =>
  [...new Set(operations.map(({ path }) => tagOf(path)))].map(name => {
    const entity = Object.values(model.entities).find(({ plural }) => plural === name)
    return { name, description: entity?.description ?? `Everything below /${name}.` }
  })

/** The operations of a version; those of one that comes to its end are deprecated. */
const operationsOf = (
  parts: Parts,
  routes: readonly Route[],
  shared: Map<string, JsonSchema>,
  ending: Lifecycle | undefined,
): readonly Operation[] => {
  const isOffered = (lifetime: Lifetime) => isIn(lifetime, parts.version)
  const all = [
    ...routes.map(route => routeOperation(parts, route, shared)),
    ...parts.actions.filter(isOffered).map(action => actionOperation(parts, action, shared)),
    ...parts.extras.filter(isOffered).map(extra => extraOperation(parts, extra, shared)),
  ]
  if (!ending) return all
  const marks = marksOf({ deprecated: noticeOf(ending), ...(ending.end && { sunset: ending.end }) })
  return all.map(made => ({ ...made, operation: { ...made.operation, ...marks } }))
}

const codesIn = (shared: Map<string, JsonSchema>): readonly string[] => [
  ...new Set(
    [...shared.values()].flatMap(response => (response['x-codes'] ?? []) as readonly string[]),
  ),
]

/** Those of the shared parts of a kind that a text refers to. */
const usedIn = (text: string, kind: string, shared: Schemas): Schemas =>
  Object.fromEntries(
    Object.entries(shared).filter(([name]) => text.includes(`"#/components/${kind}/${name}"`)),
  )

const documentOf = (parts: Parts, ending: Lifecycle | undefined): OpenApi => {
  const routes = routesOf(parts.model).filter(({ lifetime }) => isIn(lifetime, parts.version))
  const shared = new Map<string, JsonSchema>()
  const operations = operationsOf(parts, routes, shared, ending)
  const paths = pathsOf(operations)
  const text = JSON.stringify([paths, ...shared.values()])
  return {
    openapi: '3.1.1',
    info: infoOf(parts, ending),
    servers: [{ url: versionPath(parts.version) }],
    tags: tagsOf(parts, operations),
    paths,
    components: {
      schemas: schemasOf(parts, routes, codesIn(shared).toSorted()),
      parameters: usedIn(text, 'parameters', sharedParameters(parts.version)),
      headers: usedIn(text, 'headers', headers),
      responses: Object.fromEntries(shared),
      examples: examplesOf(parts, routes),
      securitySchemes,
    },
  }
}

/**
 * The document of a content for a version, with a model of an operator's settings or of the usual ones; of a version that
 * its lifecycle says is deprecated or withdrawn it says so. Throws a plain
 * error of one sentence that names an operation or error code that cannot be described.
 */
export const openApiOf = async (
  content: Content,
  version: Version,
  model?: Model,
  lifecycle?: Lifecycle,
): Promise<OpenApi> => {
  const isEnding = lifecycle?.version === version && lifecycle.state !== 'offered'
  return documentOf(await partsOf(content, version, model), isEnding ? lifecycle : undefined)
}
