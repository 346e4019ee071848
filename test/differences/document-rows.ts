/** Changes of a document around its schemas, each with what it means there and back. */
import { type Change, document } from './document.ts'

export const today = '2026-11-22'

export const get = '/paths/~1things/get'
const post = '/paths/~1things/post'
const parts = '/paths/~1things~1{id}~1parts~1{part}'
const put = `${parts}/put`
export const csv = `${get}/responses/200/content/text~1csv`
const etag = `${get}/responses/200/headers/ETag`

/** A change, what is told of it, and of the way back where that is something else. */
type DocumentRow = readonly [change: readonly Change[], there: string, back?: string]

export const documentRows: Readonly<Record<string, DocumentRow>> = {
  'an operation': [
    [[post, undefined]],
    'breaking operation-removed POST /things',
    'compatible operation-added POST /things',
  ],
  'a deprecated operation before its sunset': [
    [[`${parts}/delete`, undefined]],
    'breaking removed-before-sunset DELETE /things/{id}/parts/{part}',
    'compatible operation-added DELETE /things/{id}/parts/{part}\nbreaking sunset-too-soon DELETE /things/{id}/parts/{part}',
  ],
  'the sunset of an operation': [
    [[`${parts}/delete/x-sunset`, '2026-12-23']],
    'breaking sunset-earlier DELETE /things/{id}/parts/{part}',
    'compatible sunset-later DELETE /things/{id}/parts/{part}',
  ],
  'an operationId': [[[`${post}/operationId`, 'addThing']], 'risky operation-renamed POST /things'],
  tags: [[[`${get}/tags`, []]], 'compatible annotation-changed GET /things'],
  'a parameter': [
    [[`${get}/parameters/0`, undefined]],
    'breaking parameter-removed GET /things → header X-Trace',
    'compatible parameter-added GET /things → header X-Trace',
  ],
  'a parameter after its sunset': [
    [[`${get}/parameters/1`, undefined]],
    'compatible removed-after-sunset GET /things → query color',
    'compatible parameter-added GET /things → query color\nbreaking sunset-too-soon GET /things → query color',
  ],
  'a required parameter': [
    [[`${get}/parameters/2`, { name: 'q', in: 'query', required: true }]],
    'breaking required-parameter-added GET /things → query q',
    'breaking parameter-removed GET /things → query q',
  ],
  'a parameter that is needed': [
    [[`${get}/parameters/0/required`, true]],
    'breaking parameter-required GET /things → header X-Trace',
    'compatible parameter-optional GET /things → header X-Trace',
  ],
  'the case of a header': [[[`${get}/parameters/0/name`, 'x-trace']], ''],
  'the style of a parameter': [
    [[`${get}/parameters/0/style`, 'simple']],
    'breaking unknown GET /things → header X-Trace',
  ],
  'a parameter that all operations of a path have': [
    [['/components/parameters/Page/schema/minimum', 2]],
    'breaking limit-tighter GET /things → query page\nbreaking limit-tighter POST /things → query page',
    'compatible limit-looser GET /things → query page\ncompatible limit-looser POST /things → query page',
  ],
  'another parameter of the same name and an operation of its own': [
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
  'a body': [
    [[`${put}/requestBody`, undefined]],
    'breaking body-removed PUT /things/{id}/parts/{part} → body',
    'compatible body-added PUT /things/{id}/parts/{part} → body',
  ],
  'a body that is needed': [
    [[`${put}/requestBody/required`, true]],
    'breaking body-required PUT /things/{id}/parts/{part} → body',
    'compatible body-optional PUT /things/{id}/parts/{part} → body',
  ],
  'a new body that is needed': [
    [[`${parts}/delete/requestBody`, { required: true, content: { 'text/plain': {} } }]],
    'breaking required-body-added DELETE /things/{id}/parts/{part} → body',
    'breaking body-removed DELETE /things/{id}/parts/{part} → body',
  ],
  'a media type of a body': [
    [[`${put}/requestBody/content/text~1plain`, undefined]],
    'breaking media-type-removed PUT /things/{id}/parts/{part} → body (text/plain)',
    'compatible media-type-added PUT /things/{id}/parts/{part} → body (text/plain)',
  ],
  'a media type of a response': [
    [[csv, undefined]],
    'breaking media-type-removed GET /things → 200 (text/csv)',
    'compatible media-type-added GET /things → 200 (text/csv)',
  ],
  'the schema of another media type': [
    [[`${csv}/schema/type`, 'integer']],
    'breaking type-changed GET /things → 200 (text/csv)',
  ],
  'a good status': [
    [[`${get}/responses/200`, undefined]],
    'breaking status-removed GET /things → 200',
    'risky status-added GET /things → 200',
  ],
  'the answer where no other is named': [
    [[`${get}/responses/default`, { description: 'Any.' }]],
    'risky status-added GET /things → default',
    'compatible refusal-removed GET /things → default',
  ],
  'a refusal': [
    [[`${get}/responses/422`, undefined]],
    'compatible refusal-removed GET /things → 422',
    'risky status-added GET /things → 422',
  ],
  'a header': [
    [[`${get}/responses/200/headers/Age`, undefined]],
    'breaking header-removed GET /things → 200 → header Age',
    'compatible header-added GET /things → 200 → header Age',
  ],
  'a header that was always there': [
    [[`${etag}/required`, undefined]],
    'breaking header-optional GET /things → 200 → header ETag',
    'compatible header-required GET /things → 200 → header ETag',
  ],
  'the case of a header of a response': [
    [
      [etag, undefined],
      [
        `${get}/responses/200/headers/etag`,
        document.paths['/things'].get.responses['200'].headers.ETag,
      ],
    ],
    '',
  ],
  'the schema of a header': [
    [[`${etag}/schema/type`, 'integer']],
    'breaking type-changed GET /things → 200 → header ETag',
  ],
  'the way without a token': [
    [[`${get}/security/0`, undefined]],
    'breaking access-closed GET /things',
    'compatible access-opened GET /things',
  ],
  'the need of a token by all operations that say nothing': [
    [['/security', []]],
    ['DELETE /things/{id}/parts/{part}', 'POST /things', 'PUT /things/{id}/parts/{part}']
      .flatMap(place => [`compatible access-eased ${place}`, `compatible access-opened ${place}`])
      .join('\n'),
    ['DELETE /things/{id}/parts/{part}', 'POST /things', 'PUT /things/{id}/parts/{part}']
      .flatMap(place => [`breaking access-closed ${place}`, `compatible access-opened ${place}`])
      .join('\n'),
  ],
  'a name in a path': [
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
  'a title': [[['/info/title', 'All things']], 'compatible annotation-changed'],
  'a small step of OpenAPI': [[['/openapi', '3.1.2']], 'compatible annotation-changed'],
  'a step of OpenAPI': [[['/openapi', '3.2.0']], 'risky openapi-changed'],
  'a server': [[['/servers/0/url', '/api/v3']], 'breaking unknown'],
  'what OpenAPI has and this comparison has not': [
    [['/webhooks', { sold: {} }]],
    'breaking unknown',
  ],
  'what a path has besides operations': [
    [['/paths/~1things/servers', []]],
    'breaking unknown /things',
  ],
  callbacks: [[[`${post}/callbacks`, { made: {} }]], 'breaking unknown POST /things'],
  links: [[[`${post}/responses/201/links`, { next: {} }]], 'breaking unknown POST /things → 201'],
  'a scheme of tokens': [
    [['/components/securitySchemes/token/scheme', 'basic']],
    'breaking unknown components.securitySchemes.token',
  ],
  'a name of a component': [
    [['/components/schemas/Spare', { type: 'string' }]],
    'compatible component-added components.schemas.Spare',
    'risky component-removed components.schemas.Spare',
  ],
  'the name of a shared parameter': [
    [['/components/parameters/Spare', { name: 'spare', in: 'query' }]],
    'compatible component-added components.parameters.Spare',
    'compatible shared-part-removed components.parameters.Spare',
  ],
  'a code of an error': [
    [['/components/responses/Refused/x-codes', ['WORST', 'BAD', 'WORSE']]],
    'risky value-added GET /things → 422\nrisky value-added POST /things → 422',
    'compatible value-removed GET /things → 422\ncompatible value-removed POST /things → 422',
  ],
  'a component that no operation leads to': [
    [['/components/schemas/Unused/properties/a/maxLength', 4]],
    'risky limit-looser components.schemas.Unused.a',
    'breaking limit-tighter components.schemas.Unused.a',
  ],
  'a kind of component': [
    [['/components/links', { next: {} }]],
    'breaking unknown components.links',
  ],
}
