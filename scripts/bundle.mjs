// Makes a few files of the many modules of the program, since to find, read and link each of them takes most of the time of a start.
// Packages stay packages.
import { readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

/** The modules that are loaded by their names: by contents, the command line, and for authors' tools. They share all that they import. */
const program = [
  ...['duet', 'model', 'actions', 'routes', 'commands', 'test'].map(name => `src/entry/${name}.ts`),
  ...['src/cli/program.ts', 'src/base/resolve-imports.ts', 'kit/commands.ts'],
]

/** Threads share nothing with those that start them, and are one file each. */
const threads = [
  ...['thread', 'writer-thread', 'reader-thread'].map(name => `src/engines/sqlite/${name}.ts`),
  'src/people/thread.ts',
]

/** The file of such a module: all are in one folder. */
export const fileOf = source => `${source.replace(/^src\/|\.ts$/g, '').replaceAll('/', '-')}.mjs`

const packages = join(root, 'node_modules')

/**
 * Makes files of modules and of all that they import, by esbuild's `build`, but for packages of which `isOutside` says that they stay where
 * they are. A module is told its own address, and not that of the file that it is in then: `placed` gives its text with that.
 */
export const makeFiles = (build, { placed, isOutside, ...options }) => {
  const modules = {
    name: 'modules',
    setup: ({ onLoad, onResolve }) => {
      onResolve({ filter: /^[^.#/]/ }, ({ path, kind }) =>
        kind !== 'entry-point' && isOutside(path) ? { path, external: true } : undefined,
      )
      onLoad({ filter: /\.ts$/ }, ({ path }) =>
        path.startsWith(packages)
          ? undefined
          : { contents: placed(path, readFileSync(path, 'utf8')), loader: 'ts' },
      )
    },
  }
  return build({
    ...{ bundle: true, platform: 'node', format: 'esm', target: 'esnext', plugins: [modules] },
    ...{ outExtension: { '.js': '.mjs' }, logLevel: 'error', ...options },
  })
}

/** Writes the files into `folder`; `placeOf` gives the address, from there, by which a module knows itself. */
export async function bundle(folder, placeOf) {
  const { build } = await import('esbuild')
  const made = new Set([...program, ...threads])
  const placed = (file, text) => {
    const source = relative(root, file).replaceAll('\\', '/')
    const own = `new URL('${placeOf(source)}', import.meta.url).href`
    return text.replace(
      /new URL\('(\.[./\w-]+\.ts)', import\.meta\.url\)|import\.meta\.url/g,
      (_, path) => {
        const module = path && join(dirname(source), path)
        if (made.has(module)) return `new URL('./${fileOf(module)}', import.meta.url)`
        return path ? `new URL('${path}', ${own})` : own
      },
    )
  }
  const make = (sources, more) =>
    makeFiles(build, {
      entryPoints: sources.map(name => ({ in: join(root, name), out: fileOf(name).slice(0, -4) })),
      ...{ absWorkingDir: root, outdir: folder, sourcemap: true },
      ...{ placed, isOutside: () => true, ...more },
    })
  // The Node that makes a project may be too old to serve it, and reads these files whole.
  await Promise.all([make(program, { splitting: true, target: 'node20.19' }), make(threads)])
}
