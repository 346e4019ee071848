/** PATCH as application/merge-patch+json merges objects into JSON values (RFC 7396); as application/json it replaces them. On both engines. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { mergePatch } from '#base/object.ts'
import { writingFor } from '#core.ts'
import { type Entity, entity, many, one } from '#model/entity.ts'
import { id, int, json, reference, revision, type StandardSchema, text } from '#model/field.ts'
import { commandOf } from '#write/command.ts'
import { update } from '#write/entity-commands.ts'
import { ChangedMeanwhile, merging } from '#write/merge-patch.ts'
import { commit } from '#write/write.ts'
import { forAllTests } from '../support/fixture.ts'
import { engines } from './compare.ts'
import { allRoutes, anyObject, bySignedIn, member } from './models.ts'
import { serveWithMembers } from './serve.ts'

const listing = { paging: 'page', limit: 50 } as const
const writes = ['create', 'replace', 'update', 'delete'] as const

/** What has a name. */
const named: StandardSchema<object> = {
  '~standard': {
    version: 1,
    validate: given =>
      typeof (given as { name?: unknown }).name === 'string'
        ? { value: given as object }
        : { issues: [{ message: 'must be a text', path: ['name'] }] },
  },
}

const box = entity({
  fields: {
    id: id(),
    label: text({ max: 20, nullable: true }),
    meta: json(anyObject, { nullable: true, max: 1000 }),
    strict: json(named, { initial: { value: '{"name":"x"}' }, max: 100 }),
    count: int({ min: 0, max: 9, nullable: true }),
    revision: revision(),
  },
  relations: { slips: many('slip', 'boxId', { nestedWrites: true }) },
  policy: bySignedIn,
  bulk: true,
  rest: { ...allRoutes, writes, listing },
  graphql: { mutations: ['create', 'update'] },
})

const slip = entity({
  fields: {
    id: id(),
    note: json(anyObject, { nullable: true }),
    boxId: reference('box', { onDelete: 'cascade' }),
    revision: revision(),
  },
  relations: { box: one('box', 'boxId') },
  policy: bySignedIn,
  rest: { ...allRoutes, writes, listing },
})

const entities = { member, box, slip } as unknown as Readonly<Record<string, Entity>>

const merge = { 'Content-Type': 'application/merge-patch+json' }

/** Examples of RFC 7396, appendix A, whose values are objects or lists, and neighbours of them: what is there, the patch, and what comes of it. */
const examples: readonly (readonly [before: unknown, patch: unknown, after: unknown])[] = [
  [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
  [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
  [{ a: 'b' }, { a: null }, {}],
  [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
  [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
  [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
  [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
  [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
  [
    ['a', 'b'],
    ['c', 'd'],
    ['c', 'd'],
  ],
  [{ a: 'b' }, ['c'], ['c']],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [[1, 2], { a: 'b', c: null }, { a: 'b' }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  [{ a: 1, b: { c: 2 } }, { b: { c: null } }, { a: 1, b: {} }],
  [null, { a: 1, b: null, c: { d: null } }, { a: 1, c: {} }],
  [{ a: 1 }, {}, { a: 1 }],
  [
    { a: { b: { c: { d: 1, e: 2 } } } },
    { a: { b: { c: { d: null } } } },
    { a: { b: { c: { e: 2 } } } },
  ],
  [{ a: { b: 1 } }, { a: [null, { b: null }] }, { a: [null, { b: null }] }],
  [{ a: 1 }, null, null],
  [{ 'ü"': 1, '': 2 }, { 'ü"': null, '': { '': 3 } }, { '': { '': 3 } }],
  [
    { constructor: 1, toString: 2 },
    { constructor: null, hasOwnProperty: {} },
    { toString: 2, hasOwnProperty: {} },
  ],
]

test('a member called __proto__ is a member like any other', () => {
  const patch = JSON.parse('{"__proto__":{"a":1,"b":null}}')
  assert.equal(JSON.stringify(mergePatch({}, patch)), '{"__proto__":{"a":1}}')
  assert.equal(JSON.stringify(mergePatch(patch, JSON.parse('{"__proto__":null}'))), '{}')
})

for (const on of engines)
  describe(`on ${on}`, () => {
    const service = forAllTests(() => serveWithMembers(entities, on, 'Ada', 'Ben'))
    const ask = async (line: string, body?: unknown, headers: Record<string, string> = {}) => {
      const answer = await service.ask({
        line,
        as: 'user',
        headers,
        ...(body !== undefined && { body }),
      })
      return { ...answer, json: answer.text === '' ? null : JSON.parse(answer.text) }
    }
    /** A new box with this value. */
    const boxOf = async (meta: unknown): Promise<number> => {
      const { status, json, text } = await ask('POST /api/v2/boxes', { meta })
      assert.equal(status, 201, text)
      return json.id
    }

    test('a merge patch merges objects at any depth, removes by null, and replaces lists', async () => {
      for (const version of ['', '/v2'])
        for (const [before, patch, expected] of examples) {
          const id = await boxOf(before)
          const line = `PATCH /api${version}/boxes/${id}`
          const { status, json, text } = await ask(line, { meta: patch }, merge)
          assert.equal(status, 200, text)
          assert.deepEqual(json.meta, expected, JSON.stringify([before, patch]))
          assert.deepEqual((await ask(`GET /api/v2/boxes/${id}`)).json.meta, expected)
        }
    })

    test('under a key a merge that was done is answered again, with its If-Match too, though its values would be refused by now', async () => {
      const id = await boxOf(null)
      const line = `PATCH /api/v2/boxes/${id}`
      const { headers } = await ask(`GET /api/v2/boxes/${id}`)
      const keyed = { ...merge, 'Idempotency-Key': `box-${id}` }
      const matched = { ...keyed, 'If-Match': headers.get('etag') ?? '' }
      const first = await ask(line, { strict: { a: 'x'.repeat(60) } }, matched)
      assert.equal(first.status, 200, first.text)
      const other = { strict: { a: null, b: 'x'.repeat(60) } }
      assert.equal((await ask(line, other, merge)).status, 200)
      for (const sent of [keyed, matched]) {
        const again = await ask(line, { strict: { a: 'x'.repeat(60) } }, sent)
        assert.deepEqual([again.status, again.text], [200, first.text])
      }
      const fresh = { ...merge, 'Idempotency-Key': `fresh-${id}` }
      const body = { strict: { a: 'x'.repeat(60) } }
      assert.equal((await ask(line, body, fresh)).status, 422)
      assert.equal((await ask(line, { strict: { b: null } }, merge)).status, 200)
      // A refusal takes no key.
      assert.equal((await ask(line, body, fresh)).status, 200)
      assert.equal(
        (await ask(line, { strict: { c: 'x' } }, keyed)).json.code,
        'IDEMPOTENCY_KEY_REUSED',
      )
    })

    test('as application/json a value is replaced whole, null deep inside included; so it is by PUT, in bulk and in GraphQL', async () => {
      const patch = { b: { c: null } }
      const id = await boxOf({ a: 1, b: { c: 2 } })
      const { json } = await ask(`PATCH /api/v2/boxes/${id}`, { meta: patch })
      assert.deepEqual(json.meta, patch)
      const reset = () => ask(`PATCH /api/v2/boxes/${id}`, { meta: { a: 1, b: { c: 2 } } })
      await reset()
      const put = await ask(`PUT /api/v2/boxes/${id}`, { label: 'x', meta: patch, count: null })
      assert.deepEqual(put.json.meta, patch, put.text)
      await reset()
      const many = { update: { meta: patch }, where: { id: { eq: id } } }
      assert.equal((await ask('POST /api/v2/boxes/bulk', many)).status, 200)
      assert.deepEqual((await ask(`GET /api/v2/boxes/${id}`)).json.meta, patch)
      await reset()
      const query =
        'mutation ($id: ID!, $input: UpdateBoxInput!) { updateBox(id: $id, input: $input) { meta } }'
      const variables = { id: String(id), input: { meta: patch } }
      const { json: told } = await ask('POST /graphql', { query, variables })
      assert.deepEqual(told.data?.updateBox.meta, patch, JSON.stringify(told))
    })

    test('many rows are written as application/json alone', async () => {
      const body = { update: { meta: {} }, all: true }
      const { status, headers } = await ask('POST /api/v2/boxes/bulk', body, merge)
      assert.deepEqual([status, headers.get('accept-post')], [415, 'application/json'])
    })

    test('rows that are changed with their row are merged too, and new ones are as they are sent', async () => {
      const slips = { create: [{ note: { a: 1, b: { c: 2 } } }, { note: { a: 1 } }] }
      const { json } = await ask('POST /api/v2/boxes', { slips })
      const { json: list } = await ask(`GET /api/v2/slips?boxId=${json.id}`)
      const [one, other] = list.data.map(({ id }: { id: number }) => id)
      const changed = await ask(
        `PATCH /api/v2/boxes/${json.id}`,
        {
          meta: { x: 1 },
          slips: {
            update: [
              { id: one, note: { b: { c: null } } },
              { id: other, note: [1] },
            ],
            create: [{ note: { n: null } }],
          },
        },
        merge,
      )
      assert.equal(changed.status, 200, changed.text)
      assert.deepEqual(changed.json.meta, { x: 1 })
      const after = await ask(`GET /api/v2/slips?boxId=${json.id}`)
      assert.deepEqual(
        after.json.data.map(({ note }: { note: unknown }) => note),
        [{ a: 1, b: {} }, [1], { n: null }],
      )
    })

    test('what comes of a merge is checked as a whole, once the row is known to be there', async () => {
      const id = await boxOf(null)
      const line = `PATCH /api/v2/boxes/${id}`
      assert.deepEqual((await ask(line, { strict: { size: 1 } }, merge)).json.strict, {
        name: 'x',
        size: 1,
      })
      for (const strict of [{ name: null }, { more: 'x'.repeat(100) }]) {
        const refused = await ask(line, { strict }, merge)
        assert.equal(refused.status, 422, refused.text)
        assert.equal(refused.json.errors[0].field, 'strict')
      }
      assert.equal((await ask('PATCH /api/v2/boxes/999', { strict: { a: 1 } }, merge)).status, 404)
      assert.equal((await ask('PATCH /api/v2/boxes/999', { meta: { a: 1 } }, merge)).status, 404)
    })

    test('If-Match holds for a merge as for any change', async () => {
      const id = await boxOf({ a: 1 })
      const line = `PATCH /api/v2/boxes/${id}`
      const tag = (await ask(`GET /api/v2/boxes/${id}`)).headers.get('etag') ?? ''
      const given = { ...merge, 'If-Match': tag }
      assert.deepEqual((await ask(line, { meta: { b: 2 } }, given)).json.meta, { a: 1, b: 2 })
      assert.equal((await ask(line, { meta: { c: 3 } }, given)).status, 412)
      assert.deepEqual((await ask(`GET /api/v2/boxes/${id}`)).json.meta, { a: 1, b: 2 })
    })

    test('of merges at the same moment none is lost', async () => {
      const id = await boxOf({})
      const keys = Array.from({ length: 40 }, (_, at) => `k${at}`)
      const answers = await Promise.all(
        keys.map((key, at) =>
          ask(`PATCH /api${at % 2 ? '' : '/v2'}/boxes/${id}`, { meta: { [key]: at } }, merge),
        ),
      )
      assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200])
      const { json } = await ask(`GET /api/v2/boxes/${id}`)
      assert.deepEqual(json.meta, Object.fromEntries(keys.map((key, at) => [key, at])))
      assert.equal(json.revision ?? 41, 41)
    })

    test('what was merged into a value that another process changed since is not written, and is merged again', async () => {
      const { core } = service
      const id = await boxOf({ by: 'another' })
      const writing = writingFor(core, { id: 1, role: 'user' })
      const write = (read: string) => {
        const target = { entity: 'box', id, unchanged: new Map([['meta', read]]) }
        const draft = update(writing, target, new Map([['meta', '{"by":"this"}']]))
        return commit(core, commandOf(writing, draft), null)
      }
      await assert.rejects(write('{"by":"nobody"}'), ChangedMeanwhile)
      assert.deepEqual((await ask(`GET /api/v2/boxes/${id}`)).json.meta, { by: 'another' })
      const reads = ['{"by":"nobody"}', 'null', '{"by":"another"}']
      await merging(core, `box ${id}`, () => write(reads.shift() ?? ''))
      assert.deepEqual((await ask(`GET /api/v2/boxes/${id}`)).json.meta, { by: 'this' })
    })

    test('the document says what each type of a PATCH means', async () => {
      const { json } = await ask('GET /api/v2/openapi.json')
      const { requestBody } = json.paths['/boxes/{id}'].patch
      assert.match(requestBody.description, /RFC 7396/)
      const { schema } = requestBody.content['application/merge-patch+json']
      assert.deepEqual(schema.properties.strict.type, ['object', 'array'])
    })

    test('a type that is not read is told which ones are, and so is OPTIONS', async () => {
      const id = await boxOf({})
      const types = 'application/json, application/merge-patch+json'
      const wrong = { 'Content-Type': 'application/json-patch+json' }
      const patched = await ask(`PATCH /api/v2/boxes/${id}`, {}, wrong)
      assert.deepEqual([patched.status, patched.headers.get('accept-patch')], [415, types])
      const posted = await ask('POST /api/v2/boxes', {}, wrong)
      assert.deepEqual(
        [posted.status, posted.headers.get('accept-post')],
        [415, 'application/json'],
      )
      const put = await ask(`PUT /api/v2/boxes/${id}`, {}, merge)
      assert.deepEqual([put.status, put.headers.get('accept')], [415, 'application/json'])
      const asked = await ask('POST /graphql', {}, wrong)
      assert.equal(asked.headers.get('accept-post'), 'application/json')
      const options = await ask(`OPTIONS /api/v2/boxes/${id}`)
      assert.equal(options.headers.get('accept-patch'), types)
      assert.equal((await ask('OPTIONS /api/v2/boxes')).headers.get('accept-patch'), null)
    })
  })
