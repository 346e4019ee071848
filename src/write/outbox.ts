/**
 * The outbox: effects of writes beyond the store, such as mail. Each is a row that its write puts in, in the same transaction, and that a
 * service deletes once it is done: at least once, in no promised order. No database does that by itself.
 */
import { randomUUID } from 'node:crypto'
import { endsWithin } from '#base/retry.ts'
import type { Entity } from '#model/entity.ts'
import { type Entities, entityOf } from '#model/model.ts'
import { columnName } from '#model/names.ts'
import type { Services } from '#model/services.ts'
import type { Observe } from '#observe.ts'
import type { Dialect } from '#sql/dialect.ts'
import { queryOf, type Reader, type Rows } from '#sql/engine.ts'
import { column, name, type Sql, sql } from '#sql/sql.ts'
import type { GuardedStep, Writing } from '#write/command.ts'
import { type Writer, writePieces } from '#write/job.ts'

/** The writes after which an entity may have something done. */
export type Occasion = 'create' | 'update' | 'delete'

/** A field of the row, or of the row that a relation of it leads to: `owner.email`. */
const wantedSql = (model: Writing['model'], entity: Entity, key: string): Sql => {
  const [relation = '', field] = key.split('.')
  if (field === undefined) return column(entity.table, columnName(key))
  const leads = entity.relations[relation]
  if (!leads) throw new Error(`${relation} is no relation`)
  const { to, by } = leads
  const { table } = entityOf(model, to)
  return sql`(select ${column('wanted', columnName(field))} from ${name(table)} as ${name('wanted')}
    where ${column('wanted', 'id')} = ${column(entity.table, columnName(by))})`
}

const occasions: ReadonlySet<string> = new Set<Occasion>(['create', 'update', 'delete'])

/** How many effects run at once, and how often one is tried. */
const atOnce = 4
const mostTries = 20

/** How long an effect may take, and how long nobody else takes it meanwhile, in milliseconds. */
const longest = 30_000
const lease = 60_000

/** How long until an effect that failed is tried again, in milliseconds: 15 seconds at first, an hour at last. */
const firstPause = 15_000
const longestPause = 3_600_000

/** How often services look for effects that are due, those of others too, in milliseconds. */
const usualRound = 10_000

/**
 * The step that puts the effect of a write into the outbox, with the fields of the row that it wants; none if the entity wants
 * nothing done. Of a delete it comes before the row goes. Of many rows the id is a query that gives theirs, and each has an effect of its own.
 */
export const effectSteps = (
  { model, dialect }: Pick<Writing, 'model' | 'dialect'>,
  entityName: string,
  occasion: string,
  id: Sql | number,
  isMany = false,
): readonly GuardedStep[] => {
  const entity = entityOf(model, entityName)
  const effect = entity.after[occasion]
  if (!effect) {
    if (occasions.has(occasion)) return []
    throw new Error(`${entityName} has nothing to do after ${occasion}: name one of its after`)
  }
  const members = [...new Set(['id', ...effect.fields])].map(
    key => [key, wantedSql(model, entity, key)] as const,
  )
  const own = column(entity.table, 'id')
  const key = dialect.typed(randomUUID(), 'text')
  const isIts = isMany ? dialect.among(own, sql`${id}`) : sql`${own} = ${id}`
  return [
    {
      sql: sql`insert into outbox (id, effect, payload, due_at)
        select ${isMany ? sql`${key} || '-' || ${own}` : key}, ${dialect.typed(`${entityName} ${occasion}`, 'text')}, ${dialect.jsonObject(members)}, ${dialect.clock}
        from ${name(entity.table)} where ${isIts} returning id`,
      expect: 'any',
      isEffect: true,
    },
  ]
}

export type OutboxOptions = {
  readonly entities: Entities
  readonly reader: Pick<Reader, 'query'>
  readonly writer: Writer
  readonly dialect: Dialect
  readonly services: Services
  readonly observe: Observe
  /** Milliseconds between two rounds, and before the second try. */
  readonly every?: number
  readonly retryAfter?: number
}

export type Outbox = {
  /** Something was put in: it is done soon. */
  readonly wake: () => void
  /** Does what is due for at most `wait` milliseconds, and no more; the rest is done after the next start. */
  readonly close: (wait: number) => Promise<void>
}

/** Does what the outbox has, now and in rounds, until it is closed. */
export const startOutbox = (options: OutboxOptions): Outbox => {
  const { entities, reader, dialect, services, observe } = options
  const { every = usualRound, retryAfter = firstPause } = options
  const end = new AbortController()
  const running = new Set<Promise<void>>()
  let isClosing = false
  let nap = Promise.withResolvers<void>()

  // By the store's clock alone: those of the machines that share a store may differ.
  // What is due in more than an hour was put in before that clock was set back.
  const isDue = sql`(due_at <= ${dialect.clock} or due_at > ${dialect.clock} + ${2 * longestPause})`
  // One whose process ended in its last try; at 0 it is due once more, as an operator wants it.
  const giveUp = sql`update outbox set due_at = null
    where ${isDue} and due_at > 0 and tries >= ${mostTries} returning id, effect, payload`
  // Of two services that find the same row the later one sees that it is due no more.
  const claim = (
    most: number,
  ) => sql`update outbox set tries = tries + 1, due_at = ${dialect.clock} + ${lease}
    where id in (select id from outbox where ${isDue} order by due_at limit ${most}) and ${isDue}
    returning id, effect, payload, tries`
  // By an index: it is to start no connection or thread for slow reads.
  const look = {
    ...queryOf(sql`select 1 from outbox where ${isDue} limit 1`, dialect),
    isQuick: true,
  }

  const effectOf = ([, label, payload]: Rows[number]) => {
    const row = JSON.parse(String(payload)) as { readonly id: number }
    return { effect: String(label), row }
  }

  const runOne = async (claimed: Rows[number]): Promise<void> => {
    const [id = null, , , tries] = claimed
    const { effect, row } = effectOf(claimed)
    const [entity = '', occasion = ''] = effect.split(' ')
    const signal = AbortSignal.any([end.signal, AbortSignal.timeout(longest)])
    // One that does not look at its signal is left to itself.
    const ended = Promise.withResolvers<never>()
    ended.promise.catch(() => {})
    signal.addEventListener('abort', () => ended.reject(signal.reason))
    try {
      const { run } = entities[entity]?.after[occasion] ?? {}
      if (!run) throw new Error('the content has no such effect')
      await Promise.race([run(row, services, signal), ended.promise])
    } catch (error) {
      // The next start does what the end interrupted, without a pause.
      const pause = end.signal.aborted
        ? 0
        : Math.min(retryAfter * 2 ** (Number(tries) - 1), longestPause)
      const again = Number(tries) < mostTries
      const next = again ? sql`${dialect.clock} + ${pause}` : sql`null`
      await writePieces(
        options,
        sql`update outbox set due_at = ${next} where id = ${id} returning id`,
      )
      // The mailer tells its own failures, without the words of a server.
      if (again && error instanceof Error && 'isTold' in error) return
      const reason = error instanceof Error ? error.message : String(error)
      observe({ kind: 'effect failed', effect, row: row.id, reason, again })
      return
    }
    await writePieces(options, sql`delete from outbox where id = ${id} returning id`)
  }

  /** Begins what is due, as far as there is room. */
  const begin = async (): Promise<boolean> => {
    const free = atOnce - running.size
    if (free === 0 || end.signal.aborted || (await reader.query(look)).length === 0) return false
    const [spent = [], claimed = []] = await writePieces(options, giveUp, claim(free))
    for (const one of spent) {
      const { effect, row } = effectOf(one)
      const reason = 'its process ended in the last try'
      observe({ kind: 'effect failed', effect, row: row.id, reason, again: false })
    }
    for (const row of claimed) {
      // A store that cannot be written leaves the row as it is: it is due again when the lease ends.
      const one: Promise<void> = runOne(row)
        .catch(() => {})
        .finally(() => running.delete(one))
      running.add(one)
    }
    return claimed.length > 0
  }
  const rounds = async (): Promise<void> => {
    for (;;) {
      nap = Promise.withResolvers()
      // A store that cannot be asked or written now is asked again in the next round.
      if (await begin().catch(() => false)) continue
      if (isClosing && running.size === 0) return
      const timer = setTimeout(nap.resolve, every)
      timer.unref()
      await Promise.race([nap.promise, ...running])
      clearTimeout(timer)
    }
  }
  const finished = rounds()

  return {
    // After the answer to the request that asked for it.
    wake: () => void setImmediate(() => nap.resolve()),
    close: async wait => {
      isClosing = true
      nap.resolve()
      await endsWithin(wait, finished)
      end.abort()
      // What was interrupted is due again at once.
      await finished
    },
  }
}
