/** The run that writes on SQLite: reads while 64 callers place orders. */
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { prepare, sizes } from './dataset.mjs'
import { printHead, printReads } from './report.mjs'
import { manyCallers, measureReads } from './writes.mjs'

/** On a copy, as what is written changes the store. */
export async function benchWrites(options, { duet, log }) {
  const { files, facts } = await prepare(duet, options)
  const folder = mkdtempSync(join(tmpdir(), 'duet-bench-'))
  const store = join(folder, 'duet.db')
  try {
    copyFileSync(files.all, store)
    const run = { ...options, token: await duet.token(store) }
    const head = printHead(run, sizes[options.data], facts)
    const server = await duet.serve(store, log('duet'))
    const reads = await measureReads({ ...run, duet, store, server, facts, write: manyCallers })
    printReads(reads)
    await server.stop()
    if (options.json) writeFileSync(options.json, `${JSON.stringify({ head, reads }, null, 2)}\n`)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
