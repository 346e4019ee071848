// PostgreSQL.
export const postgres = [
  [
    'B1',
    'The database server crashes, or another takes its place',
    [
      'content/test/postgres/failover.test.ts: goes on with the other when that is promoted, and leaves one that takes no more writes at once',
      'content/test/postgres/failover.test.ts: does not go back to the old one, even when it says that it takes writes and the new one is gone',
      'content/test/postgres/failover.test.ts: makes the service look for another primary again and again before it is given up',
      'content/test/nightly/cluster.test.ts: … rounds, …: nothing acknowledged is lost, nothing is done twice',
      'content/test/postgres/faults.test.ts: a service outlives a crash of the server, and loses nothing that was acknowledged',
      'content/test/nightly/postgres-faults.test.ts: outlives … crashes of the server (…)',
      'content/test/nightly/postgres-faults.test.ts: loses what was acknowledged where commits do not wait, and the rounds show it',
    ],
  ],
  [
    'B2',
    'Sessions are ended under load',
    [
      'content/test/postgres/faults.test.ts: a service hardly notices sessions that are ended',
      'content/test/nightly/postgres-faults.test.ts: hardly notices that … sessions are ended',
      'src/engines/postgres/pool.test.ts: a session that is ended in the very turn in which it is made fails its work, and nothing else',
    ],
  ],
  [
    'B3',
    'The reply to a commit is lost',
    [
      'content/test/postgres/faults.test.ts: a service that lost the reply to a commit says so, and does nothing twice',
      'content/test/nightly/postgres-faults.test.ts: does nothing twice where the replies to … commits are lost',
    ],
  ],
  [
    'B4',
    'The network swallows everything in silence',
    [
      'content/test/postgres/faults.test.ts: a service with a silent wire answers while it is silent',
      'content/test/nightly/postgres-faults.test.ts: answers while its wire is silent, however long',
    ],
  ],
  [
    'B5',
    'The database is away, at the start or later',
    [
      'content/test/postgres/faults.test.ts: a service without its database says so until it is back',
      'content/test/postgres/faults.test.ts: a service without the right to its database does not start, and says why',
      'content/test/nightly/postgres-faults.test.ts: reports the database as unavailable until it is back, after five minutes',
    ],
  ],
  [
    'B6',
    'All connections are taken',
    [
      'content/test/postgres/faults.test.ts: a service with a locked database answers while it is locked, and writes nothing late',
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
      'content/test/postgres/faults.test.ts: a service tries again what was locked crosswise',
      'content/test/nightly/postgres-faults.test.ts: tries again what was locked crosswise … times, in … writes',
    ],
  ],
  [
    'B9',
    'The two databases behave differently',
    [
      'test/generated/compare.ts: the generated model … is served alike by the engines and the reference',
      'test/engines.test.ts: every contract test runs on PostgreSQL too, a new one as well',
    ],
  ],
  [
    'B10',
    'What the driver and the server do with odd values',
    [
      'content/test/postgres/traps.test.ts: a number of eight bytes, which the driver gives as text, is a number in an answer',
      'content/test/postgres/traps.test.ts: the longest texts that are indexed are stored, and longer ones refused',
      'content/test/postgres/traps.test.ts: a page or an offset of … is empty',
      'content/test/postgres/traps.test.ts: texts that PostgreSQL cannot keep are refused before it sees them',
    ],
  ],
  [
    'B11',
    'An update is lost, or two contradict each other, across processes',
    [
      'content/test/contract/rest-preconditions.test.ts: of twenty writers of … with one ETag exactly one wins',
      'content/test/postgres/processes.test.ts: pays of an order at the same moment, over both: exactly one takes effect, 50 times',
      'content/test/nightly/history.test.ts: … operations on 50 posts, their comments and pairs of products have an order',
      'content/test/nightly/history.test.ts: writes over what was read, whatever came between, lose updates, and the history shows it',
    ],
  ],
  [
    'B12',
    'PostgreSQL is upgraded to a new major version while it is served',
    [
      'content/test/nightly/upgrade.test.ts: takes writes while it is copied, and again where a switch fails after they were ended',
      'content/test/nightly/upgrade.test.ts: is carried to a newer one without a restart: nothing acknowledged is lost, nothing is done twice',
      'content/test/nightly/upgrade.test.ts: keeps its counts, and takes no write on the older one any more',
      'content/test/nightly/upgrade.test.ts: answers a position from before as held, and one beyond the end of the older log as lost',
      'src/engines/postgres/timelines.test.ts: a position in the log of an earlier system is held up to where that was left, whatever the log of the next one says',
      'src/engines/postgres/timelines.test.ts: nobody knows of a position that may be of either of two systems',
    ],
  ],
  [
    'B13',
    'Many write to one row at one moment',
    [
      'content/test/postgres/races.test.ts: of 300 orders of one product at one moment one holds a connection while it waits, other writes pass them, and none is refused but for the stock',
      'src/engines/postgres/turns.test.ts: work waits for all before it under one of its names, and others pass',
      'src/engines/postgres/turns.test.ts: who waits too long is told so, and those behind still wait for those before',
    ],
  ],
  [
    'B14',
    'The database becomes read-only, as a managed one does on a full disk',
    [
      'content/test/postgres/read-only.test.ts: says so by itself, without a write, when all sessions are told, and when it is over',
      'content/test/postgres/read-only.test.ts: says so by a write that fails where only new sessions are told, and notices the end by itself',
    ],
  ],
]
