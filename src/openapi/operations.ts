/** The operations of a document: of the routes that the model gives, and of actions and separate routes, which describe themselves. */

import { ApiError } from '#errors.ts'
import type { Entity, Mutation } from '#model/entity.ts'
import { entityOf, fieldOf, type Model, typeName } from '#model/model.ts'
import { withArticle } from '#model/names.ts'
import type { JsonSchema, MediaType } from '#model/operation-docs.ts'
import { type PartWord, partRelations } from '#model/parts.ts'
import {
  anonymous,
  isForAll,
  judge,
  mayBeDoneBy,
  nobody,
  type Role,
  type Rule,
} from '#model/policy.ts'
import { type Resource, resourceOf } from '#model/resource.ts'
import type { Lifetime } from '#model/version.ts'
import { inputExample, pathExamples } from '#openapi/examples.ts'
import { parameter, parametersOf, pathParameter } from '#openapi/parameters.ts'
import type { DocumentParts } from '#openapi/parts.ts'
import {
  errorResponses,
  type HeaderName,
  headersOf,
  jsonContent,
  shareAs,
} from '#openapi/responses.ts'
import { describedBy, hasJson, inputFields, inputSchema, marksOf, refTo } from '#openapi/schemas.ts'
import { plan } from '#read/planner.ts'
import { comparing, oneRow, type Root } from '#read/selection.ts'
import { itemsOf } from '#rest/one.ts'
import type { RuledRoute } from '#rest/rest.ts'
import {
  answerNameOf,
  bodyNameOf,
  groupsNameOf,
  inputNameOf,
  isReading,
  listNameOf,
  operationIdOf,
  partialNameOf,
  type Route,
  relationOf,
  rightsOf,
  ruleOfRoute,
} from '#rest/routes.ts'
import { filterableMembers } from '#rest/where.ts'
import { guardedBy, type RuledAction, refusesTags } from '#write/steps/action.ts'

/** An operation at its path, `/things/{id}`. */
export type DocumentOperation = {
  readonly method: string
  readonly path: string
  readonly operation: JsonSchema
}

/** The codes that every operation may answer with. */
const everywhere: readonly string[] = [
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

/** The codes of a read, of a write, of a body, and of a key. */
const ofReads: readonly string[] = ['RESPONSE_TOO_LARGE', 'TIMEOUT']
const ofWrites: readonly string[] = ['FORBIDDEN', 'CONFLICT', 'RESPONSE_TOO_LARGE', 'TIMEOUT']
const ofBodies: readonly string[] = [
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  'VALIDATION_ERROR',
]
const ofKeys: readonly string[] = ['IDEMPOTENCY_IN_FLIGHT', 'IDEMPOTENCY_KEY_REUSED']

/** Whether requests may have a key: those that are not by themselves the same when they are sent again, and whatever is a POST. */
const takesKey = ({ method, isRead }: Pick<ToldOperation, 'method' | 'isRead'>): boolean =>
  method === 'POST' || (method === 'PATCH' && !isRead)

/** The headers of a GET that succeeds, of a list, of an answer that a browser may show, and of a write. */
const readHeaders: readonly HeaderName[] = ['ETag', 'Cache-Control', 'Vary']
const ofLists: readonly HeaderName[] = ['Link', 'Accept-Query']
const ofForms: readonly HeaderName[] = ['Content-Security-Policy', 'Referrer-Policy']
const writeHeaders: readonly HeaderName[] = ['Cache-Control', 'Duet-Position']

/** Whether a role may read what an operation answers with, in some rows at least: all members of them, or those that are chosen. */
const mayRead = (
  model: Model,
  resource: Resource,
  role: Role,
  chosen: readonly string[] | null,
  more: Partial<Root> = {},
): boolean => {
  const root = { ...oneRow(resource.name, itemsOf(model, resource, '', chosen)), ...more }
  try {
    plan({ encoding: 'rest', roots: [root] }, model, role)
    return true
  } catch (error) {
    if (error instanceof ApiError) return false
    throw error
  }
}

/** Whether a role may read at a route, all members or those that are chosen. */
const mayReadAt = (
  model: Model,
  resource: Resource,
  { kind, below }: Pick<Route, 'kind' | 'below'>,
  role: Role,
  chosen: readonly string[] | null,
): boolean =>
  mayRead(model, resource, role, kind === 'aggregate' ? [] : chosen, {
    where: below && !below.through ? [comparing(below.field, 'eq', 3)] : [],
    ...(below?.through && { linked: { ...below.through, by: below.field, slot: 3 } }),
    exists: below ? [{ entity: below.entity, slot: 3 }] : [],
  })

/** Whether a rule lets a role through, for some rows at least. */
const letsIn = (model: Model, rule: Rule | undefined, role: Role): boolean =>
  judge(rule ?? nobody, { id: null, role }, model) !== 'no'

/** Whether conditions may name a member that some callers may not read, of these rows or of those that relations lead to. */
const mayNameClosed = (model: Model, resource: Resource, seen = new Set<string>()): boolean => {
  if (seen.has(resource.name)) return false
  seen.add(resource.name)
  return [...filterableMembers(model, resource).values()].some(key => {
    const relation = resource.entity.relations[key]
    if (!relation) return !isForAll(fieldOf(resource.entity, key).readableBy)
    const { policy } = entityOf(model, relation.to)
    if (!isForAll(policy.enter ?? policy.read ?? nobody)) return true
    return mayNameClosed(model, resourceOf(model, relation.to, resource.version), seen)
  })
}

const words = (name: string): string => name.replace(/[A-Z]/g, letter => ` ${letter.toLowerCase()}`)

const article = (name: string): string => withArticle(words(name))

/** The path of a route with its parameters in braces: one is `{id}`, of two the first is named by its entity. */
const pathOf = (path: string, about: string | undefined): string => {
  const hasTwo = path.split(':').length > 2
  return path.replace(':parentId', hasTwo ? `{${about}Id}` : '{id}').replace(/:(\w+)/g, '{$1}')
}

/** The parameters of a path with their examples; the first may be the id of another entity than the others are of. */
const pathParameters = (
  path: string,
  entity: string | null,
  examples: readonly (number | undefined)[],
  first = entity,
) =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ''], index) =>
    pathParameter(name, index === 0 ? first : entity, examples[index]),
  )

/** The first part of a path, under which documents group operations. */
export const tagOf = (path: string): string => path.split('/')[1] ?? ''

/** The body of JSON that answers with an object or a list, whole or of chosen members, and with the example that has the name of its schema. */
const answerBody = (
  parts: DocumentParts,
  name: string,
  entity: string,
  isChosen = false,
): JsonSchema => {
  const example = { $ref: `#/components/examples/${name}` }
  const shown = parts.rows[entity] === undefined ? {} : { examples: { demo: example } }
  // The whole form is the first.
  const forms = [refTo(name), refTo(partialNameOf(name))]
  return jsonContent(parts, isChosen ? { anyOf: forms } : refTo(name), shown)
}

const notModified = (
  parts: DocumentParts,
  name: string,
  names: readonly HeaderName[],
): JsonSchema => ({
  304: shareAs(parts, name, {
    description: 'It is as If-None-Match has it.',
    headers: headersOf(parts, [...readHeaders, ...names]),
  }),
})

/** The status, meaning, name and headers of the success of each kind of route. */
const successes = {
  list: [200, 'A page of the list.', 'List', [...readHeaders, ...ofLists]],
  aggregate: [200, 'The groups.', 'Aggregate', [...readHeaders, 'Accept-Query']],
  one: [200, 'What is there.', '', readHeaders],
  create: [201, 'What was made.', 'Created', [...writeHeaders, 'ETag', 'Idempotency-Replayed']],
  replace: [200, 'What it is now.', 'Replaced', writeHeaders],
  update: [200, 'What it is now.', 'Updated', [...writeHeaders, 'ETag', 'Idempotency-Replayed']],
  delete: [204, 'It is deleted.', 'Deleted', ['Duet-Position']],
  link: [204, 'They are linked.', 'Linked', ['Duet-Position']],
  bulk: [200, 'They were written.', 'BulkWritten', [...writeHeaders, 'Idempotency-Replayed']],
  unlink: [204, 'They are not linked.', 'Unlinked', ['Duet-Position']],
} as const satisfies Record<Route['kind'], readonly [number, string, string, readonly HeaderName[]]>

/** An operation as far as routes, actions and separate routes are alike. */
type ToldOperation = {
  readonly method: string
  readonly path: string
  readonly lifetime: Lifetime
  readonly operationId: string
  readonly summary: string
  readonly description: string
  /** Whether some requests need no token, and whether a token may lack the right by itself, whatever is stored. */
  readonly isOpen: boolean
  readonly mayForbid: boolean
  readonly isRead: boolean
  /** Whether it compares `If-Match` with an ETag. */
  readonly isGuarded: boolean
  /** Those of its path and of its query. */
  readonly parameters: readonly JsonSchema[]
  readonly requestBody: JsonSchema | undefined
  /** The responses except errors. */
  readonly responses: JsonSchema
  /** The codes of faults of its body, and those that few other operations have. */
  readonly ofBody: readonly string[]
  readonly errors: readonly string[]
}

const operationOf = (parts: DocumentParts, told: ToldOperation): DocumentOperation => {
  const { method, path, lifetime, isOpen, mayForbid, isRead, isGuarded, requestBody } = told
  const codes = [
    ...everywhere,
    ...(isRead ? ofReads : ofWrites),
    ...(mayForbid ? ['FORBIDDEN'] : []),
    ...(path.includes('{') ? ['NOT_FOUND'] : []),
    ...told.ofBody,
    ...(takesKey(told) && !isRead ? ofKeys : []),
    ...(isGuarded ? ['PRECONDITION_FAILED'] : []),
    ...(parts.style.isStrict ? ['VALIDATION_ERROR'] : []),
    ...told.errors,
  ]
  return {
    method: method.toLowerCase(),
    path,
    operation: {
      operationId: told.operationId,
      tags: [tagOf(path)],
      summary: told.summary,
      description: describedBy(told.description, lifetime),
      ...marksOf(lifetime),
      security: isOpen ? [{}, { bearer: [] }] : [{ bearer: [] }],
      parameters: [
        ...told.parameters,
        ...(takesKey(told) ? [parameter('idempotencyKey')] : []),
        ...(isGuarded ? [parameter('ifMatch'), parameter('ifNoneMatch')] : []),
        ...(method === 'GET' ? [parameter('ifNoneMatch'), parameter('position')] : []),
      ],
      ...(requestBody && { requestBody }),
      responses: { ...told.responses, ...errorResponses(parts, codes) },
    },
  }
}

const ofJson =
  'As application/json, a JSON value takes the place of the one that is there; as application/merge-patch+json an object is merged into it (RFC 7396): null removes a member, and lists are replaced.'

/** What a route answers with where it succeeds: the status, and the response. */
const successOf = (parts: DocumentParts, route: Route, entity: Entity) => {
  const { kind, entity: name } = route
  const [status, description, suffix, names] = successes[kind]
  const isPlaced = kind === 'create' && entity.rest.one
  const headers = headersOf(parts, isPlaced ? [...names, 'Location'] : names)
  const success = { description, headers }
  if (status === 204) return [status, shareAs(parts, suffix, success)] as const
  const isChosen = entity.rest.selectable && (kind === 'list' || kind === 'one')
  const answered = kind === 'list' ? listNameOf(name) : typeName(name)
  const content =
    kind === 'bulk' || kind === 'aggregate'
      ? jsonContent(parts, refTo(kind === 'bulk' ? 'BulkWrite' : groupsNameOf(name)), {})
      : answerBody(parts, answered, name, isChosen)
  const shared = kind === 'bulk' ? suffix : `${typeName(name)}${suffix}`
  return [status, shareAs(parts, shared, { ...success, content })] as const
}

/** The codes of faults of rows that are written, in the newest version with their parts: of hooks, of what is unique, of rows that they name. */
const codesOfRows = (
  model: Model,
  resource: Resource,
  { kind, below }: Pick<Route, 'kind' | 'below'>,
  operations: readonly (Mutation | PartWord)[],
  above: readonly string[] = [],
): readonly string[] => {
  const { name, version, entity } = resource
  const { errors = [], ...hooks } = entity.before
  const hooked = operations.some(one => hooks[one as Mutation]) ? errors : []
  const modes = (['create', 'update'] as const).filter(mode => operations.includes(mode))
  if (modes.length === 0) return hooked.map(({ code }) => code)
  const taken = [
    ...Object.values(entity.fields).map(one => one.unique),
    ...entity.sets.map(one => one.error),
  ]
  const codes = [...hooked, ...taken].map(error => (typeof error === 'object' ? error.code : error))
  const names = modes.some(mode =>
    inputFields(resource, { kind: mode, below }).some(([, { references }]) => references),
  )
  // Of many rows only new ones come with parts.
  const hasParts = kind !== 'replace' && version === model.versions.newest && !above.includes(name)
  const partModes = kind === 'bulk' ? modes.filter(mode => mode === 'create') : modes
  const parts = hasParts ? partModes.flatMap(mode => partRelations(model, name, mode)) : []
  return [
    ...codes.filter(code => code !== undefined),
    ...(names ? ['NOT_FOUND'] : []),
    ...parts.flatMap(({ entity: part, by, of, words }) =>
      // A link is made, of a row that may be absent.
      codesOfRows(
        model,
        resourceOf(model, part, version),
        { kind: 'update', below: { entity: name, field: by } },
        of === undefined ? words : ['create'],
        [...above, name],
      ),
    ),
  ]
}

/** The operation of a route. */
export const routeOperation = (parts: DocumentParts, route: Route): DocumentOperation => {
  const { model, version, style } = parts
  const { kind, method, below, lifetime } = route
  const resource = resourceOf(model, route.entity, version)
  const { entity } = resource
  const isRead = isReading(kind)
  const input = inputNameOf(model, route)
  const path = pathOf(route.path, below?.entity)
  const queried = parametersOf(model, resource, style, kind)

  const thing = article(route.entity)
  const ofParent = below ? ` of ${article(below.entity)}` : ''
  const summary =
    kind === 'aggregate'
      ? `Count, sum and compare the ${words(entity.plural)}`
      : kind === 'list'
        ? `List the ${words(below ? relationOf(route.path) : entity.plural)}${ofParent}`
        : `${kind === 'one' ? 'Get' : typeName(kind)} ${thing}${ofParent}`

  const example = input && kind !== 'bulk' ? inputExample(parts, route) : undefined
  const body = input && { schema: refTo(input), ...(example !== undefined && { example }) }
  const mergesJson = kind === 'update' && hasJson(model, resource, route)
  const merged = mergesJson
    ? {
        schema: inputSchema(model, resource, route, [], true),
        ...(example !== undefined && { example }),
      }
    : body
  const content = {
    'application/json': body,
    ...(kind === 'update' && { 'application/merge-patch+json': merged }),
  }

  const [status, success] = successOf(parts, route, entity)
  const isLink = kind === 'link' || kind === 'unlink'
  const { operations } = rightsOf(model, route)
  const takesConditions = kind === 'list' || kind === 'aggregate'
  const rule = ruleOfRoute(model, route)
  const { policy } = entity
  const answers = kind === 'create' || kind === 'replace' || kind === 'update'
  const isOpen = rule
    ? letsIn(model, rule, anonymous.role) &&
      (!answers ||
        mayRead(model, resource, anonymous.role, null, {
          written: kind === 'create' ? 'created' : 'changed',
        }))
    : mayReadAt(model, resource, route, anonymous.role, entity.rest.selectable ? [] : null)
  return operationOf(parts, {
    method,
    path,
    lifetime,
    operationId: operationIdOf(model, route),
    summary,
    description: mayBeDoneBy(rule ?? policy.enter ?? policy.read, model),
    isOpen,
    mayForbid: isRead && !mayReadAt(model, resource, route, model.viewers.roles.default, null),
    isRead,
    isGuarded: ['replace', 'update', 'delete'].includes(kind) && !!entity.fields.revision,
    parameters: [
      ...pathParameters(path, route.entity, pathExamples(parts, route), below?.entity),
      ...queried,
    ],
    requestBody: input
      ? { ...(mergesJson && { description: ofJson }), required: true, content }
      : undefined,
    responses: {
      [status]: success,
      ...(kind === 'bulk' && operations.some(one => one === 'create') && { 201: success }),
      ...(kind === 'list' && notModified(parts, 'ListNotModified', ofLists)),
      ...(kind === 'aggregate' && notModified(parts, 'AggregateNotModified', ['Accept-Query'])),
      ...(kind === 'one' && notModified(parts, 'NotModified', ['Link'])),
    },
    ofBody: [
      ...(input || kind === 'link' ? ofBodies : []),
      ...(isRead || isLink ? [] : codesOfRows(model, resource, route, operations)),
    ],
    errors: [
      // Where no ETag is compared, a header that asks for it is refused.
      ...(isRead || kind === 'create' ? [] : ['PRECONDITION_FAILED']),
      ...(queried.length > 0 ? ['VALIDATION_ERROR'] : []),
      ...(takesConditions && mayNameClosed(model, resource) ? ['FORBIDDEN'] : []),
    ],
  })
}

const json = 'application/json'

/** The operation of an action or of a separate route. */
export const describedOperation = (
  parts: DocumentParts,
  declared: RuledAction | RuledRoute,
): DocumentOperation => {
  const { model } = parts
  const { method, described } = declared
  const action = 'answers' in declared ? declared : undefined
  const rule = action ? action.rule : (declared as RuledRoute).described.rule
  const { about = null, answers = null } = action ?? {}
  // A file is put and removed at a route of its own.
  const isFile = !action && (method === 'PUT' || method === 'DELETE')
  const { operationId, body, forms, errors = [] } = described
  const path = pathOf(declared.path, undefined)
  const isGet = method === 'GET'
  // A separate route names no entity; its path begins with the plural of one as a rule.
  const [first = ''] =
    about !== null
      ? [about]
      : Object.keys(model.entities).filter(key => entityOf(model, key).plural === tagOf(path))

  const input = action?.input
  const named = (input ?? body?.[json]) && {
    [json]: { ...body?.[json], schema: refTo(bodyNameOf(operationId)) },
  }
  const isOptional =
    described.isBodyOptional ??
    (input && Object.values(input).every(({ initial }) => initial !== undefined))
  const requestBody = (input ?? body) && { required: !isOptional, content: { ...body, ...named } }

  let content: JsonSchema | undefined
  if (answers !== null) content = answerBody(parts, typeName(answers), answers)
  else if (forms) {
    const { [json]: object, ...others } = forms as Readonly<Record<string, MediaType>>
    const { schema: _, ...shown } = object ?? {}
    const answer = object && jsonContent(parts, refTo(answerNameOf(operationId)), shown)
    content = { ...answer, ...others }
  }
  const names: readonly HeaderName[] = action
    ? [
        ...writeHeaders,
        ...(method === 'POST' ? (['Idempotency-Replayed'] as const) : []),
        ...(answers === null ? [] : (['ETag'] as const)),
      ]
    : [
        ...(isGet ? readHeaders : (['Cache-Control', 'Vary'] as const)),
        'Content-Disposition',
        ...(described.success?.[206] ? (['Accept-Ranges', 'Content-Range'] as const) : []),
        ...(errors.includes('IDEMPOTENCY_KEY_REUSED') ? (['Idempotency-Replayed'] as const) : []),
        ...ofForms,
      ]
  // What an action answers with that it is not about may be new.
  const isNew = action !== undefined && answers !== about
  const changed = { 200: 'What it is now.', ...(isNew && { 201: 'What it has made.' }) }
  const usual = content ? changed : { 204: 'It is done.' }
  const isUsual = described.success === undefined && !forms
  const successes = Object.entries(described.success ?? usual).map(([status, description]) => {
    const response = {
      description,
      // An object that was made is somewhere; a file is at the address that it was put to, or nowhere yet.
      headers: headersOf(parts, status === '201' && action ? [...names, 'Location'] : names),
      ...(content && { content }),
    }
    const name = answers === null ? 'Done' : `${typeName(answers)}Changed`
    return [status, isUsual && status !== '201' ? shareAs(parts, name, response) : response]
  })

  return operationOf(parts, {
    method,
    path,
    lifetime: declared,
    operationId,
    summary: described.summary,
    description: [described.description ?? '', mayBeDoneBy(rule, model)].join(' ').trim(),
    isOpen:
      letsIn(model, rule, anonymous.role) &&
      (answers === null ||
        mayRead(model, resourceOf(model, answers, parts.version), anonymous.role, null, {
          written: 'changed',
        })),
    mayForbid: !action && !letsIn(model, rule, model.viewers.roles.default),
    isRead: !action && !isFile,
    isGuarded:
      isFile ||
      (action !== undefined && (action.ownTag === true || guardedBy(action, model) !== null)),
    parameters: [
      ...pathParameters(path, about, pathExamples(parts, { entity: first, below: undefined })),
      ...Object.entries(described.parameters ?? {}).map(([name, told]) => ({
        name,
        in: 'query',
        ...told,
      })),
    ],
    requestBody,
    responses: {
      ...Object.fromEntries(successes),
      ...(isGet && notModified(parts, 'FormNotModified', ofForms)),
    },
    // An action looks at a body that it is sent without being asked for one, whatever its method.
    ofBody: body !== undefined || action ? ofBodies : [],
    errors: [
      ...(described.errors ?? []),
      ...(action && refusesTags(action, model) ? ['PRECONDITION_FAILED'] : []),
      ...(Object.values(input ?? {}).some(({ references }) => references) ? ['NOT_FOUND'] : []),
    ],
  })
}
