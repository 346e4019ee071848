import { groups } from './groups.ts'
import { onPostgres } from './on-postgres.ts'

await onPostgres(groups.graphql)
