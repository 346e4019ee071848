/** The paths of the APIs. */
export const restPath = '/api'
export const graphqlPath = '/graphql'
