/** Sign-in by the settings: which ways in there are, for whom and under which secret; and the sentence about settings that cannot be. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { secretBytes } from '#auth/secret.ts'
import type { Config, Provider } from '#config.ts'
import type { Delivery } from '#mail/mail.ts'
import { entityOf, type Model } from '#model/model.ts'
import type { People } from '#model/people.ts'
import { anonymous, judge, nobody } from '#model/policy.ts'
import { ConfigError, isSafeAddress, type WayIn } from '#settings.ts'
import type { Dialect } from '#sql/dialect.ts'
import { queryOf, type Session } from '#sql/engine.ts'
import { sql } from '#sql/sql.ts'

/** What decides how people sign in, as plain data. */
export type PeopleSettings = {
  /** The name of the service. */
  readonly title: string
  /** Where people reach it. */
  readonly url: string
  readonly secret: string
  /** The secret of before, which opens what it sealed. */
  readonly oldSecret: string | undefined
  readonly ways: readonly WayIn[]
  /** Whether a sign-in makes a row for a stranger, and how many of one network in a minute. */
  readonly signUp: boolean
  readonly signUpRate: number
  /** Whether a developer is told in the terminal what a caller is not. */
  readonly development: boolean
  /** Whether tries and letters are counted. */
  readonly limited: boolean
  readonly providers: readonly Provider[]
  /** The origins whose pages may sign people in; our own first. */
  readonly origins: readonly string[]
}

/** What the thread of people is started with. */
export type ThreadData = {
  readonly settings: PeopleSettings
  readonly delivery: Delivery
  /** What stands before the number of a parameter in SQL. */
  readonly mark: string
}

/** The ways in that an operator named, or those that can be; throws a ConfigError for one that cannot. */
const waysOf = (config: Config, hasMail: boolean): readonly WayIn[] => {
  const { DUET_SIGNIN: named } = config.values
  const isThere = { code: hasMail, password: hasMail, oidc: config.providers.length > 0 }
  const usual = (['code', 'oidc'] as const).filter(way => isThere[way])
  const ways = (named as readonly WayIn[] | undefined) ?? usual
  for (const way of ways)
    if (!isThere[way])
      throw new ConfigError(
        way === 'oidc'
          ? 'DUET_SIGNIN names oidc, and there is no provider: name one in DUET_OIDC'
          : `DUET_SIGNIN names ${way}, which comes by mail, and none is sent: set DUET_SMTP_URL`,
      )
  if (ways.length === 0)
    throw new ConfigError(
      'people have no way to sign in: set DUET_SMTP_URL, from which codes are mailed, or DUET_OIDC; without DUET_PEOPLE_SECRET sign-in is off',
    )
  return ways
}

/** The origins of this machine's names, by any of which a developer may open the service. */
const loopbackOrigins = (own: string): readonly string[] =>
  ['localhost', '127.0.0.1', '[::1]'].map(
    hostname => Object.assign(new URL(own), { hostname }).origin,
  )

/** The settings of sign-in for the address where people reach the service. Throws a ConfigError for settings that cannot be. */
export const peopleSettings = (
  config: Config,
  people: People,
  model: Model,
  title: string,
  secret: string,
  signUpRate = Number.POSITIVE_INFINITY,
): ((url: string) => PeopleSettings) => {
  const { values, development, providers } = config
  const { DUET_PUBLIC_URL: url, DUET_PEOPLE_SECRET_OLD: oldSecret } = values
  secretBytes(secret, 'DUET_PEOPLE_SECRET')
  if (url === undefined && !development)
    throw new ConfigError(
      'people sign in, and DUET_PUBLIC_URL is not set: set it to where they reach the service, such as https://example.org',
    )
  if (url !== undefined && !isSafeAddress(url) && !development)
    throw new ConfigError(
      'people sign in, and DUET_PUBLIC_URL is http: sessions need https (http on loopback)',
    )
  if (url !== undefined && new URL(url).pathname !== '/')
    throw new ConfigError(
      'people sign in, and DUET_PUBLIC_URL has a path: sessions are of a whole origin, such as https://example.org',
    )
  // It leaves, or is shown to a developer.
  const hasMail = development || values.DUET_SMTP_URL !== undefined
  const ways = waysOf(config, hasMail)
  const { create = nobody } = entityOf(model, people.entity).policy
  const signUp = people.signUp === 'open' && judge(create, anonymous, model) !== 'no'
  // A row that a stranger made with somebody's address would lock that person out, as no code proves whose it is.
  if (signUp && !hasMail)
    throw new ConfigError(
      'people sign in with providers alone, and anonymous callers may make rows: set DUET_SMTP_URL, so that the owner of an address can prove it, or close the create rule',
    )
  const limited = !development || (values.DUET_RATE_LIMIT ?? 0) > 0
  return at => {
    const own = new URL(url ?? (at === '' ? 'http://localhost' : at)).origin
    const aliases = development && url === undefined ? loopbackOrigins(own) : []
    const origins = [...new Set([own, ...aliases, ...(values.DUET_APP_ORIGINS ?? [])])]
    return {
      ...{ title, url: own, secret, oldSecret, ways, signUp, signUpRate },
      ...{ development, limited, providers, origins },
    }
  }
}

/** Where a store remembers under which secret its keys are sealed. */
const checkName = 'people'

/** Throws a ConfigError if a store was used under another secret, unless the setting names that one as the old one; a new secret is remembered. One that was `isMade` by development itself is taken as it is. */
export const checkStore = async (
  { session, dialect }: { readonly session: Session; readonly dialect: Dialect },
  { secret, oldSecret }: Pick<PeopleSettings, 'secret' | 'oldSecret'>,
  isMade: boolean,
): Promise<void> => {
  const sealedBy = (of: string) => createHmac('sha256', of).update('duet people').digest()
  const known = sql`select value from secrets where name = ${checkName}`
  const [row] = await session.query(queryOf(known, dialect))
  const stored = row?.[0]
  const fits = (of: string | undefined) =>
    of !== undefined && stored instanceof Uint8Array && timingSafeEqual(sealedBy(of), stored)
  if (fits(secret)) return
  if (stored !== undefined && !fits(oldSecret) && !isMade)
    throw new ConfigError(
      'DUET_PEOPLE_SECRET is not the one that this store was used with: set that one again, or as DUET_PEOPLE_SECRET_OLD beside the new one; if it is lost, run duet people keys retire',
    )
  // Nobody set it in development: the earlier file is gone, and the keys that it sealed are given up.
  if (stored !== undefined && !fits(oldSecret)) await session.query(queryOf(retireKeys, dialect))
  const remember = sql`insert into secrets (name, value) values (${checkName}, ${new Uint8Array(sealedBy(secret))})
    on conflict (name) do update set value = excluded.value where secrets.value = ${stored ?? null} returning name`
  // Another process that starts now was first: its secret counts.
  if ((await session.query(queryOf(remember, dialect))).length === 0)
    await checkStore({ session, dialect }, { secret, oldSecret }, isMade)
}

/** Gives up the keys that sign tokens: the next sign-in makes one. */
export const retireKeys = sql`delete from auth_keys`

/** Forgets under which secret a store was used, for one whose secret is lost. */
export const forgetSecret = sql`delete from secrets where name = ${checkName}`
