/** What the settings say of GraphQL, with the documents that the operator stored in a folder. */
import { readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { isObject, type JsonObject } from '#base/object.ts'
import type { Config } from '#config.ts'
import type { GraphqlOptions } from '#graphql/graphql.ts'
import { loadGraphql } from '#graphql/mount.ts'
import type { StoredDocument } from '#graphql/stored.ts'
import type { Model } from '#model/model.ts'
import { ConfigError } from '#settings.ts'
import type { RuledAction } from '#write/steps/action.ts'

const broken = (file: string, why: string, cause?: unknown) =>
  new ConfigError(`DUET_DOCUMENTS: ${file} ${why}`, { cause })

// A byte order mark stays, since the id is of all bytes.
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

const textOf = (folder: string, file: string): string => {
  try {
    return decoder.decode(readFileSync(join(folder, file)))
  } catch (cause) {
    throw broken(file, 'cannot be read as UTF-8', cause)
  }
}

/** An id of the appendix: `sha256:` is of a text, other prefixes begin with `x-`, and what has no colon is anybody's own. */
const ownId = /^(sha256:|x-[\w.~-]+:)?[\w.~-]+$/

/** The documents of a manifest: Apollo's list of operations, or an object of ids and texts as Relay and GraphQL Code Generator write it. */
const ofManifest = (folder: string, file: string): readonly StoredDocument[] => {
  let manifest: unknown
  try {
    manifest = JSON.parse(textOf(folder, file))
  } catch (cause) {
    if (cause instanceof ConfigError) throw cause
    throw broken(file, 'is not JSON', cause)
  }
  const operations = isObject(manifest) ? manifest.operations : [manifest]
  const entries = Array.isArray(operations)
    ? operations.map(one => (isObject(one) ? [one.id, one.body] : []))
    : Object.entries(manifest as JsonObject)
  return entries.map(([id, text]) => {
    if (typeof id !== 'string' || typeof text !== 'string' || !ownId.test(id))
      throw broken(
        file,
        'must be an object of ids with their documents, or a manifest of Apollo; an id has letters, digits and -._~ only',
      )
    return { from: `${id} of ${file}`, text, ids: [id] }
  })
}

const documentsIn = (folder: string): readonly StoredDocument[] => {
  let files: readonly string[]
  try {
    files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()
  } catch (cause) {
    throw new ConfigError(`DUET_DOCUMENTS must be a folder that can be read: ${folder}`, { cause })
  }
  const documents = files.flatMap(file => {
    const type = extname(file)
    if (type === '.json') return ofManifest(folder, file)
    return type === '.graphql' ? [{ from: file, text: textOf(folder, file), ids: [] }] : []
  })
  if (documents.length > 0) return documents
  throw new ConfigError(
    `DUET_DOCUMENTS has no .graphql or .json file in ${folder}: put the documents there, or name another folder`,
  )
}

/** What GraphQL is served with; throws a ConfigError if the folder or a file of it cannot be read. */
export const graphqlOf = ({ values, development }: Config): GraphqlOptions => {
  const { DUET_DOCUMENTS: folder, DUET_DOCUMENTS_ONLY: only } = values
  return {
    limits: {
      depth: values.DUET_MAX_DEPTH,
      source: values.DUET_MAX_SOURCE,
      tokens: values.DUET_MAX_TOKENS,
      comments: values.DUET_MAX_COMMENTS,
      aliases: values.DUET_MAX_ALIASES,
      directives: values.DUET_MAX_DIRECTIVES,
      rootFields: values.DUET_MAX_ROOT_FIELDS,
    },
    introspection: values.DUET_INTROSPECTION ?? development,
    stored: folder === undefined ? undefined : { documents: documentsIn(folder), only },
  }
}

/** The same; rejects with a sentence for each stored document that cannot be served. */
export const checkedGraphql = async (
  config: Config,
  model: Model,
  actions: readonly RuledAction[],
): Promise<GraphqlOptions> => {
  const options = graphqlOf(config)
  if (options.stored) (await loadGraphql()).checkStored(model, actions, options)
  return options
}
