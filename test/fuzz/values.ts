/** Values for a JSON Schema: good ones, ones at a bound or just past it, and others. */
import type { Draw } from '../operations.ts'
import { emailOf, names, odd as oddValue } from '../support/drawn-values.ts'

// biome-ignore lint/suspicious/noExplicitAny: a schema is walked as it comes.
export type Json = any

/** What a request is drawn from; half of the requests have nothing odd about them, or no write would ever be made. */
export type Fuzz = Draw & { readonly odd: (percent: number) => boolean }

/** Draws one request. */
export const fuzzBy = (draw: Draw): Fuzz => {
  const isCalm = draw.chance(50)
  return { ...draw, odd: percent => !isCalm && draw.chance(percent) }
}

/** The schema that a reference of a document stands for. */
export type Resolve = (schema: Json) => Json

/** Gives what a reference to a part of the document stands for. */
export const resolverOf =
  (document: Json): Resolve =>
  schema =>
    schema?.$ref === undefined
      ? schema
      : schema.$ref
          .slice('#/'.length)
          .split('/')
          .reduce((found: Json, key: string) => found[key], document)

const dates = [
  ...[
    '2026-01-01',
    '2026-02-29',
    '2024-02-29',
    '2026-13-01',
    '0001-01-01',
    '9999-12-31',
    '1969-12-31',
  ],
  ...[
    '2026-01-01T00:00:00Z',
    '2026-01-01T00:00:00.000Z',
    '2026-01-01T25:00:00Z',
    '2026-01-01T00:00:00+02:00',
  ],
]

const urls = [
  ...['https://example.org/a.png', 'http://example.org', 'javascript:alert(1)', 'data:text/html,x'],
  ...[
    '//example.org',
    'https://u:p@example.org',
    `https://example.org/${'x'.repeat(2100)}`,
    'ftp://a',
  ],
]

/** Text of a length that a schema allows at its bounds, or one beside them. */
const sized = ({ of, upTo, odd }: Fuzz, { minLength = 0, maxLength = 400 }: Json): string => {
  const length = odd(30) ? of(minLength - 1, maxLength + 1) : of(minLength, maxLength, upTo(30, 1))
  return of('a', 'é', '😀').repeat(Math.max(0, length))
}

/** The words of a pattern such as `^(a|b)(,(a|b))*$`, some of them joined. */
const patterned = ({ of, upTo }: Fuzz, pattern: string): string => {
  const words = /^\^\(([^)]+)\)/.exec(pattern)?.[1]?.split('|') ?? [`x${upTo(40)}`, 'a.b:c/d+e=@-']
  return Array.from({ length: of(1, 1, 2, 3) }, () => of(...words)).join(',')
}

const stringBy = (draw: Fuzz, schema: Json): string => {
  const { of, upTo, chance, odd } = draw
  if (odd(8)) return of(...dates, ...urls, ...names)
  if (schema.pattern !== undefined) return patterned(draw, schema.pattern)
  if (schema.format === 'email') return odd(40) ? emailOf(draw) : `new${upTo(999_999)}@example.org`
  if (schema.format === 'uri') return odd(50) ? of(...urls) : 'https://example.org/a.png'
  return chance(35) ? sized(draw, schema) : of(...names)
}

const numberBy = (draw: Fuzz, { type, minimum, maximum }: Json): number => {
  const { of, upTo, odd } = draw
  const step = [type].flat().includes('integer') ? 1 : 0.01
  const [low, high] = [minimum ?? -5, maximum ?? 1e9]
  if (odd(25)) return of(low - step, high + step, low + 0.005, -0, 1e300)
  return draw.chance(90) ? upTo(8, 1) + (step === 1 ? 0 : of(0, 0.5, 0.99)) : of(low, high)
}

/** A value that a schema may allow. */
export const valueBy = (draw: Fuzz, given: Json, resolve: Resolve): unknown => {
  const { of, chance, odd } = draw
  const schema = resolve(given)
  if (odd(4)) return oddValue(draw)
  if (schema.enum) return of(...schema.enum)
  switch (of(...[schema.type].flat())) {
    case 'null':
      return null
    case 'boolean':
      return chance(50)
    case 'integer':
    case 'number':
      return numberBy(draw, schema)
    case 'array':
      return arrayBy(draw, schema, resolve)
    case 'object':
      return objectBy(draw, schema, resolve)
    default:
      return stringBy(draw, schema)
  }
}

const arrayBy = (draw: Fuzz, schema: Json, resolve: Resolve): unknown[] => {
  const { minItems = 0, maxItems = 5 } = schema
  const length = draw.odd(10) ? draw.of(minItems - 1, maxItems, maxItems + 1) : draw.of(1, 2, 3)
  return Array.from({ length: Math.max(0, length) }, () => valueBy(draw, schema.items, resolve))
}

const objectBy = (draw: Fuzz, schema: Json, resolve: Resolve): unknown => {
  const { of, chance, odd } = draw
  const { properties = {}, required = [] } = schema
  const entries = Object.entries(properties)
    .filter(([name]) => (required.includes(name) ? !odd(6) : chance(40)))
    .map(([name, member]): [string, unknown] => [name, valueBy(draw, member, resolve)])
  if (odd(8)) entries.push([of('__proto__', 'constructor', 'id', 'unknown', ''), oddValue(draw)])
  return Object.fromEntries(chance(80) ? entries : entries.toReversed())
}

/** The text of a JSON body, mostly as it should be. */
export const bodyText = (draw: Fuzz, value: unknown): string | Uint8Array<ArrayBuffer> => {
  const { of, upTo, odd } = draw
  const text = JSON.stringify(value)
  if (!odd(10)) return text
  const cut = text.slice(0, upTo(text.length))
  return of<() => string | Uint8Array<ArrayBuffer>>(
    () => cut,
    () => `${text}${of('}', ',', ' x', '\n\n', '\0')}`,
    () => `\ufeff${text}`,
    () => text.replace('{', `{"a":1,"a":2${text === '{}' ? '' : ','}`),
    () => `${'['.repeat(upTo(40, 20))}${']'.repeat(upTo(40, 20))}`,
    () => text.replace(/:/, ':-'),
    () => new Uint8Array(Buffer.concat([Buffer.from(cut), Buffer.from([0xff, 0xc0, upTo(255)])])),
    () => '',
  )()
}
