/** Checks the boundaries between the folders of src/, that a word has one meaning, and that a file is a subject. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  circlesIn,
  type File,
  functionsOf,
  importersOf,
  importsOf,
  linesOf,
  packagesWith,
  sharedTypes,
  targetOf,
  wordsOf,
} from './support/source.ts'
import { all, filesOf, holds, isTest, written } from './support/written.ts'

/**
 * What each folder may import besides itself, `base` and `errors.ts`. Such a folder is directly below src/,
 * or a file there. `type auth` stands for its types only.
 */
const mayImport: Record<string, readonly string[] | 'everything'> = {
  base: [],
  'errors.ts': [],
  'observe.ts': [],
  'channels.ts': ['observe.ts'],
  'core.ts': ['model', 'sql', 'read', 'write', 'type versions', 'type files'],
  'config.ts': ['settings.ts'],
  'settings.ts': [],
  model: [],
  sql: ['model'],
  read: ['model', 'sql', 'observe.ts', 'channels.ts'],
  write: ['model', 'sql', 'read', 'observe.ts', 'channels.ts'],
  engines: ['model', 'sql', 'read', 'write', 'observe.ts'],
  auth: ['model'],
  http: ['model', 'observe.ts', 'channels.ts'],
  metrics: ['observe.ts', 'channels.ts'],
  mail: ['type model', 'observe.ts'],
  files: [
    'model',
    'sql',
    'read',
    'write',
    'http',
    'rest',
    'core.ts',
    'type config.ts',
    'type versions',
    'settings.ts',
  ],
  versions: ['model', 'sql', 'write', 'http'],
  rest: ['model', 'read', 'write', 'versions', 'core.ts', 'http', 'files', 'type auth'],
  graphql: ['model', 'read', 'write', 'type versions', 'core.ts', 'http', 'type auth'],
  openapi: [
    'model',
    'read',
    'write',
    'versions',
    'rest',
    'http',
    'people',
    'content.ts',
    'config.ts',
  ],
  pages: ['model', 'http', 'type versions'],
  people: [
    'model',
    'sql',
    'write',
    'http',
    'auth',
    'mail',
    'observe.ts',
    'settings.ts',
    'type config.ts',
  ],
  admin: ['model', 'sql', 'read', 'write', 'rest', 'http', 'pages', 'core.ts', 'type content.ts'],
  serve: [
    'model',
    'sql',
    'read',
    'write',
    'engines',
    'auth',
    'http',
    'metrics',
    'mail',
    'versions',
    'rest',
    'graphql',
    'openapi',
    'pages',
    'people',
    'admin',
    'files',
    'config.ts',
    'settings.ts',
    'content.ts',
    'core.ts',
    'observe.ts',
    'channels.ts',
  ],
  cli: 'everything',
  entry: 'everything',
  'content.ts': ['model', 'type sql', 'write', 'type pages', 'rest', 'files', 'settings.ts'],
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

/** A file of `src/` that loads authors' tools: the command line finds them by an address, and nothing that serves does. */
function kitUses(file: File): string[] {
  return importsOf(file)
    .filter(({ from }) => within(file, from)?.startsWith('kit/'))
    .map(
      ({ from }) =>
        `${file.path} imports ${from}: nothing in src/ loads kit/, move what both need to src/`,
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
  ['nothing in src/ imports kit/', kitUses],
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
  [
    'a type of kit/ in a face',
    kitUses,
    'rest/x.ts',
    "import type { A } from '#kit/contract/rules.ts'",
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

// ---- The machine and the content.

const fromContent = (file: File): readonly string[] =>
  importsOf(file)
    .filter(({ from }) => /^content\//.test(targetOf(file, from) ?? ''))
    .map(({ from }) => `${file.path} imports ${from}: let the content hand it over`)

holds(
  'nothing in src/ imports the content, not even a type or a test',
  all.filter(({ path }) => path.startsWith('src/')).flatMap(fromContent),
)

/** Where any content is found. */
const door = 'content/duet.config.ts'

const pastDoor = (file: File): readonly string[] =>
  importsOf(file)
    .map(({ from }) => targetOf(file, from) ?? '')
    .filter(target => target.startsWith('content/') && target !== door)
    .map(
      target => `${file.path} imports ${target}: what knows this content belongs to content/test/`,
    )

holds(
  'tests in test/ hold for any content: they import none of its files but the one that defines it',
  filesOf('test/**/*.ts').flatMap(pastDoor),
)

// ---- The folders of the content.

/** The files that all of the content may import. */
const sharedContent = /^content\/(errors|roles|versions)\.ts$/

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

/** What a content imports beside its own files, Node's modules and the entry points of the package. */
const privateImports = (file: File): readonly string[] =>
  importsOf(file)
    .filter(({ from }) => !/^(\.|node:|duet(\/\w+)?$)/.test(from))
    .map(
      ({ from }) =>
        `${file.path} imports ${from}: a content takes what src/entry/ has, as anybody's does`,
    )

holds(
  'contents import nothing that is private to the machine',
  filesOf('{content,examples,test/support/{library,kitchen}}/**/*.ts')
    .filter(({ path }) => !/^content\/test\/|\/main\.ts$/.test(path))
    .flatMap(privateImports),
)

test('an import of the machine or of its packages is seen in a content', () => {
  const text = ['duet/actions', './errors.ts', 'node:crypto', '#sql/sql.ts', 'hono/html']
    .map(from => `import { a } from '${from}'`)
    .join('\n')
  assert.equal(privateImports({ path: 'content/x.ts', text }).length, 2)
})

// ---- Shape.

holds('imports run in no circle, types included', circlesIn(written))

test('a service listens before it loads graphql-js, and needs no driver of a store that it has not', () => {
  for (const path of ['src/serve/prepare.ts', 'src/serve/start.ts']) {
    const packages = packagesWith(path, written)
    assert.ok(packages.has('node:sqlite'))
    assert.deepEqual(
      ['graphql', 'pg', 'nodemailer', 'prom-client', 'node:http', 'node:https'].filter(name =>
        packages.has(name),
      ),
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

// ---- Words.

/** The most names of types that several files may declare: for others, and at all. */
const mostShared = { exported: 0, declared: 20 }

const sharedFaults = (files: readonly File[], most = mostShared): readonly string[] => {
  const shared = sharedTypes(files)
  const exported = shared.filter(([, all]) => all.filter(({ isExported }) => isExported).length > 1)
  const told = (some: typeof shared) =>
    some.map(([name, all]) => `${name}: ${all.map(({ path }) => path).join(', ')}`).join('\n  ')
  return [
    ...(exported.length > most.exported
      ? [
          `${exported.length} types are exported by two files, ${most.exported} may be: rename some\n  ${told(exported)}`,
        ]
      : []),
    ...(shared.length > most.declared
      ? [
          `${shared.length} types are declared by two files, ${most.declared} may be: rename some\n  ${told(shared)}`,
        ]
      : []),
  ]
}

holds(
  'a type that files share is declared by one, and few names mean two things',
  sharedFaults(written),
)

test('a name of a type that means two things is seen', () => {
  const none = { exported: 0, declared: 0 }
  const a = { path: 'src/a/a.ts', text: 'export type Part = 1' }
  const b = { path: 'src/b/b.ts', text: 'export interface Part {}' }
  const own = { path: 'src/b/c.ts', text: 'type Part = 2' }
  assert.equal(sharedFaults([a, b], none).length, 2)
  assert.equal(sharedFaults([a, own], none).length, 1)
  assert.deepEqual(sharedFaults([a], none), [])
})

/** The words of the table under that heading. */
const glossary = (text: string): readonly string[] => {
  const section = text.split(/^## /m).find(part => part.startsWith('Glossary\n')) ?? ''
  const rows = section.split('\n').filter(line => line.startsWith('|'))
  return rows.slice(2).flatMap(row => (row.split('|')[1] ?? '').split(',').map(word => word.trim()))
}

const glossaryFaults = (text: string, files: readonly File[]): readonly string[] => {
  const words = glossary(text)
  const used = files.map(file => ` ${wordsOf(file.text).join(' ')}`).join()
  return [
    ...(words.length === 0 ? ['ARCHITECTURE.md has no glossary'] : []),
    ...(words.length > 40 ? [`the glossary has ${words.length} words: leave 40`] : []),
    ...words.filter((word, at) => words.indexOf(word) < at).map(word => `${word} is there twice`),
    ...words
      .filter(word => !used.includes(` ${word.toLowerCase()}`))
      .map(word => `the glossary has ${word}, and no file of src/ does: take it out`),
  ]
}

holds(
  'the glossary has at most 40 words, and src/ uses each of them',
  filesOf('ARCHITECTURE.md').flatMap(({ text }) =>
    glossaryFaults(
      text,
      written.filter(({ path }) => path.startsWith('src/')),
    ),
  ),
)

test('a glossary with a word too many, twice or of nothing is refused', () => {
  const file = { path: 'src/a.ts', text: 'const groupCommit = lanes' }
  const rows = (...words: readonly string[]) =>
    `# A\n\n## Glossary\n\n| Word | Meaning |\n|---|---|\n${words.map(word => `| ${word} | x |`).join('\n')}\n\n## B\n\n| x | y |\n`
  assert.deepEqual(glossaryFaults(rows('group commit', 'lane'), [file]), [])
  assert.equal(glossaryFaults(rows('lane', 'lane'), [file]).length, 1)
  assert.equal(glossaryFaults(rows('lane, river'), [file]).length, 1)
  assert.equal(glossaryFaults('# A\n', [file]).length, 1)
  const many = Array.from({ length: 41 }, (_, at) => `w${'abcdefg'[at % 7]}${'hijklm'[at % 6]}`)
  const all = { path: 'src/b.ts', text: many.join(' ') }
  assert.equal(glossaryFaults(rows(...many), [all]).length, 1)
})

/** What the table of rooms has and a page does not name at the head of a line of its list. */
const unnamedRooms = (text: string): readonly string[] => {
  const heads = text.match(/^\* `[^:]*:/gm)?.join() ?? ''
  return Object.keys(mayImport)
    .filter(room => !heads.includes(`\`${room}\``))
    .map(room => `ARCHITECTURE.md says nothing of src/${room}: give it a line under "Three houses"`)
}

holds(
  'ARCHITECTURE names every room of src/',
  filesOf('ARCHITECTURE.md').flatMap(({ text }) => unnamedRooms(text)),
)

test('a page that lacks a room is told so', () => {
  assert.equal(unnamedRooms('* `model`: content').length, Object.keys(mayImport).length - 1)
})

// ---- Files.

/** The most lines that each house may have, tests apart. A house that grows beyond it says why in the commit that raises it. */
const mostLines: Readonly<Record<string, number>> = {
  'src/': 53_890,
  'kit/': 7157,
  'content/': 2726,
  // TypeScript within 5,000 and style within 1,200.
  'admin/': 6161,
}

const budgetFaults = (
  files: readonly File[],
  most: Readonly<Record<string, number>>,
): readonly string[] =>
  Object.entries(most).flatMap(([house, limit]) => {
    const lines = files
      .filter(({ path }) => path.startsWith(house))
      .reduce((sum, file) => sum + linesOf(file), 0)
    return lines > limit
      ? [`${house} has ${lines} lines, ${limit} are its budget: look for what can go, or raise it`]
      : []
  })

holds(
  'each house keeps to its budget of lines',
  budgetFaults([...written, ...filesOf('admin/**/*.{ts,tsx,css}').filter(file => !isTest(file))], {
    ...mostLines,
  }),
)

/** The most lines of all tests and of what only they use: a new case is a row of a table before it is a test. */
const mostTestLines = 89_552

holds(
  'the tests keep to their budget of lines',
  budgetFaults(
    filesOf('{src,kit,admin}/**/*.test.{ts,tsx}', '{test,content/test}/**/*.{ts,js,mjs}').map(
      ({ text }) => ({ path: 'tests', text }),
    ),
    { tests: mostTestLines },
  ),
)

test('a house above its budget is seen', () => {
  const file = { path: 'src/a.ts', text: 'a\n'.repeat(3) }
  assert.deepEqual(budgetFaults([file], { 'src/': 53_525, 'kit/': 0 }), [])
  assert.equal(budgetFaults([file], { 'src/': 2 }).length, 1)
})

/** How many functions may be longer than so many lines, and how long the longest. Each of them says at its head why. */
const mostLong = { lines: 120, functions: 3, longest: 170 }

const longFaults = (files: readonly File[], most = mostLong): readonly string[] => {
  const long = files
    .flatMap(functionsOf)
    .filter(({ lines }) => lines > most.lines)
    .toSorted((one, other) => other.lines - one.lines)
  const told = long.map(({ name, lines }) => `${name}: ${lines}`).join('\n  ')
  return [
    ...(long.length > most.functions
      ? [
          `${long.length} functions are longer than ${most.lines} lines, ${most.functions} may be:\n  ${told}`,
        ]
      : []),
    ...long
      .filter(({ lines }) => lines > most.longest)
      .map(({ name, lines }) => `${name} has ${lines} lines: ${most.longest} are the most`),
  ]
}

holds('few functions are long', longFaults(written))

test('a long function is seen, however it is written, and a table is none', () => {
  const body = `\n${'  a\n'.repeat(8)}}\n`
  const heads = [
    'export const a = async (b: string) => {',
    'const a = (\n  b: string,\n) => {',
    'const a = function* () {',
    'function a() {',
    'class A {',
  ]
  const most = { lines: 8, functions: 0, longest: 99 }
  for (const head of heads)
    assert.equal(longFaults([{ path: 'src/a.ts', text: `${head}${body}` }], most).length, 1, head)
  for (const head of ['export const a = {', 'const a: B = {', 'const a = defined({'])
    assert.deepEqual(longFaults([{ path: 'src/a.ts', text: `${head}${body}` }], most), [], head)
})

/** A file with fewer lines is small. */
const fewLines = 40

/** The most small files, and how many of them may be for one other file alone beside those that have a reason. */
const mostSmall = { all: 30, forOne: 0 }

const smallFaults = (
  files: readonly File[],
  most = mostSmall,
  reasons: readonly (readonly [paths: RegExp, reason: string])[] = [],
): readonly string[] => {
  const importers = importersOf(files)
  const small = files.filter(file => linesOf(file) < fewLines).map(({ path }) => path)
  const forOne = small.filter(path => importers.get(path)?.length === 1)
  const rest = forOne.filter(path => !reasons.some(([paths]) => paths.test(path)))
  return [
    ...(small.length > most.all
      ? [
          `${small.length} files have fewer than ${fewLines} lines, ${most.all} may: ${small.join(', ')}`,
        ]
      : []),
    ...(rest.length > most.forOne
      ? [
          `${rest.length} files of fewer than ${fewLines} lines are for one other file, ${most.forOne} may be: make them part of it, or give a reason: ${rest.join(', ')}`,
        ]
      : []),
    ...reasons
      .filter(([paths]) => !forOne.some(path => paths.test(path)))
      .map(([paths]) => `no small file for another one is ${paths.source}: take its reason out`),
  ]
}

holds(
  'a file is a subject: few are small, and none of them is for one other file',
  smallFaults(written.filter(({ path }) => path.startsWith('src/'))),
)

test('a small file for one other file is seen, and a reason for no such file', () => {
  const none = { all: 9, forOne: 0 }
  const part = { path: 'src/a/part.ts', text: 'export const part = 1\n' }
  const user = { path: 'src/a/a.ts', text: `import { part } from './part.ts'${'\n'.repeat(50)}` }
  const other = { path: 'src/b/b.ts', text: "import { part } from '#a/part.ts'\n" }
  const reason = [[/^src\/a\/part/, 'for a test']] as const
  assert.equal(smallFaults([part, user], none, []).length, 1)
  assert.deepEqual(smallFaults([part, user], none, reason), [])
  assert.deepEqual(smallFaults([part, user, other], none, []), [])
  assert.equal(smallFaults([part, user, other], none, reason).length, 1)
  assert.equal(smallFaults([part, user], { all: 0, forOne: 9 }, []).length, 1)
})
