/** The document of the REST API that a command line names. */

import { readArgs, UsageError } from '#cli/arguments.ts'
import { modelFor } from '#cli/store.ts'
import { loadConfig } from '#config.ts'
import type { Content } from '#content.ts'
import { versions } from '#model/version.ts'
import { openApiOf } from '#openapi/openapi.ts'

/** The document of the version of `--version`, the first unless given; throws UsageError for another. */
export const documentNamed = async (args: readonly string[], content: Content) => {
  const { values } = readArgs(args, { version: { type: 'string' } }, 0)
  const model = modelFor(loadConfig(process.env, content.settings), content)
  const { version: text = String(versions[0]) } = values
  const version = versions.find(version => String(version) === text)
  if (version) return openApiOf(content, version, model)
  throw new UsageError(`--version must be ${versions.join(' or ')}, not ${text}`)
}
