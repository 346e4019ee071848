/** Checks that no word of the content stands in the machine, and that the content's files are subjects. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import content from '#content/duet.config.ts'
import { peopleErrors } from '#errors.ts'
import { type File, importersOf, linesOf, wordsOf } from '#test/support/source.ts'
import { all, holds, isTest, written } from '#test/support/written.ts'

// ---- The machine and the content.

const machine = all.filter(({ path }) => /^(src|kit)\//.test(path))

/** The words of the content: its entities and its other features. */
const features = ['receipt', 'receipts', 'signup', 'suspended', 'identicon']
const entityWords = Object.entries(content.entities).flatMap(([name, { plural, table }]) => [
  name,
  plural,
  table,
])
const forbidden = new Set([...entityWords, ...features].map(word => wordsOf(word).join(' ')))
// Errors of sign-in are the machine's, though a content has them only with `people`.
const codes = [...Object.keys(content.errors), ...Object.keys(content.settings)].filter(
  code => !Object.hasOwn(peopleErrors, code),
)

type Meaning = {
  /** What is taken for no word of the content, wherever it is. */
  readonly phrases: readonly RegExp[]
  /** The files in which the word means something else each time, or folders with a slash at the end. */
  readonly files: readonly string[]
}

/** Words of the content that mean something else in the machine. */
const otherMeanings: Readonly<Record<string, Meaning>> = {
  // What lists are in, in both APIs and in SQL.
  order: {
    phrases: [/(?<!\ban )[Oo]rder(?:s|By)?(?!'s|_|Item|[a-z])/, /\ban order\b(?!'s)/],
    files: [],
  },
  // The examples that `duet init` offers.
  posts: { phrases: [], files: ['kit/init.ts'] },
  products: { phrases: [], files: ['kit/init.ts'] },
  customer: { phrases: [], files: ['kit/init.ts'] },
  customers: { phrases: [], files: ['kit/init.ts'] },
  // SQL's operator, and the English word: not after an article.
  like: {
    phrases: [
      /(?<!\b(?:a|the|each|every|this|its|their|no|new|of|by|per|const|let|type)) like (?=[\w'`{$])/,
    ],
    files: [
      'src/engines/postgres/dialect.ts',
      'src/engines/shared/catalogue.ts',
      'src/engines/sqlite/connection.ts',
    ],
  },
  // The HTTP method.
  post: {
    phrases: [/\bPOST\b/, /\.post\(/, /\bpostMessage\b/, /\bAccept-Post\b/],
    // What authors are shown as an example.
    files: [
      'kit/contract/openapi.ts',
      'src/model/entity.ts',
      'src/model/field.ts',
      'src/model/model.ts',
    ],
  },
  // Documents of GraphQL and of SQL have comments, and so have JSON Schemas.
  comment: {
    phrases: [],
    files: [
      'kit/init.ts',
      'kit/contract/schema.ts',
      'kit/draft/postgres.ts',
      'src/model/entity.ts',
    ],
  },
  comments: {
    phrases: [],
    files: [
      'src/engines/postgres/schema.ts',
      'src/settings.ts',
      'src/serve/graphql.ts',
      'src/engines/shared/migrations.ts',
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
      /\bthis user\b(?!')/,
      /\bthe user (?:begin|of this program)\b/,
      /\btcp_user_timeout\b/,
      /\buser-agent\b/,
      // A code of better-auth.
      /_to_different_user\b/,
      // A claim of Supabase's tokens.
      /\buser_metadata\b/,
      // A code of better-auth.
      /\baccount_already_linked_to_different_user\b/,
    ],
    files: [
      'src/auth/secret.ts',
      'src/engines/postgres/primary.ts',
      'src/engines/postgres/errors.ts',
      'src/mail/smtp.ts',
      'src/model/faults/names.ts',
      'src/write/idempotency.ts',
      'src/base/database-url.ts',
      'src/engines/sqlite/writer-thread.ts',
      // What better-auth calls a person, in its own answers and tables.
      'src/people/',
      'src/pages/assets/',
      'src/engines/postgres/migrations/people/',
      'src/engines/sqlite/migrations/people/',
      'src/cli/people.ts',
      'src/openapi/people.ts',
      'src/write/command.ts',
    ],
  },
  users: { phrases: [], files: ['src/auth/secret.ts', 'src/people/'] },
  likes: { phrases: [/\b(?:reader|caller) likes best\b/], files: [] },
  signup: { phrases: [/\bsignup_disabled\b/], files: [] },
}

/** A line without what means something else in it. */
const withoutPhrases = (line: string): string =>
  Object.values(otherMeanings)
    .flatMap(({ phrases }) => phrases)
    .reduce((rest, phrase) => rest.replace(new RegExp(phrase, `g${phrase.flags}`), ' '), line)

const isIn = (path: string, file: string): boolean =>
  file.endsWith('/') ? path.startsWith(file) : path === file

const isMeantOtherwise = (word: string, path: string): boolean =>
  otherMeanings[word]?.files.some(file => isIn(path, file)) ?? false

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
      file => isIn(file.path, path) && wordsOf(withoutPhrases(file.text)).includes(word),
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

/** Small files that one other file imports and that are no part of it, with the reason. */
const smallForOne: readonly (readonly [paths: RegExp, reason: string])[] = [
  [/^content\/\w+\/entity\.ts$/, 'a resource each'],
  [/^content\/user\/actions\.ts$/, 'the actions of a resource'],
  [/^content\/user\/add\.ts$/, 'a command each'],
  [/^content\/served\.ts$/, 'what a service loads and other commands do not'],
]

const importers = importersOf(written)
const small = written
  .filter(({ path }) => path.startsWith('content/'))
  .filter(file => linesOf(file) < 40 && importers.get(file.path)?.length === 1)
  .map(({ path }) => path)

holds('a small file of the content for one other file has a reason, and each reason a file', [
  ...small.filter(path => !smallForOne.some(([paths]) => paths.test(path))),
  ...smallForOne.flatMap(([paths]) => (small.some(path => paths.test(path)) ? [] : paths.source)),
])
