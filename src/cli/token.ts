/** `duet token`: makes a token with the secret. */
import { mint } from '#auth/token.ts'
import { authSecret } from '#cli/secret.ts'
import { readArgs, UsageError } from '#cli/usage.ts'
import { loadConfig } from '#config.ts'
import type { CliCommand, Content } from '#content.ts'
import { parseId } from '#model/id.ts'
import { ConfigError } from '#settings.ts'

const help = `Usage: duet token --user ID [--role user|admin] [--ttl 1h]

Prints a token for a user, signed with DUET_AUTH_SECRET (in development: with the
secret that is kept beside the store, for PostgreSQL in data/). --ttl takes s, m or h; at most 24h.`

const seconds = { s: 1, m: 60, h: 3600 } as const

const lifetime = (text: string): number => {
  const [, number, unit] = /^(\d{1,6})([smh])$/.exec(text) ?? []
  const ttl = Number(number) * seconds[unit as keyof typeof seconds]
  if (!(ttl >= 1 && ttl <= 24 * 3600))
    throw new UsageError(`--ttl must be such as 90s, 15m or 1h, at most 24h, not ${text}`)
  return ttl
}

const run = async (args: readonly string[], content: Content): Promise<void> => {
  const { values } = readArgs(
    args,
    { user: { type: 'string' }, role: { type: 'string' }, ttl: { type: 'string' } },
    0,
  )
  const sub = parseId(values.user ?? '')
  if (sub === undefined) throw new UsageError('--user must be the id of a user, such as 1')
  const role = values.role ?? 'user'
  if (role !== 'user' && role !== 'admin')
    throw new UsageError(`--role must be user or admin, not ${role}`)
  const ttl = lifetime(values.ttl ?? '1h')
  const config = loadConfig(process.env, content.settings)
  const secret = authSecret(config)
  if (secret === undefined)
    throw new ConfigError(
      'tokens are made with DUET_AUTH_SECRET; with a JWKS, your identity provider makes them',
    )
  const { DUET_AUTH_ISSUER: issuer, DUET_AUTH_AUDIENCE: audience } = config.values
  const token = await mint({ sub, role, ttl, issuer, audience }, secret, Date.now())
  process.stdout.write(`${token}\n`)
}

export const token: CliCommand = { help, run }
