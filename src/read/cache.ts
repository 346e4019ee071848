/** What the APIs made of answers, cached as long as the rows that these came from are as they were. */
import { after } from '#base/after.ts'
import { hashOf } from '#base/hash.ts'
import { columnName } from '#model/names.ts'
import {
  type Condition,
  indexOf,
  keyOf,
  type Level,
  type LinkedLevel,
  levelsOf,
  type ReadPlan,
  type Results,
  type SelfPath,
} from '#read/plan.ts'
import { type Slot, VIEWER } from '#read/selection.ts'
import type { Changes } from '#sql/engine.ts'
import type { SqlValue, Statement } from '#sql/sql.ts'

/** The most versions that an answer depends on; of a level that would have more the whole table counts. */
const mostVersions = 500

type VersionBy = (value: SqlValue) => number | undefined

/** The rows of a level: those with a value of a parameter, or with one of the ids that the level above found, or any. */
type LevelSource = {
  /** The version of its table, and those of the tables that its conditions look into. */
  readonly whole: number
  readonly others: readonly number[]
  readonly bySlot?: { readonly slot: Slot; readonly versionBy: VersionBy } | undefined
  readonly byIds?: { readonly linked: LinkedLevel; readonly versionBy: VersionBy } | undefined
}

const tablesOn = (path: SelfPath): readonly string[] =>
  'field' in path ? [] : [path.table, ...tablesOn(path.next)]

const tablesIn = (condition: Condition): readonly string[] =>
  condition.kind === 'self' ? condition.paths.flatMap(tablesOn) : []

/** The tables that a level reads. A cached count is one of rows of the table that is counted. */
const tablesOfLevel = ({ table, where }: Level): readonly string[] => [
  table,
  ...where.flatMap(tablesIn),
]

/** The tables that a plan reads. */
export const tablesOf = (plan: ReadPlan): ReadonlySet<string> =>
  new Set(levelsOf(plan).flatMap(({ level }) => tablesOfLevel(level)))

/** The source of a level's rows; undefined if it reads a table whose changes the store does not report. */
const sourceOf = (linked: LinkedLevel, changes: Changes): LevelSource | undefined => {
  const { level } = linked
  const [whole, ...all] = tablesOfLevel(level).map(changes.versionOf)
  const others = all.filter(version => version !== undefined)
  if (whole === undefined || others.length < all.length) return undefined

  // The rows that the ids of the level above lead to.
  if (level.kind === 'by ids' || level.kind === 'children of') {
    const column = level.kind === 'by ids' ? 'id' : columnName(level.by)
    const versionBy = changes.versionsBy(level.table, column)
    if (versionBy) return { whole, others, byIds: { linked, versionBy } }
  }

  // A field that has the value of a slot in each row: it depends on the rows with this value, and on no others.
  const equal = level.where.flatMap(condition =>
    condition.kind === 'field' && condition.is === 'equals' ? [condition] : [],
  )
  const byId = level.kind === 'exists' ? [{ field: 'id', slot: level.slot }] : []
  for (const { field, slot } of [...byId, ...equal]) {
    const versionBy = changes.versionsBy(level.table, columnName(field))
    if (versionBy) return { whole, others, bySlot: { slot, versionBy } }
  }
  return { whole, others }
}

/** The versions of the ids that the level above found; undefined if these are not known, or too many. */
const versionsBelow = (
  { linked: { level, above }, versionBy }: NonNullable<LevelSource['byIds']>,
  results: Results | undefined,
): readonly number[] | undefined => {
  const rows = above && results?.get(above)
  if (!rows || rows.length > mostVersions) return undefined
  const column = indexOf(above, keyOf(level))
  const versions: number[] = []
  for (const row of rows) {
    const id = row[column] as SqlValue
    const version = id === null ? null : versionBy(id)
    if (version === undefined) return undefined
    if (version !== null) versions.push(version)
  }
  return versions
}

/** The versions that an answer depends on, by the values of its parameters and, if they are at hand, the rows that it was made of. */
export type Depends = (parameters: readonly SqlValue[], results: Results | undefined) => Int32Array

/** What the answers of a plan depend on; undefined if it reads a table whose changes the store does not report. */
export const dependsOf = (plan: ReadPlan, changes: Changes): Depends | undefined => {
  const all = levelsOf(plan).map(linked => sourceOf(linked, changes))
  const sources = all.filter(source => source !== undefined)
  if (sources.length < all.length) return undefined
  const whole = Int32Array.from(new Set(sources.flatMap(({ whole, others }) => [whole, ...others])))
  return (parameters, results) => {
    const versions = new Set<number>()
    for (const { whole, others, bySlot, byIds } of sources) {
      const below = byIds && versionsBelow(byIds, results)
      const own = below ?? [bySlot?.versionBy(parameters[bySlot.slot] as SqlValue) ?? whole]
      for (const version of own) versions.add(version)
      for (const version of others) versions.add(version)
    }
    return versions.size > mostVersions ? whole : Int32Array.from(versions)
  }
}

/** The bytes that cached answers may take up, and how often an answer was found among them. */
export type Budget = {
  readonly take: (bytes: number) => boolean
  readonly give: (bytes: number) => void
  readonly lookups: { hit: number; miss: number }
}

/** A prepared read, as far as its answers depend on it. */
type CachedRead = { readonly plan: ReadPlan; readonly statements: readonly Statement[] }

/** A value made of an answer, with the bytes that it takes up, and the rows of the answer if they are at hand. */
type Rendered<Value> = {
  readonly value: Value
  readonly bytes: number
  readonly results?: Results | undefined
}

type CacheEntry = {
  readonly value: unknown
  readonly bytes: number
  /** What it depends on, and since when that is as it was. */
  readonly versions: Int32Array
  since: number
  /** Whether it was asked for since it was last looked at to be dropped. */
  isUsed: boolean
}

/** What is known of a prepared read: a number of its own, what it depends on, and its first parameter that matters: the viewer's id or the one after it. */
type ReadFacts = {
  readonly number: number
  readonly depends: Depends | undefined
  readonly first: number
}

/** Longer keys are not cached: nobody asks for such a thing twice. */
const longestKey = 1000

/** Larger answers are not cached: one could drop thousands that are asked for more often. */
const largest = 1_048_576

/** The bytes that an entry takes up beside its value and key. */
const overhead = 300

/** How many keys are remembered that were asked for once. */
const remembered = 65_536

/** The entries by their keys; if they take up too much, those go that were not used for the longest time. */
const createEntries = ({ take, give }: Budget) => {
  const entries = new Map<string, CacheEntry>()
  const drop = (key: string, { bytes }: CacheEntry) => {
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
    set: (key: string, entry: CacheEntry) => {
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
  // Hashes of keys that were asked for before; a later key may take the place of an earlier one.
  const hashes = new Int32Array(remembered)
  const facts = new WeakMap<CachedRead, ReadFacts>()
  let lastNumber = 0
  let epoch = changes.epoch()
  const factsOf = (read: CachedRead): ReadFacts => {
    const known = facts.get(read)
    if (known) return known
    const looksAtViewer = read.statements.some(({ parameters }) =>
      parameters.some(parameter => parameter.kind === 'slot' && parameter.slot === VIEWER),
    )
    const first = looksAtViewer ? VIEWER : VIEWER + 1
    const made = { number: ++lastNumber, depends: dependsOf(read.plan, changes), first }
    facts.set(read, made)
    return made
  }
  /**
   * Gives what `make` makes of a run of a prepared read, or what it made of the same run before, if the rows are still
   * the same. `by` tells apart what is made of the same answers in several ways.
   */
  return <Value>(
    read: CachedRead,
    parameters: readonly SqlValue[],
    by: string,
    make: () => Rendered<Value> | Promise<Rendered<Value>>,
  ): Value | Promise<Value> => {
    const { number, depends, first } = factsOf(read)
    // Texts of callers stand in the key with their lengths, so that no two runs have the same.
    let key = `${number} ${by.length}:${by}`
    for (let at = first; at < parameters.length; at++) {
      const value = parameters[at] as SqlValue
      key += typeof value === 'string' ? ` ${value.length}:${value}` : ` ${value}`
    }

    // A read that begins now begins here; everything goes if any row may have changed.
    const since = changes.now()
    if (epoch !== changes.epoch()) {
      epoch = changes.epoch()
      entries.dropAll()
    }
    const entry = entries.get(key)
    if (entry && changes.isUnchanged(entry.versions, entry.since)) {
      entry.isUsed = true
      // The next look has only what was written since to look at; if that is nothing, it is spared the versions.
      entry.since = since
      budget.lookups.hit++
      return entry.value as Value
    }
    budget.lookups.miss++

    // What is asked for once only is not worth its room: to hold it costs as much as a small read.
    let isWorth = key.length <= longestKey
    if (isWorth && !entry) {
      const hash = hashOf(key)
      const place = hash & (remembered - 1)
      isWorth = hashes[place] === hash
      hashes[place] = hash
    }
    if (!depends || !isWorth) return after(make(), ({ value }) => value)
    const begun = epoch
    return after(make(), ({ value, bytes, results }) => {
      if (bytes > largest || epoch !== begun) return value
      const versions = depends(parameters, results)
      const size = bytes + key.length + 4 * versions.length + overhead
      if (changes.isUnchanged(versions, since))
        entries.set(key, { value, versions, since, bytes: size, isUsed: false })
      return value
    })
  }
}

export type AnswerCache = ReturnType<typeof answerCache>
