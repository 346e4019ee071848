/** `duet contract`: compares two files of a contract. */
import { readFileSync } from 'node:fs'
import { readArgs, UsageError } from '#cli/usage.ts'
import type { CliCommand } from '#content.ts'
import { type ContractFile, diffFiles, kindOf } from '#contract/contract.ts'
import { counts, report } from '#contract/report.ts'

const help = `Usage: duet contract diff OLD NEW [--json]

Says what NEW means for callers of OLD: two OpenAPI 3.1 documents (.json), or two GraphQL
schemas (.graphql). Each difference is breaking, risky or compatible: docs/contract.md.
Exit code 0 where nothing is breaking, 1 where something is, 2 for a wrong command line.
--json prints the differences as a list of objects.`

const fileNamed = (name: string | undefined, which: string): string => {
  if (name === undefined) throw new UsageError(`${which} is missing: duet contract diff OLD NEW`)
  if (kindOf(name) === undefined)
    throw new UsageError(`${which} must be a file that ends in .json or .graphql, not ${name}`)
  return name
}

const read = (name: string): ContractFile => ({ name, text: readFileSync(name, 'utf8') })

const diff = (names: readonly string[], asJson: boolean): void => {
  const [before, after] = [fileNamed(names[0], 'OLD'), fileNamed(names[1], 'NEW')]
  if (kindOf(before) !== kindOf(after))
    throw new UsageError('OLD and NEW must be of one kind: both .json, or both .graphql')
  const today = new Date().toISOString().slice(0, 10)
  const differences = diffFiles(read(before), read(after), today)
  process.stdout.write(
    asJson
      ? `${JSON.stringify(differences, null, 2)}\n`
      : `${report(differences)}${counts(differences)}\n`,
  )
  if (differences.some(difference => difference.class === 'breaking')) process.exitCode = 1
}

const run = async (args: readonly string[]): Promise<void> => {
  const { values, positionals } = readArgs(args, { json: { type: 'boolean' } }, 3)
  const [name, ...files] = positionals
  if (name === 'diff') return diff(files, values.json === true)
  if (name !== undefined) throw new UsageError(`there is no contract ${name}; there is: diff`)
  process.stdout.write(`${help}\n`)
  process.exitCode = 2
}

export const contract: CliCommand = { help, run }
