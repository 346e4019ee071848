/** What `serve` says when it listens. */
import type { Auth } from '#cli/serve/auth.ts'
import { version } from '#cli/version.ts'
import type { Config } from '#config.ts'

/** Where it listens; in development also a line for each voice that can be pasted into a shell. */
export const hello = async (config: Config, auth: Auth, url: string): Promise<string> => {
  const token = config.development ? await auth.adminToken() : null
  if (token === null) return `Duet ${version} listens on ${url}`
  return `Duet ${version} listens on ${url}

  GraphQL  curl -s ${url}/graphql -H 'Authorization: Bearer ${token}' -H 'Content-Type: application/json' -d '{"query":"{ users(limit: 3) { id name posts(limit: 2) { title comments { text author { name } } } } }"}'

  REST     curl -s ${url}/api/users -H 'Authorization: Bearer ${token}'
`
}
