/** The memory of V8 in a service. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Fills the room for young objects with ones that live for a while; tells how many MiB it mostly was: while it is emptied, it is more for a moment. */
const fill = `
  const { getHeapSpaceStatistics } = require('node:v8')
  const sizes = []
  const kept = Array.from({ length: 200 })
  for (let n = 0; n < 20_000; n++) {
    kept[n % kept.length] = Array.from({ length: 500 }, () => ({ n }))
    if (n % 100 > 0) continue
    const young = getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space')
    sizes.push(young.space_size / 2 ** 20)
  }
  sizes.sort((a, b) => a - b)
  require('node:worker_threads').parentPort.postMessage(sizes[sizes.length / 2])`

const program = `
  import { Worker } from 'node:worker_threads'
  import { halveYoung } from ${JSON.stringify(new URL('./heap.ts', import.meta.url).href)}
  halveYoung()
  new Worker(${JSON.stringify(fill)}, { eval: true, execArgv: [] }).on('message', size => console.log(size))`

test('of several threads each has half the room for young objects that the options of Node ask for, or that npm start does', async () => {
  const args = ['--input-type=module', '--eval', program]
  const [given = 0, usual = 0] = await Promise.all(
    [['--max-semi-space-size=4'], []].map(async options =>
      Number((await run(process.execPath, [...options, ...args])).stdout),
    ),
  )
  // What is young is kept twice.
  assert.ok(given > 2 && given < 6, `${given} MiB`)
  assert.ok(usual > 6 && usual < 24, `${usual} MiB`)
})
