/** Changes of a schema, each with the rules that it meets there and back. */
import { type Change, document } from './document.ts'
import { today } from './document-rows.ts'

type SchemaRow = {
  /** Below the schema of a thing. */
  readonly change: readonly Change[]
  readonly rules: readonly string[]
  /** The rules when the change is taken back. */
  readonly back: readonly string[]
  /** Where it is, below a thing. */
  readonly at: string
}

const row = (
  path: string,
  value: Change[1],
  rule: string,
  back: string,
  at: string,
): SchemaRow => ({
  change: [[path, value]],
  rules: rule.split(' '),
  back: back.split(' '),
  at,
})

const { shape } = document.components.schemas.Thing.properties

const at = (member: string, key: string) => `/properties/${member}/${key}`

/** A pattern of words with commas between. */
const listed = (words: string) => `^(${words})(,(${words}))*$`

export const schemaRows: readonly SchemaRow[] = [
  row(at('name', 'maxLength'), 20, 'limit-tighter', 'limit-looser', 'name'),
  row(at('name', 'minLength'), undefined, 'limit-looser', 'limit-tighter', 'name'),
  row(at('count', 'maximum'), 9, 'limit-tighter', 'limit-looser', 'count'),
  row(at('count', 'minimum'), -1, 'limit-looser', 'limit-tighter', 'count'),
  row(at('price', 'exclusiveMaximum'), 900, 'limit-tighter', 'limit-looser', 'price'),
  row(at('price', 'exclusiveMinimum'), undefined, 'limit-looser', 'limit-tighter', 'price'),
  row(at('tags', 'minItems'), 2, 'limit-tighter', 'limit-looser', 'tags'),
  row(at('tags', 'maxItems'), undefined, 'limit-looser', 'limit-tighter', 'tags'),
  row(at('email', 'minLength'), 0, 'limit-same', 'limit-same', 'email'),
  row(at('tags', 'items/maxLength'), 8, 'limit-tighter', 'limit-looser', 'tags[]'),
  row(at('tags', 'uniqueItems'), undefined, 'limit-looser', 'limit-tighter', 'tags'),
  row(at('counts', 'maxProperties'), 8, 'limit-tighter', 'limit-looser', 'counts'),
  row(at('whole', 'allOf/0/minProperties'), 2, 'limit-tighter', 'limit-looser', 'whole'),
  row(at('count', 'multipleOf'), 4, 'limit-tighter', 'limit-looser', 'count'),
  row(at('count', 'multipleOf'), undefined, 'limit-looser', 'limit-tighter', 'count'),
  row(at('count', 'multipleOf'), 3, 'format-changed', 'format-changed', 'count'),
  row(at('name', 'pattern'), '^[A-Z]+$', 'format-changed', 'format-changed', 'name'),
  row(at('name', 'pattern'), undefined, 'format-removed', 'format-added', 'name'),
  row(at('sort', 'pattern'), listed('id|name|when|size'), 'value-added', 'value-removed', 'sort'),
  row(at('sort', 'pattern'), listed('name|when'), 'value-removed', 'value-added', 'sort'),
  row(at('sort', 'pattern'), listed('id|when'), 'removed-after-sunset', 'value-added', 'sort'),
  row(at('sort', 'pattern'), listed('id|name'), 'removed-before-sunset', 'value-added', 'sort'),
  row(at('sort', 'pattern'), '^(id|name|when)$', 'format-changed', 'format-changed', 'sort'),
  row(at('sort', 'x-sunsets/when'), '2027-06-01', 'sunset-later', 'sunset-earlier', 'sort'),
  row(
    at('sort', 'x-sunsets/id'),
    '2027-06-01',
    'deprecated sunset-set',
    'deprecation-withdrawn sunset-withdrawn',
    'sort',
  ),
  row(at('sort', 'x-sunsets'), 5, 'unknown', 'unknown', 'sort'),
  row(
    '/properties/by',
    { enum: ['a'], 'x-sunsets': { a: today } },
    'member-added sunset-too-soon',
    'member-removed',
    'by',
  ),
  row(at('email', 'format'), 'uri', 'format-changed', 'format-changed', 'email'),
  row(at('email', 'format'), undefined, 'format-removed', 'format-added', 'email'),
  row(at('file', 'contentEncoding'), 'base32', 'format-changed', 'format-changed', 'file'),
  row(at('file', 'contentMediaType'), 'image/gif', 'format-changed', 'format-changed', 'file'),
  row(at('name', 'type'), 'integer', 'type-changed', 'type-changed', 'name'),
  row(at('email', 'type'), 'null', 'type-changed null-added', 'type-changed null-removed', 'email'),
  row(at('count', 'type'), 'number', 'type-wider', 'type-narrower', 'count'),
  row(at('name', 'type'), ['string', 'boolean'], 'type-wider', 'type-narrower', 'name'),
  row(at('exact', 'properties/deep/type'), 'string', 'type-changed', 'type-changed', 'exact.deep'),
  row(at('name', 'type'), ['null', 'string'], 'null-added', 'null-removed', 'name'),
  row(at('price', 'type'), 'number', 'null-removed', 'null-added', 'price'),
  row(at('shape', 'anyOf/2'), undefined, 'null-removed', 'null-added', 'shape'),
  row(at('email', 'anyOf'), [{ type: 'string' }], 'unknown', 'unknown', 'email'),
  row(
    '/properties/email',
    { anyOf: [document.components.schemas.Thing.properties.email, { type: 'null' }] },
    'null-added',
    'null-removed',
    'email',
  ),
  row(at('shape', 'anyOf/1'), undefined, 'alternative-removed', 'alternative-added', 'shape'),
  row(
    at('shape', 'anyOf/0/properties/radius/type'),
    'string',
    'type-changed',
    'type-changed',
    'shape.radius',
  ),
  row(at('word', 'oneOf/0'), undefined, 'value-removed', 'value-added', 'word'),
  row(
    at('state', 'enum'),
    ['lent', 'sold', 'used', 'new'],
    'value-added',
    'value-removed',
    'state',
  ),
  row(at('state', 'enum'), undefined, 'values-opened', 'values-closed', 'state'),
  row(at('kind', 'const'), undefined, 'values-opened', 'values-closed', 'kind'),
  row(at('state', 'default'), 'used', 'default-changed', 'default-changed', 'state'),
  row(at('state', 'default'), undefined, 'default-changed', 'default-changed', 'state'),
  row(at('price', 'title'), 'Cost', 'annotation-changed', 'annotation-changed', 'price'),
  row('/required', ['name'], 'member-optional', 'member-required', 'count'),
  row('/properties/size', { type: 'integer' }, 'member-added', 'member-removed', 'size'),
  {
    change: [
      ['/properties/size', { type: 'integer' }],
      ['/required', ['name', 'count', 'size']],
    ],
    rules: ['required-member-added'],
    back: ['member-removed'],
    at: 'size',
  },
  {
    change: [
      ['/properties/email', undefined],
      ['/properties/mail', { type: 'string', format: 'email' }],
    ],
    rules: ['member-renamed', 'member-added'],
    back: ['member-renamed', 'member-added'],
    at: 'email',
  },
  row(
    at('exact', 'additionalProperties'),
    undefined,
    'others-allowed',
    'others-refused',
    'exact.*',
  ),
  row(at('counts', 'additionalProperties'), false, 'member-removed', 'others-allowed', 'counts.*'),
  row(
    at('counts', 'additionalProperties/type'),
    'string',
    'type-changed',
    'type-changed',
    'counts.*',
  ),
  row(at('name', 'deprecated'), true, 'deprecated', 'deprecation-withdrawn', 'name'),
  row(at('nick', 'x-sunset'), '2027-05-22', 'sunset-set', 'sunset-withdrawn', 'nick'),
  row(at('nick', 'x-sunset'), '2027-05-21', 'sunset-too-soon', 'sunset-withdrawn', 'nick'),
  row(at('nick', 'x-sunset'), 'next year', 'sunset-unreadable', 'sunset-withdrawn', 'nick'),
  row(at('nick', 'x-sunset'), '2027-06-31', 'sunset-unreadable', 'sunset-withdrawn', 'nick'),
  {
    change: [['/properties/shape', { oneOf: [...shape.anyOf] }]],
    rules: ['unknown'],
    back: ['unknown'],
    at: 'shape',
  },
  row('/required', ['name', 'count', 5], 'unknown', 'unknown', ''),
  {
    change: [
      [
        '/properties/box',
        { items: { anyOf: [{ properties: { lid: { deprecated: true, 'x-sunset': today } } }] } },
      ],
    ],
    rules: ['member-added', 'sunset-too-soon'],
    back: ['member-removed'],
    at: 'box',
  },
  row(at('nick', 'x-sunset'), 5, 'unknown', 'unknown', 'nick'),
  row(at('soon', 'x-sunset'), '2027-06-01', 'sunset-later', 'sunset-earlier', 'soon'),
  row('/properties/nick', undefined, 'removed-without-sunset', 'member-added', 'nick'),
  row('/properties/old', undefined, 'removed-after-sunset', 'member-added sunset-too-soon', 'old'),
  row(
    '/properties/soon',
    undefined,
    'removed-before-sunset',
    'member-added sunset-too-soon',
    'soon',
  ),
  row(
    at('word', 'oneOf/1'),
    undefined,
    'removed-after-sunset',
    'value-added sunset-too-soon',
    'word',
  ),
  row(at('name', 'not'), { const: 'x' }, 'unknown', 'unknown', 'name'),
  row(at('name', 'x-mine'), 1, 'unknown', 'unknown', 'name'),
  row(at('whole', 'allOf'), [], 'unknown', 'unknown', 'whole'),
]
