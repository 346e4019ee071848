/**
 * Finds the project's modules by their names alone, as package.json has them. Node searches folders and packages for each
 * import, which takes a third of the time of a start; it still does where there is no such file, and says what is missing.
 */
import { existsSync } from 'node:fs'
import { type ResolveHookSync, registerHooks } from 'node:module'
import { fileURLToPath } from 'node:url'

const root = new URL('../../', import.meta.url).href

/** Where a module is by its name; undefined for what Node is left to find. */
const addressOf = (name: string, parent = root): string | undefined => {
  if (name.startsWith('#content/')) return root + name.slice(1)
  if (name.startsWith('#')) return `${root}src/${name.slice(1)}`
  return name.startsWith('.') ? new URL(name, parent).href : undefined
}

const formatOf = (name: string): 'module-typescript' | 'module' | undefined => {
  if (name.endsWith('.ts')) return 'module-typescript'
  return name.endsWith('.mjs') ? 'module' : undefined
}

const resolve: ResolveHookSync = (name, context, next) => {
  const format = formatOf(name)
  const url = format && addressOf(name, context.parentURL)
  if (!url?.startsWith('file:') || !existsSync(fileURLToPath(url))) return next(name, context)
  return { url, format, shortCircuit: true }
}

registerHooks({ resolve })
