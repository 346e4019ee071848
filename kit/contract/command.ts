/** `duet contract diff`: compares two files of a contract. */
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { readArgs, UsageError } from '#cli/arguments.ts'
import { type ContractFile, counts, diffFiles, kindOf, report } from '#kit/contract/contract.ts'
import { corrected, correctionsIn } from '#kit/contract/corrections.ts'

export const help = `Usage: duet contract diff OLD NEW [--corrections FILE] [--json]

diff says how callers of OLD would find NEW: two OpenAPI 3.1 documents (.json), two GraphQL
schemas (.graphql), or the signatures of two packages (.d.ts). Each difference is breaking, risky or compatible: docs/changing-an-api.md.
Exit code 0 if nothing is breaking, 1 if something is, 2 for a wrong command line.
--corrections FILE names breaking differences of NEW that are passed, as only the document was wrong.
--json prints a list of objects.`

const fileNamed = (name: string | undefined, which: string): string => {
  if (name === undefined) throw new UsageError(`${which} is missing: duet contract diff OLD NEW`)
  if (kindOf(name) === undefined)
    throw new UsageError(
      `${which} must be a file that ends in .json, .graphql or .d.ts, not ${name}`,
    )
  return name
}

const read = (name: string): ContractFile => ({ name, text: readFileSync(name, 'utf8') })

const diff = async (args: readonly string[]): Promise<void> => {
  const options = { json: { type: 'boolean' }, corrections: { type: 'string' } } as const
  const { values, positionals } = readArgs(args, options, 2)
  const [before, after] = [fileNamed(positionals[0], 'OLD'), fileNamed(positionals[1], 'NEW')]
  if (kindOf(before) !== kindOf(after))
    throw new UsageError('OLD and NEW must be of one kind: both .json, .graphql or .d.ts')
  const today = new Date().toISOString().slice(0, 10)
  const given = values.corrections
  const all = diffFiles(read(before), read(after), today)
  const corrections = given === undefined ? [] : correctionsIn(read(given))
  const { left: differences, missed } = corrected(basename(after), all, corrections)
  if (missed[0] !== undefined) throw new Error(`${given}: ${missed.join('; ')}`)
  process.stdout.write(
    values.json === true
      ? `${JSON.stringify(differences, null, 2)}\n`
      : `${report(differences)}${counts(differences)}\n`,
  )
  if (differences.some(difference => difference.class === 'breaking')) process.exitCode = 1
}

export const run = async (args: readonly string[]): Promise<void> => {
  const at = args.findIndex(argument => !argument.startsWith('-'))
  const name = args[at]
  const rest = args.toSpliced(at, 1)
  if (name === 'diff') return diff(rest)
  if (name !== undefined) throw new UsageError(`there is no contract ${name}; there is: diff`)
  process.stdout.write(`${help}\n`)
  process.exitCode = 2
}
