/** Two services with the same content, one on each engine, that are asked the same. */
import { mint } from '#auth/token.ts'
import { entities } from '#content/duet.config.ts'
import type { Rows } from '#sql/engine.ts'
import { createWorld, secret, type World, type WorldOptions } from '../../world.ts'
import type { Answered, Asked } from './memory.ts'

/** Headers that say who answered, or when, and not what. `X-Request-Id` is the caller's own here. */
const apart = ['x-request-id', 'date', 'duet-position']

const tables = Object.values(entities).map(({ table }) => table)

/** The highest id that SQLite ever gave, by table. */
const lastIds = async ({ rows }: World): Promise<ReadonlyMap<string, number>> =>
  new Map(
    (await rows('select name, seq from sqlite_sequence')).map(([t, n]) => [String(t), Number(n)]),
  )

const answered = async (
  { app }: World,
  asked: Asked,
  token: string | undefined,
  id: string,
): Promise<Answered> => {
  const [method = '', path = ''] = asked.line.split(' ')
  const headers = {
    ...asked.headers,
    'X-Request-Id': id,
    ...(token && { Authorization: `Bearer ${token}` }),
  }
  const { body } = asked
  const response = await app.request(path, { method, headers, ...(body !== undefined && { body }) })
  return {
    status: response.status,
    headers: Object.fromEntries([...response.headers].filter(([name]) => !apart.includes(name))),
    body: await response.bytes(),
  }
}

/** A token, good for a day of the clock; each is made once. */
const tokensBy = (now: () => number) => {
  const made = new Map<string, Promise<string>>()
  return async ({ as }: Asked): Promise<string | undefined> => {
    if (as === 'anonymous') return undefined
    if (as === 'forged') return 'x.y.z'
    const key = `${as} ${Math.floor(now() / 43_200_000)}`
    const role = as === 1 || as === 6 ? 'admin' : 'user'
    const token = made.get(key) ?? mint({ sub: as, role, ttl: 86_400 }, secret, now())
    made.set(key, token)
    return token
  }
}

export const createEnginePair = async (options: WorldOptions & { now: () => number }) => {
  const sqlite = await createWorld({ ...options, on: 'sqlite', engine: { sync: 'normal' } })
  const postgres = await createWorld({ ...options, on: 'postgres' })
  // One session for all writes: opening one costs more than the requests.
  const aligning = await postgres.store.session('filling')
  const tokenOf = tokensBy(options.now)

  /**
   * A refused insert uses an id up on PostgreSQL and none on SQLite, and both may: ids rise, with gaps. Before a
   * write PostgreSQL goes on from the last id of SQLite, so that a new row has the same id on both.
   */
  const align = async () => {
    const last = await lastIds(sqlite)
    const set = tables.map(table => {
      const highest = last.get(table) ?? 0
      return `setval('${table}_id_seq', ${Math.max(highest, 1)}, ${highest > 0})`
    })
    await aligning.query({ text: `select ${set.map(one => `${one}::text`).join()}`, values: [] })
  }
  let count = 0
  const ask = async (asked: Asked): Promise<readonly [Answered, Answered]> => {
    const token = await tokenOf(asked)
    const id = `request-${++count}`
    if (!/^(GET|HEAD) /.test(asked.line)) await align()
    return Promise.all([answered(sqlite, asked, token, id), answered(postgres, asked, token, id)])
  }
  const contentOf = async ({ rows }: World, table: string): Promise<Rows> =>
    (await rows(`select * from ${table} order by id`)).map(row =>
      row.map(value =>
        typeof value === 'number' || typeof value === 'bigint' ? String(value) : value,
      ),
    )
  /** The tables whose rows differ, in what no answer shows as well. */
  const differing = async (): Promise<readonly string[]> => {
    const found: string[] = []
    for (const table of tables) {
      const [ours, theirs] = [await contentOf(sqlite, table), await contentOf(postgres, table)]
      if (JSON.stringify(ours) !== JSON.stringify(theirs)) found.push(table)
    }
    return found
  }
  const close = async () => {
    await aligning.close()
    await sqlite.close()
    await postgres.close()
  }
  return { sqlite, postgres, ask, differing, close }
}
