/** `duet openapi`: prints the OpenAPI document of a version of the REST API. */
import { modelFor } from '#cli/store.ts'
import { readArgs } from '#cli/usage.ts'
import { versionOption } from '#cli/versions.ts'
import { loadConfig } from '#config.ts'
import type { Content } from '#content.ts'
import { openApiOf } from '#openapi/openapi.ts'
import { printed } from '#openapi/print.ts'

export const help = `Usage: duet openapi [--version 2]

Prints the OpenAPI 3.1 document of a version of the REST API, version 1 unless named, for tools that make
clients, documents and tests: duet openapi --version 2 > openapi.json. It needs no server and opens no store.
A server shows the same document at /api/v1/openapi.json and /api/v2/openapi.json.`

export const run = async (args: readonly string[], content: Content): Promise<void> => {
  const { values } = readArgs(args, { version: { type: 'string' } }, 0)
  const model = modelFor(loadConfig(process.env, content.settings), content)
  const document = await openApiOf(content, versionOption(values.version), model)
  process.stdout.write(`${printed(document)}\n`)
}
