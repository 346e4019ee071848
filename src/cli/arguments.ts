/** Reads command lines, and reports their faults: one line each, exit code 2. */
import { type ParseArgsConfig, parseArgs } from 'node:util'
import { nearest } from '#base/text.ts'
import { settingMeant } from '#config.ts'

/** A fault of a command line. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** The fault of a word that names none of these, with the one that was probably meant, or with all. */
export const unknownWord = (
  what: string,
  word: string,
  known: readonly string[],
  all = `: name one of ${known.join(', ')}`,
): UsageError => {
  const near = nearest(word, known)
  return new UsageError(
    `${word === '' ? `the ${what} is missing` : `there is no ${what} ${word}`}${near === undefined ? all : `; did you mean ${near}?`}`,
  )
}

/** The names that other programs have for some settings. */
const aliases: Readonly<Record<string, string>> = { p: 'port', db: 'database', verbose: 'log' }

const unknownOption = (option: string, own: readonly string[]): string => {
  const name = option.replace(/^-+/, '')
  const near = nearest(name, own)
  if (near !== undefined) return `there is no ${option}; did you mean --${near}?`
  const part = (aliases[name] ?? name).toUpperCase().replaceAll('-', '_')
  const setting = part.length < 3 ? undefined : settingMeant(`DUET_${part}`)
  return setting === undefined
    ? `there is no ${option}${own.length > 0 ? `; there is --${own.join(', --')}` : ''}`
    : `there is no ${option}; set ${setting} in the environment instead`
}

/** Options and positionals of a command line; throws UsageError for unknown ones, and for options that are given twice. */
export const readArgs = <const Options extends ParseArgsConfig['options'] & {}>(
  args: readonly string[],
  options: Options,
  positionals: number,
) => {
  try {
    const parsed = parseArgs({ args: [...args], options, allowPositionals: true, tokens: true })
    const names = parsed.tokens.flatMap(token => (token.kind === 'option' ? token.rawName : []))
    // Only the last would count.
    const twice = names.find((name, index) => names.indexOf(name) < index)
    if (twice !== undefined) throw new UsageError(`${twice} is given twice; give it once`)
    const empty = parsed.tokens.find(token => token.kind === 'option' && token.value === '')
    // A variable of a script that is not set; as a path it would be the folder in which the command is called.
    if (empty?.kind === 'option') throw new UsageError(`${empty.rawName} needs a value`)
    if (parsed.positionals.length > positionals)
      throw new UsageError(`unexpected argument: ${parsed.positionals[positionals]}`)
    return parsed
  } catch (error) {
    if (error instanceof UsageError) throw error
    const { code, message } = error as NodeJS.ErrnoException
    const [, option = ''] = /'(-[^']*)'/.exec(message) ?? []
    if (code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION')
      throw new UsageError(unknownOption(option, Object.keys(options)))
    if (message.includes('argument missing'))
      throw new UsageError(`${option.split(' ')[0]} needs a value`)
    if (message.includes('ambiguous'))
      throw new UsageError(
        `${option} needs a value; one that begins with - is given as ${option}=-1`,
      )
    throw new UsageError(message.split('. ')[0] ?? 'wrong arguments')
  }
}

/** A whole number given as an option. */
export const wholeOption = (name: string, text: string | undefined, usual: number): number => {
  if (text === undefined) return usual
  if (!/^\d{1,9}$/.test(text)) throw new UsageError(`--${name} must be a whole number, not ${text}`)
  return Number(text)
}
