// The threats to the service, each with the tests that show what becomes of it: the source of docs/reliability.md.
//
// A row is its number, the threat, and the tests as `file: title`, where `…` stands for a generated part of
// a title. What is left to say follows; it begins with one of the words of `kinds` where the tests do not show all.

/** What a remark begins with, and what a row with it is counted as. */
export const kinds = {
  'In part': 'shown in part',
  'Not shown': 'not shown',
  Deliberate: 'deliberately otherwise',
}

const storage = [
  [
    'A1',
    'The process is killed in the middle of writes',
    [
      'test/store/serve.test.ts: four times kill -9 under writes lose no acknowledged write',
      'test/nightly/kill.test.ts: … times kill -9 under writes lose no acknowledged write',
    ],
    'In part: some 200 kills in a night, under 16 writers, not a thousand under 32.',
  ],
  [
    'A2',
    'The power fails',
    [
      'test/nightly/powercut.test.ts: … power cuts lose no acknowledged write and leave nothing half done',
      'test/nightly/powercut.test.ts: a writer that does not wait for the disk loses acknowledged writes in the same simulation',
      'test/store/connection.test.ts: … is … on every connection: …',
    ],
    'In part: 3,000 cuts, not 10,000, and a store that is never synced is not among the controls.',
  ],
  [
    'A3',
    'An answer leaves before its write is on the disk',
    [
      'test/nightly/powercut.test.ts: … power cuts lose no acknowledged write and leave nothing half done',
    ],
    'In part: some 200 acknowledged writes, not a thousand. The recording has the answers too, in their order among writes and syncs.',
  ],
  [
    'A4',
    'A sync fails, and nobody knows whether the commit is on the disk',
    [
      'test/nightly/faults.test.ts: … rounds of … end the service within a second, and keys heal what was in doubt',
      'test/nightly/faults.test.ts: a writer that takes a failed commit for undone and goes on is wrong: the row comes back',
      'test/store/writer.test.ts: after a commit that fails no write is acknowledged, and nothing more is written',
    ],
    'In part: 20 rounds, not a hundred.',
  ],
  [
    'A5',
    'A write to the disk fails or is torn',
    [
      'test/nightly/faults.test.ts: … rounds of … end the service within a second, and keys heal what was in doubt',
      'test/nightly/powercut.test.ts: … power cuts lose no acknowledged write and leave nothing half done',
    ],
    'In part: 20 rounds, not 200. The power cuts tear writes between sectors.',
  ],
  [
    'A6',
    'A second fault while the service recovers from the first',
    [
      'test/store/serve.test.ts: kill -9 amid the restart after a kill -9 loses no acknowledged write either',
      'test/nightly/kill.test.ts: … times kill -9 amid the restart after a kill -9 lose no acknowledged write either',
    ],
  ],
  [
    'A7',
    'The disk is full',
    [
      'test/store/writer.test.ts: a full disk refuses writes, keeps what is there, and takes writes again when there is room',
      'test/store/problems.test.ts: a service on a disk with too little room says that it is read-only, and still reads',
      'test/nightly/faults.test.ts: a disk that is full keeps all that was acknowledged and takes writes when there is room',
      'test/nightly/faults.test.ts: below the least room writes are refused before the disk is full',
    ],
    'In part: the disk is filled once in each, not twenty times.',
  ],
  [
    'A8',
    'The disk is slow',
    [
      'test/nightly/group.test.ts: with 3 ms more for each sync 64 callers write ten times what one does',
      'test/store/writer.test.ts: a full queue is 503 with Retry-After in both APIs, and reads are served meanwhile',
    ],
    'In part: missed: with 3 ms more for each sync the slowest reads take far more than twice their time without load (see *found last*); the test prints it and does not assert it. Syncs of 200 ms are not tried.',
  ],
  [
    'A9',
    'Bytes of the file change by themselves',
    [
      'test/cli/backup.test.ts: what is no good backup is refused, and the store stays as it was',
      'test/cli/backup.test.ts: a store that is damaged beyond reading is replaced with --force only',
      'test/store/damage.test.ts: damaged pages cost what is on them: the rest is served, nothing crashes, and the service says that it is not well',
      'test/store/damage.test.ts: a store that cannot be read from its beginning is refused with a line, by serve and by backup',
      'test/store/damage.test.ts: a damaged byte in the log costs the writes from there on, and none before',
      'test/nightly/damage.test.ts: … changed bytes of a store crash nothing, hold nobody up, and bring no row of another table',
      'test/nightly/damage.test.ts: … changed bytes of the log each cost the writes from there on, and none before',
    ],
    'In part: a byte of the schema that makes the name of a column another one is a 500 for what asks for it, and `/readyz` stays well. A byte within a row that stays readable garbles what is answered of that row, and is found by `backup` at the latest where it breaks the form of its page, else by nobody: SQLite has no checksums of pages.',
  ],
  [
    'A10',
    'A long read keeps the log of the store from being carried over',
    [
      'test/store/connection.test.ts: a scan that takes too long is stopped and answered 503, and the next read is served',
      'test/store/serve.test.ts: SIGTERM under load loses nothing that was acknowledged, and the log is carried over into the store',
      'test/nightly/log.test.ts: while … reads hold their snapshots until they are cut off, each beside … writes, the log stays below 128 MiB, and below 64 after',
    ],
    'That is 500 writes a second. What bounds the log is the time of a read (`DUET_READ_TIMEOUT`) and the rate of writes: no size is enforced while a read holds it.',
  ],
  [
    'A11',
    'Another program holds the lock for writing',
    [
      'test/store/writer.test.ts: while another program writes, a write that waited long enough is OVERLOADED and the service lives on',
      'test/cli/import.test.ts: a store takes an import while it is served, and the service shows the rows',
    ],
    'In part: the lock is held for seconds, not again and again during an hour of load.',
  ],
  [
    'A12',
    'A second service on one file, or the file taken away from below the first',
    [
      'test/store/serve.test.ts: a second service on one store refuses with a line that says what to do, and the first goes on',
      'test/store/serve.test.ts: the lock of a service that was killed is not left behind',
      'test/store/serve.test.ts: when its file is replaced, a service acknowledges no further write, says so and ends with 1',
      'test/store/serve.test.ts: when its file is deleted, a service without any request ends with 1',
      'test/checkout.test.ts: the pinned Node is the one that package.json names',
    ],
    'The pinned Node brings the SQLite it was tested with.',
  ],
  [
    'A13',
    'A backup while writes go on',
    [
      'test/cli/backups.test.ts: a series keeps the newest backups, survives one that fails, and ends on SIGTERM with 0',
      'test/cli/backup.test.ts: backups of a store under writes are consistent, and the writes go on',
      'test/nightly/backup.test.ts: … backups under writes are each consistent, and each has more than the one before',
    ],
    'In part: how long writes wait beside a backup is not asserted.',
  ],
  [
    'A14',
    'A backup that is interrupted',
    [
      'test/cli/backups.test.ts: a series that is ended amid a backup leaves nothing of it',
      'test/cli/backup.test.ts: five backups ended by kill -9 leave no half file under the final name',
      'test/nightly/backup.test.ts: … backups ended by kill -9 leave no half file under the final name',
    ],
  ],
  [
    'A15',
    'A backup that cannot be restored',
    [
      'test/cli/backups.test.ts: a backup is tried aside: it says what is in it, and touches no store',
      'test/cli/backup.test.ts: a restored store has every row of the backup, and is served again',
      'test/cli/backup.test.ts: a backup is restored where there is no store, or an empty one',
      'test/generic/commands.test.ts: a backup has all that the store has',
    ],
    'In part: the time of a restore is not measured.',
  ],
  [
    'A16',
    'The disk is lost, with a continuous copy elsewhere',
    [
      'test/store/shared-log.test.ts: with DUET_WAL=shared a program that was away finds all of the log, across a restart too',
      'test/store/shared-log.test.ts: above DUET_WAL_MAX Duet checkpoints the log all the same and says so, or says what is in the way',
    ],
    'In part: with a stand-in for Litestream, which did not run here.',
  ],
  [
    'A17',
    'The thread that writes dies',
    [
      'test/store/writer.test.ts: a writer that dies rejects what waits with UNAVAILABLE, says so once, and hangs nobody',
    ],
    'In part: it dies once, not 200 times.',
  ],
  [
    'A18',
    'In a common commit the failure of one write spoils the others',
    [
      'test/store/writer.test.ts: of jobs that commit together, just those fail that would fail alone, and leave nothing',
      'test/store/writer.test.ts: without a savepoint for each job the same property does not hold',
    ],
    'In part: 100 random groups, not 10,000.',
  ],
  [
    'A19',
    'A read after a write does not show it',
    [
      'test/nightly/answers.test.ts: of … answers from the cache none is older than it may be (DUET_SEED=…)',
      'test/nightly/answers.test.ts: changes that are told only after the commit let older answers through, and the race finds them',
      'test/store/writer.test.ts: what is written through one API is read through the other at once',
      'test/contract/rest-deletes.test.ts: what one API writes the other reads at once, fifty times over',
      'test/postgres/replicas.test.ts: a write is seen by the very next read that names it, 200 times',
    ],
  ],
  [
    'A20',
    'A migration is interrupted, or begun by several at once',
    [
      'test/store/migrate.test.ts: a migration that fails leaves nothing of itself and nothing of those before it',
      'test/store/migrate.test.ts: of several that migrate one store at once, one applies and the others find it done',
      'test/postgres/migrate.test.ts: a migration outside a transaction that was broken off is run again, and what it left half done is made anew',
      'test/postgres/migrate.test.ts: a store in PostgreSQL that is empty is migrated once by … processes that start at once',
    ],
    'In part: migrations fail by their statements there, and not by kill -9.',
  ],
  [
    'A21',
    'The clock jumps',
    [
      'src/auth/authenticate.test.ts: a token that was verified is refused at its first use after exp and the skew, for 1,000 tokens',
      'src/auth/authenticate.test.ts: a token that was verified is refused where the clock has gone back before its nbf',
      "test/store/clock.test.ts: where the clock is …, ids ascend, times are the clock's, and a walk by cursors goes on where it was",
      'test/store/clock.test.ts: where the clock is …, a token counts by its times, and no longer than it should',
      'test/store/clock.test.ts: a pay that is sent again with its key after the clock went back a day has its one effect',
    ],
    'The clock of the service is moved, not that of the machine.',
  ],
  [
    'A22',
    'A slow leak of memory',
    [
      'test/nightly/abuse.test.ts: … minutes of mixed abuse lose nothing, and take … MiB in the mean after two minutes and no more in the end than then',
    ],
    'In part: it lasts minutes, not hours.',
  ],
  [
    'A23',
    'Memory runs out',
    [
      'test/nightly/abuse.test.ts: … minutes of mixed abuse find a service with a heap of 256 MiB alive, in … MiB in the mean after two minutes',
      'test/store/lanes.test.ts: a thread that read very much is ended without a word, and another serves the next read',
    ],
    'In part: no test has the process itself die of it, wanted are twenty such deaths; they are as when it is killed.',
  ],
]

const postgres = [
  [
    'B1',
    'The database server crashes, or another takes its place',
    [
      'test/postgres/failover.test.ts: goes on with the other when that is promoted, and leaves one that takes no more writes at once',
      'test/postgres/failover.test.ts: does not go back to the old one, even when it says that it takes writes and the new one is gone',
      'test/postgres/failover.test.ts: makes the service look for another primary again and again before it is given up',
      'test/nightly/cluster.test.ts: … rounds, …: nothing acknowledged is lost, nothing is done twice',
      'test/postgres/faults.test.ts: a service outlives crashes of the server, and loses nothing that was acknowledged',
      'test/nightly/postgres-faults.test.ts: outlives … crashes of the server (…)',
      'test/nightly/postgres-faults.test.ts: loses what was acknowledged where commits do not wait, and the rounds show it',
    ],
    'In part: 40 crashes in a night, not 150.',
  ],
  [
    'B2',
    'Sessions are ended under load',
    [
      'test/postgres/faults.test.ts: a service hardly notices sessions that are ended',
      'test/nightly/postgres-faults.test.ts: hardly notices that … sessions are ended',
      'src/engines/postgres/connection/pool.test.ts: a session that is ended in the very turn in which it is made fails its work, and nothing else',
    ],
  ],
  [
    'B3',
    'The reply to a commit is lost',
    [
      'test/postgres/faults.test.ts: a service that lost the reply to a commit says so, and does nothing twice',
      'test/nightly/postgres-faults.test.ts: does nothing twice where the replies to … commits are lost',
    ],
  ],
  [
    'B4',
    'The network swallows everything in silence',
    [
      'test/postgres/faults.test.ts: a service with a silent wire answers while it is silent',
      'test/nightly/postgres-faults.test.ts: answers while its wire is silent, however long',
    ],
  ],
  [
    'B5',
    'The database is away, at the start or later',
    [
      'test/postgres/faults.test.ts: a service without its database says so until it is back',
      'test/postgres/faults.test.ts: a service without the right to its database does not start, and says why',
      'test/nightly/postgres-faults.test.ts: reports the database as unavailable until it is back, however long',
    ],
    'In part: it is away for seconds, not for five minutes.',
  ],
  [
    'B6',
    'All connections are taken',
    [
      'test/postgres/faults.test.ts: a service with a locked database answers while it is locked, and writes nothing late',
    ],
  ],
  [
    'B7',
    'Bad requests take up connections',
    ['test/http/store-calls.test.ts: a request that is bad by itself asks nothing of the store'],
  ],
  [
    'B8',
    'Transactions lock each other out',
    [
      'test/postgres/faults.test.ts: a service tries again what was locked crosswise',
      'test/nightly/postgres-faults.test.ts: tries again what was locked crosswise … times',
    ],
    'In part: until the service has lost in 100 deadlocks, which is less than 10,000 crossing writes.',
  ],
  [
    'B9',
    'The two databases behave differently',
    [
      'test/postgres/equal/rounds.ts: … generated requests have the same answers, to the letter',
      'test/generated/compare.ts: the generated model … is served alike by the engines and the reference',
      'test/engines.test.ts: every contract test runs on PostgreSQL too, a new one as well',
    ],
  ],
  [
    'B10',
    'What the driver and the server do with odd values',
    [
      'test/postgres/traps.test.ts: a number of eight bytes, which the driver gives as text, is a number in an answer',
      'test/postgres/traps.test.ts: the longest texts that are indexed are stored, and longer ones refused',
      'test/postgres/traps.test.ts: a page or an offset of … is empty',
      'test/postgres/traps.test.ts: texts that PostgreSQL cannot keep are refused before it sees them',
    ],
  ],
  [
    'B11',
    'An update is lost, or two contradict each other, across processes',
    [
      'test/contract/rest-preconditions.test.ts: of twenty writers of … with one ETag exactly one wins',
      'test/postgres/processes.test.ts: pays of an order at the same moment, over both: exactly one takes effect, 50 times',
    ],
    'In part: races for one row are tried, and no history of many writes over several processes is checked for contradictions.',
  ],
  [
    'B12',
    'PostgreSQL is upgraded to a new major version while it is served',
    [
      'test/nightly/upgrade.test.ts: takes writes while it is copied, and again where a switch fails after they were ended',
      'test/nightly/upgrade.test.ts: is carried to a newer one without a restart: nothing acknowledged is lost, nothing is done twice',
      'test/nightly/upgrade.test.ts: keeps its counts, and takes no write on the older one any more',
      'test/nightly/upgrade.test.ts: answers a position from before as held, and one beyond the end of the older log as lost',
      'src/engines/postgres/read/timelines.test.ts: a position in the log of an earlier system is held up to where that was left, whatever the log of the next one says',
      'src/engines/postgres/read/timelines.test.ts: nobody knows of a position that may be of either of two systems',
    ],
  ],
]

const orders = [
  [
    'C1',
    'An order is paid twice at the same moment',
    [
      'test/store/race.test.ts: of 20 pays of an order at the same moment exactly one takes effect, each time',
      'test/store/race.test.ts: without its guard the same transition happens more than once, and the invariants fail',
      'test/nightly/race.test.ts: of 50 pays of an order at the same moment exactly one takes effect, … times',
      'test/postgres/processes.test.ts: pays of an order at the same moment, over both: exactly one takes effect, 50 times',
    ],
  ],
  [
    'C2',
    'An order is paid and cancelled at the same moment',
    [
      'test/store/race.test.ts: of pays and cancels at the same moment one takes effect, and the stock is right after either',
    ],
    'In part: 60 orders with 20 requests each, not 2,000 with 50.',
  ],
  [
    'C3',
    'A way around the states of an order',
    [
      'test/store/orders-model.test.ts: orders, stock and replays are as a model has them after any steps, restarts among them',
    ],
    'In part: 50 random runs, not 2,000.',
  ],
  [
    'C4',
    'A request is sent again because its answer was lost',
    [
      'test/contract/keys.test.ts: a pay whose answer was lost is answered again byte for byte, also when the order moved on since',
      'test/nightly/kill-pays.test.ts: … times kill -9 amid pays: with its key each is paid once, and its answer stays the same',
    ],
    'In part: 50 answers are lost on purpose and those of 200 kills, not 5,000.',
  ],
  [
    'C5',
    'One key for two different requests',
    [
      'test/contract/keys.test.ts: a key with another body, path or method is refused, does nothing, and keeps its first answer',
      'test/contract/versions.test.ts: a key that was used in one version is not replayed to another',
      'test/contract/keys.test.ts: REST and GraphQL know one key as two',
    ],
  ],
  [
    'C6',
    'One key at the same moment',
    [
      'test/contract/keys.test.ts: twenty requests with one key at the same moment have one effect and one answer',
      'test/postgres/processes.test.ts: one key at the same moment to both: one effect, and the same answer from each',
    ],
    'In part: 25 times, not a thousand.',
  ],
  [
    'C7',
    'The key of somebody else',
    [
      'test/contract/keys.test.ts: a key is its caller’s own: with another’s key one gets an effect of one’s own',
      'test/contract/gone-callers.test.ts: each service has idempotency keys of its own, apart from callers without a token',
    ],
  ],
  [
    'C8',
    'A key of a wrong form',
    [
      'test/contract/keys.test.ts: a key of another form than 1 to 255 visible ASCII characters is refused and keeps nothing',
    ],
  ],
  [
    'C9',
    'A refused request uses its key up',
    [
      'test/contract/keys.test.ts: a request that did nothing does not use its key up',
      'test/contract/rate-limit.test.ts: a refused write does nothing, is not read, and leaves its Idempotency-Key free',
    ],
  ],
  [
    'C10',
    'A key expires',
    [
      'test/contract/keys.test.ts: after a day a key counts no more and is dropped in small batches, and a paid order stays paid once',
      'test/contract/keys.test.ts: a service drops old responses at its start and then periodically, until it ends',
    ],
  ],
  [
    'C11',
    'A crash between an effect and its stored answer',
    [
      'test/nightly/kill-pays.test.ts: … times kill -9 amid pays: with its key each is paid once, and its answer stays the same',
    ],
    'In part: 200 kills, not 500. Both are in one transaction.',
  ],
  [
    'C12',
    'A commit with a key and an unknown outcome',
    [
      'test/nightly/faults.test.ts: … rounds of … end the service within a second, and keys heal what was in doubt',
      'test/postgres/faults.test.ts: a service that lost the reply to a commit says so, and does nothing twice',
    ],
  ],
  [
    'C13',
    'Money is rounded or overflows',
    [
      'test/store/money.test.ts: amounts in … are exact sums of whole minor units',
      'test/store/money.test.ts: an order that comes to more than a whole number can be is refused, and takes nothing',
      'test/store/money.test.ts: quantities that are no whole number from 1 to 1000 order nothing',
      'src/model/money.test.ts: a decimal number of any length and exponent is exact to its last minor unit',
    ],
    'In part: 30 random orders in each currency, not 100,000.',
  ],
  [
    'C14',
    'Price or stock change while an order is placed',
    [
      'test/store/money.test.ts: fifty buyers of ten pieces get ten, at the price of that moment, and the others are refused',
    ],
    'In part: once, not a thousand times.',
  ],
  [
    'C15',
    'One change overwrites another',
    [
      'test/contract/rest-preconditions.test.ts: of twenty writers of … with one ETag exactly one wins',
      'test/generic/writes.test.ts: a change asks for the revision that its caller saw, where he says so',
    ],
    'In part: once for each path, not a thousand times.',
  ],
  [
    'C16',
    'Many pays in one GraphQL operation',
    [
      'test/contract/graphql.test.ts: stop at the one that fails, and keep what is done',
      'test/contract/rate-limit.test.ts: an operation with n mutations counts n, and is refused before the first where that is above the limit',
    ],
  ],
]

const graphql = [
  [
    'D1',
    'Deep nesting, through fragments too',
    [
      'test/contract/graphql-limits.test.ts: … … are served, … are …',
      'src/graphql/limits.test.ts: depth, aliases and root fields are counted as a plain count of the written-out operation has them',
    ],
  ],
  [
    'D2',
    'Long documents, many tokens or comments',
    [
      'test/contract/graphql-limits.test.ts: … … are served, … are …',
      'test/contract/graphql-limits.test.ts: each limit is a setting',
    ],
  ],
  [
    'D3',
    'One field under many aliases',
    ['test/contract/graphql-limits.test.ts: … … are served, … are …'],
    'Those in fragments are counted where they are spread.',
  ],
  [
    'D4',
    'Many directives, known or not',
    ['test/contract/graphql-limits.test.ts: … … are served, … are …'],
  ],
  [
    'D5',
    'A document that asks for more rows than anybody reads',
    [
      'test/contract/graphql-limits.test.ts: 10,000 of them are served and 10,001 refused, with the way out, and never cut short',
      'test/contract/graphql-limits.test.ts: objects are not read further than the limit allows',
    ],
    'In part: objects are counted while they are read, not before, as lists without a limit are whole by the specification ([limits](graphql.md#limits)).',
  ],
  [
    'D6',
    'A request that runs for long',
    [
      'test/store/lanes.test.ts: a read that runs until its time is up is 503 TIMEOUT, and the next one is served',
      'test/store/connection.test.ts: a scan that takes too long is stopped and answered 503, and the next read is served',
      'test/postgres/faults.test.ts: a service with a locked database answers while it is locked, and writes nothing late',
    ],
    'In part: a few times each, not a hundred.',
  ],
  [
    'D7',
    'Many operations in one request',
    ['test/contract/graphql-http.test.ts: …, …'],
    'A list of operations is no request: 400.',
  ],
  [
    'D8',
    'Fragments in a circle, or a bomb of them',
    [
      'test/contract/graphql-limits.test.ts: fragments that double … times are refused',
      'test/contract/graphql-limits.test.ts: fragments in a circle are refused',
      'src/graphql/limits.test.ts: a bomb of fragments, which would never end if it were written out, is measured',
    ],
  ],
  [
    'D9',
    'Documents that are slow to validate',
    [
      'test/contract/graphql-limits.test.ts: fields of one name are too many where comparing them all is too much',
      'test/contract/graphql-limits.test.ts: …: refused',
      'test/nightly/hold.test.ts: no request of at most 1 MiB holds the event loop for more than … ms on …',
    ],
    'In part: how long others wait beside a stream of such documents is not measured.',
  ],
  [
    'D10',
    'Nesting that exhausts the stack',
    [
      'test/contract/graphql-limits.test.ts: … … deep are refused',
      'test/contract/graphql-limits.test.ts: variables … deep are refused',
      'src/http/json.test.ts: 32 levels are read and 33 are not',
    ],
  ],
  [
    'D11',
    'Introspection and suggestions that tell the schema',
    [
      'test/contract/graphql.test.ts: introspection is refused while it is off, at any place; __typename is served',
      'test/contract/graphql.test.ts: being off hides every name: near misses are reported without a suggestion',
      'test/contract/graphql.test.ts: deeper than graphql-js allows is refused even while it is on',
    ],
    'In part: some 1,200 near misses, not 5,000.',
  ],
  [
    'D12',
    'Errors that show the inside',
    [
      'test/http/store-calls.test.ts: whatever the store throws below any operation is 500 with the id of the request, and tells nothing more',
      'test/contract/graphql.test.ts: errors of a store that is broken show no SQL, path, stack or table, in either API',
      'test/contract/graphql.test.ts: errors of the server hide their reason, give the request id, and are observed',
      'test/contract/bad-input.test.ts: … with … is … …',
    ],
  ],
  [
    'D13',
    'A mutation by GET or QUERY',
    [
      'test/contract/graphql-http.test.ts: GET refuses a mutation with 405 and Allow, way …',
      'test/contract/query-method.test.ts: a mutation by QUERY is refused with 405, also under a key, and nothing is written',
    ],
  ],
  [
    'D14',
    'A form of a foreign page as a request',
    [
      'test/contract/graphql-http.test.ts: … is refused with 415 for …',
      'test/contract/graphql-http.test.ts: GET with the Content-Type … is …',
      'test/contract/graphql-http.test.ts: a body without a type is refused with 415',
    ],
  ],
  [
    'D15',
    'Odd character sets',
    ['test/contract/graphql-http.test.ts: … is refused with 415 for …'],
  ],
  [
    'D16',
    'Deviations from GraphQL over HTTP',
    ['test/contract/graphql-http.test.ts: graphql-http has 61 audits'],
    'All 61 pass.',
  ],
  [
    'D17',
    'A query for each row',
    [
      'test/contract/differential.test.ts: asks the store once, in one moment, with one statement a level at the most',
      'test/contract/differential.test.ts: of ten users, their posts, comments and authors is a statement a level, or one for them all',
    ],
  ],
  [
    'D18',
    'Distinct documents fill the memory',
    [
      'src/graphql/document.test.ts: a thousand small documents are kept, of large ones as many as fit into the memory for them',
      'src/graphql/document.test.ts: what is derived from operations is kept while it fits into the memory for it',
      'src/graphql/document.test.ts: bad documents never push a good one out',
      'src/graphql/document.test.ts: documents, their faults and what is derived from them are in the account of memory, and never above it',
      'test/nightly/documents.test.ts: … documents that are new each time take at most … MiB more in the mean than 200 usual requests',
    ],
    'In part: with tens of thousands of documents, not a million.',
  ],
  [
    'D19',
    'A detour through the graph to what is closed',
    [
      'test/contract/policy.test.ts: every path of the schema is walked: there are many, and some are seven levels long',
      'test/contract/policy.test.ts: every path of the schema to a user’s … is closed to anonymous and open to any token',
      'test/contract/policy.test.ts: in fragments, under aliases, merged and conditional, shows anonymous no closed field',
    ],
  ],
  [
    'D20',
    'Guesses by the hundred in one request',
    [
      'test/contract/rate-limit.test.ts: the sign-ups of one address without a token are limited, each one of an operation too, and those of an admin not',
      'test/contract/rate-limit.test.ts: an operation with n mutations counts n, and is refused before the first where that is above the limit',
      'test/contract/graphql-limits.test.ts: … … are served, … are …',
    ],
  ],
]

const tokens = [
  [
    'E1',
    'A token that chooses its algorithm',
    [
      'src/auth/authenticate.test.ts: alg "…" is refused, signed or not',
      'src/auth/authenticate.test.ts: alg … is refused',
      'src/auth/keys.test.ts: HS256 with the public … key as … for its secret is refused',
      'src/auth/keys.test.ts: alg … and kid …, signed by the … key, is refused',
    ],
  ],
  [
    'E2',
    'A token that brings or names its key',
    [
      'src/auth/authenticate.test.ts: keys that a token brings or names are not used and not fetched',
      'src/auth/authenticate.test.ts: kid … is refused',
    ],
  ],
  [
    'E3',
    'Claims that are missing or odd',
    [
      'src/auth/token.test.ts: a token with … is refused',
      'src/auth/token.test.ts: a payload of … is refused',
    ],
  ],
  [
    'E4',
    'Clocks that differ',
    [
      'src/auth/token.test.ts: a token with … is refused',
      'src/auth/authenticate.test.ts: a token that was verified is refused at its first use after exp and the skew, for 1,000 tokens',
    ],
  ],
  [
    'E5',
    'A remembered token outlives its end',
    [
      'src/auth/authenticate.test.ts: a token that was verified is refused at its first use after exp and the skew, for 1,000 tokens',
      'src/auth/authenticate.test.ts: the memory of verified tokens holds at most 10,000 tokens of 25,000, the newest 5,000 among them',
      'src/auth/authenticate.test.ts: a token that was verified is still answered at once after 10,000 tokens that failed',
    ],
  ],
  [
    'E6',
    'A role that was taken back, a user that was suspended or deleted',
    [
      'test/contract/rest-rights.test.ts: a token that its own user was suspended after writes no more, and still reads',
      'test/contract/rest-rights.test.ts: a suspended admin writes nothing either',
      'test/contract/gone-callers.test.ts: with a token of a deleted user every write is 403, also an admin’s and in both APIs, and changes nothing',
      'test/contract/rest-rights.test.ts: the role is the one in the token, whatever the user of it is',
    ],
    'Deliberate: the role is that of the token, for at most 24 hours ([tokens](policy.md#tokens)).',
  ],
  [
    'E7',
    'Keys change while the service runs',
    [
      'src/auth/keys.test.ts: a key set from a server is rotated three times: every key counts while it is in the set, and within 5 minutes not after',
      'src/auth/keys.test.ts: a key set in a file is read again 5 seconds later: a new key counts, a removed one does not',
    ],
  ],
  [
    'E8',
    'A flood of keys that nobody knows',
    [
      'src/auth/keys.test.ts: a key set from a server is fetched at most 3 times in a minute of 10,000 unknown kids, and good tokens go on',
    ],
  ],
  [
    'E9',
    'The server of the keys is away, slow, huge or leads elsewhere',
    [
      'src/auth/keys.test.ts: a server of key sets that is away for 59 minutes leaves the known keys working, remembered or not, and nobody waits',
      'src/auth/keys.test.ts: a server of key sets that is away answers without end, which is cut off after 64 KiB',
      'src/auth/keys.test.ts: a server of key sets that is away answers …, which is not followed',
      'src/auth/keys.test.ts: a server of key sets that is away is given up where it drips its answer',
    ],
  ],
  [
    'E10',
    'Weak keys',
    [
      'test/cli/commands.test.ts: production does not start without a key for tokens, nor with a weak one, and never shows it',
      'src/auth/keys.test.ts: RSA of 1,024 bits beside a good key is not accepted',
      'src/auth/token.test.ts: a weak secret mints nothing',
    ],
  ],
  [
    'E11',
    'Several spellings of one token',
    [
      'src/auth/authenticate.test.ts: the spelling of a token is one: other last characters for the same bytes are refused, for 1,000 tokens',
      'src/auth/authenticate.test.ts: matters in the header and the claims too, even where they are signed',
    ],
  ],
  [
    'E12',
    'A token of odd size or form',
    [
      'src/auth/authenticate.test.ts: a token of 8 KiB is accepted, and with one character more it is refused',
      'src/auth/authenticate.test.ts: a header whose bytes are random is refused, 2,000 times',
      'src/auth/authenticate.test.ts: the scheme … is accepted',
    ],
  ],
  [
    'E13',
    'Claims that are inherited',
    [
      'src/auth/token.test.ts: … is user 7 and no admin',
      'src/auth/token.test.ts: … names no user',
      'src/auth/authenticate.test.ts: an alg that the header only inherits is none',
    ],
  ],
  [
    'E14',
    'Secrets, tokens or addresses in the log',
    [
      'test/cli/log.test.ts: no line of the log has a token, an address, a body, a query, a cookie, a key or a secret',
    ],
  ],
  [
    'E15',
    'Checks of forged signatures take up the processor',
    [
      'test/contract/rate-limit.test.ts: above the limit of its address a token is refused before its signature is checked',
      'test/contract/rate-limit.test.ts: a bad token counts for the address, and is refused with it',
    ],
    'In part: the latency of others meanwhile is not measured.',
  ],
]

const owasp = [
  [
    'F1',
    'Things of others (API1)',
    [
      'test/contract/policy.test.ts: the table has a row for every operation of REST, and no other',
      'test/contract/policy.test.ts: the table has a row for every root field of GraphQL, and no other',
      'test/contract/policy.test.ts: the two APIs give the same verdict on the same thing',
      'test/contract/policy.test.ts: … by … is …',
    ],
  ],
  [
    'F2',
    'Who one is (API2)',
    [
      'src/auth/authenticate.test.ts: … is refused',
      'src/auth/token.test.ts: a token with … is refused',
    ],
    'There are no passwords and no log-in to time; the rows of tokens have the rest.',
  ],
  [
    'F3',
    'Members that are not the caller’s to set or to see (API3)',
    [
      'test/contract/policy.test.ts: members that the caller may not set are refused by every input of GraphQL, and nothing changes',
      'test/contract/policy.test.ts: … is set by an admin, and by nobody else',
      'test/contract/rest-values.test.ts: a … takes none of … from a caller',
      'src/write/input.test.ts: whatever an input holds, it is either stored by the fields’ names or told by its own',
    ],
    'In part: a thousand random inputs, not 5,000.',
  ],
  [
    'F4',
    'Consumption without bounds (API4)',
    [
      'test/contract/graphql-limits.test.ts: … … are served, … are …',
      'src/config.test.ts: every limit takes its least and its largest value',
      'test/cli/memory.test.ts: a budget can be taken to the last byte, and one byte more is refused and takes nothing',
      'src/http/json.test.ts: 1,000 members are read and 1,001 are not, at every depth',
    ],
    'The rows of GraphQL, HTTP and load have the limits one by one.',
  ],
  [
    'F5',
    'Functions of admins by another way (API5)',
    [
      'test/contract/policy.test.ts: no spelling of a path, method or header lets a user reach what is an admin’s',
      'test/contract/rest-http.test.ts: a method in a header or a parameter is no method',
    ],
  ],
  [
    'F6',
    'Flows that are overused (API6)',
    [
      'test/contract/rate-limit.test.ts: the sign-ups of one address without a token are limited, each one of an operation too, and those of an admin not',
      'test/contract/verify-email.test.ts: an address gets five messages in an hour at most',
    ],
    'In part: comments and orders have the limit of all requests only, not one of their own.',
  ],
  [
    'F7',
    'Requests that the service is made to send (API7)',
    [
      'src/auth/authenticate.test.ts: keys that a token brings or names are not used and not fetched',
      'src/auth/keys.test.ts: a server of key sets that is away answers …, which is not followed',
      'test/contract/rest-values.test.ts: an image is an absolute http or https URL of at most 2,048 characters without credentials, or null',
    ],
    'Only the key set and the mail server of the settings are ever called; no URL of a caller is.',
  ],
  [
    'F8',
    'Headers and settings (API8)',
    [
      'test/contract/rest-http.test.ts: an answer that is no page loads nothing and is in no frame',
      'test/contract/rest-http.test.ts: every origin may read by default, without credentials, and sees the headers of the contract',
      'test/contract/rest-http.test.ts: where origins are listed, just those may read, and Vary says Origin',
      'test/contract/rest-conditional.test.ts: GET … says who may keep it and what it depends on',
      'test/http/answers.test.ts: an answer of whatever route is in no frame, is what its type says, and names no program',
    ],
  ],
  [
    'F9',
    'Paths that nobody knows of (API9)',
    [
      'test/contract/rest-http.test.ts: … has …; any other method is 405 with Allow, before the token is looked at',
      'test/contract/policy.test.ts: the table has a row for every operation of REST, and no other',
      'test/openapi/traffic.test.ts: a document that lacks … does not hold for …',
    ],
    'The document, the routes and the schema are derived from one model.',
  ],
  [
    'F10',
    'What other services answer (API10)',
    [
      'src/auth/keys.test.ts: accept no forged token and break nothing, 1,000 times',
      'test/contract/graphql.test.ts: errors of a store that is broken show no SQL, path, stack or table, in either API',
      'test/contract/verify-email.test.ts: a mail server that fails and never speaks is given up',
    ],
  ],
]

const http = [
  [
    'G1',
    'A request that two parsers understand differently',
    [
      'test/cli/heads.test.ts: what two readers could take for different requests is 400, and nothing behind it is read',
      'test/cli/heads.test.ts: a request with two Host headers is refused with 400',
      'test/cli/heads.test.ts: under a lenient parser of HTTP no service starts',
      'test/cli/heads.test.ts: … of HTTP/2.0 is 505, of HTTP/1.0 not',
    ],
    'In part: sent to the service itself, and not through proxies.',
  ],
  [
    'G2',
    'Slow headers, slow bodies, slow readers',
    [
      'test/cli/memory.test.ts: a connection whose client takes nothing of an answer is ended, one that reads slowly is not',
      'src/cli/serve/stalled.test.ts: a connection whose client takes nothing is ended after 30 to 35 s, whenever it stopped',
      'test/store/serve.test.ts: idle and slow connections do not keep a service from its end beyond the limit',
    ],
    'In part: the timeouts of headers and bodies are those of Node and not waited for.',
  ],
  [
    'G3',
    'Floods of headers',
    [
      'test/cli/heads.test.ts: a request with 100 headers is answered',
      'test/cli/heads.test.ts: a request with 101 headers is refused with 431',
      'test/contract/rest-http.test.ts: a URL of 4,096 characters is read, a longer one is 414',
    ],
  ],
  [
    'G4',
    'Floods of connections',
    [
      'test/cli/memory.test.ts: connections above the most are closed at once, and those that are open are served',
      'test/nightly/connections.test.ts: … idle connections are kept and served, and … more are closed at once',
    ],
    'In part: one address may hold all connections: to share them out is for the proxy before the service.',
  ],
  [
    'G5',
    'Bodies that are too large, announced or not, compressed or not',
    [
      'test/contract/rest-rights.test.ts: a body of exactly the limit is read, one byte more is 413, announced or chunked',
      'test/contract/rest-rights.test.ts: a body that comes in chunks is cut off above the limit',
      'test/contract/graphql-http.test.ts: a compressed body is refused with 415',
      'test/cli/memory.test.ts: bodies above the budget are 503 while others are being received, which are answered',
    ],
  ],
  [
    'G6',
    'Line ends in what becomes a header',
    [
      'test/http/answers.test.ts: nothing in a path, a query or a header becomes a header of the answer, or breaks it',
      'test/contract/rest-http.test.ts: any other request id is replaced by one of ours',
      'test/contract/verify-email.test.ts: a name with … stays a name',
    ],
  ],
  [
    'G7',
    'JSON with odd members, given twice, deep or not UTF-8',
    [
      'src/http/json.test.ts: a member that is given twice is named, at every depth and in every spelling',
      'src/http/json.test.ts: a member named __proto__ is a member and changes no prototype',
      'src/http/json.test.ts: bytes that are no UTF-8 are refused and not replaced',
      'test/contract/bad-input.test.ts: … with … is … …',
      'test/http/odd-bodies.test.ts: no body changes what objects inherit, whatever its members are called',
      'test/nightly/proto.test.ts: of 5,000 bodies none changes what objects inherit, whatever its members are called',
      'test/nightly/proto.test.ts: callers get the same from a service in which whoever uses __proto__ fails',
    ],
  ],
  [
    'G8',
    'Ids that are no ids, or too large',
    [
      'src/model/id.test.ts: … is the id of nothing',
      'test/contract/rest-reads.test.ts: every form that is no id is 404 at …',
      'test/store/connection.test.ts: an id out of range is refused by the store itself, and poisons nothing',
      'test/store/kept.test.ts: when the last id is given out the next creation is refused, and nothing is stored',
    ],
  ],
  [
    'G9',
    'Pages and offsets that are odd or far away',
    [
      'test/contract/rest-lists.test.ts: a … of … that is no whole number is 422 and named',
      'test/contract/rest-lists.test.ts: a page far behind the last links back to the last',
      'test/postgres/traps.test.ts: a page or an offset of … is empty',
    ],
    'Deliberate: no offset is refused; a far one is a slow read, with its time limit ([lists](rest.md#lists)).',
  ],
  [
    'G10',
    'Cursors that were changed or belong to others',
    [
      'src/rest/cursor.test.ts: a cursor with any one letter changed, added or taken away is worth nothing',
      'src/rest/cursor.test.ts: a cursor is worth nothing in another list or another store',
      'test/contract/rest-cursors.test.ts: … takes no cursor of another list',
    ],
  ],
  [
    'G11',
    'Text that a database cannot keep, or keeps otherwise',
    [
      'test/contract/rest-values.test.ts: any text comes back as it was sent, to the code unit',
      'test/contract/rest-values.test.ts: the … of a … has no NUL and no lone surrogate',
      'test/contract/rest-values.test.ts: the … of a … has 1 to … code points, emoji and accents counted alike',
      'src/http/json.test.ts: bytes that are no UTF-8 are refused and not replaced',
    ],
  ],
  [
    'G12',
    'Wildcards and operators in a search',
    [
      'test/contract/rest-filters.test.ts: % and _ are letters in a search, and so is what a full-text index has for operators',
      'test/contract/rest-filters.test.ts: hundreds of random searches equal the plain definition',
      'test/store/kept.test.ts: a search finds what its definition says after any writes, whatever is looked for',
    ],
    'In part: with 800 random searches, not 5,000, and how long they take among a million rows is not asserted.',
  ],
  [
    'G13',
    'SQL in a value',
    [
      'test/contract/rest-filters.test.ts: injections are searches and filters that find nothing',
      'src/sql/sql.test.ts: whatever a value holds, none of it gets into the text',
      'src/sql/sql.test.ts: a quote inside a name stays inside it',
    ],
    'In part: nine injections as search and category, not hundreds as every parameter.',
  ],
  [
    'G14',
    'Regular expressions that take for ever',
    [
      'test/nightly/regexes.test.ts: no regular expression that callers reach takes … ms for … characters',
      'test/nightly/regexes.test.ts: an expression that takes the square of the length is seen',
    ],
  ],
  [
    'G15',
    'Keys that are chosen to collide',
    [
      'src/http/json.test.ts: 1,000 members are read and 1,001 are not, at every depth',
      'src/http/json.test.ts: 50,000 members and elements in all are read and 50,001 are not',
      'test/nightly/hold.test.ts: no request of at most 1 MiB holds the event loop for more than … ms on …',
    ],
  ],
  [
    'G16',
    'Tricks with paths',
    [
      'test/contract/policy.test.ts: no spelling of a path, method or header lets a user reach what is an admin’s',
      'test/contract/rest-reads.test.ts: a path with a malformed escape, or one of NUL, is 400',
      'test/cli/heads.test.ts: … is not found, and not resolved',
    ],
    'In part: some 30 paths, not 300.',
  ],
  [
    'G17',
    'Methods and protocols that are not served',
    [
      'test/cli/heads.test.ts: a method that is not served, an upgrade and an expectation change nothing and are not echoed',
      'test/cli/heads.test.ts: 100 Continue is said only to those who wait for it, and HEAD has no body',
      'test/contract/rest-http.test.ts: … has …; any other method is 405 with Allow, before the token is looked at',
      'test/contract/rest-conditional.test.ts: HEAD … is GET without its body, of the same length',
      'test/contract/graphql-http.test.ts: the endpoint refuses … with 405 and the methods there are',
    ],
  ],
  [
    'G18',
    'Pictures that are something else',
    [
      'test/contract/avatar.test.ts: … is …',
      'test/contract/rest-conditional.test.ts: a picture is an SVG that runs nothing, the same for ever for one id',
      'test/contract/rest-conditional.test.ts: an unchanged picture is 304 and keeps its policy',
    ],
  ],
  [
    'G19',
    'Addresses of pictures that run something',
    [
      'test/contract/rest-values.test.ts: an image is an absolute http or https URL of at most 2,048 characters without credentials, or null',
    ],
  ],
  [
    'G20',
    'Stored text that a browser runs',
    [
      'test/http/answers.test.ts: text that a browser could run is served as data that none runs, whatever it accepts',
      'test/contract/receipt.test.ts: the page escapes all that people wrote and lets nothing run or load',
      'test/pages/pages.test.ts: text from outside is escaped',
      'test/contract/rest-http.test.ts: an answer that is no page loads nothing and is in no frame',
    ],
  ],
  [
    'G21',
    'Requests that nobody thought of',
    [
      'test/fuzz/run.ts: … requests out of the documents and the schema of … get no answer that these do not allow',
      'test/fuzz/fuzz.test.ts: data is held against the schema and the selection, whatever stands under a directive',
      'test/contract/differential.test.ts: … generated operations are answered to the letter as by graphql-js',
      'test/generated/versions.ts: say the same to … generated requests, but for what is declared',
      'test/postgres/equal/rounds.ts: … generated requests have the same answers, to the letter',
    ],
  ],
  [
    'G22',
    'The answer of one caller for another',
    [
      'test/http/answers.test.ts: requests of four callers at once get each their own answer, and one ETag stands for one text',
      'test/contract/rest-conditional.test.ts: GET … says who may keep it and what it depends on',
      'test/contract/policy.test.ts: every path of the schema is judged anew for each who asks, though the document is known',
      'src/http/limit/address.test.ts: X-Forwarded-For from a peer that is no trusted proxy is not looked at',
      'test/nightly/callers.test.ts: 10,000 requests of four callers at once get each their own answer',
    ],
  ],
]

const load = [
  [
    'H1',
    'Twice, five and ten times the load that can be served',
    [
      'src/http/queue.test.ts: a request that would wait longer than it may is refused, by how many wait and what one costs now',
      'src/http/queue.test.ts: while requests wait to be run, an eighth of the time at most goes to refusals',
      'src/http/overload.test.ts: 2,000 connections that wait for nothing are all served, each within the time that all of them take',
      'src/http/overload.test.ts: where not all can be served in time, refusals leave four fifths of the time for answers, which come in time',
      'src/http/pacing.test.ts: while enough requests wait, the next one of a connection that was answered is not read',
    ],
    'In part: the tests count time in a simulation; how much a service serves under such a load is measured by the bench (bench/README.md): at ten times the load 69 % of the most, each within 230 ms.',
  ],
  [
    'H2',
    'Requests that wait without a word',
    [
      'src/http/queue.test.ts: a request that waited five times as long as it may is refused instead of being run',
      'src/http/queue.test.ts: a request above the size is refused in the same turn, after those that are run',
      'test/contract/deprecation.test.ts: answers of the rate limit and of a full queue have them too',
    ],
    'In part: the queue is tried by itself, on a clock of the test; that nobody waits in vain under twice the load is not tried on a service.',
  ],
  [
    'H3',
    'Recovery after an overload',
    [
      'src/http/queue.test.ts: once nobody waits to be run, those that waited for longer than they may are refused',
      'src/http/overload.test.ts: stops of the process cost no more than their time',
      'src/http/queue.test.ts: a stop of the whole process makes nobody wait in vain: what came before is run',
      'src/http/queue.test.ts: what many requests leave behind is given back',
    ],
    'In part: the queue is tried by itself, on a clock of the test; the recovery of a service after ten times its load is measured by the bench only (bench/README.md).',
  ],
  [
    'H4',
    'Reads that crowd out writes and probes',
    [
      'src/http/queue.test.ts: once a read has waited for longer than a slice, all writes go before reads',
      'src/http/queue.test.ts: where reads fill each slice, a write waits for one of them',
      'test/store/lanes.test.ts: quick reads are answered while a slow one runs, and the slow ones behind it when it ends',
      'test/cli/hang-ups.test.ts: probes are answered while nothing else is',
    ],
  ],
  [
    'H5',
    'One caller that takes everything',
    [
      'src/engines/slow-lane.test.ts: a caller holds at most half the slots, and all of them together no more than there are',
      'src/engines/slow-lane.test.ts: callers take turns: one who asks once does not wait behind all that another asked before',
      'test/contract/rate-limit.test.ts: each user has a limit of their own, with all tokens together, and anonymous another',
      'src/http/limit/counts.test.ts: where many callers have counts, new addresses are counted by provider and users by themselves',
    ],
    'In part: the latency of others meanwhile is not measured.',
  ],
  [
    'H6',
    'A burst of writes',
    [
      'test/store/writer.test.ts: more writes than may wait are refused at once with OVERLOADED; those before and after are done',
      'test/store/writer.test.ts: writes of one moment share their commits, and so their waits for the disk',
    ],
    'In part: 50 writes at once, not 10,000.',
  ],
  [
    'H7',
    'Clients that hang up',
    [
      'test/store/lanes.test.ts: a slow read whose client hangs up leaves the lane, and has a line with 499',
      'test/cli/hang-ups.test.ts: what a client asked that is gone when its turn comes is not done, and has a line with 499',
      'test/cli/hang-ups.test.ts: a client that hangs up within its body has a line with 499, and is no fault of the service',
      'test/cli/hang-ups.test.ts: a client that hangs up while its token is checked has a line with 499, and nothing waits for its body',
      'test/cli/hang-ups.test.ts: of a thousand clients that hang up together, what was begun is done once and the rest not at all',
    ],
  ],
  [
    'H8',
    'An end under load',
    [
      'test/store/serve.test.ts: SIGTERM under load loses nothing that was acknowledged, and the log is carried over into the store',
      'test/store/restart.test.ts: SIGTERM cuts none of 16 busy keep-alive clients: they are told that an answer is the last',
      'test/store/serve.test.ts: on SIGTERM a running request is finished, no new one is taken, and the end is exit 0',
      'test/store/serve.test.ts: a second Ctrl-C a second later ends it at once, with exit 1',
      'test/postgres/processes.test.ts: SIGTERM to the first ends all with exit code 0, cuts none of 16 busy clients and loses nothing acknowledged',
      'test/nightly/term.test.ts: … times SIGTERM under load cuts nobody, loses no acknowledged write, and carries the log over',
    ],
  ],
  [
    'H9',
    'Slow clients hold up the end',
    [
      'test/store/serve.test.ts: idle and slow connections do not keep a service from its end beyond the limit',
      'test/store/serve.test.ts: idle connections alone do not keep a service from its end',
    ],
  ],
  [
    'H10',
    'Restarts in turn behind a proxy',
    [
      'test/postgres/restart.test.ts: services behind HAProxy are restarted in turn under load, and no request fails',
      'test/nightly/rolling.test.ts: … restarts in turn behind HAProxy at up to 300 requests a second fail no request',
      'test/store/serve.test.ts: restarts on a socket that outlives the service fail no request, lose no write and do none twice',
      'test/nightly/restart.test.ts: … restarts at 300 requests a second, on a socket that outlives the service, fail none',
      'test/nightly/rolling.test.ts: without a wait at the end callers do notice: it is needed, and this sees it',
    ],
  ],
  [
    'H11',
    'Life taken for readiness',
    [
      'test/postgres/faults.test.ts: a service without its database says so until it is back',
      'test/cli/hang-ups.test.ts: probes are answered while nothing else is',
      'test/deploy.test.ts: all ask on one port, for their life at /healthz and for readiness at /readyz',
    ],
    'In part: how fast probes are under load is measured by the bench (bench/README.md), and the database is away for seconds, not minutes.',
  ],
  [
    'H12',
    'The event loop is held',
    [
      'src/http/queue.test.ts: requests are run in the order in which they came, in slices of 5 ms',
      'test/store/lanes.test.ts: quick reads are answered while a slow one runs, and the slow ones behind it when it ends',
      'test/contract/body-limits.test.ts: a variable of 1,001 members is BAD_USER_INPUT before it is coerced, in both media types',
      'test/nightly/hold.test.ts: no request of at most 1 MiB holds the event loop for more than … ms on …',
      'src/http/whole.test.ts: others have their turns while a long text is made',
      'test/store/lanes.test.ts: a quick list whose texts turn out to be long is read in the slow lane, and the same list of short ones is not',
    ],
  ],
  [
    'H13',
    'An error that nobody expected',
    [
      'test/http/store-calls.test.ts: whatever the store throws below any operation is 500 with the id of the request, and tells nothing more',
      'test/contract/graphql.test.ts: errors of the server hide their reason, give the request id, and are observed',
      'test/store/problems.test.ts: a snapshot that ends under its reads is their failure alone, and the next one is read',
      'test/store/problems.test.ts: a group whose transaction ends under it is written not at all, and the next one is written',
    ],
  ],
  [
    'H14',
    'A start with wrong settings',
    [
      'test/cli/commands.test.ts: wrong settings are reported all at once, a line each, before anything is touched',
      'src/config.test.ts: …=… is refused by name, without its value',
      'src/config.test.ts: no value gets into a message: it may be a secret put into the wrong place',
    ],
  ],
  [
    'H15',
    'Addresses that a caller makes up',
    [
      'src/http/limit/address.test.ts: X-Forwarded-For from a peer that is no trusted proxy is not looked at',
      'src/http/limit/address.test.ts: addresses that a caller wrote itself do not count',
      'src/http/limit/address.test.ts: an IPv4 address that is mapped into IPv6 is the IPv4 one',
      'test/contract/rate-limit.test.ts: over a socket the address counts, and X-Forwarded-For from trusted proxies alone',
    ],
  ],
]

const supply = [
  [
    'I1',
    'Tests that notice nothing',
    [
      'test/store/race.test.ts: without its guard the same transition happens more than once, and the invariants fail',
      'test/openapi/traffic.test.ts: a document that lacks … does not hold for …',
      'test/nightly/field-example.test.ts: of all tests those that CONTRIBUTING names fail with an added field, and no other',
    ],
    'In part: [mutation testing](mutation.md) was done once, in four rooms, on samples in three of them.',
  ],
  [
    'I2',
    'Branches that no test takes',
    [],
    'Not shown: `npm test -- --experimental-test-coverage` prints the coverage, and no test holds it to a figure.',
  ],
  [
    'I3',
    'Tests that fail by chance',
    [
      'test/checkout.test.ts: a test file that stays alive after its time is ended and named',
      'test/checkout.test.ts: a test run in which no test ran fails',
    ],
    'In part: random tests print their seed; the suite is not run twenty times in a row by itself.',
  ],
  [
    'I4',
    'Packages with known faults',
    [
      'test/checkout.test.ts: what callers reach is not older than the mends of its known faults',
      'test/nightly/install.test.ts: no package of the service has a known fault that is high',
      'test/checkout.test.ts: the pinned Node is the one that package.json names',
    ],
    'In part: versions are exact, and `npm audit` is asked each night; where the registry answers none, as on the machine of the last run, that test is skipped and says so.',
  ],
  [
    'I5',
    'Install scripts, and a lock that drifts',
    [
      'test/checkout.test.ts: the lock file is complete',
      "test/checkout.test.ts: a lock file without another platform's package is refused",
      'test/nightly/install.test.ts: an install without scripts and without packages for development serves',
      'test/nightly/install.test.ts: a package that is not the one of the lock file is not installed',
    ],
    'In part: a service has 54 packages, of which 30 were planned at most.',
  ],
  [
    'I6',
    'An install without a network',
    ['test/nightly/install.test.ts: what is installed starts and answers without a network'],
    'In part: out of a checkout with its packages, not out of a packed archive; `npm ci` itself needs a registry or its cache.',
  ],
]

/** The rows by the part of docs/reliability.md that they stand in. */
export const threats = { storage, postgres, orders, graphql, tokens, owasp, http, load, supply }
