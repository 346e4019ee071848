/** Runs that change the store, each on a copy of it. */
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { prepare, sizes } from './dataset.mjs'
import { printHead } from './report.mjs'

/** Runs `use` with a folder of its own, which is gone afterwards. */
export async function inFolder(use) {
  const folder = mkdtempSync(join(tmpdir(), 'duet-bench-'))
  try {
    return await use(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The setting of a service that gets a smaller heap than Node gives it. */
const heapOf = ({ heap }) =>
  heap === undefined ? {} : { NODE_OPTIONS: `--max-old-space-size=${heap}` }

/** Serves a copy of the store to `measure`, which gives the results by their names, and writes these where they are asked for. */
export async function benchOnCopy(options, { duet, log }, measure) {
  const { files, facts } = await prepare(duet, options)
  await inFolder(async folder => {
    const store = join(folder, 'duet.db')
    copyFileSync(files.all, store)
    const run = { ...options, token: await duet.token(store) }
    const head = printHead(run, sizes[options.data], facts)
    const server = await duet.serve(store, log('duet'), heapOf(options))
    const results = await measure({ run, duet, store, server, facts })
    await server.stop()
    if (options.json)
      writeFileSync(options.json, `${JSON.stringify({ head, ...results }, null, 2)}\n`)
  })
}
