/**
 * Finds the project's modules by their names alone, as package.json has them, built or not. Node searches folders and packages for each import,
 * which takes a quarter of the time of a start; it still does for all that is not plainly a file of the project, or is not there.
 */
import { existsSync, realpathSync } from 'node:fs'
import { type ResolveHookSync, registerHooks } from 'node:module'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = new URL('../../', import.meta.url).href
const code = new URL('../', import.meta.url).href
const isBuilt = import.meta.url.endsWith('.js')
const packages = '/node_modules/'

/** A folder that is a link is Node's to follow. */
const content = fileURLToPath(new URL('content', root))
const hasPlainContent = existsSync(content) && realpathSync(content) === content

const isOwn = (url: string): boolean =>
  url.startsWith(root) &&
  !url.includes(packages, root.length - 1) &&
  (hasPlainContent || !url.startsWith(`${root}content/`))

/** The address of a module that a module at `parent` names; undefined where Node is to find it. */
const addressOf = (name: string, parent: string): string | undefined => {
  if (!parent.startsWith('file:')) return undefined
  if (name.startsWith('./') || name.startsWith('../')) {
    const url = new URL(name, parent).href
    // The files of a package that are modules by their names are found so too.
    const isModule = name.endsWith('.mjs') && parent.includes(packages)
    return isOwn(url) || isModule ? url : undefined
  }
  if (!name.startsWith('#') || !isOwn(parent) || name.includes('/../')) return undefined
  const isBesideSrc = /^#(content|kit|test)\//.test(name)
  const built = isBuilt ? name.replace(/\.ts$/, '.js') : name
  const url = `${isBesideSrc ? root : code}${built.slice(1)}`
  return isOwn(url) ? url : undefined
}

const formats: Readonly<Record<string, string>> = {
  '.mjs': 'module',
  ...(isBuilt ? { '.ts': 'module', '.js': 'module' } : { '.ts': 'module-typescript' }),
}

/** Modules that are there: each is named by several others. */
const found = new Set<string>()

const resolve: ResolveHookSync = (name, context, next) => {
  if (name.startsWith('node:')) return { url: name, format: 'builtin', shortCircuit: true }
  const format = formats[extname(name)]
  const url = format && addressOf(name, context.parentURL ?? '')
  if (url === undefined) return next(name, context)
  if (!found.has(url) && !existsSync(fileURLToPath(url))) return next(name, context)
  found.add(url)
  return { url, format, shortCircuit: true }
}

registerHooks({ resolve })
