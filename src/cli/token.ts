/** `duet token`: makes a token with the secret. */
import { givesRole, mint } from '#auth/token.ts'
import { duration } from '#base/dates.ts'
import { isObject, type JsonObject } from '#base/object.ts'
import { readArgs, UsageError } from '#cli/arguments.ts'
import { loadConfig } from '#config.ts'
import type { Content } from '#content.ts'
import { columnName, entityOf } from '#model/model.ts'
import { withArticle } from '#model/names.ts'
import { parseId } from '#model/values.ts'
import type { Viewers } from '#model/viewers.ts'
import { keySource, keysFor, partiesFor } from '#serve/auth.ts'
import { ask, withStore } from '#serve/store.ts'
import { ConfigError } from '#settings.ts'
import { name, sql } from '#sql/sql.ts'

/** The options that name whom a token speaks for: the viewers' own name with an id, and `subject` where ids are not in tokens. */
const whose = ({ entity, by }: Viewers): readonly string[] => [
  ...(entity === undefined ? [] : [entity]),
  ...(entity === undefined || by !== undefined ? ['subject'] : []),
]

export const help = ({ viewers }: Content) => {
  const { entity, by, roles } = viewers
  const names = whose(viewers).map(option =>
    option === 'subject' ? '--subject TEXT' : `--${option} ID`,
  )
  const bearer = entity === undefined ? 'a service' : withArticle(entity)
  const found =
    by === undefined
      ? ''
      : `
--${entity} takes the subject of a row, --subject any. --claims adds claims, as one JSON object,
which may give the role.`
  return `Usage: duet token ${names.join(' | ')} [--role ${roles.names.join('|')}] [--ttl 1h]${by === undefined ? '' : ' [--claims JSON]'}

Prints a token for ${bearer}, signed with DUET_AUTH_SECRET (in development: with the
secret that is kept beside the store, for PostgreSQL in data/). --ttl takes s, m or h; at most 24h.${found}`
}

const claimsIn = (text: string): JsonObject => {
  try {
    const claims: unknown = JSON.parse(text)
    if (isObject(claims)) return claims
  } catch {}
  throw new UsageError(`--claims must be a JSON object, such as '{"name":"Ada"}', not ${text}`)
}

const subjectOf = (content: Content, id: number): Promise<string> =>
  withStore(content, 'reading', async store => {
    const { entity: what = '', by = '' } = content.viewers
    const { table } = entityOf(content, what)
    const column = name(columnName(by))
    const [row] = await ask(store, sql`select ${column} from ${name(table)} where id = ${id}`)
    if (!row)
      throw new UsageError(`there is no ${what} ${id}: name one that there is, or a --subject`)
    if (row[0] === null) throw new UsageError(`${what} ${id} has no ${by}: no token speaks for it`)
    return String(row[0])
  })

const string = { type: 'string' } as const

export const run = async (args: readonly string[], content: Content): Promise<void> => {
  const { viewers } = content
  const { entity, by, roles } = viewers
  const options = whose(viewers)
  // The option that names the viewer has the name of its entity.
  const names = [...options, 'role', 'ttl', ...(by === undefined ? [] : ['claims'])]
  const table = Object.fromEntries(names.map(option => [option, string]))
  const given: Readonly<Record<string, string | undefined>> = readArgs(args, table, 0).values
  const { subject } = given
  const id = entity === undefined ? undefined : parseId(given[entity] ?? '')
  if (options.includes('subject')) {
    const named = options.filter(option => given[option] !== undefined)
    if (named.length !== 1 || subject === '')
      throw new UsageError(`name whom the token is for by one of --${options.join(', --')}`)
  }
  if (subject === undefined && id === undefined)
    throw new UsageError(`--${entity} must be the id of ${withArticle(entity ?? '')}, such as 1`)
  const role = given.role ?? roles.default
  if (!roles.names.includes(role))
    throw new UsageError(`--role must be ${roles.names.join(' or ')}, not ${role}`)
  const { ttl: text = '1h' } = given
  // A token counts in seconds.
  const ttl = text.endsWith('ms') ? 0 : (duration(text) ?? 0) / 1000
  if (ttl < 1 || ttl > 24 * 3600)
    throw new UsageError(`--ttl must be such as 90s, 15m or 1h, at most 24h, not ${text}`)
  const claims = given.claims === undefined ? {} : claimsIn(given.claims)
  const hasRole = givesRole(claims, viewers)
  if (hasRole && given.role !== undefined)
    throw new UsageError('--claims gives a role and so does --role: leave one out')
  // They would be written over.
  for (const [claim, by] of [
    ['sub', `--${options.join(' or --')}`],
    ['exp', '--ttl'],
    ['iat', 'the clock'],
    ['iss', 'DUET_AUTH_ISSUER'],
    [viewers.audienceClaim ?? 'aud', 'DUET_AUTH_AUDIENCE'],
  ] as const)
    if (Object.hasOwn(claims, claim))
      throw new UsageError(`--claims has ${claim}, which ${by} gives: leave it out of the claims`)
  const config = loadConfig(process.env, content.settings)
  const parties = partiesFor(config, viewers)
  // Tokens of a new secret fit no service that is running: most likely the settings are not those of the service.
  const keys = keysFor(config, file =>
    console.error(
      `duet: the secret ${file} is new: the token fits only a service that is started with the same settings`,
    ),
  )
  if (!('secret' in keys))
    throw new ConfigError(
      'tokens are made with DUET_AUTH_SECRET; with a JWKS, your identity provider makes them',
    )
  // Tokens of an old secret that no setting names are refused too.
  if (config.values.DUET_AUTH_SECRET === undefined)
    console.error(
      `duet: signed with the secret of ${keySource(config)}; a service that was started with DUET_AUTH_SECRET or another DUET_DATABASE_URL refuses the token: set the same here`,
    )
  const row = id !== undefined && by !== undefined ? await subjectOf(content, id) : id
  const sub = subject ?? row ?? ''
  const named = hasRole ? undefined : role
  const whom = { sub, role: named, ttl, viewers, claims, ...parties }
  process.stdout.write(`${await mint(whom, keys.secret, Date.now())}\n`)
}
