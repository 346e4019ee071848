/** What the APIs made of answers, cached as long as the tables that these came from are as they were. */
import { after } from '#base/after.ts'
import { tablesIn } from '#read/condition.ts'
import { levelsOf, type ReadPlan } from '#read/level.ts'
import { VIEWER } from '#read/selection.ts'
import type { Changes } from '#sql/engine.ts'
import type { SqlValue, Statement } from '#sql/sql.ts'

/** The bytes that cached answers may take up. */
export type Budget = {
  readonly take: (bytes: number) => boolean
  readonly give: (bytes: number) => void
}

/** A prepared read, as far as its answers depend on it. */
type Source = { readonly plan: ReadPlan; readonly statements: readonly Statement[] }

/** A value with the bytes that it takes up. */
type Weighed<Value> = { readonly value: Value; readonly bytes: number }

type Entry = Weighed<unknown> & {
  readonly state: number
  /** Whether it was asked for since it was last looked at to be dropped. */
  isUsed: boolean
}

/** What is known of a prepared read: a number that is its own, its tables, and whether the viewer's id matters. */
type Known = { readonly number: number; readonly tables: readonly number[]; readonly first: number }

/** The tables that a plan reads. A cached count is one of rows of the table that is counted. */
export const tablesOf = (plan: ReadPlan): ReadonlySet<string> =>
  new Set(levelsOf(plan).flatMap(({ level }) => [level.table, ...level.where.flatMap(tablesIn)]))

const looksAtViewer = ({ statements }: Source): boolean =>
  statements.some(({ parameters }) =>
    parameters.some(parameter => parameter.kind === 'slot' && parameter.slot === VIEWER),
  )

/** Longer keys are not cached: nobody asks for such a thing twice. */
const longestKey = 1000

/** Larger answers are not cached: one could drop thousands that are asked for more often. */
const largest = 1_048_576

/** The bytes that an entry takes up beside its value and key. */
const overhead = 300

/** A text for one run of a prepared read; texts of callers stand there with their lengths, so that no two runs have the same. */
const keyOf = ({ number, first }: Known, slots: readonly SqlValue[], by: string): string => {
  let key = `${number} ${by.length}:${by}`
  for (let at = first; at < slots.length; at++) {
    const value = slots[at] as SqlValue
    key += typeof value === 'string' ? ` ${value.length}:${value}` : ` ${value}`
  }
  return key
}

/** How many keys are remembered that were asked for once. */
const remembered = 65_536

/** A number for a text (FNV-1a). */
const hashOf = (text: string): number => {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return hash
}

/**
 * Whether a key was asked for before, as far as a table of numbers tells, in which a later key may take the place of an
 * earlier one. What is asked for once only is not worth its room: to hold it costs as much as a small read.
 */
const createMemoryOfKeys = () => {
  const hashes = new Int32Array(remembered)
  return (key: string): boolean => {
    const hash = hashOf(key)
    const place = hash & (remembered - 1)
    const isKnown = hashes[place] === hash
    hashes[place] = hash
    return isKnown
  }
}

/** The entries by their keys; where they take up too much, those go that were not used for the longest time. */
const createEntries = ({ take, give }: Budget) => {
  const entries = new Map<string, Entry>()
  const drop = (key: string, { bytes }: Entry) => {
    entries.delete(key)
    give(bytes)
  }
  const makeRoom = (): boolean => {
    for (const [key, entry] of entries) {
      entries.delete(key)
      if (!entry.isUsed) {
        give(entry.bytes)
        return true
      }
      entry.isUsed = false
      entries.set(key, entry)
    }
    return false
  }
  return {
    get: (key: string) => entries.get(key),
    set: (key: string, entry: Entry) => {
      const known = entries.get(key)
      if (known) drop(key, known)
      while (!take(entry.bytes)) if (!makeRoom()) return
      entries.set(key, entry)
    },
  }
}

/**
 * Gives what `make` makes of a run of a prepared read, or what it made of the same run before, where the rows are still
 * the same. `by` tells apart what is made of the same answers in several ways.
 */
export type AnswerCache = <Value>(
  source: Source,
  slots: readonly SqlValue[],
  by: string,
  make: () => Weighed<Value> | Promise<Weighed<Value>>,
) => Value | Promise<Value>

/** A cache of answers from a store that tells what changes. */
export const answerCache = (changes: Changes, budget: Budget): AnswerCache => {
  const entries = createEntries(budget)
  const wasAskedFor = createMemoryOfKeys()
  const sources = new WeakMap<Source, Known>()
  let lastNumber = 0
  const knownOf = (source: Source): Known => {
    const before = sources.get(source)
    if (before) return before
    const tables = changes.numbersOf(tablesOf(source.plan)) ?? []
    const first = looksAtViewer(source) ? VIEWER : VIEWER + 1
    const made = { number: ++lastNumber, tables, first }
    sources.set(source, made)
    return made
  }
  return <Value>(
    source: Source,
    slots: readonly SqlValue[],
    by: string,
    make: () => Weighed<Value> | Promise<Weighed<Value>>,
  ) => {
    const known = knownOf(source)
    const key = keyOf(known, slots, by)
    const state = changes.stateOf(known.tables)
    const entry = entries.get(key)
    if (entry && entry.state === state) {
      entry.isUsed = true
      return entry.value as Value
    }
    const isWorth = known.tables.length > 0 && (entry || wasAskedFor(key))
    return after(make(), ({ value, bytes }) => {
      if (isWorth && state !== undefined && key.length <= longestKey && bytes <= largest)
        entries.set(key, { value, state, bytes: bytes + key.length + overhead, isUsed: false })
      return value
    })
  }
}
