/** A PostgreSQL session for CLI commands. */
import { connect } from '#engines/postgres/connection/connection.ts'
import type { ConnectionOptions } from '#engines/postgres/connection/settings.ts'
import { dialect } from '#engines/postgres/dialect.ts'
import { queryOf } from '#engines/query.ts'
import type { Session } from '#sql/engine.ts'
import { name, sql } from '#sql/sql.ts'

// Ids that come with the rows must not meet those that a running service gives out meanwhile.
const lockTables = `do $$
declare t text;
begin
  for t in select c.table_name from information_schema.columns c
    where c.table_schema = current_schema() and c.is_identity = 'YES' order by 1
  loop execute format('lock table %I in share row exclusive mode', t); end loop;
end $$`

// Each statement counted apart (see ddl.ts); in the end the parts are folded into one.
const foldCounts = `with apart as (delete from counts where part >= 16 returning entity, field, value, n)
  insert into counts as c (entity, field, value, part, n)
  select entity, field, value, 0, sum(n) from apart group by 1, 2, 3
  on conflict (entity, field, value, part) do update set n = c.n + excluded.n`

const frames = {
  reading: { begin: 'begin isolation level repeatable read, read only', end: 'commit' },
  filling: {
    begin: `begin; set local duet.counting = 'apart'; ${lockTables}`,
    end: `${foldCounts}; commit`,
  },
} as const

/** Opens it: to read one moment in each transaction, or to fill the store while nobody else writes. */
export const openSession = async (
  options: ConnectionOptions,
  purpose: keyof typeof frames,
): Promise<Session> => {
  const connection = await connect({ ...options, readOnly: purpose === 'reading' })
  const within = async <Result>(
    work: () => Promise<Result>,
    [first, last, undo]: readonly [string, string, string],
  ): Promise<Result> => {
    await connection.run(first)
    try {
      const result = await work()
      await connection.run(last)
      return result
    } catch (error) {
      await connection.run(undo)
      throw error
    }
  }
  return {
    query: connection.query,
    transaction: work => within(work, [frames[purpose].begin, frames[purpose].end, 'rollback']),
    attempt: work =>
      within(work, [
        'savepoint attempt',
        'release attempt',
        'rollback to attempt; release attempt',
      ]),
    settleIds: async tables => {
      for (const table of tables)
        await connection.query(
          queryOf(
            sql`select setval(s, greatest(m, coalesce(pg_sequence_last_value(s::regclass), 0)))::text
              from (select pg_get_serial_sequence(${table}, 'id') as s, max(id) as m from ${name(table)}) as x where m is not null`,
            dialect,
          ),
        )
    },
    analyze: () => connection.run('analyze'),
    close: connection.end,
  }
}
