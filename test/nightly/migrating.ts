// Migrates a store, to be killed meanwhile: says when it begins, and when it has ended how many milliseconds that took.
import { writeSync } from 'node:fs'
import { sqliteStore } from '#engines/sqlite/store.ts'
import { historyFor } from '../history.ts'
import { postgresOf } from '../stores.ts'

const url = process.argv[2] ?? ''
const store = url.startsWith('postgres')
  ? postgresOf(url)
  : sqliteStore({ file: url, migrations: historyFor('sqlite') })
writeSync(1, 'begins\n')
const begun = performance.now()
await store.migrate()
writeSync(1, `ended ${performance.now() - begun}\n`)
process.exit(0)
