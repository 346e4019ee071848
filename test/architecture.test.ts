/** Checks the boundaries between the folders of src/: allowed imports, forbidden words, sizes. */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { content } from '#content/index.ts'
import {
  circlesIn,
  type File,
  functionsIn,
  importsOf,
  packagesWith,
  targetOf,
  wordsOf,
} from './support/source.ts'

/**
 * What each folder may import besides itself, `base` and `errors.ts`. Such a folder is directly below src/,
 * or a file there. `type auth` stands for its types only.
 */
const mayImport: Record<string, readonly string[] | 'everything'> = {
  base: [],
  'errors.ts': [],
  'observe.ts': [],
  'channels.ts': ['observe.ts'],
  'core.ts': ['model', 'sql', 'read', 'write'],
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
  rest: ['model', 'read', 'write', 'core.ts', 'http', 'type auth'],
  graphql: ['model', 'read', 'write', 'core.ts', 'http', 'type auth'],
  openapi: ['model', 'read', 'write', 'rest', 'http', 'content.ts', 'config.ts'],
  pages: ['model', 'http'],
  contract: [],
  cli: 'everything',
  'app.ts': 'everything',
  'content.ts': 'everything',
}

/** What every folder may import. */
const everybodys = ['base', 'errors.ts']

/** The folders that may name an engine in a path they import. */
const knowEngines = ['engines', 'cli', 'app.ts']

const longest = 300

const root = fileURLToPath(new URL('..', import.meta.url))
const all = globSync(['src/**/*.{ts,js,sql}', 'content/**/*.{ts,js}'], { cwd: root })
  .map(path => path.replaceAll('\\', '/'))
  .sort()
  .map((path): File => ({ path, text: readFileSync(`${root}${path}`, 'utf8') }))
const isTest = ({ path }: File) => path.endsWith('.test.ts')
const written = all.filter(file => file.path.endsWith('.ts') && !isTest(file))
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
  ['a folder imports only the folders its row in the table names', crossings],
  ['an import that leaves its folder upwards is written from src/', upwards],
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
  ['a long file', tooLong, 'read/x.ts', 'line\n'.repeat(longest + 1)],
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

const holds = (name: string, faults: readonly string[]) =>
  test(name, () => assert.ok(faults.length === 0, `\n  ${faults.join('\n  ')}`))

// ---- The machine and the content.

const fromContent = (file: File): readonly string[] =>
  importsOf(file)
    .filter(({ from }) => /^content\//.test(targetOf(file, from) ?? ''))
    .map(({ from }) => `${file.path} imports ${from}: let the content hand it over`)

const machine = all.filter(({ path }) => path.startsWith('src/'))

holds(
  'nothing in src/ imports the content, not even a type or a test',
  machine.flatMap(fromContent),
)

/** The words of the content: its entities and its other features. */
const features = ['receipt', 'receipts', 'signup', 'suspended', 'identicon']
const entityWords = Object.entries(content.entities).flatMap(([name, { plural, table }]) => [
  name,
  plural,
  table,
])
const forbidden = new Set([...entityWords, ...features].map(word => wordsOf(word).join(' ')))
const codes = [...Object.keys(content.errors), ...Object.keys(content.settings)]

type Meaning = {
  /** What is taken for no word of the content, wherever it is. */
  readonly phrases: readonly RegExp[]
  /** The files in which the word means something else each time. */
  readonly files: readonly string[]
}

/** Words of the content that mean something else in the machine. */
const otherMeanings: Readonly<Record<string, Meaning>> = {
  // What lists are in, and SQL's `order by`; not `an order`, nor `the order's`.
  order: {
    phrases: [
      /\border by\b/,
      /\bin (?:(?!an? )[\w’']+ ){0,3}order\b(?!')/i,
      /\border (?:in which|of (?:the|its|their) (?:columns|fields|header|ids|key|keys|names|rows|statement's|URL)|above|that is cheapest|matter)/,
      /\b(?:field and|byte|without an|of another|sort) order\b/,
    ],
    files: [
      'src/model/check/lists.ts',
      'src/model/check/names.ts',
      'src/model/indexes.ts',
      'src/openapi/parameters.ts',
      'src/read/compile.ts',
      'src/read/level.ts',
      'src/read/plan.ts',
      'src/read/stitch.ts',
      'src/rest/paging.ts',
      'src/rest/sorting.ts',
    ],
  },
  // SQL's operator, and the English word: not after an article.
  like: {
    phrases: [
      /(?<!\b(?:a|the|each|every|this|its|their|no|new|of|by|per|const|let|type)) like (?=[\w'`{$])/,
    ],
    files: [
      'src/contract/alternatives.ts',
      'src/engines/postgres/dialect.ts',
      'src/engines/postgres/schema/draft.ts',
      'src/engines/sqlite/connection.ts',
    ],
  },
  // The HTTP method.
  post: {
    phrases: [/\bPOST\b/, /\.post\(/, /\bpostMessage\b/],
    files: ['src/contract/openapi.ts', 'src/openapi/types.ts'],
  },
  // Documents of GraphQL and of SQL have comments, and so have JSON Schemas.
  comment: {
    phrases: [],
    files: ['src/contract/schema.ts', 'src/engines/postgres/schema/draft.ts'],
  },
  comments: {
    phrases: [],
    files: [
      'src/settings.ts',
      'src/cli/serve/documents.ts',
      'src/engines/statements.ts',
      'src/graphql/document.ts',
      'src/graphql/limits.ts',
    ],
  },
  // GraphQL's code BAD_USER_INPUT; the user of a database, of a mail server, of an operating system; weak passwords;
  // the scope of a stored response, as stores of earlier releases have it.
  user: {
    phrases: [
      /\bBAD_USER_INPUT\b/,
      /\buser:password\b/i,
      /\b(?:current|session|system)_user\b/,
      /\buser (?:name|space)\b/,
      /\btrigger user\b/,
      /\bthis user\b(?!')/,
    ],
    files: [
      'src/auth/secret.ts',
      'src/engines/postgres/connection/hosts.ts',
      'src/engines/postgres/connection/label.ts',
      'src/mail/smtp.ts',
      'src/model/check/names.ts',
      'src/write/idempotency.ts',
    ],
  },
  users: { phrases: [], files: ['src/auth/secret.ts'] },
}

/** A line without what means something else in it. */
const withoutPhrases = (line: string): string =>
  Object.values(otherMeanings)
    .flatMap(({ phrases }) => phrases)
    .reduce((rest, phrase) => rest.replace(new RegExp(phrase, `g${phrase.flags}`), ' '), line)

const isMeantOtherwise = (word: string, path: string): boolean =>
  otherMeanings[word]?.files.includes(path) ?? false

const leaks = ({ path, text }: File): readonly string[] =>
  text.split('\n').flatMap((line, index) => {
    const words = wordsOf(withoutPhrases(line))
    const pairs = words.slice(1).map((word, at) => `${words[at]} ${word}`)
    const found = [...words, ...pairs].find(
      word => forbidden.has(word) && !isMeantOtherwise(word, path),
    )
    const code = codes.find(code => new RegExp(`\\b${code}\\b`).test(line))
    const what = code ?? found
    return what === undefined ? [] : [`${path}:${index + 1} says ${what}: ${line.trim()}`]
  })

holds('no word of the content stands in src/', machine.filter(file => !isTest(file)).flatMap(leaks))

const exemptions = Object.entries(otherMeanings).flatMap(([word, { phrases, files }]) => [
  ...phrases.map(phrase => ({
    what: `${word}: ${phrase}`,
    isNeeded: machine.some(({ text }) => new RegExp(phrase, phrase.flags).test(text)),
  })),
  ...files.map(path => ({
    what: `${word} in ${path}`,
    isNeeded: machine.some(
      file => file.path === path && wordsOf(withoutPhrases(file.text)).includes(word),
    ),
  })),
])

holds(
  'each exemption from the words of the content is needed',
  exemptions.filter(({ isNeeded }) => !isNeeded).map(({ what }) => what),
)

test('a word of the content is seen however it is written', () => {
  const seen = (text: string) => leaks({ path: 'src/read/x.ts', text }).length
  for (const text of [
    'const userId = 1',
    '/** A post. */',
    "'/comments'",
    'OrderItem',
    'order_items',
    "in an order's items",
    'the status of an order',
    'he gave it a like and left',
    'the post of the viewer',
    'the user who did it',
  ])
    assert.equal(seen(text), 1, text)
  assert.equal(seen('throw new ApiError(errors.OUT_OF_STOCK)'), 1)
  for (const text of [
    'order by name, unlike the rest',
    'columns in the order of the rows',
    'a thing like this one',
    'A POST of this user',
  ])
    assert.equal(seen(text), 0, text)
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

const longestFunction = 60

holds('imports run in no circle, types included', circlesIn(written))

holds(
  `a file of the content has at most ${longest} lines`,
  written.filter(({ path }) => path.startsWith('content/')).flatMap(tooLong),
)

holds(
  `a function has at most ${longestFunction} lines`,
  written.flatMap(file =>
    functionsIn(file)
      .filter(({ lines }) => lines > longestFunction)
      .map(({ name, line, lines }) => `${file.path}:${line} has ${lines} lines: ${name}`),
  ),
)

test('a service listens before it loads graphql-js, and needs no driver of a store that it has not', () => {
  for (const path of ['src/cli/serve/prepare.ts', 'src/cli/serve/start.ts']) {
    const packages = packagesWith(path, written)
    assert.ok(packages.has('node:sqlite'))
    assert.deepEqual(
      ['graphql', 'pg', 'nodemailer', 'prom-client'].filter(name => packages.has(name)),
      [],
    )
  }
  assert.ok(packagesWith('src/graphql/graphql.ts', written).has('graphql'))
})

test('a circle and a long function are seen', () => {
  const circle = [
    { path: 'src/a/a.ts', text: "import type { B } from '#b/b.ts'" },
    { path: 'src/b/b.ts', text: "import { a } from '#a/a.ts'" },
  ]
  assert.deepEqual(circlesIn(circle), ['src/a/a.ts → src/b/b.ts → src/a/a.ts'])
  const body = '  step()\n'.repeat(70)
  for (const head of [
    'const f = () => {',
    'const f = (\n  a: string,\n): void => {',
    'function f() {',
  ])
    assert.equal(
      functionsIn({ text: `${head}\n${body}}\n` })[0]?.lines,
      71 + head.split('\n').length,
    )
  assert.equal(functionsIn({ text: `const f = () =>\n${body}\nconst b = 1\n` })[0]?.lines, 72)
})
