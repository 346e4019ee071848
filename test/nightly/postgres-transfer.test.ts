import { onPostgres } from '../postgres/suites/on-postgres.ts'

// A minute of starting programs; the usual run imports, seeds and moves on PostgreSQL as well.
await onPostgres(['cli/transfer'])
