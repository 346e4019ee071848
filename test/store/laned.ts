/** Reads for the slow lane. */
import type { QueryScript, Rows } from '#sql/engine.ts'
import { onPostgres } from '#test/market.ts'

/** Work that asks one query. */
export const asking = (text: string) =>
  function* (): QueryScript<Rows> {
    return yield { text, values: [] }
  }

/** A query that does not end by itself. */
export const endless = onPostgres
  ? 'select pg_sleep(3600)'
  : 'with recursive n (n) as (select 1 union all select 1 from n where duet_interrupt_check()) select count(*) from n'

/** A list that is read in the slow lane. */
export const slowPath = '/api/products?min_price=1&sort=-price,name'
