/** The servers that a PostgreSQL URL names: one, or several with commas between, as libpq has them (PostgreSQL manual, section 34.1.1.2). */

import { existsSync, statSync } from 'node:fs'
import { own } from '#base/object.ts'
import { nearest, parametersIn } from '#base/text.ts'

const form = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#@]*)(.*)$/is

/** A URL for each server, in the order of the URL; the URL itself if it has another form. */
export const serversIn = (url: string): readonly string[] => {
  const [, before, hosts, after] = form.exec(url) ?? []
  return hosts === undefined ? [url] : hosts.split(',').map(host => `${before}${host}${after}`)
}

/** A name before an empty host: the server is reached by a Unix socket, whose folder is a parameter. */
const bySocket = /^(\w+:\/\/[^/?#]*@)(\/[^/?#]+\?(?:.*&)?host=(?:\/|%2F))/i

/** The parts of a URL of one server; undefined if it is none. */
const partsOf = (one: string): URL | undefined =>
  URL.parse(one.replace(bySocket, '$1localhost$2')) ?? undefined

/** The servers of a URL without names and passwords, and its database as it stands there. */
export const placeIn = (url: string): string => {
  const [parts] = serversIn(url).map(partsOf)
  const hosts = serversIn(url).map(one => URL.parse(one)?.host ?? '')
  return `postgres://${hosts.join()}${parts?.pathname ?? ''}`
}

/** The name of the database of a URL; undefined if it has none. */
export const databaseIn = (url: string): string | undefined => {
  const name = partsOf(serversIn(url)[0] ?? '')?.pathname.slice(1)
  try {
    return name ? decodeURIComponent(name) : undefined
  } catch {
    // A % that begins no escape is itself.
    return undefined
  }
}

const queryIn = (url: string): string => /\?(.*)/s.exec(url)?.[1] ?? ''

/** Its `target_session_attrs`; undefined if it has none. */
export const targetIn = (url: string): string | undefined =>
  parametersIn(queryIn(url)).get('target_session_attrs') ?? undefined

/** Whether the primary must be looked for: among several servers, or if the URL asks for a session that may write. */
export const seeksPrimary = (url: string): boolean =>
  serversIn(url).length > 1 || targetIn(url) !== undefined

/** Whether a text is a PostgreSQL URL that names a database. */
export const isPostgres = (text: string): boolean =>
  serversIn(text).every((one, _, all) => {
    const { protocol = '', hostname, pathname = '', search = '', hash = '' } = partsOf(one) ?? {}
    return (
      /^postgres(ql)?:$/.test(protocol) &&
      // What is no database may be a part of a password, which no message may show; so may what is before an @ and a host.
      /^\/[^@]+$/.test(pathname) &&
      !/@.*\//.test(search) &&
      !hash.includes('@') &&
      (hostname || all.length === 1)
    )
  })

const oneOf = (...words: readonly string[]) => ({
  isRight: (given: string) => words.includes(given),
  words: words.join(', '),
})
const any = { isRight: (given: string) => given !== '', words: 'a value' }
const count = { isRight: (given: string) => /^-?\d+$/.test(given), words: 'a whole number' }
const file = {
  isRight: (given: string) => existsSync(given) && statSync(given).isFile(),
  words: 'a file that is there',
}

const each = (rule: typeof any, ...names: readonly string[]) =>
  Object.fromEntries(names.map(name => [name, rule]))

/** The parameters of a URL, as libpq has them (PostgreSQL manual, section 34.1.2), of which none is ignored where that would be unsafe. */
const parameters: Readonly<Record<string, typeof any>> = {
  ...each(any, 'host', 'user', 'password', 'options'),
  ...each(any, 'application_name', 'fallback_application_name'),
  ...each(count, 'port'),
  ...each(file, 'sslrootcert', 'sslcert', 'sslkey'),
  sslmode: oneOf('disable', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify'),
  sslnegotiation: oneOf('postgres', 'direct'),
  target_session_attrs: oneOf(
    ...'any read-write read-only primary standby prefer-standby'.split(' '),
  ),
  client_encoding: oneOf('utf8', 'UTF8', 'utf-8', 'UTF-8', 'auto'),
  // These are the driver's own.
  ssl: oneOf('true', '1', '0', 'no-verify'),
  uselibpqcompat: oneOf('true', 'false'),
  // The service has times and ways of its own.
  ...each(count, 'connect_timeout', 'tcp_user_timeout', 'keepalives'),
  ...each(count, 'keepalives_idle', 'keepalives_interval', 'keepalives_count'),
  load_balance_hosts: oneOf('disable', 'random'),
  gssencmode: oneOf('disable', 'prefer'),
  channel_binding: oneOf('disable', 'prefer'),
  sslcertmode: oneOf('disable', 'allow'),
  sslcompression: oneOf('0'),
  sslsni: oneOf('1'),
}

const inSchema =
  'say options=-c%20search_path%3DNAME, or let the user begin there: alter role … set search_path = NAME'

/** What is said for parameters of other programs and of libpq that have another way here. */
const otherWays: Readonly<Record<string, string>> = {
  schema: inSchema,
  currentSchema: inSchema,
  search_path: inSchema,
  dbname: 'write the database behind the host: postgres://HOST/DATABASE',
  hostaddr: 'write the address as the host',
  pgbouncer: 'set DUET_PG_PREPARE=off',
  connection_limit: 'set DUET_PG_POOL',
  pool_timeout: 'set DUET_WRITE_WAIT',
  sslcrl: 'leave it out, and let the authority renew its certificates instead',
  ssl_min_protocol_version: 'set it on the server',
  statement_timeout: 'set DUET_READ_TIMEOUT',
}

/** What is wrong with the parameters of a PostgreSQL URL, for behind its name; undefined if nothing is. It shows no value, which may be a password. */
export const parameterFault = (url: string): string | undefined => {
  // A URL ends there, and PostgreSQL's own tools read on.
  if (url.includes('#')) return 'has a #, behind which nothing would be read: write it as %23'
  const seen = new Set<string>()
  for (const [name, given] of parametersIn(queryIn(url))) {
    const known = own(parameters, name)
    if (!known) {
      const near = nearest(name.toLowerCase(), Object.keys(parameters))
      const way = own(otherWays, name) ?? (near ? `did you mean ${near}?` : undefined)
      return `has the parameter ${name}, which is none here: ${way ?? `leave it out; there are ${Object.keys(parameters).slice(0, 14).join(', ')}`}`
    }
    if (!known.isRight(given)) return `needs ${known.words} for the parameter ${name}`
    if (seen.has(name)) return `has the parameter ${name} twice: leave one out`
    seen.add(name)
  }
  return seen.has('ssl') && seen.has('sslmode')
    ? 'has the parameters ssl and sslmode: leave ssl out'
    : undefined
}
