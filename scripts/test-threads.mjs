// Loaded into each test file's process: what tests start again and again is one file or a few, made of the code as it is when the run
// begins: the threads of a SQLite store and of sign-in, and the program. To load their own modules, forty to six hundred, takes twice to
// five times as long, and a run starts hundreds of each. Nights and runs for coverage have the modules.

import { EventEmitter, once } from 'node:events'
import {
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { registerHooks, syncBuiltinESMExports } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'
import workers, { MessageChannel } from 'node:worker_threads'

const root = new URL('../', import.meta.url)
const packages = fileURLToPath(new URL('node_modules', root))
const made = new URL('node_modules/.cache/made/', root)

const ofStores = ['writer', 'reader'].map(name => `src/engines/sqlite/${name}-thread`)
const threads = [...ofStores, 'src/people/thread']

/** The program, what contents import of it, and the contents of tests: others are loaded as they are. */
const programs = [
  ...['src/cli/program', 'src/cli/run', 'kit/commands'],
  ...globSync('src/entry/*.ts', { cwd: fileURLToPath(root) }).map(name =>
    name.slice(0, -3).replaceAll('\\', '/'),
  ),
  ...[
    'content/duet.config',
    'test/support/market/duet.config',
    'test/support/gallery',
    'test/support/notebook',
  ],
].filter(name => existsSync(new URL(`${name}.ts`, root)))

/** Packages whose many modules go into the files of the program. */
const bundled = /^(graphql|hono|jose|ipaddr\.js|csv-parse)(\/|$)/

/** The address of each module, and of what was made of it. */
const addressesOf = (kind, names, ending = '.mjs') =>
  new Map(
    names.map(name => [
      new URL(`${name}.ts`, root).href,
      new URL(`${kind}/${name}${ending}`, made),
    ]),
  )

/** Makes the files, and gives '1'; undefined in a copy whose packages are another's, or too few. */
export const makeThreads = async () => {
  const { build } = await import('esbuild').catch(() => ({}))
  if (build === undefined || realpathSync(packages) !== packages) return undefined
  const kinds = {
    threads: { names: threads, isOutside: () => false },
    again: { ...{ names: ofStores, isOutside: () => false }, ...functions },
    program: { names: programs, isOutside: isApart, splitting: true },
  }
  const state = stateNow()
  if (existsSync(mark) && readFileSync(mark, 'utf8') === state) return '1'
  // A run that is killed meanwhile leaves some of these files and some of those.
  rmSync(mark, { force: true })
  await Promise.all(Object.entries(kinds).map(one => makeKind(build, ...one)))
  writeFileSync(mark, state)
  return '1'
}

const mark = new URL('mark', made)

/** As a function can have them, which is called again and again. */
const functions = { format: 'cjs', outExtension: { '.js': '.cjs' } }

/** All that it is made of, with times and sizes: a file that is put back is no newer one, and a copy of a checkout has other addresses. */
const stateNow = () => {
  const sources = globSync(
    ['{src,kit,content,test}/**/*.ts', 'package*.json', 'scripts/{bundle,test-threads}.mjs'],
    { cwd: fileURLToPath(root), exclude: ['**/*.test.ts'] },
  )
  const told = sources.sort().map(name => {
    const { mtimeMs, size } = statSync(new URL(name, root))
    return `${name} ${mtimeMs} ${size}`
  })
  return [root.href, ...told].join('\n')
}

const makeKind = async (build, kind, { names, ...options }) => {
  // Beside the others first: processes of another run may read those.
  const fresh = new URL(`${kind}-${process.pid}/`, made)
  const { makeFiles } = await import('./bundle.mjs')
  await makeFiles(build, {
    entryPoints: names.map(name => fileURLToPath(new URL(`${name}.ts`, root))),
    ...{ outbase: fileURLToPath(root), outdir: fileURLToPath(fresh) },
    placed: (path, text) =>
      text.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href)),
    ...options,
  })
  for (const name of globSync('**/*.?js', { cwd: fileURLToPath(fresh) })) {
    const file = new URL(`${kind}/${name}`, made)
    mkdirSync(new URL('.', file), { recursive: true })
    renameSync(new URL(name, fresh), file)
  }
  rmSync(fresh, { recursive: true })
  // Another run may have begun with those of a moment ago.
  const hourAgo = Date.now() - 3_600_000
  for (const name of globSync(`${kind}{,-*}/**/*.?js`, { cwd: fileURLToPath(made) })) {
    const file = new URL(name, made)
    if (statSync(file).mtimeMs < hourAgo) rmSync(file)
  }
}

/** Packages that a start does not load, or that look for files of theirs, stay where they are. */
const isApart = path => !bundled.test(path) && !/^duet(\/|$)/.test(path)

/** Lets a program or a thread find what was made of its modules. A module that is loaded beside that would be there twice. */
export const findMade = async () => {
  const finding = new URL('src/base/resolve-imports.ts', root).href
  await import(finding)
  const files = addressesOf('program', programs)
  const isOwn = url => ['src/', 'kit/'].some(house => url.startsWith(new URL(house, root).href))
  registerHooks({
    resolve: (name, context, next) => {
      const found = next(name, context)
      const [url, query = ''] = found.url.split('?')
      const file = files.get(url)
      if (file)
        return { url: query ? `${file}?${query}` : file.href, format: 'module', shortCircuit: true }
      if (isOwn(url) && url.endsWith('.ts') && url !== finding)
        throw new Error(
          `${url} is no module of the program that was made: name it in scripts/test-threads.mjs`,
        )
      return found
    },
  })
}

const Thread = workers.Worker
const shell = new URL('test-thread.mjs', import.meta.url)
const free = []

/** Of a `Worker` what stores use, in a thread that had others before: to start a thread takes longer than most of them live. */
class LentThread extends EventEmitter {
  #thread
  #port

  constructor(file, { env, execArgv, workerData }) {
    super()
    const { port1, port2 } = new MessageChannel()
    this.#port = port1.on('message', message => this.emit('message', message))
    const thread = free.pop() ?? new Thread(shell, { env, execArgv })
    this.#thread = thread
    const closed = once(port1, 'close')
    thread.on('error', error => this.emit('error', error))
    thread.on('exit', code => this.emit('exit', code))
    // The one word of test-thread.mjs: nothing of it runs there any more.
    thread.on('message', async () => {
      await closed
      // By name, as a Worker listens to itself too.
      for (const name of ['error', 'exit', 'message']) thread.removeAllListeners(name)
      thread.unref()
      free.push(thread)
      this.emit('exit', 0)
    })
    thread.ref()
    thread.postMessage({ file: fileURLToPath(file), port: port2, workerData }, [port2])
  }

  postMessage(message, moved) {
    this.#port.postMessage(message, moved)
  }

  terminate() {
    return this.#thread.terminate()
  }
}

if (process.env.DUET_TEST_THREADS_MADE) {
  const files = addressesOf('threads', threads)
  const again = addressesOf('again', ofStores, '.cjs')
  workers.Worker = new Proxy(Thread, {
    construct: (_, [file, options]) => {
      // A thread of SQLite begins in thread.ts, and is told which module it runs.
      const module = options?.argv?.[0]
      // A test that looks at threads has real ones.
      if (again.has(module) && process.listenerCount('worker') === 0)
        return new LentThread(again.get(module), options)
      return new Thread(files.get(module) ?? files.get(String(file)) ?? file, options)
    },
  })
  syncBuiltinESMExports()
}
