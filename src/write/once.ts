/** Answers kept under a caller's own key, so that a request that is sent again has its effect once. */
import { hash } from 'node:crypto'
import { ApiError } from '#errors.ts'
import type { Viewer } from '#model/viewer.ts'
import type { Dialect } from '#sql/dialect.ts'
import { bind, name, type Sql, sql, statement } from '#sql/sql.ts'
import type { Job, Once } from '#write/job.ts'

/** How long an answer is kept, in milliseconds. */
export const keptFor = 24 * 3_600_000

const form = /^[\x21-\x7e]{1,255}$/

/**
 * The key of an `Idempotency-Key` header, quoted (as draft-ietf-httpapi-idempotency-key-header-07 has it) or bare;
 * undefined without one. Throws `MALFORMED_REQUEST` for any other form.
 */
export const parseKey = (header: string | undefined): string | undefined => {
  if (header === undefined) return undefined
  const text = header.trim()
  const key = /^".*"$/.test(text) && text.length > 1 ? text.slice(1, -1) : text
  if (!form.test(key))
    throw new ApiError(
      'MALFORMED_REQUEST',
      'Idempotency-Key must be 1 to 255 visible ASCII characters',
    )
  return key
}

/** What a key is for: one request of one caller. All anonymous callers share one scope. */
export type Keyed = { readonly key: string; readonly scope: string; readonly fingerprint: string }

/** The key of a request with its scope and the digest of what is asked; undefined where it has no key. */
export const keyedOf = (
  header: string | undefined,
  viewer: Viewer,
  request: { readonly method: string; readonly path: string; readonly body: unknown },
): Keyed | undefined => {
  const key = parseKey(header)
  if (key === undefined) return undefined
  const { method, path, body } = request
  const fingerprint = hash('sha256', `${method} ${path}\n${JSON.stringify(body)}`, 'base64url')
  return { key, scope: viewer.id === null ? 'anonymous' : `user ${viewer.id}`, fingerprint }
}

const table = name('replies')
const columns = ['scope', 'key', 'fingerprint', 'made_at', 'status', 'body', 'row_id', 'revision']

/** The statements that look an answer up and keep it; `part` tells apart the writes of one request. */
export const onceOf = (dialect: Dialect, keyed: Keyed, now: number, part = ''): Once => {
  const { scope, fingerprint } = keyed
  const key = `${keyed.key}${part}`
  const lookup = sql`select ${name('fingerprint')}, ${name('status')}, ${name('body')}, ${name('row_id')}, ${name('revision')}
    from ${table} where ${name('scope')} = ${bind(scope)} and ${name('key')} = ${bind(key)}
      and ${name('made_at')} > ${bind(now - keptFor)}`
  const later = bind(null)
  const [first = sql``, ...rest] = columns.map(name)
  const all = rest.reduce((list: Sql, column) => sql`${list}, ${column}`, first)
  const fresh = columns.slice(2).map(column => sql`${name(column)} = excluded.${name(column)}`)
  const sets = fresh.reduce((list: Sql, set) => sql`${list}, ${set}`)
  // What conflicts is older than a day: the look-up has found nothing that counts.
  const store = sql`insert into ${table} (${all})
    values (${bind(scope)}, ${bind(key)}, ${bind(fingerprint)}, ${bind(now)}, ${later}, ${later}, ${later}, ${later})
    on conflict (${name('scope')}, ${name('key')}) do update set ${sets} returning ${name('key')}`
  const stored = statement(store, dialect.placeholder)
  return {
    fingerprint,
    lookup: statement(lookup, dialect.placeholder),
    store: { ...stored, parameters: stored.parameters.slice(0, 4) },
  }
}

/** The most answers that one job drops. */
export const purgeBatch = 1000

/** The job that drops the oldest answers which are kept no longer, few enough not to be noticed. */
export const purgeOf = (dialect: Dialect, now: number): Job => {
  const old = sql`delete from ${table} where (${name('scope')}, ${name('key')}) in (
    select ${name('scope')}, ${name('key')} from ${table} where ${name('made_at')} <= ${bind(now - keptFor)}
    limit ${bind(purgeBatch)}) returning ${name('key')}`
  return {
    steps: [{ statement: statement(old, dialect.placeholder), expect: 'any' }],
    status: 200,
    answer: null,
  }
}
