/** `duet schema`: prints the schema of the GraphQL API, whatever the service shows of it. */

import { readArgs } from '#cli/arguments.ts'
import { modelFor } from '#cli/store.ts'
import { loadConfig } from '#config.ts'
import type { Content } from '#content.ts'
import { deriveSchema, schemaText } from '#graphql/schema.ts'

export const help = `Usage: duet schema

Prints the schema of the GraphQL API in its own language (SDL), for tools that make typed clients:
duet schema > schema.graphql. It needs no server and opens no store. A server shows the same text at
/graphql/schema.graphql while its introspection is on.`

export const run = async (args: readonly string[], content: Content): Promise<void> => {
  readArgs(args, {}, 0)
  const model = modelFor(loadConfig(process.env, content.settings), content)
  process.stdout.write(schemaText(deriveSchema(model)))
}
