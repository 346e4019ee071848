/** The tables of people as the rest of the service uses them: the public keys of tokens, and what is deleted once it has expired. */
import { hash, randomBytes, randomUUID } from 'node:crypto'
import type { Dialect } from '#sql/dialect.ts'
import { queryOf, type Reader, type Rows } from '#sql/engine.ts'
import { type Sql, sql } from '#sql/sql.ts'
import { type Writer, writePieces } from '#write/job.ts'

/** An open store: what reads it, and what writes. */
export type PeopleStore = {
  readonly reader: Pick<Reader, 'query'>
  readonly writer: Writer
  readonly dialect: Dialect
}

/** Reads what was committed before: behind replicas a session just made may not be there yet, so the primary is asked. */
export const queryPrimary =
  ({ reader, writer, dialect }: PeopleStore) =>
  async (piece: Sql): Promise<Rows> =>
    dialect.singleStatement === null
      ? reader.query({ ...queryOf(piece, dialect), isQuick: true })
      : ((await writePieces({ writer, dialect }, piece))[0] ?? [])

/** How long a key that was replaced still verifies tokens, in milliseconds: they live ten minutes. */
const grace = 3_600_000

/** The public halves of the keys that sign tokens of people, as the text of a JSON Web Key Set. */
export const keySetOf = async (store: PeopleStore, now: number): Promise<string> => {
  const rows = await queryPrimary(store)(
    sql`select id, public_key, alg, crv from auth_keys where expires_at is null or expires_at > ${now - grace} order by created_at`,
  )
  const keys = rows.map(([kid, publicKey, alg, crv]) => ({
    alg: alg ?? 'EdDSA',
    crv: crv ?? 'Ed25519',
    ...JSON.parse(String(publicKey)),
    kid,
    use: 'sig',
  }))
  return JSON.stringify({ keys })
}

/** The statements that delete what has expired, a bounded number of rows each. */
export const expired = (now: number): readonly Sql[] => [
  sql`delete from auth_sessions where id in (select id from auth_sessions where expires_at <= ${now} limit 1000) returning id`,
  sql`delete from auth_verifications where id in (select id from auth_verifications where expires_at <= ${now} limit 1000) returning id`,
  // A count of tries has its end as its time, and one of requests the last of them, a minute ago at most.
  sql`delete from auth_rates where id in (select id from auth_rates where last_request <= ${now - 120_000} limit 1000) returning id`,
  sql`delete from auth_keys where expires_at <= ${now - 7 * 86_400_000} returning id`,
]

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
