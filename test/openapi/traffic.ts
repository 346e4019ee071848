/** Holds answers of the REST API against its documents: an undeclared status, header, media type or member is a fault. */
import type { Ajv2020, ValidateFunction } from 'ajv/dist/2020.js'
import { once } from '#base/cache.ts'
import { authPath, restPath } from '#base/paths.ts'
import type { Content } from '#content.ts'
import type { Model } from '#model/model.ts'
import type { Version } from '#model/version.ts'
import { type OpenApi, openApiOf } from '#openapi/openapi.ts'
import { authDocument } from '#openapi/people.ts'
import { onPostgres } from '../stores.ts'

/** An answer as the tests have it. */
type Got = {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** Whether the request had no token. */
  readonly isAnonymous?: boolean
}

// biome-ignore lint/suspicious/noExplicitAny: a document is walked as it comes.
type Json = any

/** Headers of every answer of the service, its pages too, which no document names. */
const common = [
  'content-type',
  'content-length',
  'content-security-policy',
  'x-content-type-options',
]

const isCommon = (name: string, value: string): boolean =>
  common.includes(name) ||
  name.startsWith('access-control-') ||
  // It is there for pages of other origins.
  (name === 'vary' && value === 'Origin')

const formats = {
  // A day beyond the year 9999, as a time zone makes of the last hour of it, has more digits (ISO 8601).
  date: /^(?:\d{4}|[+-]\d{6})-\d\d-\d\d$/,
  'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/,
  email: /^[^\s@]+@[^\s@]+$/,
  uri: (text: string) => URL.canParse(text),
  'uri-reference': (text: string) => URL.canParse(text, 'http://localhost'),
  binary: true,
  // A type that numbers of JSON have, whatever it is called.
  int64: true,
} as const

/** A schema whose objects have no other members. */
const closed = (schema: Json): Json => {
  if (Array.isArray(schema)) return schema.map(closed)
  if (typeof schema !== 'object' || schema === null) return schema
  const inner = Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [key, closed(value)]),
  )
  return schema.type === 'object' ? { ...inner, additionalProperties: false } : inner
}

/** The schema of an answer: of the two forms that a read has, the one of chosen members or the whole one. */
const formOf = (schema: Json, isPart: boolean): Json => {
  const [whole, part] = schema.anyOf ?? [schema, schema]
  return isPart ? part : whole
}

/** What stands before the paths of a document; the path of a version that is not offered is in none. */
const prefixOf = (offered: readonly Version[]) =>
  new RegExp(`^${restPath}(/v(${offered.join('|')}))?(?=/)`)

const patternOf = (path: string) => new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]*')}$`)

/** How a document is walked: the operation of a request, and what a reference stands for. */
const walker = (document: OpenApi) => {
  const paths = Object.entries(document.paths)
    // A path without parameters is meant before one with.
    .sort(([one], [other]) => one.split('{').length - other.split('{').length)
    .map(([path, item]) => ({ pattern: patternOf(path), item: item as Json }))
  const resolved = (value: Json): Json => {
    if (value?.$ref === undefined) return value
    const keys = value.$ref.slice('#/'.length).split('/')
    return resolved(keys.reduce((found: Json, key: string) => found?.[key], document))
  }
  const operationOf = (method: string, path: string): Json =>
    paths.find(({ pattern }) => pattern.test(path))?.item[method.toLowerCase()]
  return { resolved, operationOf }
}

/** A function that gives the fault of an answer to a request such as `GET /api/things?limit=1`, if it has one; below the prefix of these versions. */
export const checkerOf = (
  document: OpenApi,
  offered: readonly Version[],
  Ajv: new (options: object) => Ajv2020,
) => {
  const prefix = prefixOf(offered)
  const { resolved, operationOf } = walker(document)
  const known = new Map<string, ValidateFunction>()
  // By the schema's object too: making its text for each answer cost more than the check.
  const validators = new WeakMap<object, ValidateFunction>()
  const declaredIn = new WeakMap<object, ReadonlySet<string>>()
  // That the document is valid is shown elsewhere; to compile the schemas of schemas takes longer than the rest.
  const ajv = new Ajv({ strict: false, formats, meta: false, validateSchema: false })
  ajv.addSchema({ $id: 'document', components: { schemas: closed(document.components.schemas) } })
  const compiled = (schema: Json): ValidateFunction => {
    const text = JSON.stringify(schema).replaceAll('"#/', '"document#/')
    return known.getOrInsertComputed(text, () => ajv.compile(closed(JSON.parse(text))))
  }

  const headerFault = (response: Json, { headers }: Got): string | undefined => {
    const declared = declaredIn.getOrInsertComputed(
      response,
      () => new Set(Object.keys(response.headers ?? {}).map(name => name.toLowerCase())),
    )
    const [strange] = [...headers].find(
      ([name, value]) => !declared.has(name) && !isCommon(name, value),
    ) ?? [undefined]
    return strange && `the header ${strange} is not declared`
  }

  const bodyFault = (response: Json, { headers, text }: Got, isPart: boolean) => {
    const content = response.content ?? {}
    const [type = ''] = (headers.get('content-type') ?? '').split(';')
    if (text === '') return undefined
    // `image/*` stands for all of a kind.
    const told = content[type] ?? content[type.replace(/\/.*/, '/*')]
    if (!told) return `the media type ${type} is not declared`
    if (!/json/.test(type)) return undefined
    const body: Json = JSON.parse(text)
    const form = formOf(told.schema, isPart)
    const validate = validators.getOrInsertComputed(form, compiled)
    const isValid: boolean = validate(body)
    if (!isValid) {
      const [{ instancePath = '', message = '', params = {} } = {}] = validate.errors ?? []
      return `the body at ${instancePath || '/'} ${message} ${JSON.stringify(params)}: ${text}`
    }
    const code = body?.error?.code ?? body?.code
    const codes = response['x-codes']
    return codes && !codes.includes(code) ? `the code ${code} is not declared` : undefined
  }

  return (line: string, got: Got): string | undefined => {
    const [method = '', target = ''] = line.split(/ (.*)/s)
    const [path = '', query = ''] = target.split(/\?(.*)/s)
    const below = path.replace(prefix, '')
    const operation = operationOf(method === 'HEAD' ? 'GET' : method, below)
    const response = resolved(operation?.responses[String(got.status)])
    if (!operation) return undefined
    if (!response) return `the status ${got.status} is not declared: ${got.text}`
    // Where a request without a token succeeds, the document must not ask for one.
    const isOpen = operation.security.some((one: object) => Object.keys(one).length === 0)
    if (got.isAnonymous && got.status < 400 && !isOpen) return 'no token was needed'
    const isPart = new URLSearchParams(query).has('fields')
    return headerFault(response, got) ?? bodyFault(response, got, isPart)
  }
}

const checkers = new WeakMap<Model, Map<Version, Promise<ReturnType<typeof checkerOf>>>>()

const checkerFor = (content: Content, model: Model, version: Version) =>
  checkers
    .getOrInsertComputed(model, () => new Map())
    .getOrInsertComputed(version, async () => {
      const { Ajv2020 } = await import('ajv/dist/2020.js')
      const document = await openApiOf(content, version, model)
      return checkerOf(document, content.versions.all, Ajv2020)
    })

const ofSignIn = once(async () => {
  const { Ajv2020 } = await import('ajv/dist/2020.js')
  return checkerOf(authDocument({ title: 'Test' }), [], Ajv2020)
})

/** Throws where an answer of sign-in is not as the document of sign-in says. */
export const checkSignIn = async (line: string, got: Got): Promise<void> => {
  // What is not served there is answered as any path that leads nowhere, in the shape of a version.
  if (onPostgres || !line.includes(` ${authPath}/`) || got.headers.has('api-version')) return
  const fault = (await ofSignIn())(line.replace(authPath, ''), got)
  if (fault !== undefined)
    throw new Error(`${line} is not answered as the document of sign-in says: ${fault}`)
}

/** Throws where an answer of the REST API is not as its document says; documents and checks are made when first needed. */
export const checkTraffic = async (
  content: Content,
  model: Model,
  line: string,
  got: Got,
): Promise<void> => {
  // Both engines give the same answers: test/generated/compare.ts.
  if (onPostgres) return
  // A page around an answer is for a person who opens its address, and in no document.
  if (got.headers.get('vary')?.includes('Sec-Fetch-Dest')) return
  const version = content.versions.all.find(
    version => String(version) === got.headers.get('api-version'),
  )
  if (!version || !line.includes(` ${restPath}/`)) return
  const fault = (await checkerFor(content, model, version))(line, got)
  if (fault !== undefined)
    throw new Error(`${line} is not answered as the document of version ${version} says: ${fault}`)
}
