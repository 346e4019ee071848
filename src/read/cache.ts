/** What the APIs made of answers, cached as long as the rows that these came from are as they were. */
import { after } from '#base/after.ts'
import { hashOf } from '#base/hash.ts'
import { type Depends, dependsOf } from '#read/depends.ts'
import type { ReadPlan, Results } from '#read/level.ts'
import { VIEWER } from '#read/selection.ts'
import type { Changes } from '#sql/engine.ts'
import type { SqlValue, Statement } from '#sql/sql.ts'

/** The bytes that cached answers may take up, and how often an answer was found among them. */
export type Budget = {
  readonly take: (bytes: number) => boolean
  readonly give: (bytes: number) => void
  readonly lookups: { hit: number; miss: number }
}

/** A prepared read, as far as its answers depend on it. */
type Source = { readonly plan: ReadPlan; readonly statements: readonly Statement[] }

/** A value with the bytes that it takes up. */
type Weighed<Value> = { readonly value: Value; readonly bytes: number }

/** A value made of an answer, with the rows of it where they are at hand. */
type Made<Value> = Weighed<Value> & { readonly results?: Results | undefined }

type Entry = Weighed<unknown> & {
  /** What it depends on, and since when that is as it was. */
  readonly cells: Int32Array
  since: number
  /** Whether it was asked for since it was last looked at to be dropped. */
  isUsed: boolean
}

/** What is known of a prepared read: a number that is its own, what it depends on, and whether the viewer's id matters. */
type Known = {
  readonly number: number
  readonly depends: Depends | undefined
  readonly first: number
}

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

/**
 * Whether a key was asked for before, as far as a table of numbers says, in which a later key may take the place of an
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
    dropAll: () => {
      for (const [key, entry] of entries) drop(key, entry)
    },
    set: (key: string, entry: Entry) => {
      const known = entries.get(key)
      if (known) drop(key, known)
      while (!take(entry.bytes)) if (!makeRoom()) return
      entries.set(key, entry)
    },
  }
}

/** A cache of answers from a store that reports changes. */
export const answerCache = (changes: Changes, budget: Budget) => {
  const entries = createEntries(budget)
  const wasAskedFor = createMemoryOfKeys()
  const sources = new WeakMap<Source, Known>()
  let lastNumber = 0
  let era = changes.era()
  const knownOf = (source: Source): Known => {
    const before = sources.get(source)
    if (before) return before
    const first = looksAtViewer(source) ? VIEWER : VIEWER + 1
    const made = { number: ++lastNumber, depends: dependsOf(source.plan, changes), first }
    sources.set(source, made)
    return made
  }
  /** When a read that begins now begins; drops everything where any row may have changed. */
  const now = (): number => {
    const since = changes.now()
    if (era !== changes.era()) {
      era = changes.era()
      entries.dropAll()
    }
    return since
  }
  /**
   * Gives what `make` makes of a run of a prepared read, or what it made of the same run before, where the rows are still
   * the same. `by` tells apart what is made of the same answers in several ways.
   */
  return <Value>(
    source: Source,
    slots: readonly SqlValue[],
    by: string,
    make: () => Made<Value> | Promise<Made<Value>>,
  ): Value | Promise<Value> => {
    const known = knownOf(source)
    const { depends } = known
    const key = keyOf(known, slots, by)
    const since = now()
    const entry = entries.get(key)
    if (entry && changes.isUnchanged(entry.cells, entry.since)) {
      entry.isUsed = true
      // The next look has only what was written since to look at; where that is nothing, it is spared the cells.
      entry.since = since
      budget.lookups.hit++
      return entry.value as Value
    }
    budget.lookups.miss++
    const isWorth = key.length <= longestKey && (entry || wasAskedFor(key))
    if (!depends || !isWorth) return after(make(), ({ value }) => value)
    const begun = era
    return after(make(), ({ value, bytes, results }) => {
      if (bytes > largest || era !== begun) return value
      const cells = depends(slots, results)
      const size = bytes + key.length + 4 * cells.length + overhead
      if (changes.isUnchanged(cells, since))
        entries.set(key, { value, cells, since, bytes: size, isUsed: false })
      return value
    })
  }
}

export type AnswerCache = ReturnType<typeof answerCache>
