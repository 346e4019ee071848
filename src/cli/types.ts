/** `duet types`: prints the types of clients of a version of the REST API. */
import { modelFor } from '#cli/store.ts'
import { readArgs } from '#cli/usage.ts'
import { versionOption } from '#cli/versions.ts'
import { loadConfig } from '#config.ts'
import type { Content } from '#content.ts'
import { openApiOf } from '#openapi/openapi.ts'
import { typesOf } from '#openapi/types.ts'

export const help = `Usage: duet types [--version 2]

Prints TypeScript types of a version of the REST API, version 1 unless named: paths, components and operations,
as openapi-typescript would make them of its document. With openapi-fetch they are a typed client:
duet types --version 2 > api.ts. It needs no server and opens no store.`

export const run = async (args: readonly string[], content: Content): Promise<void> => {
  const { values } = readArgs(args, { version: { type: 'string' } }, 0)
  const model = modelFor(loadConfig(process.env, content.settings), content)
  const document = await openApiOf(content, versionOption(values.version), model)
  process.stdout.write(typesOf(document))
}
