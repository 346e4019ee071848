/** `duet contract`: compares two files of a contract, and says who still uses what is deprecated. */
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { isDay } from '#base/dates.ts'
import { readArgs, UsageError } from '#cli/arguments.ts'
import type { Content } from '#content.ts'
import { type ContractFile, counts, diffFiles, kindOf, report } from '#kit/contract/contract.ts'
import { corrected, correctionsIn } from '#kit/contract/corrections.ts'
import { ask, withStore } from '#serve/store.ts'
import { usesSince } from '#versions/deprecated-use.ts'

export const help = `Usage: duet contract diff OLD NEW [--corrections FILE] [--json]
       duet contract usage [--since DAY] [--json]

diff says how callers of OLD would find NEW: two OpenAPI 3.1 documents (.json), two GraphQL
schemas (.graphql), or the signatures of two packages (.d.ts). Each difference is breaking, risky or compatible: docs/contract.md.
Exit code 0 if nothing is breaking, 1 if something is, 2 for a wrong command line.
--corrections FILE names breaking differences of NEW that are passed, as only the document was wrong.
usage says who still uses what is deprecated in the store of the settings: a version, or a
member that will end, by the id that the callers' tokens name, of the last 13 months or
since a day such as 2027-01-31. --json prints either as a list of objects.`

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

/** Prints who used what is deprecated; throws UsageError for a wrong command line. */
const usage = async (args: readonly string[], content: Content): Promise<void> => {
  const { values } = readArgs(args, { since: { type: 'string' }, json: { type: 'boolean' } }, 0)
  const { since = '', json } = values
  if (values.since !== undefined && !isDay(since))
    throw new UsageError(`--since must be a day, such as 2027-01-31, not ${since}`)
  const rows = await withStore(content, 'reading', store => ask(store, usesSince(since)))
  // One caller's uses of a deprecated version, or of a member of it.
  const lines = rows.map(([api, member, viewer, uses, last]) => ({
    api: String(api),
    member: member === '' ? null : String(member),
    // The content has its own word for the people whom tokens speak for.
    viewer: String(viewer).replace(/^viewer /, `${content.viewers.entity ?? 'viewer'} `),
    uses: Number(uses),
    last: String(last),
  }))
  if (json) return void process.stdout.write(`${JSON.stringify(lines, null, 2)}\n`)
  const groups = Map.groupBy(lines, ({ api, member }) => {
    const name = api === 'graphql' ? 'GraphQL' : `version ${api.slice(1)} of the REST API`
    return member === null ? name : `${member} in ${name}`
  })
  const texts = [...groups].map(([title, group]) => {
    const width = Math.max(...group.map(({ viewer }) => viewer.length))
    const callers = group.map(
      ({ viewer, uses, last }) =>
        `  ${viewer.padEnd(width)}  ${uses.toLocaleString('en').padStart(12)}  last on ${last}\n`,
    )
    return `${title}\n${callers.join('')}`
  })
  const nobody = `nobody used what is deprecated${since && ` since ${since}`}, as far as it was counted\n`
  process.stdout.write(texts.join('\n') || nobody)
}

export const run = async (args: readonly string[], content: Content): Promise<void> => {
  const at = args.findIndex(argument => !argument.startsWith('-'))
  const name = args[at]
  const rest = args.toSpliced(at, 1)
  if (name === 'diff') return diff(rest)
  if (name === 'usage') return usage(rest, content)
  if (name !== undefined)
    throw new UsageError(`there is no contract ${name}; there are: diff, usage`)
  process.stdout.write(`${help}\n`)
  process.exitCode = 2
}
