/** What a command line must be, and how its mistakes are told: one line each, exit code 2. */
import { type ParseArgsConfig, parseArgs } from 'node:util'
import type { Content } from '#content.ts'

/** A command line that is not as it must be. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

export type CliCommand = {
  /** The text of `duet NAME --help`. */
  readonly help: string | ((content: Content) => string | Promise<string>)
  readonly run: (args: readonly string[], content: Content) => Promise<void>
}

/** Options and positionals of a command line; throws UsageError for unknown ones. */
export const readArgs = <const Options extends ParseArgsConfig['options'] & {}>(
  args: readonly string[],
  options: Options,
  positionals: number,
) => {
  try {
    const parsed = parseArgs({ args: [...args], options, allowPositionals: true, strict: true })
    if (parsed.positionals.length > positionals)
      throw new UsageError(`unexpected argument: ${parsed.positionals[positionals]}`)
    return parsed
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw new UsageError((error as Error).message.split('. ')[0] ?? 'wrong arguments')
  }
}

/** A whole number given as an option. */
export const wholeOption = (name: string, text: string | undefined, usual: number): number => {
  if (text === undefined) return usual
  if (!/^\d{1,9}$/.test(text)) throw new UsageError(`--${name} must be a whole number, not ${text}`)
  return Number(text)
}
