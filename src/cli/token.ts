/** `duet token`: makes a token with the secret. */
import { mint } from '#auth/token.ts'
import { duration } from '#base/dates.ts'
import { readArgs, UsageError } from '#cli/arguments.ts'
import { loadConfig } from '#config.ts'
import type { Content } from '#content.ts'
import { withArticle } from '#model/names.ts'
import { parseId } from '#model/values.ts'
import { keysFor } from '#serve/auth.ts'
import { ConfigError } from '#settings.ts'

export const help = ({ viewers: { entity, roles } }: Content) =>
  `Usage: duet token --${entity} ID [--role ${roles.names.join('|')}] [--ttl 1h]

Prints a token for ${withArticle(entity)}, signed with DUET_AUTH_SECRET (in development: with the
secret that is kept beside the store, for PostgreSQL in data/). --ttl takes s, m or h; at most 24h.`

const string = { type: 'string' } as const

export const run = async (args: readonly string[], content: Content): Promise<void> => {
  const { entity, roles } = content.viewers
  // The option that names the viewer has the name of its entity.
  const given: Readonly<Record<string, string | undefined>> = readArgs(
    args,
    { [entity]: string, role: string, ttl: string },
    0,
  ).values
  const sub = parseId(given[entity] ?? '')
  if (sub === undefined)
    throw new UsageError(`--${entity} must be the id of ${withArticle(entity)}, such as 1`)
  const role = given.role ?? roles.default
  if (!roles.names.includes(role))
    throw new UsageError(`--role must be ${roles.names.join(' or ')}, not ${role}`)
  const { ttl: text = '1h' } = given
  // In seconds, as a token has it.
  const ttl = text.endsWith('ms') ? 0 : (duration(text) ?? 0) / 1000
  if (ttl < 1 || ttl > 24 * 3600)
    throw new UsageError(`--ttl must be such as 90s, 15m or 1h, at most 24h, not ${text}`)
  const config = loadConfig(process.env, content.settings)
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
  const { DUET_AUTH_ISSUER: issuer, DUET_AUTH_AUDIENCE: audience } = config.values
  const token = await mint({ sub, role, ttl, issuer, audience }, keys.secret, Date.now())
  process.stdout.write(`${token}\n`)
}
