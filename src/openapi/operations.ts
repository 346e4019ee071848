/** The operations that the model gives, from the routes of the REST API. */

import type { Entity } from '#model/entity.ts'
import { entityOf, typeName } from '#model/model.ts'
import { withArticle } from '#model/names.ts'
import type { JsonSchema } from '#model/operation-docs.ts'
import { mayBeDoneBy, nobody } from '#model/policy.ts'
import { type Resource, resourceOf } from '#model/resource.ts'
import { inputExample } from '#openapi/examples.ts'
import { fieldsParameter, listParameters, parameter, pathParameter } from '#openapi/parameters.ts'
import type { Parts } from '#openapi/parts.ts'
import {
  errorResponses,
  type HeaderName,
  headersOf,
  jsonContent,
  type Shared,
  shareAs,
} from '#openapi/responses.ts'
import { mayForbid, readRules, securityOf } from '#openapi/rights.ts'
import { describedBy, type Input, inputFields, marksOf, refTo } from '#openapi/schemas.ts'
import type { Route } from '#rest/routes.ts'
import { inputNameOf, listNameOf, operationIdOf, relationOf } from '#rest/routes.ts'

/** An operation at its path, `/things/{id}`. */
export type Operation = {
  readonly method: string
  readonly path: string
  readonly operation: JsonSchema
}

/** The codes that every operation may answer with. */
export const everywhere: readonly string[] = [
  'MALFORMED_REQUEST',
  'UNSUPPORTED_VERSION',
  'UNAUTHENTICATED',
  'REQUEST_TIMEOUT',
  'URI_TOO_LONG',
  'HEADERS_TOO_MANY',
  'RATE_LIMITED',
  'INTERNAL',
  'OVERLOADED',
  'UNAVAILABLE',
]

/** The codes of a read, and of a write with and without a body. */
export const ofReads: readonly string[] = ['RESPONSE_TOO_LARGE', 'TIMEOUT']
export const ofWrites: readonly string[] = ['FORBIDDEN', 'CONFLICT', 'RESPONSE_TOO_LARGE']
export const ofBodies: readonly string[] = [
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  'VALIDATION_ERROR',
]
export const ofKeys: readonly string[] = ['IDEMPOTENCY_IN_FLIGHT', 'IDEMPOTENCY_KEY_REUSED']

/** The headers of a GET that succeeds, and of a write. */
export const readHeaders: readonly HeaderName[] = ['ETag', 'Cache-Control', 'Vary']
export const writeHeaders: readonly HeaderName[] = ['Cache-Control', 'Duet-Position']

const words = (name: string): string => name.replace(/[A-Z]/g, letter => ` ${letter.toLowerCase()}`)

const article = (name: string): string => withArticle(words(name))

const summaryOf = (parts: Parts, route: Route): string => {
  const { plural } = entityOf(parts.model, route.entity)
  const thing = article(route.entity)
  const below = route.below ? ` of ${article(route.below.entity)}` : ''
  if (route.kind === 'list')
    return `List the ${words(route.below ? relationOf(route.path) : plural)}${below}`
  return `${route.kind === 'one' ? 'Get' : typeName(route.kind)} ${thing}${below}`
}

/** The path of a route with its parameters in braces: one is `{id}`, of two the first is named by its entity. */
export const pathOf = (path: string, about: string | undefined): string => {
  const hasTwo = path.split(':').length > 2
  return path.replace(':parentId', hasTwo ? `{${about}Id}` : '{id}').replace(/:(\w+)/g, '{$1}')
}

const pathParameters = (path: string, route: Route): readonly JsonSchema[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ''], index) =>
    pathParameter(name, index === 0 && route.below ? route.below.entity : route.entity),
  )

/** The input of a write, and the name of its schema. */
export const inputOf = (parts: Parts, route: Route): { name: string; input: Input } | undefined => {
  const name = inputNameOf(parts.model, route)
  const { kind, below } = route
  if (name === undefined || kind === 'list' || kind === 'one' || kind === 'delete') return undefined
  return { name, input: { mode: kind, given: below?.field } }
}

const bodyOf = (parts: Parts, route: Route) => {
  const made = inputOf(parts, route)
  if (!made) return {}
  const example = inputExample(parts, route.entity, made.input)
  const body = { schema: refTo(made.name), ...(example !== undefined && { example }) }
  const types = [
    'application/json',
    ...(route.kind === 'update' ? ['application/merge-patch+json'] : []),
  ]
  return {
    requestBody: {
      required: true,
      content: Object.fromEntries(types.map(type => [type, body])),
    },
  }
}

const hasReference = (resource: Resource, input: Input): boolean =>
  inputFields(resource, input).some(([, { references }]) => references !== undefined)

/** The codes of errors of values that must be unique. */
const uniqueCodes = ({ fields }: Entity): readonly string[] =>
  Object.values(fields).flatMap(({ unique }) =>
    unique === undefined ? [] : [typeof unique === 'string' ? unique : unique.code],
  )

/** The codes that a route may answer with. */
const codesOf = (parts: Parts, route: Route): readonly string[] => {
  const { model, version, style } = parts
  const { kind, below } = route
  const resource = resourceOf(model, route.entity, version)
  const { entity } = resource
  const isRead = kind === 'list' || kind === 'one'
  const input = inputOf(parts, route)?.input
  const isFound = kind !== 'list' && kind !== 'create'
  const refers = input !== undefined && hasReference(resource, input)
  const isQueried = kind === 'list' || (kind === 'one' && entity.rest.selectable)
  const isGuarded = !isRead && kind !== 'create' && entity.fields.revision !== undefined
  return [
    ...everywhere,
    ...(isRead ? ofReads : ofWrites),
    ...(isRead && mayForbid(model, readRules(model, resource)) ? ['FORBIDDEN'] : []),
    ...(isFound || below || refers ? ['NOT_FOUND'] : []),
    ...(input ? [...ofBodies, ...uniqueCodes(entity)] : []),
    ...(kind === 'create' ? ofKeys : []),
    ...(isGuarded ? ['PRECONDITION_FAILED'] : []),
    ...(isQueried || style.isStrict ? ['VALIDATION_ERROR'] : []),
  ]
}

const rulesOf = (parts: Parts, route: Route) => {
  const { kind, entity } = route
  const resource = resourceOf(parts.model, entity, parts.version)
  if (kind === 'list' || kind === 'one') return readRules(parts.model, resource)
  const { policy } = resource.entity
  return [policy[kind === 'replace' ? 'update' : kind] ?? nobody]
}

const parametersOf = (parts: Parts, path: string, route: Route): readonly JsonSchema[] => {
  const { model, version, style } = parts
  const resource = resourceOf(model, route.entity, version)
  const { rest, fields } = resource.entity
  const { kind } = route
  const isRead = kind === 'list' || kind === 'one'
  const isGuarded = !isRead && kind !== 'create' && fields.revision
  return [
    ...pathParameters(path, route),
    ...(kind === 'list' ? listParameters(resource, style) : []),
    ...(kind === 'one' && rest.selectable ? [fieldsParameter(resource)] : []),
    ...(kind === 'create' ? [parameter('idempotencyKey')] : []),
    ...(isGuarded ? [parameter('ifMatch'), parameter('ifNoneMatch')] : []),
    ...(isRead ? [parameter('ifNoneMatch'), parameter('position')] : []),
  ]
}

const named = (name: string): JsonSchema => ({ $ref: `#/components/examples/${name}` })

/** The body of JSON that answers with a schema of that name, and with the example that has its name. */
export const answerBody = (parts: Parts, name: string, hasExample: boolean): JsonSchema =>
  jsonContent(parts, refTo(name), hasExample ? { examples: { demo: named(name) } } : {})

/** The answer that says that nothing has changed since. */
export const notModified = (
  parts: Parts,
  shared: Shared,
  name = 'NotModified',
  names: readonly HeaderName[] = ['Link'],
): JsonSchema => ({
  304: shareAs(shared, name, {
    description: 'It is as If-None-Match has it.',
    headers: headersOf(parts, [...readHeaders, ...names]),
  }),
})

const ofLists: readonly HeaderName[] = ['Link', 'Accept-Query']

/** The status, meaning, name and headers of the success of each kind of route. */
const successes = {
  list: [200, 'A page of the list.', 'List', [...readHeaders, ...ofLists]],
  one: [200, 'What is there.', '', readHeaders],
  create: [201, 'What was made.', 'Created', [...writeHeaders, 'ETag', 'Idempotency-Replayed']],
  replace: [200, 'What it is now.', 'Replaced', writeHeaders],
  update: [200, 'What it is now.', 'Updated', [...writeHeaders, 'ETag']],
  delete: [204, 'It is deleted.', 'Deleted', ['Duet-Position']],
} as const satisfies Record<Route['kind'], readonly [number, string, string, readonly HeaderName[]]>

const successOf = (parts: Parts, { kind, entity }: Route, shared: Shared): JsonSchema => {
  const type = typeName(entity)
  const [status, description, suffix, names] = successes[kind]
  if (kind === 'delete')
    return {
      [status]: shareAs(shared, suffix, { description, headers: headersOf(parts, names) }),
    }
  const isPlaced = kind === 'create' && entityOf(parts.model, entity).rest.one
  const success = {
    description,
    headers: headersOf(parts, isPlaced ? [...names, 'Location'] : names),
    content: answerBody(
      parts,
      kind === 'list' ? listNameOf(entity) : type,
      parts.rows[entity] !== undefined,
    ),
  }
  return {
    [status]: shareAs(shared, `${type}${suffix}`, success),
    ...(kind === 'list' && notModified(parts, shared, 'ListNotModified', ofLists)),
    ...(kind === 'one' && notModified(parts, shared)),
  }
}

/** The first part of a path, under which documents group operations. */
export const tagOf = (path: string): string => path.split('/')[1] ?? ''

/** The operation of a route; the responses that it shares with others are put into `shared`. */
export const routeOperation = (parts: Parts, route: Route, shared: Shared): Operation => {
  const path = pathOf(route.path, route.below?.entity)
  const rules = rulesOf(parts, route)
  return {
    method: route.method.toLowerCase(),
    path,
    operation: {
      operationId: operationIdOf(parts.model, route),
      tags: [tagOf(path)],
      summary: summaryOf(parts, route),
      description: describedBy(mayBeDoneBy(rules[0], parts.model), route.lifetime),
      ...marksOf(route.lifetime),
      security: securityOf(parts.model, rules),
      parameters: parametersOf(parts, path, route),
      ...bodyOf(parts, route),
      responses: {
        ...successOf(parts, route, shared),
        ...errorResponses(parts, codesOf(parts, route), shared),
      },
    },
  }
}
