/** The paths of the APIs, of what describes them, and of the program. */
export const restPath = '/api'
/** The path below which a version of the REST API is. */
export const versionPath = (version: number): string => `${restPath}/v${version}`
export const graphqlPath = '/graphql'
/** Where the schema of GraphQL is served as text. */
export const schemaPath = `${graphqlPath}/schema.graphql`

/** Below which path people sign in. */
export const authPath = '/auth'

/** Where the admin is. */
export const adminPath = '/admin'

/** The pages that describe the REST API, what holds for all callers, the versions, and the errors of both APIs. */
export const docsPath = '/docs'
export const guidePath = `${docsPath}/guide`
export const versionsPath = `${docsPath}/versions`
export const errorsPath = `${docsPath}/errors`

/** Where this machine reaches what listens on a port, at that address or at all. */
export const urlOn = (host: string, port: number): string => {
  const name = host.includes(':') ? `[${host}]` : host
  return `http://${name === '0.0.0.0' || name === '[::]' ? '127.0.0.1' : name}:${port}`
}

/** Whether a host is this machine by a name that it always has; one of IPv6 with its brackets or without. */
export const isLoopback = (host: string): boolean =>
  /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/.test(host)

/** Whether nobody on the way can change what is asked of an address: it is of TLS, or of this machine. */
export const isSafe = (given: string): boolean => {
  const { protocol, hostname = '' } = URL.parse(given) ?? {}
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname))
}

/** The program as people start it: in a checkout, or as a package that a project has installed. */
export const program = import.meta.url.endsWith('.ts') ? 'bin/duet' : 'npx duet'
