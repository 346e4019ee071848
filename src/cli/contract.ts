/** `duet contract`: compares two files of a contract, and says who still uses what is deprecated. */
import { readFileSync } from 'node:fs'
import { own } from '#base/object.ts'
import { readArgs, UsageError } from '#cli/arguments.ts'
import { usage } from '#cli/deprecated-use.ts'
import type { Content } from '#content.ts'
import { type ContractFile, counts, diffFiles, kindOf, report } from '#contract/contract.ts'

export const help = `Usage: duet contract diff OLD NEW [--json]
       duet contract usage [--since DAY] [--json]

diff says what NEW means for callers of OLD: two OpenAPI 3.1 documents (.json), or two GraphQL
schemas (.graphql). Each difference is breaking, risky or compatible: docs/contract.md.
Exit code 0 where nothing is breaking, 1 where something is, 2 for a wrong command line.
usage says who still uses what is deprecated in the store of the settings: a version, or a
member that will end, by the id that the callers' tokens name, of the last 13 months or
since a day such as 2027-01-31. --json prints either as a list of objects.`

const fileNamed = (name: string | undefined, which: string): string => {
  if (name === undefined) throw new UsageError(`${which} is missing: duet contract diff OLD NEW`)
  if (kindOf(name) === undefined)
    throw new UsageError(`${which} must be a file that ends in .json or .graphql, not ${name}`)
  return name
}

const read = (name: string): ContractFile => ({ name, text: readFileSync(name, 'utf8') })

const diff = async (args: readonly string[]): Promise<void> => {
  const { values, positionals } = readArgs(args, { json: { type: 'boolean' } }, 2)
  const [before, after] = [fileNamed(positionals[0], 'OLD'), fileNamed(positionals[1], 'NEW')]
  if (kindOf(before) !== kindOf(after))
    throw new UsageError('OLD and NEW must be of one kind: both .json, or both .graphql')
  const today = new Date().toISOString().slice(0, 10)
  const differences = diffFiles(read(before), read(after), today)
  process.stdout.write(
    values.json === true
      ? `${JSON.stringify(differences, null, 2)}\n`
      : `${report(differences)}${counts(differences)}\n`,
  )
  if (differences.some(difference => difference.class === 'breaking')) process.exitCode = 1
}

const parts: Readonly<
  Record<string, (args: readonly string[], content: Content) => Promise<void>>
> = { diff, usage }

export const run = async (args: readonly string[], content: Content): Promise<void> => {
  const at = args.findIndex(argument => !argument.startsWith('-'))
  const name = args[at]
  if (name === undefined) {
    process.stdout.write(`${help}\n`)
    process.exitCode = 2
    return
  }
  const part = own(parts, name)
  if (!part)
    throw new UsageError(
      `there is no contract ${name}; there are: ${Object.keys(parts).join(', ')}`,
    )
  await part(args.toSpliced(at, 1), content)
}
