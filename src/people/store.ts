/** The tables of people as the rest of the service uses them: the public keys of tokens, and what is deleted once it has expired. */
import { hash, randomBytes, randomUUID } from 'node:crypto'
import { queryOf } from '#sql/engine.ts'
import { sql } from '#sql/sql.ts'
import { deleteInBatches, readPrimary, type StoreAccess, type WriteAccess } from '#write/job.ts'

/** How long a key that was replaced still verifies tokens, in milliseconds: they live ten minutes. */
const grace = 3_600_000

/** The public halves of the keys that sign tokens of people, as the text of a JSON Web Key Set. */
export const keySetOf = async (store: StoreAccess, now: number): Promise<string> => {
  const valid = sql`select id, public_key from auth_keys where expires_at is null or expires_at > ${now - grace} order by created_at`
  const rows = await readPrimary(store, queryOf(valid, store.dialect))
  const keys = rows.map(([kid, publicKey]) => ({
    ...JSON.parse(String(publicKey)),
    kid,
    alg: 'EdDSA',
    use: 'sig',
  }))
  return JSON.stringify({ keys })
}

/** Deletes what has expired. */
export const sweep = (store: WriteAccess, now: number): Promise<number> =>
  deleteInBatches(store, most => [
    sql`delete from auth_sessions where id in (select id from auth_sessions where expires_at <= ${now} limit ${most}) returning id`,
    sql`delete from auth_verifications where id in (select id from auth_verifications where expires_at <= ${now} limit ${most}) returning id`,
    sql`delete from auth_rates where id in (select id from auth_rates where last_request <= ${now} limit ${most}) returning id`,
    sql`delete from auth_keys where expires_at <= ${now - 7 * 86_400_000} returning id`,
  ])

/** How long a link is good for, in milliseconds. */
const linkLasts = 3_600_000

/** What makes a link that signs a person in once, within an hour: the token behind it, and the statement that keeps its digest. */
export const linkFor = (id: number, now: number) => {
  const token = randomBytes(32).toString('base64url')
  const identifier = hash('sha256', `link:${token}`, 'base64url')
  const insert = sql`insert into auth_verifications (id, identifier, value, expires_at, created_at, updated_at)
    values (${randomUUID()}, ${identifier}, ${String(id)}, ${now + linkLasts}, ${now}, ${now}) returning id`
  return { token, insert }
}

/** The address of the page that a link leads to; its token stands behind #, which no server sees. */
export const linkAt = (url: string, token: string): string => `${url}/signin#link=${token}`
