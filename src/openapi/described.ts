/** The operations that describe themselves: actions and separate routes. */

import { typeName } from '#model/model.ts'
import type { JsonSchema, MediaType, OperationDocs } from '#model/operation-docs.ts'
import { mayBeDoneBy, nobody, type Rule } from '#model/policy.ts'
import type { Lifetime } from '#model/version.ts'
import {
  answerBody,
  everywhere,
  notModified,
  type Operation,
  ofBodies,
  ofKeys,
  ofReads,
  ofWrites,
  pathOf,
  readHeaders,
  tagOf,
  writeHeaders,
} from '#openapi/operations.ts'
import { parameter, pathParameter } from '#openapi/parameters.ts'
import type { Parts } from '#openapi/parts.ts'
import {
  errorResponses,
  type HeaderName,
  headersOf,
  jsonContent,
  type Shared,
  shareAs,
} from '#openapi/responses.ts'
import { mayForbid, securityOf } from '#openapi/rights.ts'
import { describedBy, marksOf, refTo, type Schemas } from '#openapi/schemas.ts'
import type { ExtraRoute } from '#rest/rest.ts'
import { answerNameOf, bodyNameOf } from '#rest/routes.ts'
import { type Action, guardedBy } from '#write/action.ts'

/** An action or a separate route, as far as they are alike. */
type Declared = Lifetime & {
  readonly method: string
  readonly path: string
  readonly rule: Rule | undefined
  readonly described: OperationDocs
  readonly about: string | null
  readonly answers: string | null
  readonly isAction: boolean
  /** Whether it compares `If-Match` with an ETag. */
  readonly isGuarded: boolean
}

const json = 'application/json'

/** The schemas of JSON that an operation describes, by their names: that of its body and that of its answer. */
export const describedSchemas = ({ operationId, body, forms }: OperationDocs): Schemas => ({
  ...(body?.[json] && { [bodyNameOf(operationId)]: body[json].schema }),
  ...(forms?.[json] && { [answerNameOf(operationId)]: forms[json].schema }),
})

const bodyOf = ({ operationId, body, isBodyOptional }: OperationDocs) => {
  if (!body) return {}
  const named = body[json] && {
    [json]: { ...body[json], schema: refTo(bodyNameOf(operationId)) },
  }
  return { requestBody: { required: !isBodyOptional, content: { ...body, ...named } } }
}

const contentOf = (
  parts: Parts,
  { answers, described: { operationId, forms } }: Declared,
): JsonSchema | undefined => {
  if (answers !== null)
    return answerBody(parts, typeName(answers), parts.rows[answers] !== undefined)
  if (!forms) return undefined
  const { [json]: object, ...others } = forms as Readonly<Record<string, MediaType>>
  if (!object) return others
  const { schema: _, ...shown } = object
  const named = refTo(answerNameOf(operationId))
  return { ...jsonContent(parts, named, shown), ...others }
}

/** The headers of answers that a browser may show. */
const ofForms: readonly HeaderName[] = ['Content-Security-Policy', 'Referrer-Policy']

const successHeaders = ({ method, answers, isAction }: Declared): readonly HeaderName[] => {
  if (!isAction)
    return [
      ...(method === 'GET' ? readHeaders : (['Cache-Control', 'Vary'] as const)),
      'Content-Disposition',
      ...ofForms,
    ]
  const keyed = method === 'POST' ? (['Idempotency-Replayed'] as const) : []
  return [...writeHeaders, ...keyed, ...(answers === null ? [] : (['ETag'] as const))]
}

const successOf = (parts: Parts, declared: Declared, shared: Shared): JsonSchema => {
  const { method, described, answers } = declared
  const content = contentOf(parts, declared)
  const usual = content ? { 200: 'What it is now.' } : { 204: 'It is done.' }
  const names = successHeaders(declared)
  const responseFor = (status: string, description: string): JsonSchema => ({
    description,
    // An object that was made is somewhere.
    headers: headersOf(parts, status === '201' ? [...names, 'Location'] : names),
    ...(content && { content }),
  })
  const name = answers === null ? 'Done' : `${typeName(answers)}Changed`
  const responses = Object.entries(described.success ?? usual).map(([status, description]) => {
    const response = responseFor(status, description)
    const isUsual = described.success === undefined && !described.forms
    return [status, isUsual ? shareAs(shared, name, response) : response]
  })
  return {
    ...Object.fromEntries(responses),
    ...(method === 'GET' && notModified(parts, shared, 'FormNotModified', ofForms)),
  }
}

const codesOf = (parts: Parts, declared: Declared): readonly string[] => {
  const { method, path, rule, described, isAction } = declared
  // An action looks at a body that it is sent without being asked for one, whatever its method.
  const hasBody = described.body !== undefined || isAction
  return [
    ...everywhere,
    ...(isAction ? ofWrites : ofReads),
    ...(!isAction && mayForbid(parts.model, [rule ?? nobody]) ? ['FORBIDDEN'] : []),
    ...(path.includes(':') ? ['NOT_FOUND'] : []),
    ...(hasBody ? ofBodies : []),
    ...(isAction && method === 'POST' ? ofKeys : []),
    ...(parts.style.isStrict ? ['VALIDATION_ERROR'] : []),
    ...(declared.isGuarded ? ['PRECONDITION_FAILED'] : []),
    ...(described.errors ?? []),
  ]
}

const parametersOf = (
  { method, about, isGuarded }: Declared,
  path: string,
): readonly JsonSchema[] => [
  ...[...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => pathParameter(name, about)),
  ...(method === 'POST' ? [parameter('idempotencyKey')] : []),
  ...(isGuarded ? [parameter('ifMatch'), parameter('ifNoneMatch')] : []),
  ...(method === 'GET' ? [parameter('ifNoneMatch'), parameter('position')] : []),
]

const declaredOperation = (parts: Parts, declared: Declared, shared: Shared): Operation => {
  const { described, rule } = declared
  const path = pathOf(declared.path, undefined)
  const about = [described.description ?? '', mayBeDoneBy(rule, parts.model)].join(' ').trim()
  return {
    method: declared.method.toLowerCase(),
    path,
    operation: {
      operationId: described.operationId,
      tags: [tagOf(path)],
      summary: described.summary,
      description: describedBy(about, declared),
      ...marksOf(declared),
      security: securityOf(parts.model, [rule ?? nobody]),
      parameters: parametersOf(declared, path),
      ...bodyOf(described),
      responses: {
        ...successOf(parts, declared, shared),
        ...errorResponses(parts, codesOf(parts, declared), shared),
      },
    },
  }
}

export const actionOperation = (parts: Parts, action: Action, shared: Shared): Operation => {
  const isGuarded = action.ownTag === true || guardedBy(action, parts.model) !== null
  return declaredOperation(parts, { ...action, isAction: true, isGuarded }, shared)
}

export const extraOperation = (parts: Parts, extra: ExtraRoute, shared: Shared): Operation => {
  const { rule } = extra.described
  const declared = { ...extra, rule, about: null, answers: null, isAction: false, isGuarded: false }
  return declaredOperation(parts, declared, shared)
}
