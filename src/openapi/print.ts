/** Documents as text: JSON that people compare line by line, and the TypeScript types of clients, in the shape that openapi-typescript has and openapi-fetch takes. */
import type { OpenApi } from '#openapi/openapi.ts'

/** What fits in a line of this many characters stands in one. */
const width = 120

const pairsOf = (value: object): readonly (readonly [string, unknown])[] =>
  Array.isArray(value)
    ? value.map(item => ['', item] as const)
    : Object.entries(value).map(([key, item]) => [`${JSON.stringify(key)}: `, item] as const)

const inOneLine = (value: unknown): string => {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const items = pairsOf(value).map(([key, item]) => `${key}${inOneLine(item)}`)
  if (Array.isArray(value)) return `[${items.join(', ')}]`
  return items.length === 0 ? '{}' : `{ ${items.join(', ')} }`
}

/** A JSON value as a text that people read and compare line by line, indented from `margin` on. */
export const printed = (value: unknown, margin = '', before = 0): string => {
  const line = inOneLine(value)
  const isLong = margin.length + before + line.length > width
  if (!isLong || typeof value !== 'object' || value === null) return line
  const inner = `${margin} `
  const items = pairsOf(value).map(
    ([key, item]) => `${inner}${key}${printed(item, inner, key.length + 1)}`,
  )
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  return `${open}\n${items.join(',\n')}\n${margin}${close}`
}

/** An object anywhere in a document. */
type DocumentPart = Readonly<Record<string, unknown>>

const partOf = (value: unknown): DocumentPart => (value ?? {}) as DocumentPart
const entriesOf = (value: unknown): readonly (readonly [string, DocumentPart])[] =>
  Object.entries((value ?? {}) as Readonly<Record<string, DocumentPart>>)

/** `#/components/schemas/Thing` as `components["schemas"]["Thing"]`. */
const referred = (ref: unknown): string =>
  String(ref)
    .slice('#/'.length)
    .split('/')
    .map((key, index) => (index === 0 ? key : `[${JSON.stringify(key)}]`))
    .join('')

/** An object type of these members, indented; without any, `never`. */
const block = (lines: readonly string[]): string =>
  lines.length === 0 ? 'never' : `{\n${lines.map(line => line.replace(/^/gm, '  ')).join('\n')}\n}`

const member = (name: string, type: string, isNeeded = true): string =>
  `${/^[a-z_$][\w$]*$/i.test(name) ? name : JSON.stringify(name)}${isNeeded ? '' : '?'}: ${type};`

const docOf = ({ description, deprecated }: DocumentPart): string => {
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

/** The type of the values of a schema. */
const typeOf = (schema: DocumentPart): string => {
  if (schema.$ref !== undefined) return referred(schema.$ref)
  if (schema.enum) return (schema.enum as unknown[]).map(value => JSON.stringify(value)).join(' | ')
  const forms = (schema.anyOf ?? schema.oneOf) as readonly DocumentPart[] | undefined
  if (forms) return forms.map(form => `(${typeOf(form)})`).join(' | ')
  if (Array.isArray(schema.type))
    return schema.type.map(type => typeOf({ ...schema, type })).join(' | ')
  if (schema.type === 'object') {
    // JSON of which no schema tells more.
    if (schema.properties === undefined) return 'Record<string, unknown>'
    const needed = (schema.required ?? []) as readonly string[]
    const members = entriesOf(schema.properties).map(
      ([name, own]) => `${docOf(own)}${member(name, typeOf(own), needed.includes(name))}`,
    )
    return members.length === 0 ? 'Record<string, never>' : block(members)
  }
  if (schema.type === 'array' && schema.items === undefined) return 'unknown[]'
  if (schema.type === 'array') return `(${typeOf(partOf(schema.items))})[]`
  return primitives[String(schema.type)] ?? 'unknown'
}

const contentType = (content: unknown): string =>
  entriesOf(content).length === 0
    ? 'never'
    : block(entriesOf(content).map(([type, { schema }]) => member(type, typeOf(partOf(schema)))))

const responseType = (response: DocumentPart): string => {
  if (response.$ref !== undefined) return referred(response.$ref)
  const headers = entriesOf(response.headers).map(([name, header]) => member(name, typeOf(header)))
  const content = contentType(response.content)
  return block([
    member('headers', block([...headers, '[name: string]: unknown;'])),
    member('content', content, content !== 'never'),
  ])
}

const places = ['query', 'header', 'path', 'cookie'] as const

/** The parameters by their places; a place is needed if one of its parameters is. */
const parametersType = (document: OpenApi, parameters: unknown): string => {
  const shared = partOf(document.components.parameters)
  const all = ((parameters ?? []) as readonly DocumentPart[]).map(parameter => {
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

const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'] as const

/** Types for clients that choose no members, where each read is said to have two forms. */
const wholeTypes = `/** Of the forms of an answer the one with all members, which a request without \`fields\` gets. */
export type Whole<T> = unknown extends T
  ? T
  : T extends { data: (infer Row)[] }
    ? ({} extends Row ? never : T)
    : ({} extends T ? never : T);
type WholeOperation<T> = T extends { parameters: infer Asked; responses: infer Told }
  ? Omit<T, "parameters" | "responses"> & {
      parameters: Asked extends { query?: infer Query }
        ? "fields" extends keyof NonNullable<Query>
          ? Omit<Asked, "query"> & { query?: Omit<NonNullable<Query>, "fields"> & { fields?: never } }
          : Asked
        : Asked;
      responses: {
        [Status in keyof Told]: Told[Status] extends { content: infer Content }
          ? Omit<Told[Status], "content"> & { content: { [Type in keyof Content]: Whole<Content[Type]> } }
          : Told[Status];
      };
    }
  : T;
/** The paths for a client that never sends \`fields\`: all members of what it reads are there. */
export type WholePaths = {
  [Path in keyof paths]: { [Method in keyof paths[Path]]: WholeOperation<paths[Path][Method]> };
};
`

/** The TypeScript source of the types of a document: `paths`, `components` and `operations`, and `WholePaths`. */
export const typesOf = (document: OpenApi): string => {
  const paths: string[] = []
  const operations: string[] = []
  for (const [path, item] of Object.entries(document.paths)) {
    const ofMethods = methods.map(method => {
      const operation = partOf(item[method])
      const name = String(operation.operationId)
      if (operation.operationId === undefined) return member(method, 'never', false)
      const body = operation.requestBody as DocumentPart | undefined
      const responses = entriesOf(operation.responses).map(
        ([status, response]) => `${status}: ${responseType(response)};`,
      )
      const type = block([
        // The parameters of a path are those of its operations too.
        member(
          'parameters',
          parametersType(document, [item.parameters, operation.parameters].flat()),
        ),
        member(
          'requestBody',
          body ? block([member('content', contentType(body.content))]) : 'never',
          body?.required === true,
        ),
        member('responses', block(responses)),
      ])
      operations.push(member(name, type))
      return `${docOf(operation)}${member(method, `operations[${JSON.stringify(name)}]`)}`
    })
    const parameters = member('parameters', parametersType(document, item.parameters))
    paths.push(member(path, block([parameters, ...ofMethods])))
  }
  const { schemas, responses, parameters, headers } = document.components
  const typed = (parts: unknown, type: (part: DocumentPart) => string) =>
    block(entriesOf(parts).map(([name, part]) => `${docOf(part)}${member(name, type(part))}`))
  const bySchema = ({ schema }: DocumentPart) => typeOf(partOf(schema))
  const components = block([
    member('schemas', typed(schemas, typeOf)),
    member('responses', typed(responses, responseType)),
    member('parameters', typed(parameters, bySchema)),
    member('requestBodies', 'never'),
    member('headers', typed(headers, bySchema)),
    member('pathItems', 'never'),
  ])
  return `/** Types of the REST API: for openapi-fetch, and for code of your own. */
export interface paths ${block(paths)}
export type webhooks = Record<string, never>;
export interface components ${components}
export type $defs = Record<string, never>;
export interface operations ${block(operations)}
${wholeTypes}`
}
