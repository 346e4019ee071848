/** The greeting of `serve`. */
import { graphqlPath, versionPath } from '#base/paths.ts'
import { version } from '#cli/version.ts'
import { newest } from '#model/version.ts'
import type { Auth } from '#serve/auth.ts'
import type { Program } from '#serve/prepare.ts'

/** What an address that stands for all of them means. */
const anyAddress: Readonly<Record<string, string>> = {
  '0.0.0.0': 'all other IPv4 addresses',
  '::': 'all other addresses',
}

/** Where it listens; in development also a line for each API that can be pasted into a shell. */
export const hello = async (
  { config, content }: Program,
  auth: Auth,
  url: string,
  metrics: string | undefined,
): Promise<string> => {
  const token = config.development ? await auth.superuserToken() : null
  const everywhere = anyAddress[config.host]
  const where = everywhere === undefined ? url : `${url} and ${everywhere}`
  const listens = `Duet ${version} listens on ${where}${metrics === undefined ? '' : ` with metrics on ${metrics}`}`
  if (token === null) return listens
  const { graphql, rest } = content.examples.withToken
  return `${listens}

  GraphQL  curl -s ${url}${graphqlPath} -H 'Authorization: Bearer ${token}' -H 'Content-Type: application/json' -d '${JSON.stringify({ query: graphql })}' -w '\\n'

  REST     curl -s ${url}${versionPath(newest)}${rest} -H 'Authorization: Bearer ${token}' -w '\\n'
`
}
