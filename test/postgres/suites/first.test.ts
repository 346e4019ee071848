import { onPostgres } from './on-postgres.ts'

await onPostgres([
  'contract/first',
  'contract/rest-reads',
  'contract/rest-writes',
  'contract/rest-lists',
  'contract/graphql',
])
