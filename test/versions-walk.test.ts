/** Does the examples of docs/versions.md in a copy of the checkout, and asks the service that this makes. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { folderOf, serve } from './duet.ts'
import { copyOfCheckout, inFolder, root } from './support/checkout-copy.ts'

const text = readFileSync(join(root, 'docs/versions.md'), 'utf8')

const { fresh } = folderOf('versions-walk')

type Answers = Readonly<
  // biome-ignore lint/suspicious/noExplicitAny: an answer may be anything; the assertion says what it is.
  Record<string, { readonly status: number; readonly json: any }>
>

/** The code blocks of an example, and the file that it changes. */
const example = (heading: string) => {
  const section = text.split(`\n### ${heading}\n`)[1]?.split(/\n##/)[0]
  assert.ok(section !== undefined, heading)
  const blocks = [...section.matchAll(/```(ts|sql)\n(.*?)```/gs)]
  const [, file = ''] = /In `([^`]+)`/.exec(section) ?? []
  const of = (kind: string) =>
    blocks.filter(([, own]) => own === kind).map(([, , code = '']) => code)
  return { file, ts: of('ts'), sql: of('sql') }
}

/** As it stands among the fields of an entity. */
const asField = (code = '') => code.replace(/^/gm, '    ').trimEnd()

const change = (folder: string, heading: string) => {
  const { file, ts, sql } = example(heading)
  const path = join(folder, file)
  const source = readFileSync(path, 'utf8')
  assert.ok(source.includes(asField(ts[0])), `${file} has\n${ts[0]}`)
  writeFileSync(path, source.replace(asField(ts[0]), asField(ts[1])))
  const migrations = join(folder, 'content/migrations/sqlite')
  const next = String(readdirSync(migrations).length + 1).padStart(4, '0')
  if (sql[0] !== undefined) writeFileSync(join(migrations, `${next}-walk.sql`), sql[0])
}

let answers: Answers
before(async () => {
  const folder = copyOfCheckout()
  for (const heading of ['Rename a member', 'Change a type', 'Remove a member'])
    change(folder, heading)
  const { failed, stdout, stderr } = await inFolder(folder, {}, 'test/support/versions-walk.ts')
  assert.equal(failed, false, stderr)
  answers = JSON.parse(stdout.split('\n')[0] ?? '')
})

const picture = 'https://example.org/lamp.png'

test('a renamed and a retyped member are as they were in version 1, and new in version 2', () => {
  const { old, recent, oldList, recentList } = answers
  assert.deepEqual([old?.status, recent?.status], [201, 201], JSON.stringify(answers))
  assert.deepEqual([old?.json.image, old?.json.stock, old?.json.picture], [picture, '7', undefined])
  assert.deepEqual(
    [recent?.json.picture, recent?.json.stock, recent?.json.image],
    [picture, 7, undefined],
  )
  assert.deepEqual(oldList?.json.data, [{ stock: '12', image: null }])
  assert.deepEqual(recentList?.json.data, [{ stock: 12, picture: null }])
})

test('the faults of version 1 name its own members', () => {
  const { status, json } = answers.oldFaults ?? assert.fail('asked')
  assert.equal(status, 422)
  assert.deepEqual(json.error.details, [
    { field: 'picture', message: 'is not a member of a product' },
    { field: 'stock', message: 'must be a string' },
  ])
})

test('a removed member is in version 1, left alone by version 2, and deprecated in GraphQL', () => {
  const { oldUser, replaced, kept, recentUser, bySort, schema } = answers
  assert.equal(oldUser?.json.age, 36)
  assert.equal(replaced?.status, 200)
  assert.deepEqual(kept?.json, { age: 36 })
  assert.equal(recentUser?.json.age, undefined)
  assert.equal(bySort?.status, 422)
  const age = schema?.json.data.__type.fields.find(({ name }: { name: string }) => name === 'age')
  const [, reason] = /@deprecated\(reason: "([^"]+)"\)/.exec(text) ?? []
  assert.equal(age.deprecationReason, reason)
})

test('a version is withdrawn by the two settings of the page, and the next one goes on', async t => {
  const [, line = ''] = /```sh\n(DUET_V1_DEPRECATED=.*?) bin\/duet serve\n/.exec(text) ?? []
  const named: Record<string, string> = Object.fromEntries(
    line.split(' ').map(setting => setting.split('=')),
  )
  assert.deepEqual(Object.keys(named), ['DUET_V1_DEPRECATED', 'DUET_V1_SUNSET'])
  // As far apart as on the page, and both over.
  const past = Object.entries(named).map(([name, day]) => [name, `2020${day.slice(4)}`])
  const service = await serve({ ...fresh().settings, ...Object.fromEntries(past) })
  t.after(() => service.end())
  for (const path of ['/api/products?limit=1', '/api/v1/products?limit=1']) {
    const ended = await fetch(`${service.url}${path}`)
    const { error } = (await ended.json()) as { error: { code: string } }
    assert.deepEqual([ended.status, error.code], [410, 'VERSION_WITHDRAWN'])
    assert.equal(ended.headers.get('sunset'), 'Sat, 01 Aug 2020 00:00:00 GMT')
    const [, successor = ''] =
      /<([^>]+)>; rel=successor-version/.exec(ended.headers.get('link') ?? '') ?? []
    assert.equal(successor, '/api/v2/products?limit=1')
    assert.equal((await fetch(`${service.url}${successor}`)).status, 200)
  }
  assert.equal((await fetch(`${service.url}/api/v1/openapi.json`)).status, 200)
})
