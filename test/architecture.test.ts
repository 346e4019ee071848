/** Holds the walls between the rooms of src/: who may import whom, and what no file may do. */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path/posix'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

/**
 * What each room may import besides itself, `base` and `errors.ts`. A room is a folder directly below src/,
 * or a file there. `type auth` stands for its types only.
 */
const mayImport: Record<string, readonly string[] | 'everything'> = {
  base: [],
  'errors.ts': [],
  'observe.ts': [],
  'config.ts': ['settings.ts'],
  'settings.ts': [],
  sql: [],
  model: ['sql'],
  resources: ['model', 'sql', 'write'],
  read: ['model', 'sql', 'observe.ts'],
  write: ['model', 'sql', 'read', 'observe.ts'],
  engines: ['model', 'sql', 'read', 'write', 'observe.ts'],
  auth: ['model'],
  http: ['model', 'observe.ts'],
  mail: ['observe.ts'],
  rest: ['model', 'read', 'write', 'http', 'type auth'],
  graphql: ['model', 'read', 'write', 'http', 'type auth'],
  // A feature of its own above the REST voice: it counts what many resources have.
  reports: ['model', 'sql', 'write', 'http', 'rest'],
  pages: ['model', 'http'],
  cli: 'everything',
  'app.ts': 'everything',
  'main.ts': 'everything',
}

/** What every room may import. */
const everybodys = ['base', 'errors.ts']

/** The rooms that may name an engine in a path they import. */
const knowEngines = ['engines', 'cli', 'app.ts']

const longest = 300

type File = { readonly path: string; readonly text: string }
type Import = { readonly from: string; readonly typesOnly: boolean }

const src = fileURLToPath(new URL('../src', import.meta.url))
const files = globSync('**/*.ts', { cwd: src })
  .map(path => path.replaceAll('\\', '/'))
  .filter(path => !path.endsWith('.test.ts'))
  .sort()
  .map((path): File => ({ path, text: readFileSync(join(src, path), 'utf8') }))

const roomOf = (path: string) => path.split('/')[0] ?? ''

const statement = /^(?:import|export)\s+(type\s)?(?:[\w\s,*${}]+\sfrom\s+)?'([^']+)'/gm
const call = /\bimport\(\s*'([^']+)'/g

function importsOf({ text }: File): Import[] {
  return [
    ...[...text.matchAll(statement)].map(m => ({
      from: m[2] ?? '',
      typesOnly: m[1] !== undefined,
    })),
    ...[...text.matchAll(call)].map(m => ({ from: m[1] ?? '', typesOnly: false })),
  ]
}

/** The imported file's path below src/; undefined for a package. */
function targetOf(file: File, from: string): string | undefined {
  if (from.startsWith('#')) return from.slice(1)
  return from.startsWith('.') ? join(dirname(file.path), from) : undefined
}

function crossings(file: File): string[] {
  const room = roomOf(file.path)
  const allowed = mayImport[room]
  if (allowed === undefined)
    return [`src/${room} is no room: move ${file.path}, or add a row to mayImport in this test`]
  return importsOf(file).flatMap(({ from, typesOnly }) => {
    const target = roomOf(targetOf(file, from) ?? room)
    if (target === room || everybodys.includes(target) || allowed === 'everything') return []
    if (allowed.includes(target) || (typesOnly && allowed.includes(`type ${target}`))) return []
    const list = allowed.length > 0 ? allowed.join(', ') : 'no other room'
    return [
      `${file.path} imports ${from}, but ${room} may import ${list}: ` +
        'take what you need as an argument, or move this code to a room that may',
    ]
  })
}

function upwards(file: File): string[] {
  return importsOf(file)
    .filter(({ from }) => from.split('/').includes('..'))
    .map(({ from }) => `${file.path} imports ${from}: write it from src/, as #room/file.ts`)
}

function neighbours(file: File): string[] {
  const [room, own, inside] = file.path.split('/')
  if (room !== 'resources' || inside === undefined) return []
  return importsOf(file).flatMap(({ from }) => {
    const [there, other, deeper] = targetOf(file, from)?.split('/') ?? []
    const isOther = deeper !== undefined && other !== own
    if (there !== 'resources' || !(isOther || other === 'index.ts')) return []
    return [`${file.path} imports ${from}: name another resource by its name in the model`]
  })
}

function engineNames(file: File): string[] {
  if (knowEngines.includes(roomOf(file.path))) return []
  return importsOf(file)
    .filter(({ from }) => /sqlite|postgres/i.test(from))
    .map(
      ({ from }) =>
        `${file.path} imports ${from}: let app.ts or cli/ choose the engine and pass it in`,
    )
}

function tooLong({ path, text }: File): string[] {
  const lines = text.trimEnd().split('\n').length
  return lines > longest
    ? [`${path} has ${lines} lines, more than ${longest}: split it by topic`]
    : []
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
  ['a room imports only the rooms its row in the table names', crossings],
  ['an import that leaves its folder upwards is written from src/', upwards],
  ['a resource imports no other resource', neighbours],
  ['only engines/, cli/ and app.ts import by the name of an engine', engineNames],
  [`a file has at most ${longest} lines`, tooLong],
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
  ['a root file that imports a neighbour', crossings, 'config.ts', "export * from './app.ts'"],
  ['a read that loads write/', crossings, 'read/x.ts', "await import('#write/write.ts')"],
  ['a room that the table lacks', crossings, 'utils/x.ts', ''],
  [
    'an import that leaves its folder',
    upwards,
    'read/x.ts',
    "import type { A } from '../sql/sql.ts'",
  ],
  [
    'a resource that imports another',
    neighbours,
    'resources/post/x.ts',
    "import '#resources/user/entity.ts'",
  ],
  [
    'a resource that imports all',
    neighbours,
    'resources/post/x.ts',
    "import '#resources/index.ts'",
  ],
  [
    'a read that names an engine',
    engineNames,
    'read/x.ts',
    "import { DatabaseSync } from 'node:sqlite'",
  ],
  ['a long file', tooLong, 'read/x.ts', 'line\n'.repeat(longest + 1)],
  ['an enum', notErasable, 'read/x.ts', 'export const enum Kind {}'],
] as const

for (const [what, rule, path, text] of breaches) {
  test(`${what} is refused`, () => assert.equal(rule({ path, text }).length, 1))
}

test('what the table allows is not told', () => {
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
