/** Responses made of answers, cached as long as the rows that these came from are as they were. */
import { after } from '#base/after.ts'
import { hashOf } from '#base/text.ts'
import { operandsIn, type Predicate, partsOf } from '#model/condition.ts'
import { columnName } from '#model/names.ts'
import {
  indexOf,
  keyOf,
  type Level,
  type LinkedLevel,
  levelsOf,
  type ReadPlan,
  type Results,
} from '#read/plan.ts'
import type { Prepared } from '#read/prepare.ts'
import { VIEWER } from '#read/selection.ts'
import type { Changes } from '#sql/engine.ts'
import type { SqlValue } from '#sql/sql.ts'

/** The most versions that an answer depends on; above it the whole tables count. */
const mostVersions = 500

/** The tables that a predicate looks at beside its own: across relations, and where the viewer's row is looked up. */
const tablesAcross = (predicate: Predicate): readonly string[] => {
  const below = partsOf(predicate).flatMap(tablesAcross)
  if (predicate.kind === 'across') return [predicate.table, ...below]
  const named = predicate.kind === 'has viewer' ? [predicate] : operandsIn(predicate)
  return [...named.flatMap(one => ('from' in one && one.from ? [one.from.table] : [])), ...below]
}

/** The tables that a level reads. A cached count is one of rows of the table that is counted. */
const tablesOfLevel = (level: Level): readonly string[] => {
  const fields = 'fields' in level ? level.fields : []
  const shown = fields.flatMap(({ shown }) => shown?.in ?? [])
  const order = ('order' in level && level.order) || []
  const hops = order.flatMap(({ column }) => column.across?.hops ?? [])
  const others = hops.flatMap(({ table, where }) => [table, ...where.flatMap(tablesAcross)])
  return [level.table, ...[...level.where, ...shown].flatMap(tablesAcross), ...others]
}

/** The tables that a plan reads. */
export const tablesOf = (plan: ReadPlan): ReadonlySet<string> =>
  new Set(levelsOf(plan).flatMap(({ level }) => tablesOfLevel(level)))

/** The places of versions, by the values of a read's parameters and, if they are at hand, the rows that were found. */
type Depends<Versions> = (parameters: readonly SqlValue[], results: Results | undefined) => Versions

/** What the rows of a level depend on: the rows with a value of a parameter, or with the ids that the level above found, or the table. */
const levelDepends = (
  { level, above }: LinkedLevel,
  changes: Changes,
): Depends<readonly number[]> => {
  const all = tablesOfLevel(level).map(changes.versionOf) as number[]
  const [table = 0, ...others] = all
  if (level.kind === 'by ids' || level.kind === 'children of' || level.kind === 'counts of') {
    const by = level.kind === 'by ids' ? 'id' : columnName(level.by)
    const versionBy = changes.versionsBy(level.table, by)
    if (versionBy && above) {
      const column = indexOf(above, keyOf(level))
      return (_, results) => {
        const rows = results?.get(above)
        if (!rows || rows.length > mostVersions) return all
        const ids = rows.map(row => row[column] as SqlValue).filter(id => id !== null)
        const versions = ids.map(versionBy).filter(version => version !== undefined)
        return versions.length < ids.length ? all : [...versions, ...others]
      }
    }
  }
  // A field that has the value of a slot in each row: it depends on the rows with this value, and on no others.
  const equal = level.where.flatMap(one =>
    one.kind === 'compare' && one.is === 'eq' && one.to.kind === 'slot'
      ? [{ field: one.field, slot: one.to.slot }]
      : [],
  )
  const byId = level.kind === 'exists' ? [{ field: 'id', slot: level.slot }] : []
  for (const { field, slot } of [...byId, ...equal]) {
    const versionBy = changes.versionsBy(level.table, columnName(field))
    if (versionBy)
      return parameters => [versionBy(parameters[slot] as SqlValue) ?? table, ...others]
  }
  return () => all
}

/** What the answers of a plan depend on; undefined if it reads a table whose changes the store does not report. */
export const dependsOf = (plan: ReadPlan, changes: Changes): Depends<Int32Array> | undefined => {
  const tables = [...tablesOf(plan)].map(changes.versionOf)
  if (tables.includes(undefined)) return undefined
  const levels = levelsOf(plan).map(linked => levelDepends(linked, changes))
  return (parameters, results) => {
    const versions = new Set(levels.flatMap(depends => depends(parameters, results)))
    return Int32Array.from(versions.size > mostVersions ? (tables as number[]) : versions)
  }
}

/** The bytes that cached answers may take up, and how often an answer was found among them. */
export type Budget = {
  readonly take: (bytes: number) => boolean
  readonly give: (bytes: number) => void
  readonly lookups: { hit: number; miss: number }
}

/** A value made of an answer, with the bytes that it takes up, and the rows of the answer if they are at hand. */
type Rendered<Value> = {
  readonly value: Value
  readonly bytes: number
  readonly results?: Results | undefined
}

type CachedRead = Pick<Prepared, 'plan' | 'statements'>

type CacheEntry = {
  readonly value: unknown
  readonly bytes: number
  /** What it depends on, and since when that is as it was. */
  readonly versions: Int32Array
  since: number
  /** Whether it was asked for since it was last looked at to be dropped. */
  isUsed: boolean
}

/** Longer keys are not cached: nobody asks for such a thing twice. */
const longestKey = 1000

/** Larger answers are not cached: one could drop thousands that are asked for more often. */
const largest = 1_048_576

/** The bytes that an entry takes up beside its value and key. */
const overhead = 300

/** How many keys are remembered that were asked for once. */
const remembered = 65_536

/** A cache of answers from a store that reports changes. */
export const answerCache = (changes: Changes, budget: Budget) => {
  const entries = new Map<string, CacheEntry>()
  // Hashes of keys that were asked for before; a later key may take the place of an earlier one.
  const hashes = new Int32Array(remembered)
  let epoch = changes.epoch()
  let lastNumber = 0
  /** A number of a read's own, what it depends on, and its first parameter that matters: the viewer's id or the one after it. */
  const factsOf = ({ plan, statements }: CachedRead) => {
    const looksAtViewer = statements.some(({ parameters }) =>
      parameters.some(parameter => parameter.kind === 'slot' && parameter.slot === VIEWER),
    )
    const first = looksAtViewer ? VIEWER : VIEWER + 1
    // What depends on the time changes without a write.
    const isTimed = statements.some(({ parameters }) =>
      parameters.some(({ kind }) => kind === 'now'),
    )
    const depends = isTimed ? undefined : dependsOf(plan, changes)
    return { number: ++lastNumber, depends, first }
  }
  const facts = new WeakMap<CachedRead, ReturnType<typeof factsOf>>()
  /** Drops the entry that was not used for the longest time; false if there is none. */
  const dropOne = (): boolean => {
    for (const [key, entry] of entries) {
      entries.delete(key)
      if (!entry.isUsed) {
        budget.give(entry.bytes)
        return true
      }
      entry.isUsed = false
      entries.set(key, entry)
    }
    return false
  }
  /**
   * Gives the response that `make` makes of a run of a prepared read, or the one that it made of the same run before, if the rows are
   * still the same. `by` tells apart responses that are made of the same answers in several ways.
   */
  return <Value>(
    read: CachedRead,
    parameters: readonly SqlValue[],
    by: string,
    make: () => Rendered<Value> | Promise<Rendered<Value>>,
  ): Value | Promise<Value> => {
    const { number, depends, first } = facts.getOrInsertComputed(read, factsOf)
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
      for (const { bytes } of entries.values()) budget.give(bytes)
      entries.clear()
    }
    const entry = entries.get(key)
    if (entry && changes.isUnchanged(entry.versions, entry.since)) {
      entry.isUsed = true
      // The next look need go back no further; if nothing is written until then, it is spared the versions.
      entry.since = since
      budget.lookups.hit++
      return entry.value as Value
    }
    budget.lookups.miss++

    // A response that is asked for once only is not worth its room: to hold it costs as much as a small read.
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
      if (!changes.isUnchanged(versions, since)) return value
      budget.give(entries.get(key)?.bytes ?? 0)
      entries.delete(key)
      const size = bytes + key.length + 4 * versions.length + overhead
      while (!budget.take(size)) if (!dropOne()) return value
      entries.set(key, { value, versions, since, bytes: size, isUsed: false })
      return value
    })
  }
}

export type AnswerCache = ReturnType<typeof answerCache>
