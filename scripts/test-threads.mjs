// Loaded into each test file's process: a thread of a SQLite store or of sign-in loads one file there, made of the code as it is when
// the run begins. To load its own modules, forty or a library's hundreds, takes twice to five times as long, and a run starts hundreds
// of threads. Programs that tests start, nights, and runs for coverage have the modules.
import { mkdirSync, readFileSync, realpathSync, renameSync, rmSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'
import workers from 'node:worker_threads'

const source = new URL('../src/', import.meta.url)
const packages = fileURLToPath(new URL('../node_modules', import.meta.url))
const made = new URL('../node_modules/.cache/threads/', import.meta.url)
const threads = ['engines/sqlite/writer-thread', 'engines/sqlite/reader-thread', 'people/thread']

/** Makes the files, and gives '1'; undefined in a copy whose packages are another's, or too few. */
export const makeThreads = async () => {
  const { build } = await import('esbuild').catch(() => ({}))
  if (build === undefined || realpathSync(packages) !== packages) return undefined
  // Beside the others first: processes of another run may read those.
  const fresh = new URL(`${process.pid}/`, made)
  await build({
    entryPoints: threads.map(name => fileURLToPath(new URL(`${name}.ts`, source))),
    ...{ outbase: fileURLToPath(source), outdir: fileURLToPath(fresh) },
    ...{ outExtension: { '.js': '.mjs' }, target: 'esnext', logLevel: 'error' },
    ...{ bundle: true, platform: 'node', format: 'esm' },
    plugins: [{ name: 'addresses', setup: keepAddresses }],
  })
  for (const name of threads) {
    const file = new URL(`${name}.mjs`, made)
    mkdirSync(new URL('.', file), { recursive: true })
    renameSync(new URL(`${name}.mjs`, fresh), file)
  }
  rmSync(fresh, { recursive: true })
  return '1'
}

/** A module is told its own address, and not that of the file that it is in then. */
const keepAddresses = ({ onLoad }) =>
  onLoad({ filter: /\/src\/.*\.ts$/ }, ({ path }) => {
    const address = JSON.stringify(pathToFileURL(path).href)
    const contents = readFileSync(path, 'utf8').replaceAll('import.meta.url', address)
    return { contents, loader: 'ts' }
  })

if (process.env.DUET_TEST_THREADS_MADE) {
  const files = new Map(
    threads.map(name => [new URL(`${name}.ts`, source).href, new URL(`${name}.mjs`, made)]),
  )
  workers.Worker = class Worker extends workers.Worker {
    constructor(file, options) {
      // A thread of SQLite begins in thread.ts, and is told which module it runs.
      super(files.get(options?.argv?.[0]) ?? files.get(String(file)) ?? file, options)
    }
  }
  syncBuiltinESMExports()
}
