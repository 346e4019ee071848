/** `duet openapi`: prints the OpenAPI document of a version of the REST API. */
import { documentNamed } from '#cli/rest-document.ts'
import type { Content } from '#content.ts'
import { printed } from '#openapi/print.ts'

export const help = `Usage: duet openapi [--version 2]

Prints the OpenAPI 3.1 document of a version of the REST API, version 1 unless named, for tools that make
clients, documents and tests: duet openapi --version 2 > openapi.json. It needs no server and opens no store.
A server shows the same document at /api/v1/openapi.json and /api/v2/openapi.json.`

export const run = async (args: readonly string[], content: Content): Promise<void> => {
  process.stdout.write(`${printed(await documentNamed(args, content))}\n`)
}
