/** The types of clients, printed from a document in the shape that openapi-typescript has and openapi-fetch takes. */
import type { OpenApi } from '#openapi/openapi.ts'

type Part = Readonly<Record<string, unknown>>

const partOf = (value: unknown): Part => (value ?? {}) as Part
const entriesOf = (value: unknown): readonly (readonly [string, Part])[] =>
  Object.entries((value ?? {}) as Readonly<Record<string, Part>>)

/** `#/components/schemas/Thing` as `components["schemas"]["Thing"]`. */
const referred = (ref: unknown): string =>
  String(ref)
    .slice('#/'.length)
    .split('/')
    .map((key, index) => (index === 0 ? key : `[${JSON.stringify(key)}]`))
    .join('')

const indented = (lines: readonly string[]): string =>
  lines.map(line => line.replace(/^/gm, '  ')).join('\n')

const block = (lines: readonly string[]): string =>
  lines.length === 0 ? 'never' : `{\n${indented(lines)}\n}`

const member = (name: string, type: string, isNeeded = true): string =>
  `${/^[a-z_$][\w$]*$/i.test(name) ? name : JSON.stringify(name)}${isNeeded ? '' : '?'}: ${type};`

const docOf = ({ description, deprecated }: Part): string => {
  const words = [description ?? '', deprecated ? '@deprecated' : ''].join(' ').trim()
  const text = words.replaceAll('*/', '*\\/').replaceAll('\n', ' ')
  return text === '' ? '' : `/** ${text} */\n`
}

const primitives: Readonly<Record<string, string>> = {
  string: 'string',
  integer: 'number',
  number: 'number',
  boolean: 'boolean',
  null: 'null',
}

const objectType = (schema: Part): string => {
  const needed = (schema.required ?? []) as readonly string[]
  const members = entriesOf(schema.properties).map(
    ([name, own]) => `${docOf(own)}${member(name, typeOf(own), needed.includes(name))}`,
  )
  return members.length === 0 ? 'Record<string, never>' : block(members)
}

/** The type of the values of a schema. */
const typeOf = (schema: Part): string => {
  if (schema.$ref !== undefined) return referred(schema.$ref)
  if (schema.enum) return (schema.enum as unknown[]).map(value => JSON.stringify(value)).join(' | ')
  if (Array.isArray(schema.type))
    return schema.type.map(type => typeOf({ ...schema, type })).join(' | ')
  if (schema.type === 'object') return objectType(schema)
  if (schema.type === 'array') return `(${typeOf(partOf(schema.items))})[]`
  return primitives[String(schema.type)] ?? 'unknown'
}

const contentType = (content: unknown): string =>
  entriesOf(content).length === 0
    ? 'never'
    : block(entriesOf(content).map(([type, { schema }]) => member(type, typeOf(partOf(schema)))))

const responseType = (response: Part): string => {
  if (response.$ref !== undefined) return referred(response.$ref)
  const headers = entriesOf(response.headers).map(([name, header]) => member(name, typeOf(header)))
  const content = contentType(response.content)
  return block([
    member('headers', block([...headers, '[name: string]: unknown;'])),
    member('content', content, content !== 'never'),
  ])
}

const places = ['query', 'header', 'path', 'cookie'] as const

/** The parameters by their places; a place is needed where one of its parameters is. */
const parametersType = (document: OpenApi, parameters: unknown): string => {
  const shared = partOf(document.components.parameters)
  const all = ((parameters ?? []) as readonly Part[]).map(parameter => {
    const { $ref } = parameter
    const own =
      $ref === undefined ? parameter : partOf(shared[String($ref).split('/').at(-1) ?? ''])
    const type = typeOf($ref === undefined ? partOf(own.schema) : parameter)
    const needed = own.required === true
    return { place: own.in, needed, text: docOf(own) + member(String(own.name), type, needed) }
  })
  return block(
    places.map(place => {
      const here = all.filter(parameter => parameter.place === place)
      const isNeeded = here.some(({ needed }) => needed)
      return member(place, block(here.map(({ text }) => text)), isNeeded)
    }),
  )
}

const operationType = (document: OpenApi, operation: Part): string => {
  const body = operation.requestBody as Part | undefined
  const responses = entriesOf(operation.responses)
  return block([
    member('parameters', parametersType(document, operation.parameters)),
    member(
      'requestBody',
      body ? block([member('content', contentType(body.content))]) : 'never',
      body?.required === true,
    ),
    member(
      'responses',
      block(responses.map(([status, response]) => `${status}: ${responseType(response)};`)),
    ),
  ])
}

const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'] as const

const pathType = (document: OpenApi, { parameters, ...own }: Part): string =>
  block([
    member('parameters', parametersType(document, parameters)),
    ...methods.map(method => {
      const { operationId, ...operation } = partOf(own[method])
      return operationId === undefined
        ? member(method, 'never', false)
        : `${docOf(operation)}${member(method, `operations[${JSON.stringify(operationId)}]`)}`
    }),
  ])

const operationsIn = ({ paths }: OpenApi): readonly Part[] =>
  Object.values(paths).flatMap(item =>
    methods.flatMap(method => {
      if (item[method] === undefined) return []
      const own = partOf(item[method])
      // The parameters of a path are those of its operations too.
      return [{ ...own, parameters: [item.parameters, own.parameters].flat() }]
    }),
  )

const componentsType = ({ components }: OpenApi): string => {
  const { schemas, responses, parameters, headers } = components
  const typed = (parts: unknown, type: (part: Part) => string) =>
    block(entriesOf(parts).map(([name, part]) => `${docOf(part)}${member(name, type(part))}`))
  const bySchema = ({ schema }: Part) => typeOf(partOf(schema))
  return block([
    member('schemas', typed(schemas, typeOf)),
    member('responses', typed(responses, responseType)),
    member('parameters', typed(parameters, bySchema)),
    member('requestBodies', 'never'),
    member('headers', typed(headers, bySchema)),
    member('pathItems', 'never'),
  ])
}

/** The TypeScript source of the types of a document: `paths`, `components` and `operations`. */
export const typesOf = (document: OpenApi): string => {
  const paths = Object.entries(document.paths).map(([path, item]) =>
    member(path, pathType(document, item)),
  )
  const operations = operationsIn(document).map(operation =>
    member(String(operation.operationId), operationType(document, operation)),
  )
  return `/** Types of the REST API: for openapi-fetch, and for code of your own. */
export interface paths ${block(paths)}
export type webhooks = Record<string, never>;
export interface components ${componentsType(document)}
export type $defs = Record<string, never>;
export interface operations ${block(operations)}
`
}
