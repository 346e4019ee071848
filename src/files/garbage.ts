/**
 * Bytes that no row names any more. Each has a row of `files`: its `collect_at` is null while a row names it, else the time from which
 * it may be collected, or, while it is being removed, the time since when, negative. Who sends the same bytes and who removes them
 * change this one row first, so one of them waits for the other.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { ApiError } from '#errors.ts'
import { type Moving, moveFormer } from '#files/former.ts'
import { checkStore, type FileStore } from '#files/store.ts'
import type { Entity } from '#model/entity.ts'
import { columnName } from '#model/model.ts'
import { digestAt, fileFields } from '#model/stored-file.ts'
import type { Dialect } from '#sql/dialect.ts'
import { queryOf, type Reader } from '#sql/engine.ts'
import { comma, join, name, number, type Sql, sql } from '#sql/sql.ts'
import { uploadTime } from '#write/claims.ts'
import { type Writer, writePieces } from '#write/job.ts'

const hour = 3_600_000

/**
 * How long bytes stay that no row has named yet, and those that none names any more, so that a restored backup finds its files. The hour
 * is for writes that took an upload on in its last moment, by whichever clock.
 */
const unnamedTime = { never: uploadTime + hour, once: 30 * 24 * hour } as const

/** How long after its beginning the removal of one file by a process counts as given up, where another process may still be about it. */
const givenUp = hour

/** The statement that notes bytes which are about to come, where they may; none is noted while the same bytes are being removed. */
export const noteArrival = (
  { typed }: Pick<Dialect, 'typed'>,
  { digest, bytes }: { readonly digest: string; readonly bytes: number },
  now: number,
  where: Sql = sql`true`,
): Sql => sql`insert into files (digest, bytes, collect_at)
  select ${typed(digest, 'text')}, ${typed(bytes, 'int')}, ${typed(now + unnamedTime.never, 'int')} where ${where}
  on conflict (digest) do update set collect_at = case when files.collect_at < excluded.collect_at
    then excluded.collect_at else files.collect_at end
  where files.collect_at is null or files.collect_at >= 0 returning digest`

/** What is told where bytes are sent that are just being removed. */
export class BeingRemoved extends ApiError {
  constructor() {
    super('UNAVAILABLE', 'The same file is just being removed here; send it again', {
      retryAfter: 1,
    })
  }
}

export type Collecting = {
  readonly reader: Pick<Reader, 'query'>
  readonly writer: Writer
  readonly dialect: Dialect
  readonly entities: Readonly<Record<string, Entity>>
  readonly store: FileStore
  /** Whether other processes may collect too; where none may, a removal that has begun is of one that was killed. */
  readonly isShared: boolean
  readonly now: () => number
}

/** The digests that rows name. */
const namedDigests = (entities: Collecting['entities']): Sql => {
  const each = fileFields(entities).map(({ entity: { table }, key }) => {
    const column = name(columnName(key))
    return sql`select substr(${column}, ${number(digestAt.from)}, ${number(digestAt.length)}) as digest from ${name(table)} where ${column} is not null`
  })
  return join(each, sql` union `)
}

/** Takes bytes away, with their row: not where somebody sends them again, or another process is about it. */
const remove = async (collecting: Collecting, digest: string): Promise<boolean> => {
  const { store, isShared, now } = collecting
  const begun = -now()
  const since = begun + (isShared ? givenUp : 0)
  const [taken] = await writePieces(
    collecting,
    sql`update files set collect_at = ${begun} where digest = ${digest}
      and ((collect_at >= 0 and collect_at <= ${now()}) or (collect_at < 0 and collect_at >= ${since}))
      returning digest`,
  )
  if (!taken?.length) return false
  await store.remove(digest)
  const done = sql`delete from files where digest = ${digest} and collect_at = ${begun} returning digest`
  await writePieces(collecting, done)
  return true
}

/** Of two values each, of which SQLite takes 1000 in a statement. */
const batch = 400

/** Removes what no row named for long enough, and what is in the store alone; gives how many files these were. */
export const collectGarbage = async (
  collecting: Collecting,
  looksThrough = true,
): Promise<number> => {
  const { reader, dialect, entities, store, now } = collecting
  const old = now() - unnamedTime.never
  await writePieces(
    collecting,
    sql`delete from uploads where created_at <= ${now() - uploadTime} returning id`,
  )
  let removed = 0
  const states = sql`select f.digest, f.collect_at, n.digest from files as f
    left join (${namedDigests(entities)}) as n on n.digest = f.digest
    where (n.digest is null and (f.collect_at is null or f.collect_at <= ${now()}))
      or (n.digest is not null and f.collect_at is not null)`
  for (const [digest, at, named] of await reader.query(queryOf(states, dialect))) {
    if (named === null && at !== null) {
      if (await remove(collecting, String(digest))) removed++
      continue
    }
    const next = named === null ? sql`${now() + unnamedTime.once}` : sql`null`
    const was = at === null ? sql`collect_at is null` : sql`collect_at = ${Number(at)}`
    await writePieces(
      collecting,
      sql`update files set collect_at = ${next} where digest = ${String(digest)} and ${was} returning digest`,
    )
  }
  await store.sweep(new Date(old))
  if (!looksThrough) return removed
  let found: Sql[] = []
  const removeAlone = async () => {
    if (found.length === 0) return
    // Without a row nobody waits for them; a row that is due at once makes whoever sends them do so.
    const due = sql`insert into files (digest, bytes, collect_at) values ${join(found, comma)} on conflict do nothing returning digest`
    const [made = []] = await writePieces(collecting, due)
    for (const [digest] of made) if (await remove(collecting, String(digest))) removed++
    found = []
  }
  for await (const { digest, bytes, changed } of store.list()) {
    if (changed.getTime() > old) continue
    found.push(sql`(${digest}, ${bytes}, 0)`)
    if (found.length >= batch) await removeAlone()
  }
  await removeAlone()
  return removed
}

const roundsOfADay = 24

/**
 * Tells at once if files cannot be stored. Moves those of an earlier release until none is left, and collects garbage, each hour from now
 * on; once a day it looks through the store for bytes without a row. Gives a function that ends it.
 */
export const startTidying = (
  tidying: Collecting & Moving,
  onFailed: (message: string) => void,
): (() => Promise<void>) => {
  const ended = new AbortController()
  const { signal } = ended
  let moving = Promise.resolve()
  // What fails as the store is closed is nobody's fault.
  const failed = (message: string) => {
    if (!signal.aborted) onFailed(message)
  }
  const rounds = async () => {
    moving = checkStore(tidying.store).catch(({ message, cause }) =>
      failed(`${tidying.store.label} takes no files: ${cause?.message ?? message}`),
    )
    await moving
    for (let round = 0, isMoved = false; !signal.aborted; round++) {
      // Where processes are replaced one by one, an earlier release may serve for an hour yet.
      if (!isMoved && (round > 0 || !tidying.isShared))
        moving = moveFormer(tidying, signal).then(
          () => {
            isMoved = true
          },
          error => failed(error.message),
        )
      await moving
      if (signal.aborted) return
      await collectGarbage(tidying, round % roundsOfADay === 1).catch(error =>
        failed(`files that no row names were not collected: ${error.message}`),
      )
      await sleep(hour, undefined, { ref: false, signal }).catch(() => {})
    }
  }
  void rounds()
  return () => {
    ended.abort()
    return moving
  }
}
