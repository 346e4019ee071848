/**
 * The door through which every write of a caller goes, in both APIs. It is checked in this order, and refused by the first that fails:
 *
 * 1. right: may its role do such a thing at all (401, 403);
 * 2. the caller's row, looked up or made where tokens have subjects (a sign-up counts: 429);
 * 3. what it makes, as far as that is known without its input, counts against the caller's limits (429);
 * 4. its input is read (422); if that is at fault, the row that it is about is checked first (403, 404);
 * 5. what the input makes beside it counts too (429);
 * 6. it is committed: the steps of its command check row, revision, references and unique values again (403, 404, 409, 412).
 */

import { ApiError } from '#errors.ts'
import type { Entity } from '#model/entity.ts'
import type { Rule, Viewer } from '#model/policy.ts'
import type { Version } from '#model/version.ts'
import { type Command, permit, type Writing } from '#write/command.ts'
import { actingViewer, type ViewerStore } from '#write/viewer.ts'
import { commit } from '#write/write.ts'

/** What a write counts against its caller; each throws or rejects where there were too many. */
export type CallerCounts = {
  /** The row that the first write of a token makes. */
  readonly signUp: () => unknown
  /** A row of an entity. */
  readonly creation: (viewer: Viewer, entity: string) => unknown
}

/** What a caller asks to be done, before its input is read. */
export type AskedChange = {
  readonly rule: Rule | undefined
  readonly what: string
  /** The entity that it makes a row of. */
  readonly makes?: string | undefined
  /** Whether each of its rows is known by its input only, which then counts them. */
  readonly isMany?: boolean
}

/** What is asked of an entity by a plain operation. */
export const changeOf = (
  { policy, plural }: Pick<Entity, 'policy' | 'plural'>,
  operation: 'create' | 'update' | 'delete',
): AskedChange => ({
  rule: policy[operation],
  what: `${operation === 'update' ? 'change' : operation} ${plural}`,
})

/** The references that an input names, as far as it is right: a row that is not there is told before its faults. */
export const referencesIn = (
  { fields }: Pick<Entity, 'fields'>,
  input: Readonly<Record<string, unknown>>,
  fieldNamed: (member: string) => string | undefined = member => member,
): ReadonlyMap<string, number> => {
  const found = new Map<string, number>()
  for (const [member, value] of Object.entries(input)) {
    const key = fieldNamed(member)
    if (key === undefined || !fields[key]?.references) continue
    if (Number.isSafeInteger(value) && Number(value) > 0) found.set(key, Number(value))
  }
  return found
}

/** The context of writes that a caller may do, as the row of its token: steps 1 to 3. */
export const admit = async (
  store: ViewerStore,
  caller: Viewer,
  changes: readonly AskedChange[],
  { signUp, creation }: CallerCounts,
): Promise<Writing> => {
  const { model, dialect } = store
  const writing = { model, dialect, viewer: caller, now: store.now() }
  for (const { rule, what } of changes) permit(writing, rule, what)
  const { entity } = model.viewers
  // Who makes its row by one of them has none made for it.
  const makesOwn = changes.some(({ makes }) => makes !== undefined && makes === entity)
  const viewer =
    caller.subject === undefined
      ? caller
      : await actingViewer(store, caller, makesOwn ? undefined : signUp)
  for (const { makes, isMany } of changes)
    if (makes !== undefined && !isMany) await creation(viewer, makes)
  return { ...writing, viewer }
}

/** What is read of the input of a write; if it is at fault, `check` finds out first whether the caller may write that row: step 4. */
export const readThen = async <Read>(
  store: ViewerStore,
  check: (() => Command | undefined) | undefined,
  read: () => Read | Promise<Read>,
  version?: Version,
): Promise<Read> => {
  try {
    return await read()
  } catch (error) {
    const isExpired = error instanceof ApiError && error.code === 'UNAUTHENTICATED'
    const command = isExpired ? undefined : check?.()
    if (command) await commit(store, command, null, { version })
    throw error
  }
}

/** CallerCounts the rows that an input makes: step 5. */
export const countMade = async (
  { creation }: CallerCounts,
  viewer: Viewer,
  made: readonly string[],
): Promise<void> => {
  for (const entity of made) await creation(viewer, entity)
}
