/** The program: a command for the content that `--config` names, or for the one of the folder that it is started in. */
import { existsSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import '#base/older-node.ts'
import { optionsOf } from '#base/shape.ts'
import { nearest } from '#base/text.ts'
import { UsageError } from '#cli/arguments.ts'
import { runCommand } from '#cli/run.ts'
import { settingsBeside } from '#config.ts'
import type { Content } from '#content.ts'

const names = ['duet.config.ts', 'duet.config.js', 'duet.config.mjs']

/** In the checkout, the service of the specification; a package has none. */
const own = fileURLToPath(new URL('../../content/duet.config.ts', import.meta.url))

/** The file that `--config FILE` names, and the arguments without it. */
const configOf = (argv: readonly string[]) => {
  const isConfig = (argument: string) => /^--config(=|$)/.test(argument)
  const at = argv.findIndex(isConfig)
  const argument = argv[at]
  if (argument === undefined) return { argv }
  const isApart = argument === '--config'
  const file = isApart ? argv[at + 1] : argument.slice('--config='.length)
  if (!file || file.startsWith('-'))
    throw new UsageError('--config needs a file, such as --config ../shop/duet.config.ts')
  if (!existsSync(file)) throw new Error(`there is no file ${file}: let --config name one`)
  if (statSync(file).isDirectory())
    throw new Error(`${file} is a folder: let --config name the duet.config.ts in it`)
  const others = argv.toSpliced(at, isApart ? 2 : 1)
  if (others.some(isConfig)) throw new UsageError('--config is given twice; give it once')
  return { file: resolve(file), argv: others }
}

/** The end of a sentence about an export of Duet that there is not: the one that was probably meant. */
const exportMeant = async (message: string): Promise<string> => {
  const [, entry, name] =
    /'(duet[/\w]*)' does not provide an export named '(\w+)'/.exec(message) ?? []
  const near = entry && name && nearest(name, Object.keys(await import(entry)))
  return near ? `: did you mean ${near}?` : ''
}

/** What an import that names no module may have meant, by the files that are there: the sentence about it; undefined for any other error. */
const importMeant = (
  error: NodeJS.ErrnoException & { readonly url?: string },
): string | undefined => {
  const codes = ['ERR_MODULE_NOT_FOUND', 'ERR_UNSUPPORTED_DIR_IMPORT']
  if (!codes.includes(error?.code ?? '') || !error.url?.startsWith('file:')) return undefined
  const path = fileURLToPath(error.url)
  const near = [`${path}.ts`, path.replace(/\.m?js$/, '.ts'), join(path, 'index.ts')]
  const found = near.find(one => one !== path && existsSync(one))
  const [, from = ''] = / imported from (.+)$/.exec(error.message) ?? []
  const place = from.startsWith('file:') ? fileURLToPath(from) : from
  const sentence = `${place} imports ${path}, which is no file`
  return (
    found &&
    `${sentence}: imports name files with their endings, so write ${found.slice(path.length - basename(path).length)}`
  )
}

/** The content of a file; throws a plain error for a file that has none. */
const contentOf = async (file: string): Promise<Content> => {
  const { default: content } = await import(pathToFileURL(file).href).catch(async error => {
    const said = importMeant(error)
    if (said !== undefined) throw new Error(said)
    // Node also shows the line and its own stack; the place and the sentence are enough.
    if (error?.code === 'ERR_IMPORT_ATTRIBUTE_MISSING') throw new Error(error.message)
    const place = error instanceof SyntaxError ? /^(file:\S+):(\d+)\n/ : /\b(file:\S+):(\d+):\d+/
    const [, url = '', line] = place.exec(error?.stack ?? '') ?? []
    const isTheirs = !url.includes('/node_modules/') && !url.startsWith(import.meta.resolve('..'))
    if (!/^(Syntax|Reference|Type)Error$/.test(error?.name) || line === undefined || !isTheirs)
      throw error
    const meant = await exportMeant(error.message)
    throw new Error(`${fileURLToPath(url)}:${line} ${error.message}${meant}`)
  })
  if (content === undefined)
    throw new Error(`${file} exports no content: let it say export default defineContent({ … })`)
  // A copy of Duet knows only what it made itself.
  if (typeof content !== 'object' || content === null || optionsOf(content) === undefined)
    throw new Error(
      `what ${file} exports was not made by defineContent of this Duet, whose files are in ${fileURLToPath(new URL('..', import.meta.url))}: import it from 'duet', and start the duet of that folder (npx duet)`,
    )
  return content
}

const { file = [...names.map(name => resolve(name)), own].find(existsSync), argv } = configOf(
  process.argv.slice(2),
)
// Beside the content; what the environment has goes before it.
if (file && argv[0] !== 'dev')
  Object.assign(process.env, { ...settingsBeside(dirname(file)), ...process.env })
await runCommand(file === undefined ? undefined : () => contentOf(file), argv, file)
