// Which test files run on which engine, and which begin first.

/** Test files in these folders run on SQLite and again on PostgreSQL: callers get the same from both. */
const onBoth =
  /^(content\/)?test\/((contract|generic|store|cli|model)\/.*|generated\/(operations|both-apis))\.test\.ts$/

/** What of an answer is decided before the store is asked, or after: these run on SQLite only. */
const besideTheStore = [
  ...[
    ...[
      'bad-input',
      'body-limits',
      'corrections',
      'deprecated-uses',
      'deprecation',
      'graphql-bad-input',
    ],
    ...['graphql-get', 'graphql-http', 'graphql-schema', 'query-method', 'rest-bodies'],
    ...['rest-conditional', 'rest-http', 'rest-origins', 'stored-documents', 'sunset', 'versions'],
  ].map(name => `content/test/contract/${name}.test.ts`),
  'content/test/model/words.test.ts',
  'content/test/store/observed.test.ts',
  ...['pipelining', 'pipelining-draining'].map(name => `test/cli/${name}.test.ts`),
  'test/contract/slow-files.test.ts',
]

/** Reads of this content as its specification has them: test/generic/check.test.ts reads each row, list and page of it on both, as the rules and the rows say. */
const readOnBoth = ['receipt', 'rest-cursors', 'rest-lists', 'rest-reads', 'rest-sorts'].map(
  name => `content/test/contract/${name}.test.ts`,
)

/** The exceptions, which run on SQLite only, with the reason. */
export const onSqliteOnly = {
  ...Object.fromEntries(
    besideTheStore.map(file => [file, 'decided before the store is asked, or after']),
  ),
  ...Object.fromEntries(readOnBoth.map(file => [file, 'test/generic/check.test.ts reads on both'])),
  'content/test/contract/first.test.ts':
    'content/test/contract/graphql-users.test.ts has what one API writes read by the other on both',
  'content/test/contract/rest-values.test.ts':
    'test/store/values.test.ts has values of each kind on both, and content/test/store/money.test.ts amounts',
  'content/test/contract/verify-email.test.ts':
    'tokens do not depend on the store; keys.test.ts has stored answers on both, check.test.ts actions',
  'test/store/lane-threads.test.ts': 'PostgreSQL has processes of its own for reads',
  'content/test/contract/avatar.test.ts':
    'which pictures are taken does not depend on the store; test/contract/files.test.ts puts files on both',
  'content/test/contract/graphql-limits.test.ts':
    'limits are counted above the store; test/store/lanes.test.ts has an answer that is too large on both',
  'content/test/contract/policy.test.ts':
    'test/generic/check.test.ts has every operation asked by who may and who may not on both',
  'content/test/contract/rate-limit.test.ts':
    'its limiters count in the process; content/test/postgres/processes.test.ts has two that count in a database',
  'content/test/contract/rest-rights.test.ts':
    'test/generated/order-of-checks.test.ts has the order of refusals on both by itself',
  'content/test/contract/verify-email-mail.test.ts':
    'mail does not depend on the store; test/store/outbox.test.ts has what sends it on both',
  'content/test/store/histories.test.ts': 'goes through the histories of both engines by itself',
  'test/store/file-kills.test.ts': 'opens no store of rows',
  'test/store/file-stores.test.ts':
    'what differs is where bytes are; test/contract/files.test.ts and test/store/file-garbage.test.ts have rows with files on both',
  'content/test/cli/backup.test.ts':
    'backup and restore are for a file; a database has tools of its own',
  'content/test/cli/backups.test.ts':
    'backup and restore are for a file; a database has tools of its own',
  'test/cli/failures.test.ts': 'what commands say of files does not depend on the store',
  'test/cli/formulas.test.ts': 'CSV does not depend on the store',
  'test/cli/full-log.test.ts': 'the log does not depend on the store',
  'test/cli/hang-ups.test.ts': 'sockets do not depend on the store',
  'test/cli/heads.test.ts': 'heads of requests do not depend on the store',
  'test/cli/memory.test.ts': 'bodies, answers and connections do not depend on the store',
  'test/cli/dev.test.ts':
    'files, restarts and terminals do not depend on the store; drafts for both have tests of their own',
  'test/cli/explain.test.ts': 'names both engines by itself, and opens no store',
  'test/cli/init.test.ts':
    'what is in a project does not depend on the store; examples are on both in recipes.test.ts, outbox.test.ts and test-service.test.ts, and tutorial.test.ts has a project on PostgreSQL',
  'test/cli/documents.test.ts': 'documents of a folder do not depend on the store',
  'test/cli/import-values.test.ts':
    'the forms of files and of values in them do not depend on the store; import-ids.test.ts imports into both',
  'content/test/cli/mail.test.ts': 'mail does not depend on the store',
  'content/test/cli/move.test.ts': 'goes from one engine to the other by itself',
  'test/cli/move-own-kind.test.ts': 'goes from one engine to the other by itself',
  'test/cli/own-files.test.ts': 'the files beside a SQLite store, and what opens none',
  'test/cli/start.test.ts': 'settings and ports do not depend on the store',
  'test/cli/token.test.ts': 'tokens do not depend on the store',
  'content/test/cli/usage.test.ts': 'usage does not depend on the store',
  'test/generic/own-versions.test.ts': 'versions are decided before the store is asked, or after',
  'test/generic/rest.test.ts':
    'methods, headers and faults of bodies do not depend on the store; check.test.ts writes on both',
  'test/model/drafts.test.ts':
    'SQLite drafts; content/test/postgres/migrate.test.ts has those of PostgreSQL',
  'test/model/field.test.ts':
    'SQLite drafts; content/test/postgres/migrate.test.ts has those of PostgreSQL',
  'content/test/store/answers.test.ts': 'answers are cached on SQLite only',
  'test/store/connection.test.ts': 'the pragmas and limits of a SQLite connection',
  'test/store/damage.test.ts': 'the bytes of a SQLite file',
  'test/store/draft.test.ts': 'drafts for both engines by itself',
  'test/store/end.test.ts': 'what a SQLite file has at the end',
  'test/store/group-commit.test.ts': 'the group commit of SQLite',
  'content/test/store/migrate.test.ts':
    'migrations of a file; content/test/postgres/migrate.test.ts has the others',
  'test/store/used-indexes.test.ts': 'explains on both engines by itself',
  'content/test/store/serve.test.ts':
    'the lock of a SQLite file, and kills that its log has to survive',
  'content/test/store/migration-safety.test.ts': 'reads the migrations of both engines by itself',
  'test/store/problems.test.ts': 'the disk below a SQLite file',
  'test/store/shared-log.test.ts': 'the log of a SQLite file',
  'content/test/store/threads.test.ts': 'threads serve a SQLite file',
  'test/store/writer.test.ts': 'the writer thread of SQLite',
}

/** Those whose run on PostgreSQL does all that their run on SQLite does, with the reason: they run on SQLite only where there is no PostgreSQL. */
export const wholeOnPostgres = {
  'test/cli/check.test.ts':
    'it checks on SQLite first, and what is planted is found by one reference on either engine',
  'test/generated/both-apis.test.ts': 'it compares both engines',
  'test/cli/tutorial.test.ts': 'the tutorial begins on SQLite, and ends on PostgreSQL',
}

/** Whether a test file is run again on PostgreSQL. */
export const runsOnPostgres = file => onBoth.test(file) && !Object.hasOwn(onSqliteOnly, file)

/** Those that take longest, by `npm test -- --slowest`: each has a process of its own, and they begin in this order, so that at the end no processor waits for one. */
export const longest = [
  'test/generated/kinds.test.ts',
  'content/test/store/serve.test.ts',
  'content/test/field-example.test.ts',
  'content/test/postgres/processes.test.ts',
  'content/test/postgres/faults.test.ts',
  'content/test/postgres/replicas.test.ts',
]

const placeOf = file => (longest.includes(file) ? longest.indexOf(file) : longest.length)

/** Sorts test files: the longest first, the others by their names. */
export const longFirst = (one, other) =>
  placeOf(one) - placeOf(other) || (one < other ? -1 : Number(one > other))
