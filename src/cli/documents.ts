/** `duet openapi` and `duet schema`: print what describes the APIs, without a server and without a store. */
import { versionPath } from '#base/paths.ts'
import { readArgs, UsageError } from '#cli/arguments.ts'
import { loadConfig } from '#config.ts'
import type { CliCommand, Content } from '#content.ts'
import { modelFor } from '#serve/store.ts'

/** What fits in a line of this many characters stands in one. */
const width = 120

const pairsOf = (value: object): readonly (readonly [string, unknown])[] =>
  Array.isArray(value)
    ? value.map(item => ['', item] as const)
    : Object.entries(value).map(([key, item]) => [`${JSON.stringify(key)}: `, item] as const)

const inOneLine = (value: unknown): string => {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const items = pairsOf(value).map(([key, item]) => `${key}${inOneLine(item)}`)
  if (Array.isArray(value)) return `[${items.join(', ')}]`
  return items.length === 0 ? '{}' : `{ ${items.join(', ')} }`
}

/** A JSON value as a text that people read and compare line by line, indented from `margin` on. */
export const printed = (value: unknown, margin = '', before = 0): string => {
  const line = inOneLine(value)
  const isLong = margin.length + before + line.length > width
  if (!isLong || typeof value !== 'object' || value === null) return line
  const inner = `${margin} `
  const items = pairsOf(value).map(
    ([key, item]) => `${inner}${key}${printed(item, inner, key.length + 1)}`,
  )
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  return `${open}\n${items.join(',\n')}\n${margin}${close}`
}

/** What describes both APIs, by the names that files of `contract/` have, with the command that prints it. */
export const documentsOf = async (content: Content, environment: NodeJS.ProcessEnv) => {
  const { openApiOf } = await import('#openapi/openapi.ts')
  const { deriveSchema, schemaText } = await import('#graphql/schema.ts')
  const model = modelFor(loadConfig(environment, content.settings), content)
  const documents = content.versions.all.map(async number => ({
    name: `v${number}.openapi.json`,
    command: ['openapi', '--version', String(number)],
    text: printed(await openApiOf(content, number, model)),
  }))
  const text = schemaText(deriveSchema(model, content.actions))
  if (content.people) {
    const { authDocument, authFile } = await import('#openapi/people.ts')
    const document = printed(authDocument(content))
    documents.push(
      Promise.resolve({ name: authFile, command: ['openapi', '--auth'], text: document }),
    )
  }
  return [...(await Promise.all(documents)), { name: 'schema.graphql', command: ['schema'], text }]
}

/** The document of sign-in with `--auth`, else that of the version of `--version`, the first unless given; throws UsageError for another. */
const documentNamed = async (args: readonly string[], content: Content) => {
  const options = { version: { type: 'string' }, auth: { type: 'boolean' } } as const
  const { values } = readArgs(args, options, 0)
  if (values.auth) {
    if (!content.people)
      throw new UsageError('nobody signs in to this content: let it say people: true')
    const { authDocument } = await import('#openapi/people.ts')
    return authDocument(content)
  }
  const model = modelFor(loadConfig(process.env, content.settings), content)
  const { all } = content.versions
  const { version: text = String(all[0]) } = values
  const version = all.find(version => String(version) === text)
  if (!version) throw new UsageError(`--version must be ${all.join(' or ')}, not ${text}`)
  const { openApiOf } = await import('#openapi/openapi.ts')
  return openApiOf(content, version, model)
}

/** Prints the OpenAPI document of a version of the REST API. */
export const openapi: CliCommand = {
  help: ({
    versions: { all, oldest, newest },
  }) => `Usage: duet openapi [--version ${newest} | --auth]

Prints the OpenAPI 3.1 document of a version of the REST API, version ${oldest} unless named, for tools that make
clients, documents and tests: duet openapi --version ${newest} > openapi.json. It needs no server and opens no store.
--auth prints that of sign-in, where the content has people.
A server shows the same documents at ${all.map(version => `${versionPath(version)}/openapi.json`).join(' and ')}, and /auth/openapi.json.`,
  run: async (args, content) => {
    process.stdout.write(`${printed(await documentNamed(args, content))}\n`)
  },
}

/** Prints the schema of the GraphQL API, whatever the service shows of it. */
export const schema: CliCommand = {
  help: `Usage: duet schema

Prints the schema of the GraphQL API in its own language (SDL), for tools that make typed clients:
duet schema > schema.graphql. It needs no server and opens no store. A server shows the same text at
/graphql/schema.graphql while its introspection is on.`,
  run: async (args, content) => {
    readArgs(args, {}, 0)
    const model = modelFor(loadConfig(process.env, content.settings), content)
    const { deriveSchema, schemaText } = await import('#graphql/schema.ts')
    process.stdout.write(schemaText(deriveSchema(model, content.actions)))
  },
}
