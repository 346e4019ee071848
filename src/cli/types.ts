/** `duet types`: prints the types of clients of a version of the REST API. */
import { documentNamed } from '#cli/rest-document.ts'
import type { Content } from '#content.ts'
import { typesOf } from '#openapi/print.ts'

export const help = `Usage: duet types [--version 2]

Prints TypeScript types of a version of the REST API, version 1 unless named: paths, components and operations,
as openapi-typescript would make them of its document. With openapi-fetch they are a typed client:
duet types --version 2 > api.ts. It needs no server and opens no store.`

export const run = async (args: readonly string[], content: Content): Promise<void> => {
  process.stdout.write(typesOf(await documentNamed(args, content)))
}
