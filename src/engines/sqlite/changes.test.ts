import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, beforeEach, test } from 'node:test'
import { countCommits, watchCommits } from '#engines/sqlite/changes.ts'
import { type Connection, connect } from '#engines/sqlite/connection.ts'
import { queryWith } from '#sql/engine.ts'
import type { SqlValue } from '#sql/sql.ts'
import { until } from '../../../test/support/wait.ts'

const folder = mkdtempSync(join(tmpdir(), 'duet-changes-'))
after(() => rmSync(folder, { recursive: true, force: true }))

/** A file with a reader that watches it, a writer that counts, and another program. */
const open = (file: string) => {
  const other = connect(file)
  other.run(`create table parents (id integer primary key, n integer) strict;
    create table children (id integer primary key, parent integer references parents (id) on delete cascade) strict;
    create table grandchildren (id integer primary key, child integer references children (id) on delete set null) strict;
    create table sums (n integer) strict;
    create table apart (n integer) strict;
    create trigger child_sum after insert on children begin insert into sums values (1); end`)
  const reader = connect(file, { readOnly: true })
  const watch = watchCommits(reader)
  const written: string[] = []
  const writer: Connection = connect(file, {
    onWrite: table => {
      written.push(table)
      counted.wrote(table)
    },
  })
  const counted = countCommits(watch.counters, writer)
  return { other, reader, watch, written, writer, counted }
}

let files = 0
let store: ReturnType<typeof open>
beforeEach(() => {
  store = open(join(folder, `${++files}.db`))
})

const run = ({ query }: Connection, text: string, ...values: readonly SqlValue[]) =>
  query(queryWith(text, ...values))

/** What a snapshot tells of each table; `see` runs while it is open. */
const look = (see = () => {}) => {
  const { reader, watch } = store
  run(reader, 'begin')
  watch.look()
  see()
  const state = (table: string) => watch.stateOf(watch.numbersOf([table]) ?? [])
  const states = Object.fromEntries(
    ['parents', 'children', 'grandchildren', 'sums', 'apart'].map(table => [table, state(table)]),
  )
  run(reader, 'commit')
  return states
}

type States = ReturnType<typeof look>

const changed = (before: States, now: States) =>
  Object.keys(before).filter(table => before[table] !== now[table])

/** Runs statements as one group of one job; `within` is run before the commit, with the counters moved already. */
const write = (texts: readonly string[], { within = () => {}, isDone = true } = {}) => {
  const { writer, counted } = store
  run(writer, 'begin immediate')
  counted.begin()
  for (const text of texts) run(writer, text)
  counted.endJob(isDone)
  counted.committing()
  within()
  run(writer, 'commit')
  counted.settled()
}

test('a write changes the tables that it writes, by triggers and foreign keys too, and no others', () => {
  const first = look()
  write(['insert into parents values (1, 1)'])
  const second = look()
  assert.deepEqual(changed(first, second), ['parents'])
  write(['insert into children values (1, 1)', 'insert into grandchildren values (1, 1)'])
  const third = look()
  assert.deepEqual(changed(second, third), ['children', 'grandchildren', 'sums'])
  write(['delete from parents'])
  assert.deepEqual(changed(third, look()), ['parents', 'children', 'grandchildren'])
})

test('a table whose commit is in progress has no state, and the others have theirs', () => {
  const before = look()
  let during: States = {}
  write(['insert into parents values (1, 1)'], {
    within: () => {
      during = look()
    },
  })
  assert.equal(during.parents, undefined)
  assert.deepEqual(changed(before, during), ['parents'])
})

test('a commit that a snapshot sees and did not yet know of leaves a state that never comes again', () => {
  const { reader, watch } = store
  const state = () => watch.stateOf(watch.numbersOf(['parents']) ?? [])
  watch.look()
  const early = state()
  write(['insert into parents values (1, 1)'])
  assert.equal(run(reader, 'select count(*) from parents')[0]?.[0], 1)
  watch.look()
  assert.notEqual(state(), early)
})

test('what a refused job wrote changes nothing', () => {
  const before = look()
  write(['savepoint job', 'insert into parents values (1, 1)', 'rollback to job', 'release job'], {
    isDone: false,
  })
  assert.deepEqual(changed(before, look()), [])
})

test('a commit of another program changes everything, for the next snapshot', () => {
  const before = look()
  run(store.other, 'insert into apart values (1)')
  const now = look()
  assert.equal(changed(before, now).length, 5)
  assert.deepEqual(changed(now, look()), [])
})

test('a commit of another program is told from the one of the writer that came with it', async () => {
  const before = look()
  write(['insert into parents values (1, 1)'])
  run(store.other, 'insert into apart values (1)')
  assert.deepEqual(changed(before, look()), ['parents'])
  await until('the writer has found the other commit', () => changed(before, look()).length === 5)
})

test('a commit of another program is found by the writer when it begins its next group', () => {
  const before = look()
  write(['insert into parents values (1, 1)'])
  run(store.other, 'insert into apart values (1)')
  write(['insert into parents values (2, 1)'])
  assert.equal(changed(before, look()).length, 5)
})

test('where the schema has changed, a statement that was planned before tells all that it writes now', () => {
  const { other, written } = store
  write(['insert into parents values (1, 1)'])
  assert.deepEqual(written, ['parents'])
  other.run(
    'create trigger parent_apart after insert on parents begin insert into apart values (1); end',
  )
  write(['delete from parents'])
  written.length = 0
  write(['insert into parents values (1, 1)'])
  assert.deepEqual(written.toSorted(), ['apart', 'parents'])
})

test('a table that came after the start changes everything when it is written, and is not known to readers', () => {
  store.other.run('create table late (n integer) strict')
  const before = look()
  write(['insert into late values (1)'])
  assert.equal(changed(before, look()).length, 5)
  assert.equal(store.watch.numbersOf(['late']), undefined)
})
