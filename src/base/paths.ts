/** The paths of the APIs, of what describes them, and of the program. */
export const restPath = '/api'
/** The path below which a version of the REST API is. */
export const versionPath = (version: number): string => `${restPath}/v${version}`
export const graphqlPath = '/graphql'
/** Where the schema of GraphQL is served as text. */
export const schemaPath = `${graphqlPath}/schema.graphql`

/** The pages that describe the REST API, what holds for all callers, the versions, and the errors of both APIs. */
/** Where the admin is. */
export const adminPath = '/admin'

export const docsPath = '/docs'
export const guidePath = `${docsPath}/guide`
export const versionsPath = `${docsPath}/versions`
export const errorsPath = `${docsPath}/errors`

/** The program as people start it: in a checkout, or as a package that a project has installed. */
export const program = import.meta.url.endsWith('.ts') ? 'bin/duet' : 'npx duet'
