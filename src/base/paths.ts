/** Where the APIs are. */
export const restPath = '/api'
export const graphqlPath = '/graphql'
