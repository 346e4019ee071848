/** The paths of the APIs and of what describes them. */
export const restPath = '/api'
export const graphqlPath = '/graphql'
/** Where the schema of GraphQL is served as text. */
export const schemaPath = `${graphqlPath}/schema.graphql`
