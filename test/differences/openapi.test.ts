/** Each rule, in each direction, by a change of one small document. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileAdded, fileRemoved } from '#contract/contract.ts'
import type { Difference } from '#contract/difference.ts'
import { diffOpenApi } from '#contract/openapi.ts'
import { rules } from '#contract/rules.ts'
import { type Change, changed, document } from './document.ts'

const today = '2026-11-22'

/** All differences that the tests below have met. */
const met: Difference[] = []

const diff = (before: readonly Change[], after: readonly Change[]) => {
  const differences = diffOpenApi(changed(before), changed(after), today)
  met.push(...differences)
  return differences
}

/** What a change of a schema means to those who send it and to those who read it. */
const meaning: Readonly<Record<string, readonly [sent: string, read: string]>> = {
  'member-removed': ['breaking', 'breaking'],
  'member-renamed': ['breaking', 'breaking'],
  'member-added': ['compatible', 'compatible'],
  'required-member-added': ['breaking', 'compatible'],
  'member-required': ['breaking', 'compatible'],
  'member-optional': ['compatible', 'breaking'],
  'others-refused': ['breaking', 'compatible'],
  'others-allowed': ['compatible', 'compatible'],
  'type-changed': ['breaking', 'breaking'],
  'type-wider': ['compatible', 'breaking'],
  'type-narrower': ['breaking', 'compatible'],
  'alternative-added': ['compatible', 'breaking'],
  'alternative-removed': ['breaking', 'compatible'],
  'null-added': ['compatible', 'risky'],
  'null-removed': ['breaking', 'compatible'],
  'value-added': ['compatible', 'risky'],
  'value-removed': ['breaking', 'compatible'],
  'values-opened': ['compatible', 'risky'],
  'values-closed': ['breaking', 'compatible'],
  'limit-tighter': ['breaking', 'compatible'],
  'limit-looser': ['compatible', 'risky'],
  'format-changed': ['breaking', 'breaking'],
  'format-added': ['breaking', 'compatible'],
  'format-removed': ['compatible', 'breaking'],
  'default-changed': ['risky', 'compatible'],
  'annotation-changed': ['compatible', 'compatible'],
  deprecated: ['compatible', 'compatible'],
  'deprecation-withdrawn': ['compatible', 'compatible'],
  'sunset-set': ['compatible', 'compatible'],
  'sunset-later': ['compatible', 'compatible'],
  'sunset-withdrawn': ['compatible', 'compatible'],
  'sunset-earlier': ['breaking', 'breaking'],
  'sunset-too-soon': ['breaking', 'breaking'],
  'sunset-unreadable': ['breaking', 'breaking'],
  'removed-after-sunset': ['compatible', 'compatible'],
  'removed-before-sunset': ['breaking', 'breaking'],
  'removed-without-sunset': ['breaking', 'breaking'],
  unknown: ['breaking', 'breaking'],
}

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

const schemaRows: readonly SchemaRow[] = [
  row(at('name', 'maxLength'), 20, 'limit-tighter', 'limit-looser', 'name'),
  row(at('name', 'minLength'), undefined, 'limit-looser', 'limit-tighter', 'name'),
  row(at('count', 'maximum'), 9, 'limit-tighter', 'limit-looser', 'count'),
  row(at('count', 'minimum'), -1, 'limit-looser', 'limit-tighter', 'count'),
  row(at('price', 'exclusiveMaximum'), 900, 'limit-tighter', 'limit-looser', 'price'),
  row(at('price', 'exclusiveMinimum'), undefined, 'limit-looser', 'limit-tighter', 'price'),
  row(at('tags', 'minItems'), 2, 'limit-tighter', 'limit-looser', 'tags'),
  row(at('tags', 'maxItems'), undefined, 'limit-looser', 'limit-tighter', 'tags'),
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

const directions = [
  { schema: 'NewThing', place: 'POST /things → body → ', way: 0, hits: 'callers who send it' },
  { schema: 'Thing', place: 'GET /things → 200 → data[].', way: 1, hits: 'callers who read it' },
] as const

for (const { change, rules, back, at } of schemaRows)
  test(`${change.map(([path, value]) => `${path} = ${JSON.stringify(value)}`).join(', ')} is ${rules.join(', ')}; taken back it is ${back.join(', ')}`, () => {
    for (const { schema, place, way, hits } of directions) {
      const there = change.map(
        ([path, value]): Change => [`/components/schemas/${schema}${path}`, value],
      )
      for (const [differences, expected] of [
        [diff([], there), rules],
        [diff(there, []), back],
      ] as const) {
        const seen = differences.map(({ class: level, rule }) => `${level} ${rule}`)
        const wanted = expected.map(rule => `${meaning[rule]?.[way]} ${rule}`)
        assert.deepEqual(seen.sort(), wanted.sort(), schema)
        assert.ok(differences.some(({ path }) => path === (place + at).replace(/(\.| → )$/, '')))
        assert.ok(differences.every(difference => difference.hits === hits))
      }
    }
  })

const get = '/paths/~1things/get'
const post = '/paths/~1things/post'
const parts = '/paths/~1things~1{id}~1parts~1{part}'
const put = `${parts}/put`
const csv = `${get}/responses/200/content/text~1csv`
const etag = `${get}/responses/200/headers/ETag`

type DocumentRow = readonly [
  what: string,
  change: readonly Change[],
  expected: string,
  back: string,
]

const documentRows: readonly DocumentRow[] = [
  [
    'an operation',
    [[post, undefined]],
    'breaking operation-removed POST /things',
    'compatible operation-added POST /things',
  ],
  [
    'a deprecated operation before its sunset',
    [[`${parts}/delete`, undefined]],
    'breaking removed-before-sunset DELETE /things/{id}/parts/{part}',
    'compatible operation-added DELETE /things/{id}/parts/{part}\nbreaking sunset-too-soon DELETE /things/{id}/parts/{part}',
  ],
  [
    'the sunset of an operation',
    [[`${parts}/delete/x-sunset`, '2026-12-23']],
    'breaking sunset-earlier DELETE /things/{id}/parts/{part}',
    'compatible sunset-later DELETE /things/{id}/parts/{part}',
  ],
  [
    'an operationId',
    [[`${post}/operationId`, 'addThing']],
    'risky operation-renamed POST /things',
    'risky operation-renamed POST /things',
  ],
  [
    'tags',
    [[`${get}/tags`, []]],
    'compatible annotation-changed GET /things',
    'compatible annotation-changed GET /things',
  ],
  [
    'a parameter',
    [[`${get}/parameters/0`, undefined]],
    'breaking parameter-removed GET /things → header X-Trace',
    'compatible parameter-added GET /things → header X-Trace',
  ],
  [
    'a parameter after its sunset',
    [[`${get}/parameters/1`, undefined]],
    'compatible removed-after-sunset GET /things → query color',
    'compatible parameter-added GET /things → query color\nbreaking sunset-too-soon GET /things → query color',
  ],
  [
    'a required parameter',
    [[`${get}/parameters/2`, { name: 'q', in: 'query', required: true }]],
    'breaking required-parameter-added GET /things → query q',
    'breaking parameter-removed GET /things → query q',
  ],
  [
    'a parameter that is needed',
    [[`${get}/parameters/0/required`, true]],
    'breaking parameter-required GET /things → header X-Trace',
    'compatible parameter-optional GET /things → header X-Trace',
  ],
  ['the case of a header', [[`${get}/parameters/0/name`, 'x-trace']], '', ''],
  [
    'the style of a parameter',
    [[`${get}/parameters/0/style`, 'simple']],
    'breaking unknown GET /things → header X-Trace',
    'breaking unknown GET /things → header X-Trace',
  ],
  [
    'a parameter that all operations of a path have',
    [['/components/parameters/Page/schema/minimum', 2]],
    'breaking limit-tighter GET /things → query page\nbreaking limit-tighter POST /things → query page',
    'compatible limit-looser GET /things → query page\ncompatible limit-looser POST /things → query page',
  ],
  [
    'another parameter of the same name and an operation of its own',
    [
      [
        `${post}/parameters`,
        [
          {
            name: 'page',
            in: 'query',
            schema: { type: 'integer', minimum: 1, default: 1, maximum: 5 },
          },
        ],
      ],
    ],
    'breaking limit-tighter POST /things → query page',
    'compatible limit-looser POST /things → query page',
  ],
  [
    'a body',
    [[`${put}/requestBody`, undefined]],
    'breaking body-removed PUT /things/{id}/parts/{part} → body',
    'compatible body-added PUT /things/{id}/parts/{part} → body',
  ],
  [
    'a body that is needed',
    [[`${put}/requestBody/required`, true]],
    'breaking body-required PUT /things/{id}/parts/{part} → body',
    'compatible body-optional PUT /things/{id}/parts/{part} → body',
  ],
  [
    'a new body that is needed',
    [[`${parts}/delete/requestBody`, { required: true, content: { 'text/plain': {} } }]],
    'breaking required-body-added DELETE /things/{id}/parts/{part} → body',
    'breaking body-removed DELETE /things/{id}/parts/{part} → body',
  ],
  [
    'a media type of a body',
    [[`${put}/requestBody/content/text~1plain`, undefined]],
    'breaking media-type-removed PUT /things/{id}/parts/{part} → body (text/plain)',
    'compatible media-type-added PUT /things/{id}/parts/{part} → body (text/plain)',
  ],
  [
    'a media type of a response',
    [[csv, undefined]],
    'breaking media-type-removed GET /things → 200 (text/csv)',
    'compatible media-type-added GET /things → 200 (text/csv)',
  ],
  [
    'the schema of another media type',
    [[`${csv}/schema/type`, 'integer']],
    'breaking type-changed GET /things → 200 (text/csv)',
    'breaking type-changed GET /things → 200 (text/csv)',
  ],
  [
    'a good status',
    [[`${get}/responses/200`, undefined]],
    'breaking status-removed GET /things → 200',
    'risky status-added GET /things → 200',
  ],
  [
    'the answer where no other is named',
    [[`${get}/responses/default`, { description: 'Any.' }]],
    'risky status-added GET /things → default',
    'compatible refusal-removed GET /things → default',
  ],
  [
    'a refusal',
    [[`${get}/responses/422`, undefined]],
    'compatible refusal-removed GET /things → 422',
    'risky status-added GET /things → 422',
  ],
  [
    'a header',
    [[`${get}/responses/200/headers/Age`, undefined]],
    'breaking header-removed GET /things → 200 → header Age',
    'compatible header-added GET /things → 200 → header Age',
  ],
  [
    'a header that was always there',
    [[`${etag}/required`, undefined]],
    'breaking header-optional GET /things → 200 → header ETag',
    'compatible header-required GET /things → 200 → header ETag',
  ],
  [
    'the case of a header of a response',
    [
      [etag, undefined],
      [
        `${get}/responses/200/headers/etag`,
        document.paths['/things'].get.responses['200'].headers.ETag,
      ],
    ],
    '',
    '',
  ],
  [
    'the schema of a header',
    [[`${etag}/schema/type`, 'integer']],
    'breaking type-changed GET /things → 200 → header ETag',
    'breaking type-changed GET /things → 200 → header ETag',
  ],
  [
    'the way without a token',
    [[`${get}/security/0`, undefined]],
    'breaking access-closed GET /things',
    'compatible access-opened GET /things',
  ],
  [
    'the need of a token by all operations that say nothing',
    [['/security', []]],
    ['DELETE /things/{id}/parts/{part}', 'POST /things', 'PUT /things/{id}/parts/{part}']
      .flatMap(place => [`breaking access-closed ${place}`, `compatible access-opened ${place}`])
      .join('\n'),
    ['DELETE /things/{id}/parts/{part}', 'POST /things', 'PUT /things/{id}/parts/{part}']
      .flatMap(place => [`breaking access-closed ${place}`, `compatible access-opened ${place}`])
      .join('\n'),
  ],
  [
    'a name in a path',
    [
      [parts, undefined],
      [
        '/paths/~1things~1{thing}~1parts~1{part}',
        JSON.parse(
          JSON.stringify(document.paths['/things/{id}/parts/{part}']).replaceAll('"id"', '"thing"'),
        ),
      ],
    ],
    'risky path-parameter-renamed PUT /things/{thing}/parts/{part}\nrisky path-parameter-renamed DELETE /things/{thing}/parts/{part}',
    'risky path-parameter-renamed PUT /things/{id}/parts/{part}\nrisky path-parameter-renamed DELETE /things/{id}/parts/{part}',
  ],
  [
    'a title',
    [['/info/title', 'All things']],
    'compatible annotation-changed',
    'compatible annotation-changed',
  ],
  [
    'a small step of OpenAPI',
    [['/openapi', '3.1.2']],
    'compatible annotation-changed',
    'compatible annotation-changed',
  ],
  ['a step of OpenAPI', [['/openapi', '3.2.0']], 'risky openapi-changed', 'risky openapi-changed'],
  ['a server', [['/servers/0/url', '/api/v3']], 'breaking unknown', 'breaking unknown'],
  [
    'what OpenAPI has and this comparison has not',
    [['/webhooks', { sold: {} }]],
    'breaking unknown',
    'breaking unknown',
  ],
  [
    'what a path has besides operations',
    [['/paths/~1things/servers', []]],
    'breaking unknown /things',
    'breaking unknown /things',
  ],
  [
    'callbacks',
    [[`${post}/callbacks`, { made: {} }]],
    'breaking unknown POST /things',
    'breaking unknown POST /things',
  ],
  [
    'links',
    [[`${post}/responses/201/links`, { next: {} }]],
    'breaking unknown POST /things → 201',
    'breaking unknown POST /things → 201',
  ],
  [
    'a scheme of tokens',
    [['/components/securitySchemes/token/scheme', 'basic']],
    'breaking unknown components.securitySchemes.token',
    'breaking unknown components.securitySchemes.token',
  ],
  [
    'a name of a component',
    [['/components/schemas/Spare', { type: 'string' }]],
    'compatible component-added components.schemas.Spare',
    'risky component-removed components.schemas.Spare',
  ],
  [
    'the name of a shared parameter',
    [['/components/parameters/Spare', { name: 'spare', in: 'query' }]],
    'compatible component-added components.parameters.Spare',
    'compatible shared-part-removed components.parameters.Spare',
  ],
  [
    'a code of an error',
    [['/components/responses/Refused/x-codes', ['WORST', 'BAD', 'WORSE']]],
    'risky value-added GET /things → 422\nrisky value-added POST /things → 422',
    'compatible value-removed GET /things → 422\ncompatible value-removed POST /things → 422',
  ],
  [
    'a component that no operation leads to',
    [['/components/schemas/Unused/properties/a/maxLength', 4]],
    'risky limit-looser components.schemas.Unused.a',
    'breaking limit-tighter components.schemas.Unused.a',
  ],
  [
    'a kind of component',
    [['/components/links', { next: {} }]],
    'breaking unknown components.links',
    'breaking unknown components.links',
  ],
]

const lines = (differences: readonly Difference[]) =>
  differences.map(({ class: level, rule, path }) => `${level} ${rule} ${path}`.trim()).sort()

for (const [what, change, expected, back] of documentRows)
  test(`${what}: a change of it and the change back are classified`, () => {
    const list = (text: string) =>
      text
        .split('\n')
        .filter(line => line !== '')
        .sort()
    assert.deepEqual(lines(diff([], change)), list(expected))
    assert.deepEqual(lines(diff(change, [])), list(back))
  })

test('a whole document that goes is breaking until the day that it announced has come', () => {
  const file = (sunset?: string) => ({
    name: 'v1.openapi.json',
    text: JSON.stringify(
      changed(
        sunset
          ? [
              ['/info/x-sunset', sunset],
              ['/info/deprecated', true],
            ]
          : [],
      ),
    ),
  })
  const rulesOf = (differences: readonly Difference[]) => {
    met.push(...differences)
    return differences.map(({ class: level, rule }) => `${level} ${rule}`)
  }
  assert.deepEqual(rulesOf(fileAdded(file(), today)), ['compatible document-added'])
  assert.deepEqual(rulesOf(fileRemoved(file(), today)), ['breaking document-removed'])
  assert.deepEqual(rulesOf(fileRemoved(file('2026-11-23'), today)), [
    'breaking removed-before-sunset',
  ])
  assert.deepEqual(rulesOf(fileRemoved(file('2026-11-22'), today)), [
    'compatible removed-after-sunset',
  ])
})

test('a difference behind a reference is told of every place that leads there, and ends in a schema that contains itself', () => {
  const change: Change = ['/components/schemas/Refusal/properties/message/type', 'integer']
  assert.deepEqual(
    diff([], [change]).map(({ path }) => path),
    ['GET /things → 422 → message', 'POST /things → 422 → message'],
  )
})

test('a reference that leads nowhere is breaking', () => {
  const ref = '/components/responses/Refused/content/application~1json/schema/$ref'
  const differences = diff([], [[ref, '#/components/schemas/None']])
  assert.ok(
    differences.some(({ rule, path }) => rule === 'unknown' && path === 'GET /things → 422'),
  )
})

test('a sunset that could not be read counts as none', () => {
  const path = '/components/schemas/Thing/properties/nick/x-sunset'
  const rulesOf = diff([[path, 'next year']], [[path, '2027-01-01']]).map(({ rule }) => rule)
  assert.deepEqual(rulesOf, ['sunset-too-soon'])
})

test('references are followed through others and into every part of a document, and a circle of them ends', () => {
  const schema = `${csv}/schema`
  const parameter = '#/paths/~1things/get/parameters/0/schema'
  const chain: readonly Change[] = [
    [schema, { $ref: '#/components/schemas/First' }],
    ['/components/schemas/First', { $ref: '#/components/schemas/Second' }],
    ['/components/schemas/Second', { $ref: parameter }],
  ]
  const changes = diff(chain, [...chain, [`${get}/parameters/0/schema/type`, 'integer']])
  assert.deepEqual(lines(changes), [
    'breaking type-changed GET /things → 200 (text/csv)',
    'breaking type-changed GET /things → header X-Trace',
    'breaking type-changed components.schemas.Second',
  ])
  const circle: readonly Change[] = [
    ...chain,
    ['/components/schemas/Second/$ref', '#/components/schemas/First'],
  ]
  assert.deepEqual(diff(circle, circle), [])
  assert.notDeepEqual(diff(chain, circle), [])
})

test('a risky difference names the member and what is new about it', () => {
  const value: Change = [
    '/components/schemas/Thing/properties/state/enum',
    ['new', 'used', 'sold', 'lent'],
  ]
  assert.deepEqual(
    diff([], [value]).map(({ names }) => names),
    [['state', 'lent']],
  )
  const type: Change = ['/components/schemas/Thing/properties/name/type', ['string', 'null']]
  assert.deepEqual(
    diff([], [type]).map(({ names }) => names),
    [['name', 'null']],
  )
  assert.deepEqual(
    diff([[`${get}/responses/422`, undefined]], []).map(({ names }) => names),
    [['422']],
  )
})

test('every rule was met, and in both directions where they differ', () => {
  const seen = new Set(met.map(({ rule, hits }) => `${rule} ${hits}`))
  const unmet = Object.entries(rules).filter(([rule, { sent, read }]) =>
    sent === read
      ? !met.some(difference => difference.rule === rule)
      : !seen.has(`${rule} callers who send it`) || !seen.has(`${rule} callers who read it`),
  )
  assert.deepEqual(
    unmet.map(([rule]) => rule),
    [],
  )
})
