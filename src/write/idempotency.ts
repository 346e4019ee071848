/** Responses stored under a caller's Idempotency-Key, so that a repeated request has its effect once. */
import { hash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { ApiError } from '#errors.ts'
import { anonymous, callerOf, type Roles, type Viewer } from '#model/policy.ts'
import type { Version } from '#model/version.ts'
import type { Dialect } from '#sql/dialect.ts'
import { queryOf } from '#sql/engine.ts'
import { type Sql, sql } from '#sql/sql.ts'
import { deleteInBatches, type Idempotency, type WriteAccess } from '#write/job.ts'

/** How long a response stays stored, in milliseconds. */
export const storedFor = 24 * 3_600_000

const form = /^[\x21-\x7e]{1,255}$/

/** The key of an `Idempotency-Key` header, quoted (as draft-ietf-httpapi-idempotency-key-header-07 has it) or bare; throws `MALFORMED_REQUEST` for any other form. */
const keyIn = (header: string): string => {
  const text = header.trim()
  const key = /^".*"$/.test(text) ? text.slice(1, -1) : text
  if (!form.test(key))
    throw new ApiError(
      'MALFORMED_REQUEST',
      'Idempotency-Key must be 1 to 255 visible ASCII characters',
    )
  return key
}

/** The key of such a header, where there is one. */
export const parseKey = (header: string | undefined): string | undefined =>
  header === undefined ? undefined : keyIn(header)

/** A request under a key: all anonymous callers share one scope. */
export type KeyedRequest = {
  readonly key: string
  readonly scope: string
  readonly fingerprint: string
}

/** The key of a request that has such a header, with its scope and the digest of the request, to which the role of its token belongs. */
export const keyedRequest = (
  header: string,
  viewer: Viewer,
  request: {
    readonly method: string
    readonly path: string
    readonly version?: Version
    readonly body: unknown
  },
  roles: Roles,
): KeyedRequest => {
  const key = keyIn(header)
  const { method, path, version, body } = request
  const target = version === undefined ? path : `${path} in version ${version}`
  // What one role may see is not shown to a token of another. The usual one is left out, as it was when there was no role in it.
  const isUsual = viewer.role === roles.default || viewer.role === anonymous.role
  const line = isUsual ? `${method} ${target}` : `${method} ${target} as ${viewer.role}`
  const fingerprint = hash('sha256', `${line}\n${JSON.stringify(body)}`, 'base64url')
  const isById = viewer.id !== null && viewer.subject === undefined
  const caller = isById ? `user ${viewer.id}` : callerOf(viewer)
  return { key, scope: caller ?? 'anonymous', fingerprint }
}

/** A placeholder for a parameter whose value is known at the end of the job. */
const later = null

/**
 * The statements that store a response under a key. `part` names one write of a request that has several: a part has a row of its
 * own, and one more, without a name, says which request the key belongs to.
 */
export const idempotencyOf = (
  dialect: Dialect,
  keyed: KeyedRequest,
  now: number,
  part?: string,
): Idempotency => {
  const { scope, fingerprint } = keyed
  const key = part === undefined ? keyed.key : `${keyed.key}#${part}`
  const known = sql`scope = ${scope} and key = ${key}`
  const isOld = sql`r.made_at <= ${now - storedFor}`
  const taking = (key: string, when: Sql) => sql`insert into replies as r
      (scope, key, fingerprint, made_at, status, body)
    values (${scope}, ${key}, ${fingerprint}, ${now}, 0, '')
    on conflict (scope, key) do update
      set fingerprint = excluded.fingerprint, made_at = excluded.made_at
      where ${when} returning key`
  const reserve = taking(key, isOld)
  // Each new part takes it again: it is as young as the last of them, and expires with that.
  const claim = taking(`${keyed.key}#`, sql`${isOld} or r.fingerprint = excluded.fingerprint`)
  const lookup = sql`select fingerprint, status, body, row_id, revision
    from replies where ${known}`
  const store = sql`update replies set status = ${later}, body = ${later}, row_id = ${later},
    revision = ${later} where ${known}`
  return {
    name: `${scope} ${keyed.key}`,
    fingerprint,
    reserve: queryOf(reserve, dialect),
    ...(part !== undefined && { claim: queryOf(claim, dialect) }),
    lookup: queryOf(lookup, dialect),
    store: queryOf(store, dialect),
  }
}

type Purging = WriteAccess & {
  readonly now: () => number
  /** Milliseconds between two rounds. */
  readonly every?: number
  /** What else is done in each round. */
  readonly also?: () => Promise<unknown>
}

/** Deletes expired responses; gives how many there were. */
export const purge = (purging: Purging): Promise<number> =>
  deleteInBatches(purging, most => [
    sql`delete from replies where (scope, key) in (
    select scope, key from replies where made_at <= ${purging.now() - storedFor}
    limit ${most}) returning key`,
  ])

/** Deletes expired responses, and what else has expired, now and each minute; gives a function that ends it. */
export const startPurging = (purging: Purging): (() => void) => {
  const ended = new AbortController()
  const options = { ref: false, signal: ended.signal }
  const rounds = async () => {
    // A failure is ignored: the next round tries again.
    do
      await purge(purging)
        .then(purging.also)
        .catch(() => {})
    while (await sleep(purging.every ?? 60_000, true, options).catch(() => false))
  }
  void rounds()
  return () => ended.abort()
}
