/** The code of the GraphQL API, which REST needs none of: graphql-js alone is as many files as half of Duet, a seventh of a start. */
import { once } from '#base/once.ts'

/** Loads it, once. A service does so when it listens already. */
export const loadGraphql = once(() => import('#graphql/graphql.ts'))
