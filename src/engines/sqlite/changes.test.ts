import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, beforeEach, test } from 'node:test'
import { countCommits, watchCommits } from '#engines/sqlite/changes.ts'
import { connect, type SqliteConnection } from '#engines/sqlite/connection.ts'
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
    create table named (id integer primary key, name text not null) strict;
    create unique index named_by_name on named (name);
    create table folded (id integer primary key, name text collate nocase not null) strict;
    create index folded_by_name on folded (name collate BINARY);
    create table sums (n integer) strict;
    create table apart (n integer) strict;
    create trigger child_sum after insert on children begin insert into sums values (1); end`)
  const reader = connect(file, { readOnly: true })
  const watch = watchCommits(reader)
  const written: string[] = []
  const writer: SqliteConnection = connect(file, {
    onWrite: (table, replaces) => {
      written.push(table)
      counted.wrote(table, replaces)
    },
  })
  const counted = countCommits(watch.versions, writer)
  return { other, reader, watch, written, writer, counted }
}

let files = 0
let store: ReturnType<typeof open>
beforeEach(() => {
  store = open(join(folder, `${++files}.db`))
})

const run = ({ query }: SqliteConnection, text: string, ...values: readonly SqlValue[]) =>
  query(queryWith(text, ...values))

/** The rows with a value in a column, or all of a table. */
type RowsOf = readonly [table: string, column?: string, value?: SqlValue]

const cellFor = ([table, column, value = null]: RowsOf): number => {
  const { watch } = store
  const cell =
    column === undefined ? watch.versionOf(table) : watch.versionsBy(table, column)?.(value)
  assert.ok(cell !== undefined, `there is no cell for ${table} by ${column}`)
  return cell
}

const tables = ['parents', 'children', 'grandchildren', 'sums', 'apart'].map(
  (table): RowsOf => [table],
)

/** What a new snapshot tells of rows later: which of them changed since, or are being written; none where all may have. */
const look = (rows: readonly RowsOf[] = tables) => {
  const { reader, watch } = store
  run(reader, 'begin')
  watch.look()
  const [since, epoch] = [watch.now(), watch.epoch()]
  run(reader, 'commit')
  return () => {
    watch.look()
    if (watch.epoch() !== epoch) return 'all'
    return rows
      .filter(one => !watch.isUnchanged(Int32Array.of(cellFor(one)), since))
      .map(one => one.join(' '))
  }
}

/** Runs statements as one group of one job; `within` is run before the commit, whose number is told already. */
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
  assert.deepEqual(first(), ['parents'])
  write(['insert into children values (1, 1)', 'insert into grandchildren values (1, 1)'])
  const third = look()
  assert.deepEqual(second(), ['children', 'grandchildren', 'sums'])
  write(['delete from parents'])
  assert.deepEqual(third(), ['parents', 'children', 'grandchildren'])
})

test('a write changes the rows of the keys that its rows have or had, and no others', () => {
  const ids = [1, 2, 3]
  const named = (table: string, column: string) => ids.map((id): RowsOf => [table, column, id])
  const rows = [
    ...named('parents', 'id'),
    ...named('children', 'id'),
    ...named('children', 'parent'),
    ...named('grandchildren', 'child'),
  ]
  write([
    'insert into parents values (1, 1), (2, 1), (3, 1)',
    'insert into children values (1, 1), (2, 2)',
    'insert into grandchildren values (1, 1)',
  ])
  const before = look(rows)
  write(['update parents set n = 2 where id = 2'])
  assert.deepEqual(before(), ['parents id 2'])
  const moved = look(rows)
  write(['update children set parent = 3 where id = 2'])
  assert.deepEqual(moved(), ['children id 2', 'children parent 2', 'children parent 3'])
  for (const parent of ['null', '3']) {
    const changed = look(rows)
    write([`update children set parent = ${parent} where id = 2`])
    assert.deepEqual(changed(), ['children id 2', 'children parent 3'])
  }
  const gone = look(rows)
  write(['delete from parents where id = 1'])
  assert.deepEqual(gone(), [
    'parents id 1',
    'children id 1',
    'children parent 1',
    'grandchildren child 1',
  ])
})

test('where a row may replace another one, everything has changed', () => {
  write(["insert into named values (1, 'a'), (2, 'b')"])
  const names = ['a', 'b', 'c'].map((name): RowsOf => ['named', 'name', name])
  const before = look([['named', 'id', 1], ['named', 'id', 2], ['named', 'id', 3], ...names])
  write(["insert or replace into named values (3, 'b')"])
  assert.equal(before().length, 6)
})

test('rows are told by ids, references and indexed texts, and by no value that SQLite would convert first', () => {
  const cellsBy = (table: string, column: string) => store.watch.versionsBy(table, column)
  assert.deepEqual([cellsBy('parents', 'n'), cellsBy('sums', 'n')], [undefined, undefined])
  const byId = cellsBy('parents', 'id')
  const byName = cellsBy('named', 'name')
  for (const value of ['1', 1.5, null, 1n]) assert.equal(byId?.(value), undefined)
  for (const value of [1, null, '\ud800']) assert.equal(byName?.(value), undefined)
  assert.ok(byId?.(1) !== undefined && byName?.('a') !== undefined)
})

test('a text that its column compares otherwise than to the byte tells no rows, whatever its index does', () => {
  write(["insert into folded values (1, 'a')"])
  assert.equal(run(store.reader, 'select id from folded where name = ?', 'A').length, 1)
  assert.equal(store.watch.versionsBy('folded', 'name'), undefined)
  assert.ok(store.watch.versionsBy('folded', 'id'))
})

test('rows whose commit is in progress have changed, and the others have not', () => {
  const before = look()
  write(['insert into parents values (1, 1)'], {
    within: () => assert.deepEqual(before(), ['parents']),
  })
})

test('what a snapshot read that sees a commit which it did not yet know of counts as changed', () => {
  const { reader, watch } = store
  const before = look()
  write(['insert into parents values (1, 1)'])
  assert.equal(run(reader, 'select count(*) from parents')[0]?.[0], 1)
  watch.look()
  assert.deepEqual(before(), ['parents'])
})

test('what a refused job wrote changes nothing', () => {
  const before = look()
  write(['savepoint job', 'insert into parents values (1, 1)', 'rollback to job', 'release job'], {
    isDone: false,
  })
  assert.deepEqual(before(), [])
})

test('a commit of another program changes everything, for the next snapshot', () => {
  const before = look()
  run(store.other, 'insert into apart values (1)')
  assert.equal(before(), 'all')
  assert.deepEqual(look()(), [])
})

test('a commit of another program is told from the one of the writer that came with it', async () => {
  const before = look()
  write(['insert into parents values (1, 1)'])
  run(store.other, 'insert into apart values (1)')
  assert.deepEqual(before(), ['parents'])
  await until('the writer has found the other commit', () => before() === 'all')
})

test('a commit of another program is found by the writer when it begins its next group', () => {
  const before = look()
  write(['insert into parents values (1, 1)'])
  run(store.other, 'insert into apart values (1)')
  write(['insert into parents values (2, 1)'])
  assert.equal(before(), 'all')
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

test('a table that came after the start is not known to readers', () => {
  store.other.run('create table late (id integer primary key) strict')
  write(['insert into late values (1)'])
  assert.equal(store.watch.versionOf('late'), undefined)
  assert.equal(store.watch.versionsBy('late', 'id'), undefined)
})

test('before the numbers of commits are too far apart to be compared, everything counts as changed', () => {
  const { values } = store.watch.versions
  const [begun, settled] = [1, 2]
  for (const number of [2 ** 30 - 2, 2 ** 31 - 2]) {
    for (const at of [begun, settled]) values[at] = number
    store.watch.look()
    const before = look()
    write(['insert into apart values (1)'])
    assert.deepEqual(before(), ['apart'])
    write(['insert into apart values (1)'])
    assert.equal(before(), 'all')
    const after = look()
    assert.deepEqual(after(), [])
    write(['insert into parents values (null, 1)'])
    assert.deepEqual(after(), ['parents'])
  }
})

test('a table that another connection drops before the writer begins, or later, keeps no write from being done', () => {
  const { other, watch, writer } = store
  other.run('drop table named')
  const late = connect(join(folder, `${files}.db`))
  countCommits(watch.versions, late)
  for (const connection of [late, writer]) run(connection, 'insert into parents (n) values (1)')
  assert.deepEqual(run(other, 'select count(*) from parents'), [[2]])
  late.close()
})
