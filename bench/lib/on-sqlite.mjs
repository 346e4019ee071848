/** The run that writes on SQLite: reads while 64 callers place orders. */
import { benchOnCopy } from './on-copy.mjs'
import { printReads } from './report.mjs'
import { manyCallers, measureReads } from './writes.mjs'

/** On a copy, as what is written changes the store. */
export const benchWrites = (options, tools) =>
  benchOnCopy(options, tools, async ({ run, ...served }) => {
    const reads = await measureReads({ ...run, ...served, write: manyCallers })
    printReads(reads)
    return { reads }
  })
