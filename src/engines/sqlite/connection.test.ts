import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { connect, type SqliteConnection } from '#engines/sqlite/connection.ts'
import { dialect } from '#engines/sqlite/dialect.ts'
import { queryWith, type Rows, TooLong } from '#sql/engine.ts'
import { sql, statement } from '#sql/sql.ts'

const folder = mkdtempSync(join(tmpdir(), 'duet-columnar-'))
let connection: SqliteConnection
before(() => {
  connection = connect(join(folder, 'store.db'))
  connection.run('create table texts (id integer primary key, text text, n integer) strict')
})
after(() => {
  connection.close()
  rmSync(folder, { recursive: true, force: true })
})

/** Replaces the rows. */
const put = (rows: Rows) => {
  connection.run('delete from texts')
  for (const row of rows)
    connection.query(queryWith('insert into texts values (?1, ?2, ?3)', ...row))
}

const columnar = dialect.columnar?.(sql`select * from texts order by id desc limit 5000`, [
  'id',
  'text',
  'n',
])
assert.ok(columnar)
const { text } = statement(columnar, dialect.placeholder)

/** The rows of the lists, or, from `otherwise`, those that were read one by one. */
const read = (most: { readonly bytes?: number; readonly characters?: number }, otherwise = '') => {
  const plain = otherwise || "select 'read one by one'"
  return connection.query({ text: plain, values: [], columnar: text, bytes: 1e9, ...most })
}

test('the lists of a query hold its rows in order, with each text and number as it is', () => {
  const rows: Rows = [
    [3, 'a "quoted" \\ text\nof two lines, \u{1f600} and \u2028', 9007199254740991],
    [2, '', null],
    [1, '{"json": [1]}', -1],
  ]
  put(rows)
  assert.deepEqual(read({}), rows)
})

test('of no rows there are empty lists', () => {
  put([])
  assert.deepEqual(read({}), [])
})

test('rows that hold more than is wanted, or than a list can hold, are read one by one and counted', () => {
  put([[1, 'x'.repeat(1000), 1]])
  assert.deepEqual(read({ characters: 500 }), [['read one by one']])
  const one = 'select text from texts'
  assert.throws(() => read({ characters: 500 }, one), TooLong)
  put([1, 2, 3].map(id => [id, 'x'.repeat(900_000), id]))
  assert.deepEqual(read({}), [['read one by one']])
  assert.throws(() => read({ bytes: 1_000_000 }, one), /more than 1000000 bytes/)
})

test('a file that cannot be opened stays open nowhere: a series of backups tries it again and again', {
  skip: process.platform !== 'linux' && 'NOT TESTED: only Linux lists what is open',
}, () => {
  const file = join(folder, 'damaged.db')
  writeFileSync(file, 'no database'.repeat(1000))
  assert.throws(() => connect(file), /cannot be opened/)
  assert.throws(() => connect(folder), /full or can only be read$/)
  const open = readdirSync('/proc/self/fd').map(fd => {
    try {
      return readlinkSync(join('/proc/self/fd', fd))
    } catch {
      // That of the list itself.
      return ''
    }
  })
  assert.ok(!open.includes(file))
})

test('a store that another program is making is waited for', async () => {
  const file = join(folder, 'made.db')
  const code = `const { parentPort, workerData } = require('node:worker_threads')
    const store = new (require('node:sqlite').DatabaseSync)(workerData)
    store.exec('create table a (n); begin immediate')
    parentPort.postMessage('it has the lock')
    store.exec(\`with recursive n (n) as (select 1 union all select n + 1 from n limit 300000)
      insert into a select n from n; commit\`)`
  await once(new Worker(code, { eval: true, workerData: file }), 'message')
  connect(file).close()
})
