/** DUET_DOCUMENTS: the folder that is read at the start, and what is said of one that cannot be served. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { loadConfig } from '#config.ts'
import { graphqlOf } from '#serve/graphql.ts'
import { command, folderOf, serve } from '#test/market.ts'

const { folder, fresh } = folderOf('documents')

type Files = Readonly<Record<string, string | Buffer>>

let count = 0
const folderWith = (files: Files): string => {
  const made = join(folder, `documents-${count++}`)
  mkdirSync(made)
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(made, name)), { recursive: true })
    writeFileSync(join(made, name), content)
  }
  return made
}

const digest = (text: string): string => createHash('sha256').update(text).digest('hex')

const storedIn = (files: Files) =>
  graphqlOf(loadConfig({ DUET_DOCUMENTS: folderWith(files) })).stored?.documents

const posts = '{ posts { title } }\r\n'
const users = '{ users { name } }'

describe('the folder of documents', () => {
  test('.graphql files are documents with their bytes, in folders below too; other files are none', () => {
    const files = { 'b/users.graphql': users, 'posts.graphql': `\uFEFF${posts}`, 'README.md': '{' }
    assert.deepEqual(storedIn(files), [
      { from: join('b', 'users.graphql'), text: users, ids: [] },
      { from: 'posts.graphql', text: `\uFEFF${posts}`, ids: [] },
    ])
  })
  test('a manifest of ids and texts is read, as Relay and GraphQL Code Generator write it', () => {
    const ids = { '0f3ac1b2': users, 'x-app:posts': posts }
    assert.deepEqual(storedIn({ 'persisted.json': JSON.stringify(ids) }), [
      { from: '0f3ac1b2 of persisted.json', text: users, ids: ['0f3ac1b2'] },
      { from: 'x-app:posts of persisted.json', text: posts, ids: ['x-app:posts'] },
    ])
  })
  test('a manifest of operations is read, as Apollo writes it', () => {
    const operations = [{ id: 'abc', name: 'Users', type: 'query', body: users }]
    const manifest = { format: 'apollo-persisted-query-manifest', version: 1, operations }
    assert.deepEqual(storedIn({ 'manifest.json': JSON.stringify(manifest) }), [
      { from: 'abc of manifest.json', text: users, ids: ['abc'] },
    ])
  })
})

describe('a start with documents that cannot be served ends with a sentence for each fault', () => {
  const notAnId = /^duet: DUET_DOCUMENTS: m\.json must be an object of ids with their documents/
  const cases: readonly (readonly [string, Files, RegExp])[] = [
    [
      'a field that the schema does not have',
      { 'a.graphql': '{ posts { heading } }', 'b.graphql': users, 'c.graphql': '{ things }' },
      /^duet: DUET_DOCUMENTS: a\.graphql cannot be served: Cannot query field "heading".*\nduet: DUET_DOCUMENTS: c\.graphql cannot be served: Cannot query field "things".*\n$/,
    ],
    ['a syntax fault', { 'a.graphql': '{ posts {' }, /a\.graphql cannot be served: Syntax Error/],
    [
      'more levels than are served',
      { 'a.graphql': '{posts{author{posts{author{posts{author{posts{author{id}}}}}}}}}' },
      /a\.graphql cannot be served: The operation is 9 levels deep, at most 8 are allowed/,
    ],
    [
      'bytes that are not UTF-8',
      { 'a.graphql': Buffer.of(0x7b, 0xff) },
      /a\.graphql cannot be rea/,
    ],
    [
      'a manifest that is not JSON',
      { 'm.json': '{' },
      /^duet: DUET_DOCUMENTS: m\.json is not JSON\n$/,
    ],
    ['a manifest that is a list', { 'm.json': '[]' }, notAnId],
    ['a manifest without texts', { 'm.json': '{"a":1}' }, notAnId],
    ['an id that no URL would carry', { 'm.json': '{"a b":"{ posts { id } }"}' }, notAnId],
    [
      'an id with the digest of another text',
      { 'm.json': JSON.stringify({ [`sha256:${digest(posts)}`]: users }) },
      new RegExp(`its id must be sha256:${digest(users)}, or have no such prefix`),
    ],
    [
      'one id for two documents',
      { 'm.json': JSON.stringify({ a: users }), 'n.json': JSON.stringify({ a: posts }) },
      /^duet: DUET_DOCUMENTS: a of n\.json and a of m\.json differ and have one id, a\n$/,
    ],
    ['no documents', { 'a.txt': users }, /^duet: DUET_DOCUMENTS has no \.graphql or \.json file/],
  ]
  for (const [name, files, expected] of cases)
    test(`a start is refused for ${name}`, async () => {
      const settings = { ...fresh().settings, DUET_DOCUMENTS: folderWith(files) }
      const { code, stderr } = await command(['serve'], settings)
      assert.equal(code, 1)
      assert.match(stderr, expected)
    })
  test('a start is refused for a folder that is not there', async () => {
    const DUET_DOCUMENTS = join(folder, 'nowhere')
    const { stderr } = await command(['serve'], { ...fresh().settings, DUET_DOCUMENTS })
    assert.match(stderr, /^duet: DUET_DOCUMENTS must be a folder that can be read: .*nowhere\n$/)
  })
  test('only stored documents cannot be served where none are stored', async () => {
    const { stderr } = await command(['serve'], { ...fresh().settings, DUET_DOCUMENTS_ONLY: 'on' })
    assert.match(stderr, /^duet: DUET_DOCUMENTS_ONLY=on needs DUET_DOCUMENTS/)
  })
})

test('a service answers the documents of its folder by their ids, and with DUET_DOCUMENTS_ONLY no others', async () => {
  const DUET_DOCUMENTS = folderWith({ 'posts.graphql': posts })
  const settings = { ...fresh().settings, DUET_DOCUMENTS, DUET_DOCUMENTS_ONLY: 'on' }
  const service = await serve(settings)
  // biome-ignore lint/suspicious/noExplicitAny: the assertions say what is in the answer.
  const get = async (parameters: Record<string, string>): Promise<any> => {
    const answer = await fetch(`${service.url}/graphql?${new URLSearchParams(parameters)}`)
    return await answer.json()
  }
  const { data } = await get({ documentId: `sha256:${digest(posts)}` })
  assert.ok(data.posts.length > 0)
  const { errors } = await get({ query: users })
  assert.equal(errors[0].extensions.code, 'PERSISTED_QUERY_ONLY')
  await service.end()
})
