// Storage: crashes, power and disks.
export const storage = [
  [
    'A1',
    'The process is killed in the middle of writes',
    [
      'content/test/store/serve.test.ts: kill -9 under writes, twice, loses no acknowledged write',
      'content/test/nightly/kill.test.ts: … times kill -9 under writes lose no acknowledged write',
    ],
  ],
  [
    'A2',
    'The power fails',
    [
      'content/test/nightly/powercut.test.ts: … power cuts lose no acknowledged write and leave nothing half done',
      'content/test/nightly/powercut.test.ts: a writer that does not wait for the disk loses acknowledged writes in the same simulation',
      'content/test/nightly/powercut.test.ts: on a disk that is never synced power cuts damage the store in the same simulation',
      'test/store/connection.test.ts: … is … on every connection: …',
    ],
  ],
  [
    'A3',
    'An answer leaves before its write is on the disk',
    [
      'content/test/nightly/powercut.test.ts: … power cuts lose no acknowledged write and leave nothing half done',
    ],
    'Of more than a thousand acknowledged writes. The recording has the answers too, in their order among writes and syncs.',
  ],
  [
    'A4',
    'A sync fails, and nobody knows whether the commit is on the disk',
    [
      'content/test/nightly/faults.test.ts: … rounds of … end the service within a second, and keys heal what was in doubt',
      'content/test/nightly/faults.test.ts: a writer that takes a failed commit for undone and goes on is wrong: the row comes back',
      'test/store/writer.test.ts: after a commit that fails no write is acknowledged, and nothing more is written',
    ],
  ],
  [
    'A5',
    'A write to the disk fails or is torn',
    [
      'content/test/nightly/faults.test.ts: … rounds of … end the service within a second, and keys heal what was in doubt',
      'content/test/nightly/powercut.test.ts: … power cuts lose no acknowledged write and leave nothing half done',
    ],
    'The power cuts tear writes between sectors.',
  ],
  [
    'A6',
    'A second fault while the service recovers from the first',
    [
      'content/test/store/serve.test.ts: kill -9 amid the restart after a kill -9 loses no acknowledged write either',
      'content/test/nightly/kill.test.ts: … times kill -9 amid the restart after a kill -9 lose no acknowledged write either',
    ],
  ],
  [
    'A7',
    'The disk is full',
    [
      'test/store/writer.test.ts: a full disk refuses writes, keeps what is there, and takes writes again when there is room',
      'test/store/problems.test.ts: a service on a disk with too little room says that it is read-only, and still reads',
      'content/test/nightly/faults.test.ts: a disk that is full keeps all that was acknowledged and takes writes when there is room, … times',
      'content/test/nightly/faults.test.ts: below the least room writes are refused before the disk is full, … times',
      'test/cli/full-log.test.ts: a service whose log cannot be written serves on, and ends well',
    ],
  ],
  [
    'A8',
    'The disk is slow',
    [
      'content/test/nightly/slow-disk.test.ts: with … ms more for each sync reads take no more than twice their time beside the same writes',
      'content/test/nightly/slow-disk.test.ts: with … ms more for each sync no turn of the event loop takes more than 20 ms, and writes that find too many waiting are 503',
      'content/test/nightly/group.test.ts: with … ms more for each sync 64 callers write … times what one does, … or more in a commit',
      'test/store/writer.test.ts: a full queue is 503 with Retry-After in both APIs, and reads are served meanwhile',
    ],
  ],
  [
    'A9',
    'Bytes of the file change by themselves',
    [
      'content/test/cli/backup.test.ts: what is no good backup is refused, and the store stays as it was',
      'content/test/cli/backup.test.ts: a store that is damaged beyond reading is replaced with --force only',
      'content/test/cli/backups.test.ts: a flipped bit in a backup is found by the checksum beside it, which sha256sum knows too',
      'test/store/damage.test.ts: damaged pages cost what is on them: the rest is served, nothing crashes, and the service says that it is not well',
      'test/store/damage.test.ts: a store that cannot be read from its beginning is refused with a line, by serve and by backup',
      'test/store/damage.test.ts: a damaged byte in the log costs the writes from there on, and none before',
      'content/test/nightly/damage.test.ts: … changed bytes of a store crash nothing, hold nobody up, and bring no row of another table',
      'content/test/nightly/damage.test.ts: … changed bytes of the log each cost the writes from there on, and none before',
    ],
    'In part: a byte that changes the name of a column in the schema is a 500 for what asks for it, and `/readyz` stays well. One within a row that stays readable garbles that row’s answers; `backup` finds it if it breaks the form of its page, else nobody does: SQLite has no checksums of pages.',
  ],
  [
    'A10',
    'A long read keeps the log of the store from being carried over',
    [
      'test/store/connection.test.ts: a scan that takes too long is stopped and answered 503, and the next read is served',
      'test/store/end.test.ts: SIGTERM under load loses nothing that was acknowledged, and the log is carried over into the store',
      'content/test/nightly/log.test.ts: while … reads hold their snapshots until they are cut off, each beside … writes, the log stays below 128 MiB, and below 64 after',
    ],
    'That is 500 writes a second. What bounds the log is the time of a read (`DUET_READ_TIMEOUT`) and the rate of writes: no size is enforced while a read holds it.',
  ],
  [
    'A11',
    'Another program holds the lock for writing',
    [
      'test/store/writer.test.ts: while another program writes, a write that waited long enough is OVERLOADED and the service lives on',
      'content/test/cli/import.test.ts: a store takes an import while it is served, and the service shows the rows',
    ],
    'In part: the lock is held for seconds, not again and again during an hour of load.',
  ],
  [
    'A12',
    'A second service on one file, or the file or its log taken away from below the first',
    [
      'content/test/store/serve.test.ts: a second service on one store refuses with a line that says what to do, and the first goes on',
      'content/test/store/serve.test.ts: the lock of a service that was killed is not left behind',
      'content/test/store/serve.test.ts: when its file is replaced, a service acknowledges no further write, says so and ends with 1',
      'content/test/store/serve.test.ts: when its file is deleted, a service without any request ends with 1',
      'content/test/store/serve.test.ts: when its log is deleted, a service acknowledges no further write, keeps those before, and ends with 1',
      'content/test/store/serve.test.ts: when its log is replaced, a service without any request ends with 1',
      'content/test/store/serve.test.ts: a log that is emptied is no reason to end',
      'test/checkout.test.ts: the pinned Node is the one that package.json names',
    ],
    'The pinned Node brings the SQLite it was tested with.',
  ],
  [
    'A13',
    'A backup while writes go on',
    [
      'content/test/cli/backups.test.ts: a series keeps the newest backups, survives one that fails, and ends on SIGTERM with 0',
      'content/test/cli/backup.test.ts: backups of a store under writes are consistent, and the writes go on',
      'content/test/nightly/backup.test.ts: … backups under writes are each consistent, and each has more than the one before',
    ],
    'In part: how long writes wait beside a backup is not asserted.',
  ],
  [
    'A14',
    'A backup that is interrupted',
    [
      'content/test/cli/backups.test.ts: a series that is ended amid a backup leaves nothing of it',
      'content/test/cli/backup.test.ts: five backups ended by kill -9 leave no half file under the final name',
      'content/test/nightly/backup.test.ts: … backups ended by kill -9 leave no half file under the final name',
    ],
  ],
  [
    'A15',
    'A backup that cannot be restored, or was deleted by the backups of another store',
    [
      'content/test/cli/backups.test.ts: a series deletes no backup of another store of that file name, nor one whose name tells no store',
      'content/test/cli/backups.test.ts: a store is told from one with other keys, and from its own copy at another path',
      'content/test/cli/backups.test.ts: a backup is tried aside: it says what is in it, and touches no store',
      'content/test/cli/backup.test.ts: a restored store has every row of the backup, and is served again',
      'content/test/cli/backup.test.ts: a backup is restored where there is no store, or an empty one',
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
    'At night 200 times.',
  ],
  [
    'A18',
    'In a common commit the failure of one write spoils the others',
    [
      'test/store/group-commit.test.ts: of jobs that commit together, just those fail that would fail alone, and leave nothing',
      'test/store/group-commit.test.ts: without a savepoint for each job the same property does not hold',
    ],
    'At night 10,000 random groups.',
  ],
  [
    'A19',
    'A read after a write does not show it',
    [
      'content/test/nightly/answers.test.ts: of … answers from the cache none is older than it may be (DUET_SEED=…)',
      'content/test/nightly/answers.test.ts: changes that are told only after the commit let older answers through, and the race finds them',
      'test/store/writer.test.ts: what is written through one API is read through the other at once',
      'content/test/contract/rest-deletes.test.ts: what one API writes the other reads at once, fifty times over',
      'content/test/postgres/replicas.test.ts: a write is seen by the very next read that names it, 200 times',
    ],
  ],
  [
    'A20',
    'A migration is interrupted, or begun by several at once',
    [
      'content/test/store/migrate.test.ts: a migration that fails leaves nothing of itself and nothing of those before it',
      'content/test/store/migrate.test.ts: of several that migrate one store at once, one applies and the others find it done',
      'content/test/postgres/migrate-outside.test.ts: a migration outside a transaction that was broken off is run again, and what it left half done is made anew',
      'content/test/postgres/migrate.test.ts: a store in PostgreSQL that is empty is migrated once by … processes that start at once',
      'test/nightly/migrate.test.ts: … migrations of a file that are ended by kill -9 leave all of it or nothing, and the next one ends it',
      'test/nightly/migrate.test.ts: … migrations of a database that are ended by kill -9 leave whole migrations, and the next one ends it',
    ],
  ],
  [
    'A21',
    'The clock jumps',
    [
      'src/auth/authenticate.test.ts: a token that was verified is refused at its first use after exp and the skew, for 1,000 tokens',
      'src/auth/authenticate.test.ts: a token that was verified is refused where the clock has gone back before its nbf',
      'src/auth/keys.test.ts: a set is read again where the clock was set back, and a key that it lacks now counts no more',
      'src/mail/mail.test.ts: an address that got its five messages gets more where the clock was set back by more than an hour',
      "content/test/store/clock.test.ts: where the clock is …, ids ascend, times are the clock's, and a walk by cursors goes on where it was",
      'content/test/store/clock.test.ts: where the clock is …, a token counts by its times, and no longer than it should',
      'content/test/store/clock.test.ts: a pay that is sent again with its key after the clock went back a day has its one effect',
    ],
    'The clock of the service is moved, not that of the machine.',
  ],
  [
    'A22',
    'A slow leak of memory',
    [
      'content/test/nightly/abuse.test.ts: … minutes of mixed abuse lose nothing, and take … MiB in the mean after two minutes and no more in the end than then',
    ],
    'In part: it lasts minutes, not hours.',
  ],
  [
    'A23',
    'Memory runs out',
    [
      'content/test/nightly/abuse.test.ts: … minutes of mixed abuse find a service with a heap of 256 MiB alive, in … MiB in the mean after two minutes',
      'test/store/lane-threads.test.ts: a thread that read very much is ended without a word, and another serves the next read',
      'content/test/nightly/kill.test.ts: … deaths by memory under writes lose no acknowledged write',
    ],
  ],
]
