/** A small OpenAPI document with one of each part that a comparison knows, and changes of it by path. */
import { isObject, type JsonObject } from '#base/object.ts'

type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json }

/** The members of a thing, sent and read; none is written in the way that leaving it out means. */
const members = {
  name: {
    type: 'string',
    minLength: 1,
    maxLength: 40,
    pattern: '^[a-z]+$',
    description: 'What it is called.',
    examples: ['lamp'],
  },
  // A member that is called like a text that promises nothing.
  summary: { type: 'boolean' },
  email: { type: 'string', format: 'email' },
  count: { type: 'integer', minimum: 0, maximum: 10, multipleOf: 2 },
  price: { type: ['number', 'null'], exclusiveMinimum: 0, exclusiveMaximum: 1000, title: 'Price' },
  state: { type: 'string', enum: ['new', 'used', 'sold'], default: 'new' },
  kind: { const: 'thing' },
  tags: {
    type: 'array',
    items: { type: 'string', maxLength: 9 },
    uniqueItems: true,
    minItems: 1,
    maxItems: 5,
  },
  counts: { type: 'object', additionalProperties: { type: 'integer' }, maxProperties: 9 },
  exact: { type: 'object', properties: { deep: { type: 'boolean' } }, additionalProperties: false },
  shape: {
    anyOf: [
      { type: 'object', properties: { radius: { type: 'number' } }, required: ['radius'] },
      { type: 'array', items: { type: 'number' } },
      { type: 'null' },
    ],
  },
  word: { oneOf: [{ const: 'one' }, { const: 'two', deprecated: true, 'x-sunset': '2026-11-01' }] },
  whole: { allOf: [{ type: 'object', minProperties: 1 }] },
  sort: {
    type: 'string',
    pattern: '^(id|name|when)(,(id|name|when))*$',
    'x-sunsets': { name: '2026-11-22', when: '2026-11-23' },
  },
  file: { type: 'string', contentEncoding: 'base64', contentMediaType: 'image/png' },
  nick: { type: 'string', deprecated: true },
  old: { type: 'string', deprecated: true, 'x-sunset': '2026-11-22' },
  soon: { type: 'string', deprecated: true, 'x-sunset': '2026-11-23' },
} satisfies Record<string, Json>

const thing = { type: 'object', required: ['name', 'count'], properties: members }

const refusal = {
  description: 'Refused.',
  'x-codes': ['BAD', 'WORSE'],
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Refusal' } } },
}

/** The document of which all changes are made. */
export const document = {
  openapi: '3.1.1',
  info: { title: 'Things', version: '1.0.0', description: 'All about things.' },
  servers: [{ url: '/api/v1', description: 'This one.' }],
  tags: [{ name: 'things' }],
  security: [{ token: [] }],
  paths: {
    '/things': {
      summary: 'All things.',
      parameters: [{ $ref: '#/components/parameters/Page' }],
      get: {
        operationId: 'listThings',
        summary: 'Lists them.',
        tags: ['things'],
        parameters: [
          { name: 'X-Trace', in: 'header', schema: { type: 'string' } },
          {
            name: 'color',
            in: 'query',
            deprecated: true,
            'x-sunset': '2026-10-01',
            schema: { type: 'string' },
          },
        ],
        security: [{}, { token: [] }],
        responses: {
          '200': {
            description: 'Things.',
            headers: {
              ETag: { required: true, schema: { type: 'string' } },
              Age: { schema: { type: 'integer' } },
            },
            content: {
              'application/json': {
                schema: {
                  type: 'object',
                  required: ['data'],
                  properties: {
                    data: { type: 'array', items: { $ref: '#/components/schemas/Thing' } },
                  },
                },
                example: { data: [] },
              },
              'text/csv': { schema: { type: 'string' } },
            },
          },
          '422': { $ref: '#/components/responses/Refused' },
        },
      },
      post: {
        operationId: 'createThing',
        requestBody: {
          required: true,
          content: { 'application/json': { schema: { $ref: '#/components/schemas/NewThing' } } },
        },
        responses: {
          '201': { description: 'Made.' },
          '422': { $ref: '#/components/responses/Refused' },
        },
      },
    },
    '/things/{id}/parts/{part}': {
      parameters: [
        { name: 'id', in: 'path', required: true, schema: { type: 'integer' } },
        { name: 'part', in: 'path', required: true, schema: { type: 'integer' } },
      ],
      put: {
        operationId: 'touchPart',
        requestBody: { content: { 'text/plain': { schema: { type: 'string' } } } },
        responses: { '204': { description: 'Touched.' } },
      },
      delete: {
        deprecated: true,
        'x-sunset': '2026-12-24',
        responses: { '204': { description: 'Gone.' } },
      },
    },
  },
  components: {
    schemas: {
      Thing: thing,
      NewThing: structuredClone(thing),
      Refusal: {
        type: 'object',
        properties: {
          message: { type: 'string' },
          cause: { $ref: '#/components/schemas/Refusal' },
        },
      },
      Unused: { type: 'object', properties: { a: { type: 'string', maxLength: 3 } } },
    },
    parameters: {
      Page: { name: 'page', in: 'query', schema: { type: 'integer', minimum: 1, default: 1 } },
    },
    responses: { Refused: refusal },
    securitySchemes: { token: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } },
    examples: { Lamp: { value: { name: 'lamp' } } },
  },
} satisfies JsonObject

/** A value at a path such as `/paths/~1things/get`; undefined takes what is there away. */
export type Change = readonly [path: string, value: Json | undefined]

const changedPart = (part: unknown, steps: readonly string[], value: unknown): unknown => {
  const [step, ...rest] = steps
  if (step === undefined) return value
  if (Array.isArray(part)) {
    const there = changedPart(part[Number(step)], rest, value)
    return there === undefined
      ? part.toSpliced(Number(step), 1)
      : part.toSpliced(Number(step), 1, there)
  }
  const { [step]: inner, ...others } = isObject(part) ? part : {}
  const there = changedPart(inner, rest, value)
  // The key stays where it was, so that only the change differs.
  return there === undefined ? others : { ...(part as JsonObject), [step]: there }
}

/** The document with these changes. */
export const changed = (changes: readonly Change[], from: JsonObject = document): JsonObject =>
  changes.reduce<JsonObject>((whole, [path, value]) => {
    const steps = path
      .split('/')
      .slice(1)
      .map(step => step.replaceAll('~1', '/').replaceAll('~0', '~'))
    return changedPart(whole, steps, value) as JsonObject
  }, from)
