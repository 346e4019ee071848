/** Every text by which the service refuses something: from the sources, and from answers to requests. */
import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { badRequests } from '../contract/bad-requests.ts'
import type { World } from '../world.ts'

export type ErrorText = {
  /** Absent for what is said of a field. */
  readonly code?: string
  readonly text: string
  /** The file that says it, or the request that was answered by it. */
  readonly from: string
}

const root = fileURLToPath(new URL('../../..', import.meta.url))
const sources = ['src/**/*.ts', 'content/**/*.ts']

const literal = /(?:'((?:[^'\\]|\\.)*)'|`((?:[^`\\$]|\\.|\$(?!\{)|\$\{(?:[^{}]|\{[^{}]*\})*\})*)`)/
  .source
const thrown = new RegExp(`new ApiError\\(\\s*(?:'|\\w+\\.)(\\w+)'?,\\s*${literal}`, 'g')
const beforehand = new RegExp(
  `const message =\\s+${literal}(?:(?!const message)[^])*?new ApiError\\(\\s*'(\\w+)', message\\b`,
  'g',
)
const begun = /new ApiError\(\s*(?:'\w+'|\w+\.\w+),\s*['`]/g
const named = new RegExp(
  `\\b(malformed|unsupported|refused|tooComplex|overloaded|limited)\\(\\s*${literal}`,
  'g',
)
const ofField = new RegExp(`\\b(?:fault|message): ${literal}`, 'g')

/** The codes of the functions that make an error of a text. */
const codes: Readonly<Record<string, string>> = {
  malformed: 'MALFORMED_REQUEST',
  unsupported: 'UNSUPPORTED_MEDIA_TYPE',
  refused: 'UNAUTHENTICATED',
  tooComplex: 'QUERY_TOO_COMPLEX',
  overloaded: 'OVERLOADED',
  limited: 'RATE_LIMITED',
}

/** A text as a reader meets it, with an ellipsis for each value put in. */
const shown = (single = '', template = ''): string =>
  (single || template).replace(/\$\{(?:[^{}]|\{[^{}]*\})*\}/g, '…').replace(/\\(.)/g, '$1')

const textsIn = (path: string): readonly ErrorText[] => {
  const from = path.replaceAll('\\', '/')
  const source = readFileSync(`${root}/${path}`, 'utf8')
  const errors = [...source.matchAll(thrown)]
  const missed = [...source.matchAll(begun)].length - errors.length
  if (missed !== 0) throw new Error(`${from} throws ${missed} texts that are not read here`)
  return [
    ...[...errors, ...source.matchAll(named)].map(([, name = '', ...texts]) => ({
      code: codes[name] ?? name,
      text: shown(...texts),
      from,
    })),
    ...[...source.matchAll(beforehand)].map(([, single, template, code = '']) => ({
      code,
      text: shown(single, template),
      from,
    })),
    // An object with a message and a code of its own is no fault of a field.
    ...[...source.matchAll(ofField)]
      .map(([, ...texts]) => ({ text: shown(...texts), from }))
      .filter(({ text }) => text.includes(' ') && !/^[A-Z]/.test(text)),
  ]
}

/** The texts that the sources hold. */
export const writtenTexts = (): readonly ErrorText[] =>
  globSync(sources, { cwd: root })
    .filter(path => !path.endsWith('.test.ts'))
    .sort()
    .flatMap(textsIn)

// Of graphql-js, of JavaScript, and those that callers get.
const forOperators = new RegExp(`new (?!Api|GraphQL|Type)(\\w*Error)\\(\\s*${literal}`, 'g')

/** The texts of errors that no caller gets: of settings, commands, the start, the store, and of faults of the program. */
export const operatorTexts = (): readonly (ErrorText & { readonly error: string })[] =>
  globSync(sources, { cwd: root })
    .filter(path => !path.endsWith('.test.ts'))
    .sort()
    .flatMap(path =>
      [...readFileSync(`${root}/${path}`, 'utf8').matchAll(forOperators)].map(
        ([, error = '', ...texts]) => ({
          error,
          text: shown(...texts),
          from: path.replaceAll('\\', '/'),
        }),
      ),
    )

/** What is wrong and what to do about it; undefined for a text that names no remedy. */
export const remedyIn = (text: string): readonly [fault: string, remedy: string] | undefined => {
  const [, fault = '', remedy = ''] = /^(.*?)[:;] (.*)$/.exec(text) ?? []
  return /\p{L}{2}.* /u.test(fault) && /\p{L}{2}/u.test(remedy) ? [fault, remedy] : undefined
}

const operations = [
  '{',
  '{ nothing }',
  '{ user(id: 999) { id } }',
  '{ users { email } }',
  'mutation { deletePost(id: 1) }',
  'mutation { createUser(input: { name: "", email: "x" }) { id } }',
  `{ users ${'{ posts { author '.repeat(8)} { id } ${'} }'.repeat(8)} }`,
]

type Told = {
  readonly code: string
  readonly message: string
  readonly details?: readonly { readonly message: string }[]
}

const textsOf = ({ code, message, details = [] }: Told, from: string): readonly ErrorText[] => [
  { code, text: message, from },
  ...details.map(detail => ({ text: detail.message, from })),
]

/** The texts that bad requests are answered with: those of the table, of every path without a token, and of GraphQL. */
export const metTexts = async (world: World): Promise<readonly ErrorText[]> => {
  const met: ErrorText[] = []
  for (const { line, what: _, status: __, code: ___, ...asking } of badRequests) {
    const { json } = await world.ask(line, asking)
    if (json?.error) met.push(...textsOf(json.error, line.slice(0, 80)))
  }
  const routes = world.app.routes.filter(({ path }) => /^\/api\/(?!v\d)/.test(path))
  for (const { method, path } of routes)
    for (const as of ['anonymous', 3] as const) {
      const line = `${method} ${path.replace(/:\w+/g, '1')}`
      const { json } = await world.ask(line, { as, ...(method !== 'GET' && { body: {} }) })
      if (json?.error) met.push(...textsOf(json.error, line))
    }
  for (const operation of operations) {
    const { json } = await world.gql(operation, { as: 'anonymous' })
    for (const { message, extensions } of json.errors ?? [])
      met.push(...textsOf({ message, ...extensions }, operation.slice(0, 80)))
  }
  return met
}
