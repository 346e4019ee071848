/** `duet contract usage`: who still uses what is deprecated. */
import { isDay } from '#base/dates.ts'
import { readArgs, UsageError } from '#cli/arguments.ts'
import { ask } from '#cli/ask.ts'
import { withStore } from '#cli/store.ts'
import type { Content } from '#content.ts'
import type { Row } from '#sql/engine.ts'
import { usesSince } from '#versions/deprecated-use.ts'

/** One caller's uses of a deprecated version, or of a member of it. */
type Line = {
  readonly api: string
  readonly member: string | null
  readonly viewer: string
  readonly uses: number
  readonly last: string
}

/** A row of the store as a line; `viewers` is what the content calls those whom tokens speak for. */
const lineOf =
  (viewers: string) =>
  ([api, member, viewer, uses, last]: Row): Line => ({
    api: String(api),
    member: member === '' ? null : String(member),
    viewer: String(viewer).replace(/^viewer /, `${viewers} `),
    uses: Number(uses),
    last: String(last),
  })

const apiNamed = (api: string): string =>
  api === 'graphql' ? 'GraphQL' : `version ${api.slice(1)} of the REST API`

const titleOf = ({ api, member }: Line): string =>
  member === null ? apiNamed(api) : `${member} in ${apiNamed(api)}`

const table = (lines: readonly Line[]): string => {
  const width = Math.max(...lines.map(({ viewer }) => viewer.length))
  const callers = lines.map(
    ({ viewer, uses, last }) =>
      `  ${viewer.padEnd(width)}  ${uses.toLocaleString('en').padStart(12)}  last on ${last}\n`,
  )
  return callers.join('')
}

const report = (lines: readonly Line[]): string =>
  [...Map.groupBy(lines, titleOf)].map(([title, group]) => `${title}\n${table(group)}`).join('\n')

/** Prints who used what is deprecated; throws UsageError for a wrong command line. */
export const usage = async (args: readonly string[], content: Content): Promise<void> => {
  const { values } = readArgs(args, { since: { type: 'string' }, json: { type: 'boolean' } }, 0)
  const { since = '', json } = values
  if (values.since !== undefined && !isDay(since))
    throw new UsageError(`--since must be a day, such as 2027-01-31, not ${since}`)
  const rows = await withStore(content, 'reading', store => ask(store, usesSince(since)))
  const lines = rows.map(lineOf(content.viewers.entity))
  const nobody = `nobody used what is deprecated${since && ` since ${since}`}, as far as it was counted\n`
  const text = lines.length === 0 ? nobody : report(lines)
  process.stdout.write(json === true ? `${JSON.stringify(lines, null, 2)}\n` : text)
}
