/** Does the examples of docs/changing-an-api.md in a copy of the checkout, and asks the service that this makes. */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { versions } from '#content/versions.ts'
import { folderOf, serve } from '#test/duet.ts'
import { copyOfCheckout, inFolder, root } from '#test/support/checkout-copy.ts'

const text = readFileSync(join(root, 'docs/changing-an-api.md'), 'utf8')

const { fresh } = folderOf('versions-walk')

type Answers = Readonly<
  // biome-ignore lint/suspicious/noExplicitAny: an answer may be anything; the assertion says what it is.
  Record<string, { readonly status: number; readonly json: any }>
>

type Walked = { readonly answers: Answers; readonly contract: string }

/** A change that the page asks for: in a file, one block of code becomes another. */
type Change = { readonly file: string; readonly before: string; readonly after: string }

const sectionOf = (heading: string): string =>
  text.split(`\n### ${heading}\n`)[1]?.split(/\n##/)[0] ?? ''

const changesUnder = (heading: string): readonly Change[] => {
  const found = /In `([^`]+)`\n\n```ts\n(.*?)```\n\nbecomes\n\n```ts\n(.*?)```/gs
  return [...sectionOf(heading).matchAll(found)].map(([, file = '', before = '', after = '']) => {
    // As it stands among the fields of an entity, or among the versions.
    const indent = file.endsWith('/entity.ts') ? '    ' : '  '
    const placed = (code: string) => code.replace(/^(?=.)/gm, indent).trimEnd()
    return { file, before: placed(before), after: placed(after) }
  })
}

/** Changes a file of a copy, unless the checkout has the change already. */
const change = (folder: string, { file, before, after }: Change) => {
  const path = join(folder, file)
  const source = readFileSync(path, 'utf8')
  if (source.includes(after)) return
  assert.ok(
    source.includes(before),
    `docs/changing-an-api.md changes these lines of ${file}, which has them no longer: let its example begin with what is there now\n${before}`,
  )
  writeFileSync(path, source.replace(before, after))
}

/** What a service says in which all examples are done, and what the contract does. */
const walked = async (): Promise<Walked> => {
  const folder = copyOfCheckout()
  const headings = ['Add a version', 'Rename a member', 'Change a type', 'Remove a member']
  const changes = headings.map(changesUnder)
  assert.deepEqual(
    changes.map(({ length }) => length),
    [1, 1, 1, 1],
  )
  for (const one of changes.flat()) change(folder, one)
  const { failed, stdout, stderr } = await inFolder(
    folder,
    {},
    'content/test/support/versions-walk.ts',
  )
  assert.equal(failed, false, stderr)
  return JSON.parse(stdout.split('\n')[0] ?? '')
}

const picture = 'https://example.org/lamp.png'

describe('with the examples of the page', () => {
  const done = walked()
  // Each test tells of what is wrong with it.
  done.catch(() => {})

  test('a renamed and a retyped member are new in version 3, and in the others as they were', async () => {
    const { answers } = await done
    const { first, second, third, secondList, thirdList } = answers
    for (const old of [first, second]) {
      assert.equal(old?.status, 201, JSON.stringify(answers))
      const { image, stock, picture: none } = old.json
      assert.deepEqual([image, stock, none], [picture, 7, undefined])
    }
    assert.equal(third?.status, 201, JSON.stringify(third))
    assert.deepEqual(
      [third.json.picture, third.json.stock, third.json.image],
      [picture, '7', undefined],
    )
    assert.deepEqual(secondList?.json.data, [{ stock: 12, image: null }])
    assert.deepEqual(thirdList?.json.data, [{ stock: '12', picture: null }])
  })

  test('the faults of version 3 name its own members', async () => {
    const { status, json } = (await done).answers.thirdFaults ?? assert.fail('asked')
    assert.equal(status, 422)
    assert.deepEqual(json.errors, [
      { field: 'image', message: 'is not a member of a product' },
      { field: 'stock', message: 'must be a string' },
    ])
  })

  test('a removed member is in version 2, left alone by version 3, and deprecated in GraphQL', async () => {
    const { secondUser, replaced, kept, thirdUser, bySort, schema } = (await done).answers
    assert.equal(secondUser?.json.age, 36)
    assert.equal(replaced?.status, 200)
    assert.deepEqual(kept?.json, { age: 36 })
    assert.equal(thirdUser?.json.age, undefined)
    assert.equal(bySort?.status, 422)
    const { fields } = schema?.json.data.__type ?? assert.fail('asked')
    const age = fields.find(({ name }: { name: string }) => name === 'age')
    const [, reason] = /@deprecated\(reason: "([^"]+)"\)/.exec(sectionOf('Remove a member')) ?? []
    assert.equal(age.deprecationReason, reason)
  })

  test('no version that callers have is broken', async () => {
    const { contract } = await done
    assert.match(contract, /^contract: 0 breaking, 0 risky, \d+ compatible, /m)
  })
})

test('a version is withdrawn by the two settings of the page, and the newest goes on', async t => {
  const [, line = ''] = /days that are past:\n\n```sh\n(.*?) bin\/duet serve\n/.exec(text) ?? []
  const settings = Object.fromEntries(line.split(' ').map(setting => setting.split('=')))
  assert.deepEqual(Object.keys(settings), ['DUET_V1_DEPRECATED', 'DUET_V1_SUNSET'])
  const service = await serve({ ...fresh().settings, ...settings })
  t.after(() => service.end())
  const end = new Date(settings.DUET_V1_SUNSET).toUTCString()
  for (const path of ['/api/products?limit=1', '/api/v1/products?limit=1']) {
    const ended = await fetch(`${service.url}${path}`)
    const { error } = (await ended.json()) as { error: { code: string } }
    assert.deepEqual([ended.status, error.code], [410, 'VERSION_WITHDRAWN'])
    assert.equal(ended.headers.get('sunset'), end)
    const [, successor = ''] =
      /<([^>]+)>; rel=successor-version/.exec(ended.headers.get('link') ?? '') ?? []
    assert.equal(successor, `/api/v${versions.newest}/products?limit=1`)
    assert.equal((await fetch(`${service.url}${successor}`)).status, 200)
  }
  assert.equal((await fetch(`${service.url}/api/v1/openapi.json`)).status, 200)
})
