/** Databases for worlds: made of a template once, then used by one after another, each time as it was at first. */
import { after } from 'node:test'
import type { Store } from '#engines/shared/store.ts'
import type { Session } from '#sql/engine.ts'
import { type Database, freshDatabase, templateFor } from './database.ts'

// To copy a template takes 300 ms, to put a few rows back 10.

/** Keeps a copy of every row and sequence in a schema of its own. */
const save = `do $$
declare t text;
begin
  create schema saved;
  for t in select relname from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'
  loop execute format('create table saved.%1$I as table public.%1$I', t); end loop;
  create table saved."the ids" as
    select sequencename as name, start_value as start, last_value as last
    from pg_sequences where schemaname = 'public';
end $$`

/** Puts the copy back; what had grown large is cut off, as many dead rows would slow the next. Keys become others. */
const restore = `do $$
declare t text;
  own text;
begin
  set local lock_timeout = 1000;
  set local session_replication_role = replica;
  for t in select relname from pg_class
    where relnamespace = 'saved'::regnamespace and relkind = 'r' and relname <> 'the ids'
  loop
    if pg_relation_size(format('public.%I', t)) > 200000 then execute format('truncate public.%I', t);
    else execute format('delete from public.%I', t); end if;
    -- What the database computes is not put back.
    select string_agg(quote_ident(attname), ', ') into own from pg_attribute
      where attrelid = format('public.%I', t)::regclass and attnum > 0 and not attisdropped and attgenerated = '';
    execute format('insert into public.%1$I (%2$s) overriding system value select %2$s from saved.%1$I', t, own);
  end loop;
  perform setval(format('public.%I', name), coalesce(last, start), last is not null) from saved."the ids";
  update public.secrets set value = sha256(gen_random_uuid()::text::bytea);
end $$`

/** One that is used anew, with a session that it keeps: to connect for each change would take longer than most of them. */
type Kept = Database & { readonly session: Session }

/** The keys of the store in it, which a world would have to connect for. */
type Reused = Kept & Pick<Store, 'secrets'>

type Making = {
  readonly make: (url: string) => Promise<void>
  readonly connect: (url: string) => Promise<Session>
}

const idle = new Map<string, Kept[]>()
const open = new Set<Session>()
after(() => Promise.all([...open].map(session => session.close())))

const made = async (key: string, { make, connect }: Making): Promise<Kept> => {
  const template = await templateFor(key, async url => {
    await make(url)
    const session = await connect(url)
    await session.query({ text: save, values: [] })
    await session.close()
  })
  const database = await freshDatabase({ template })
  const session = await connect(database.url)
  open.add(session)
  return { ...database, session }
}

/** A database as `make` made it, but with keys of its own; to drop it is to give it back. */
export const reusedDatabase = async (key: string, making: Making): Promise<Reused> => {
  const free = idle.get(key) ?? []
  idle.set(key, free)
  for (let kept = free.pop(); kept; kept = free.pop()) {
    try {
      return await given(kept, free)
    } catch {
      // Somebody holds a lock in it, or it is not what it was.
      await kept.drop()
    }
  }
  return given(await made(key, making), free)
}

const given = async (kept: Kept, free: Kept[]): Promise<Reused> => {
  const { url, session } = kept
  await session.query({ text: restore, values: [] })
  const all = { text: 'select name, value from public.secrets', values: [] }
  const secrets = async () => Object.fromEntries(await session.query(all))
  return { url, session, drop: async () => void free.push(kept), secrets }
}
