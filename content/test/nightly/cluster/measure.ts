/** What callers saw of a round, in milliseconds. */
import type { Answer } from './traffic.ts'

export type Seen = {
  /** From the fault until a new primary takes writes. */
  readonly replacing: number
  /** From the first write that was refused to the last. */
  readonly writesRefused: number
  /** From the moment when the new primary takes writes to the first write that is done after it. */
  readonly writesBack: number
  /** The longest time from a read that failed to one that did not. */
  readonly readsFailed: number
  /** Answers other than those that a client expects to send again, and connections that broke. */
  readonly broken: number
}

/** The longest stretch from a bad answer to the next good one. */
const longestGap = (answers: readonly Answer[], isGood: (answer: Answer) => boolean): number => {
  let since: number | undefined
  let longest = 0
  for (const answer of answers) {
    if (!isGood(answer)) since ??= answer.at
    else if (since !== undefined) {
      longest = Math.max(longest, answer.at - since)
      since = undefined
    }
  }
  return longest
}

/** Judges the answers of a round that began at `start` and whose new primary took writes at `back`; undefined where there was no new one. */
export const seenIn = (
  answers: readonly Answer[],
  start: number,
  back: number | undefined,
): Seen => {
  const isGood = ({ status }: Answer) => status > 0 && status < 300
  const writes = answers.filter(({ kind }) => kind === 'write')
  const reads = answers.filter(({ kind }) => kind === 'read')
  const refused = writes.filter(({ status }) => status === 503)
  const first = writes.find(answer => back !== undefined && answer.at > back && isGood(answer))
  return {
    replacing: back === undefined ? 0 : back - start,
    writesRefused: refused.length > 0 ? (refused.at(-1)?.at ?? 0) - (refused[0]?.at ?? 0) : 0,
    writesBack: back === undefined || !first ? 0 : first.at - back,
    readsFailed: longestGap(reads, isGood),
    broken: answers.filter(({ status }) => status === 0).length,
  }
}

const ordered = (values: readonly number[]) => [...values].sort((a, b) => a - b)
const median = (values: readonly number[]) => ordered(values)[Math.floor(values.length / 2)] ?? 0

/** How often each refusal was given, by its words. */
export const refusalsIn = (answers: readonly Answer[]): Readonly<Record<string, number>> => {
  const counts: Record<string, number> = {}
  for (const { kind, status, text } of answers)
    if (status === 0 || status >= 500) {
      const words = `${kind} ${status}: ${/"message":"(.{0,60})/.exec(text)?.[1] ?? text.slice(0, 60)}`
      counts[words] = (counts[words] ?? 0) + 1
    }
  return counts
}

/** What a table says of the rounds of a kind. */
type Rounds = {
  readonly seen: readonly Seen[]
  readonly acknowledged: number
  readonly lost: number
  readonly twice: number
  readonly faults: readonly string[]
}

/** The columns of the table; seconds are the median and the most. */
const columns = {
  rounds: ({ seen }) => String(seen.length),
  acknowledged: ({ acknowledged }) => String(acknowledged),
  lost: ({ lost }) => String(lost),
  twice: ({ twice }) => String(twice),
  errors: ({ faults }) => String(faults.length),
  'connections cut': ({ seen }) => String(seen.reduce((sum, { broken }) => sum + broken, 0)),
  'a new primary after': secondsOf('replacing'),
  'writes are back after': secondsOf('writesBack'),
  'writes are 503 for': secondsOf('writesRefused'),
  'reads fail for': secondsOf('readsFailed'),
} satisfies Record<string, (rounds: Rounds) => string>

function secondsOf(name: keyof Seen) {
  return ({ seen }: Rounds): string => {
    const values = seen.map(one => one[name] / 1000)
    const [middle, most] = [median(values), Math.max(...values)]
    return most === 0 ? '0' : `${middle.toFixed(1)} / ${most.toFixed(1)} s`
  }
}

/** The lines of a table with a row for each kind of rounds. */
export const tableOf = (all: ReadonlyMap<string, Rounds>): readonly string[] => {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  const head = ['rounds of', ...Object.keys(columns)]
  return [
    line(head),
    line(head.map(() => '---')),
    ...[...all].map(([kind, rounds]) =>
      line([kind, ...Object.values(columns).map(cellOf => cellOf(rounds))]),
    ),
  ]
}
