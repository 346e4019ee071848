/** The run that writes on SQLite: inserts beside those of others, then reads while 64 callers place orders. */
import { measureInserts } from './inserts.mjs'
import { benchOnCopy } from './on-copy.mjs'
import { printReads } from './report.mjs'
import { manyCallers, measureReads } from './writes.mjs'

/** On a copy, as what is written changes the store. */
export const benchWrites = async (options, tools) => {
  const inserts = await measureInserts(options, tools)
  await benchOnCopy(options, tools, async ({ run, ...served }) => {
    const reads = await measureReads({ ...run, ...served, write: manyCallers })
    printReads(reads)
    return { inserts, reads }
  })
}
