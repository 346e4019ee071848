/** Which test files run on PostgreSQL as well, in groups that take about equally long; and which do not, and why. */

/** Named from test/. Each group is a process: test/postgres/suites/NAME.test.ts. */
export const groups = {
  graphql: [
    'contract/first',
    'contract/graphql',
    'contract/graphql-bad-input',
    'contract/graphql-http',
    'contract/graphql-limits',
    'contract/reports',
  ],
  rest: [
    'contract/bad-input',
    'contract/keys',
    'contract/orders',
    'contract/rate-limit',
    'contract/rest-conditional',
    'contract/rest-cursors',
    'contract/rest-deletes',
    'contract/rest-filters',
    'contract/rest-http',
    'contract/rest-lists',
    'contract/rest-preconditions',
    'contract/rest-reads',
    'contract/rest-rights',
    'contract/rest-values',
    'contract/rest-writes',
  ],
  policy: [
    'contract/avatar',
    'contract/policy',
    'contract/promote',
    'contract/receipt',
    'contract/verify-email',
    'store/kept',
  ],
  orders: ['store/money', 'store/orders-model', 'store/race'],
  commands: ['cli/import', 'cli/seed', 'cli/store'],
  differential: ['contract/differential'],
} as const satisfies Readonly<Record<string, readonly string[]>>

/** What stays on SQLite, with the reason. */
export const exceptions: Readonly<Record<string, string>> = {
  'cli/backup': 'backup and restore are for a file; a database has tools of its own',
  'cli/commands': 'usage, settings, tokens and ports, which are the same whatever the store is',
  'cli/mail': 'mail leaves the same way whatever the store is',
  'cli/move': 'goes from one engine to the other by itself',
  'cli/transfer': 'in the nightly run, as it starts a hundred programs',
  'model/field': 'drafts for SQLite; test/postgres/migrate.test.ts has those for PostgreSQL',
  'store/connection': 'the pragmas and limits of a SQLite connection',
  'store/draft': 'drafts for SQLite; test/postgres/migrate.test.ts has those for PostgreSQL',
  'store/migrate': 'migrations of a file; test/postgres/migrate.test.ts has those of a database',
  'store/serve': 'the lock of a SQLite file, and kills that its log has to survive',
  'store/steps': 'the steps of migrations, on both engines by itself',
  'store/trouble': 'the disk below a SQLite file',
  'store/writer': 'the writer thread of SQLite and its group commit',
}
