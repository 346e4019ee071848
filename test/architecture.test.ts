/** Checks the boundaries between the folders of src/: allowed imports, circles. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { circlesIn, type File, importsOf, packagesWith, targetOf } from './support/source.ts'
import { holds, written } from './support/written.ts'

/**
 * What each folder may import besides itself, `base` and `errors.ts`. Such a folder is directly below src/,
 * or a file there. `type auth` stands for its types only.
 */
const mayImport: Record<string, readonly string[] | 'everything'> = {
  base: [],
  'errors.ts': [],
  'observe.ts': [],
  'channels.ts': ['observe.ts'],
  'core.ts': ['model', 'sql', 'read', 'write', 'type versions'],
  'config.ts': ['setting.ts', 'settings.ts'],
  'setting.ts': [],
  'settings.ts': ['setting.ts'],
  model: [],
  sql: ['model'],
  read: ['model', 'sql', 'observe.ts', 'channels.ts'],
  write: ['model', 'sql', 'read', 'type mail', 'observe.ts', 'channels.ts'],
  engines: ['model', 'sql', 'read', 'write', 'observe.ts'],
  auth: ['model'],
  http: ['model', 'observe.ts', 'channels.ts'],
  metrics: ['observe.ts', 'channels.ts'],
  mail: ['observe.ts'],
  versions: ['model', 'sql', 'write', 'http'],
  rest: ['model', 'read', 'write', 'versions', 'core.ts', 'http', 'type auth'],
  graphql: ['model', 'read', 'write', 'type versions', 'core.ts', 'http', 'type auth'],
  openapi: ['model', 'read', 'write', 'versions', 'rest', 'http', 'content.ts', 'config.ts'],
  pages: ['model', 'http', 'type versions'],
  contract: [],
  serve: 'everything',
  cli: 'everything',
  'content.ts': 'everything',
}

/** What every folder may import. */
const everybodys = ['base', 'errors.ts']

/** The folders that may name an engine in a path they import. */
const knowEngines = ['engines', 'serve', 'cli']

const files = written
  .filter(({ path }) => path.startsWith('src/'))
  .map(({ path, text }): File => ({ path: path.slice('src/'.length), text }))

const roomOf = (path: string) => path.split('/')[0] ?? ''

/** The imported file's path below src/; undefined for a package. */
const within = (file: File, from: string): string | undefined =>
  targetOf({ path: `src/${file.path}` }, from)?.replace(/^src\//, '')

function crossings(file: File): string[] {
  const room = roomOf(file.path)
  const allowed = mayImport[room]
  if (allowed === undefined)
    return [
      `src/${room} is no folder of the table: move ${file.path}, or add a row to mayImport in this test`,
    ]
  return importsOf(file).flatMap(({ from, typesOnly }) => {
    const target = roomOf(within(file, from) ?? room)
    if (target === room || everybodys.includes(target) || allowed === 'everything') return []
    if (allowed.includes(target) || (typesOnly && allowed.includes(`type ${target}`))) return []
    const list = allowed.length > 0 ? allowed.join(', ') : 'no other folder'
    return [
      `${file.path} imports ${from}, but ${room} may import ${list}: ` +
        'take what you need as an argument, or move this code to a folder that may',
    ]
  })
}

function upwards(file: File): string[] {
  return importsOf(file)
    .filter(({ from }) => from.split('/').includes('..'))
    .map(({ from }) => `${file.path} imports ${from}: write it from src/, as #folder/file.ts`)
}

function engineNames(file: File): string[] {
  if (knowEngines.includes(roomOf(file.path))) return []
  return importsOf(file)
    .filter(({ from }) => /sqlite|postgres/i.test(from))
    .map(
      ({ from }) =>
        `${file.path} imports ${from}: let serve/ or cli/ choose the engine and pass it in`,
    )
}

function notErasable({ path, text }: File): string[] {
  return [
    ...text.matchAll(/^\s*(?:export\s+)?(?:declare\s+)?(?:const\s+)?(enum|namespace)\s+\w+/gm),
  ].map(
    m =>
      `${path} has "${m[0].trim()}", which Node cannot run unbuilt: write a union type or a plain object`,
  )
}

const rules = [
  ['a folder imports only the folders its row in the table names', crossings],
  ['an import that leaves its folder upwards is written from src/', upwards],
  ['only engines/, serve/ and cli/ import by the name of an engine', engineNames],
  ['no file has an enum or a namespace', notErasable],
] as const

for (const [name, rule] of rules) {
  test(name, () => {
    const faults = files.flatMap(rule)
    assert.ok(faults.length === 0, `\n  ${faults.join('\n  ')}`)
  })
}

const breaches = [
  ['a face that imports sql/', crossings, 'rest/x.ts', "import {\n  a,\n} from '#sql/a.ts'"],
  [
    'a face that imports more than types of auth/',
    crossings,
    'rest/x.ts',
    "import { type A } from '#auth/a.ts'",
  ],
  ['a root file that imports a neighbour', crossings, 'config.ts', "export * from './observe.ts'"],
  ['a read that loads write/', crossings, 'read/x.ts', "await import('#write/write.ts')"],
  ['a folder that the table lacks', crossings, 'utils/x.ts', ''],
  [
    'an import that leaves its folder',
    upwards,
    'read/x.ts',
    "import type { A } from '../sql/sql.ts'",
  ],
  [
    'a read that names an engine',
    engineNames,
    'read/x.ts',
    "import { DatabaseSync } from 'node:sqlite'",
  ],
  ['an enum', notErasable, 'read/x.ts', 'export const enum Kind {}'],
] as const

for (const [what, rule, path, text] of breaches) {
  test(`${what} is refused`, () => assert.equal(rule({ path, text }).length, 1))
}

test('an import that the table allows is not reported', () => {
  const text = [
    "import type { Auth } from '#auth/a.ts'",
    "import { fail } from '#errors.ts'",
    "import { read } from '#read/read.ts'",
    "import { own } from './own.ts'",
    "import { graphql } from 'graphql'",
    "export const enumerated = 'namespace #sql/x.ts'",
  ].join('\n')
  const file = { path: 'graphql/x.ts', text }
  assert.deepEqual(
    rules.flatMap(([, rule]) => rule(file)),
    [],
  )
})

// ---- The folders of the content.

/** The files that all of the content may import. */
const sharedContent = /^content\/(errors|roles|settings)\.ts$/

const folderOf = (path: string): string => path.split('/').slice(0, 2).join('/')

const strangers = (file: File): readonly string[] => {
  const folder = folderOf(file.path)
  const isEntity = written.some(({ path }) => path === `${folder}/entity.ts`)
  if (!isEntity) return []
  return importsOf(file)
    .filter(({ from }) => {
      const target = targetOf(file, from) ?? ''
      return (
        target.startsWith('content/') && folderOf(target) !== folder && !sharedContent.test(target)
      )
    })
    .map(({ from }) => `${file.path} imports ${from}: relations name their target as text`)
}

holds('the folder of an entity imports no other folder of the content', written.flatMap(strangers))

// ---- Shape.

holds('imports run in no circle, types included', circlesIn(written))

test('a service listens before it loads graphql-js, and needs no driver of a store that it has not', () => {
  for (const path of ['src/serve/prepare.ts', 'src/serve/start.ts']) {
    const packages = packagesWith(path, written)
    assert.ok(packages.has('node:sqlite'))
    assert.deepEqual(
      ['graphql', 'pg', 'nodemailer', 'prom-client'].filter(name => packages.has(name)),
      [],
    )
  }
  assert.ok(packagesWith('src/graphql/graphql.ts', written).has('graphql'))
})

test('a circle is seen', () => {
  const circle = [
    { path: 'src/a/a.ts', text: "import type { B } from '#b/b.ts'" },
    { path: 'src/b/b.ts', text: "import { a } from '#a/a.ts'" },
  ]
  assert.deepEqual(circlesIn(circle), ['src/a/a.ts → src/b/b.ts → src/a/a.ts'])
})
