/** The whole schema of a database, from its catalog. */
import { leftovers } from '../store/leftovers.ts'
import { connected } from './tools/ask.ts'

const query = `
with own as (
  select c.* from pg_class c
  where c.relnamespace = 'public'::regnamespace and c.relname !~ '^migrations'
)
select concat_ws(' ', 'relation', c.relname, c.relkind, c.relpersistence, c.reloptions::text) as line
  from own c
union all select concat_ws(' ', 'column', c.relname, a.attname, format_type(a.atttypid, a.atttypmod),
    case when a.attnotnull then 'not null' end, a.attidentity, a.attgenerated,
    'collate ' || (select collname from pg_collation where oid = a.attcollation),
    'default ' || pg_get_expr(d.adbin, d.adrelid))
  from own c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
  where c.relkind in ('r', 'S')
union all select concat_ws(' ', 'index', pg_get_indexdef(i.indexrelid), i.indisvalid::text)
  from own c join pg_index i on i.indrelid = c.oid
union all select concat_ws(' ', 'constraint', c.relname, k.conname, pg_get_constraintdef(k.oid))
  from own c join pg_constraint k on k.conrelid = c.oid
union all select concat_ws(' ', 'trigger', t.tgenabled, pg_get_triggerdef(t.oid))
  from own c join pg_trigger t on t.tgrelid = c.oid and not t.tgisinternal
union all select concat_ws(' ', 'function', pg_get_functiondef(p.oid))
  from pg_proc p where p.pronamespace = 'public'::regnamespace
    and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')
union all select concat_ws(' ', 'extension', extname, extversion) from pg_extension
order by line`

const isLeftover = (line: string): boolean => {
  const [, table, column] = /^column (\w+) (\w+) /.exec(line) ?? []
  const isOf = (one: string) => !one.includes('.') && new RegExp(`\\b${one}(?:_|\\b)`).test(line)
  return leftovers.includes(`${table}.${column}`) || leftovers.some(isOf)
}

/** A line for each relation, column, index, constraint, trigger, function and extension, but for what waits to be dropped. */
export const catalogOf = async (url: string): Promise<readonly string[]> => {
  const client = await connected(url)
  try {
    const { rows } = await client.query<{ line: string }>(query)
    return rows.map(({ line }) => line).filter(line => !isLeftover(line))
  } finally {
    await client.end()
  }
}
