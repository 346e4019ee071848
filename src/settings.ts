/** What a setting is, the rules for the values of settings, and the machine's own settings. A content takes the rules for settings of its own. */
import { isIP } from 'node:net'
import { type Check, transformed, where } from '#base/check.ts'
import { isPostgres, parameterFault } from '#base/database-url.ts'
import { duration, isDay } from '#base/dates.ts'
import { isSafe } from '#base/paths.ts'

/** The rule of a setting: what its text stands for. */
type SettingRule<SettingValue = unknown> = Check<SettingValue, string>

/** Any text. @public */
export const text: SettingRule<string> = given => ({ value: given })

/** A text that `isSo` holds for. @public */
export const textWhere = (isSo: (given: string) => boolean, fault: string): SettingRule<string> =>
  where(text, isSo, fault)

/** A text that others have too, such as the path of a file or an issuer: with white space around it, or quotation marks, which `docker --env-file` leaves there, it would be another one without a word. */
const trimmed = textWhere(
  given => given === given.trim() && !/^(["']).*\1$/.test(given),
  'must have no white space or quotation marks around it',
)

/** An address to listen on, or a name of one; that of IPv6 may be as it is in a URL. */
const host = transformed(trimmed, given => given.replace(/^\[(.*)\]$/, '$1'))

/** One of a few words. */
export const oneOf = <const Word extends string>(
  words: readonly Word[],
  fault: string,
): SettingRule<Word> =>
  where(text, given => words.some(word => word === given), fault) as SettingRule<Word>

const number = (min: number, max: number, fault: string): SettingRule<number> => {
  const digits = textWhere(given => /^\d{1,12}$/.test(given), fault)
  return where(transformed(digits, Number), value => value >= min && value <= max, fault)
}

/** A port of TCP. */
export const port = number(0, 65_535, 'must be a port number, 0 to 65535')

/** A whole number. */
export const whole = (min: number, max: number) =>
  number(min, max, `must be a whole number from ${min} to ${max}`)

/** A time such as 30s, in milliseconds; `most` is written in the same way. @public */
export const time = (most: string, least = '0s'): SettingRule<number> =>
  where(
    transformed(text, given => duration(given) ?? -1),
    value => value >= (duration(least) ?? 0) && value <= (duration(most) ?? 0),
    `must be a time such as 250ms, 30s or 5m, ${least === '0s' ? '' : `at least ${least} and `}at most ${most}`,
  )

/** A switch: on or off. @public */
export const onOff = transformed(oneOf(['on', 'off'], 'must be on or off'), value => value === 'on')

/** Texts with commas between them; one that is given twice counts once. @public */
export const listOf = (
  isOne: (one: string) => boolean,
  fault: string,
): SettingRule<readonly string[]> =>
  where(
    transformed(text, given => [...new Set(given.split(',').map(one => one.trim()))]),
    all => all.every(isOne),
    fault,
  )

const isWebAddress = (given: string) => /^https?:\/\//i.test(given) && URL.canParse(given)

/** A day of the calendar. @public */
export const day = textWhere(isDay, 'must be a day that the calendar has, such as 2027-01-31')

const wholeThreads = whole(1, 64)

/** How many threads serve. */
export const threadCount: SettingRule<'auto' | number> = given =>
  given === 'auto' ? { value: 'auto' } : wholeThreads(given)

/** Whether an address is safe, and nothing but an address. */
export const isSafeAddress = (given: string): boolean => {
  const { username, search, hash } = URL.parse(given) ?? {}
  return isSafe(given) && !username && !search && !hash
}

const isOrigin = (text: string) => URL.parse(text)?.origin === text

/** Whether each % begins an escape of a character. */
const isEscaped = (part = ''): boolean => {
  try {
    return decodeURIComponent(part) !== undefined
  } catch {
    return false
  }
}

const isMailServer = (text: string) => {
  const { protocol, username, password, hostname, pathname, search, hash } = URL.parse(text) ?? {}
  return (
    /^smtps?:$/.test(protocol ?? '') &&
    !!hostname &&
    /^\/?$/.test(pathname ?? '') &&
    !search &&
    !hash &&
    isEscaped(username) &&
    isEscaped(password)
  )
}
const isBase = (text: string) => {
  const { protocol, username, search, hash } = URL.parse(text) ?? {}
  return (
    /^https?:$/.test(protocol ?? '') && !/[\s"<>?#]/.test(text) && !username && !search && !hash
  )
}
const isNetwork = (text: string): boolean => {
  const [address = '', bits, ...rest] = text.split('/')
  const most = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1
  if (most < 0 || rest.length > 0) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= most)
}

const faultIn = (urls: readonly string[]) => {
  const [fault] = urls.flatMap(url => (isPostgres(url.trim()) && parameterFault(url.trim())) || [])
  return fault === undefined ? undefined : { fault }
}

// A store in memory would be lost at the end; SQLite's name for one is no name for a file. A path of //duet.db is in the root of the disk.
const databaseForm = textWhere(
  given => /^sqlite:(?!:memory:$|\/\/[^/]|\s).*\S$/s.test(given) || isPostgres(given),
  'must be sqlite:PATH, such as sqlite:./data/duet.db, or postgres://USER:PASSWORD@HOST/DATABASE, with each / ? # @ % of a password as %2F %3F %23 %40 %25',
)

const database: SettingRule<string> = given => faultIn([given]) ?? databaseForm(given)

/** A list of PostgreSQL URLs, or the word by which they are found. */
const replicas: SettingRule<'auto' | readonly string[]> = given =>
  given === 'auto'
    ? { value: given }
    : (faultIn(given.split(',')) ??
      listOf(isPostgres, 'must be auto, or postgres:// URLs with commas between them')(given))

const filesPlace = where(
  trimmed,
  given =>
    !/^\w+:\/\//.test(given) ||
    /^s3:\/\/[^/?#]+(?:\/[^?#]*)?(?:[?&](?:endpoint|region)=[^&#]+)*$/.test(given),
  'must be a folder, or s3://BUCKET/PREFIX?endpoint=URL&region=NAME',
)

const sender =
  /^(?:[^<>"\p{Cc}]*<[^\s<>@,"\p{Cc}]+@[^\s<>@,"\p{Cc}]+>|[^\s<>@,"\p{Cc}]+@[^\s<>@,"\p{Cc}]+)$/u

type Setting = { readonly rule: SettingRule; readonly usual: string; readonly about: string }

export type SettingTable = Readonly<Record<string, Setting>>

type Value<S extends Setting> =
  | (S['rule'] extends SettingRule<infer Value> ? Value : never)
  | (S['usual'] extends '' ? undefined : never)

/** The values of a table of settings; undefined if one is not set and has no default. */
export type ValuesOf<Table extends SettingTable> = { readonly [K in keyof Table]: Value<Table[K]> }

/** Faults of settings, a sentence each; the operator sees them as they are. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

/** A row of a table of settings. */
export const setting = <Value, const Usual extends string>(
  rule: SettingRule<Value>,
  usual: Usual,
  about: string,
) => ({ rule, usual, about })

/** How many requests a caller may make in a minute if DUET_RATE_LIMIT is unset; 0: any number. */
export const usualRateLimit = { production: 6000, development: 0 } as const

const waysIn = ['code', 'oidc', 'password'] as const
export type WayIn = (typeof waysIn)[number]

/** The settings that are of sign-in alone. */
export const settingsOfPeople = [
  'DUET_PEOPLE_SECRET',
  'DUET_PEOPLE_SECRET_OLD',
  'DUET_SIGNIN',
  'DUET_OIDC',
  'DUET_APP_ORIGINS',
] as const

/** Names that accounts have which are of no provider. */
const takenProviders = ['credential', 'email-otp']

/** The machine's settings; the docs list them too. An empty `usual` means that there is no default. */
export const settings = {
  DUET_ENV: setting(
    oneOf(['development', 'production'], 'must be development or production'),
    'development',
    'What the service is run for',
  ),
  DUET_HOST: setting(
    host,
    '',
    'Address to listen on: loopback in development, all IPv4 addresses in production; :: for IPv6 too',
  ),
  DUET_PORT: setting(
    port,
    '',
    'Port to listen on; 0 takes a free one. If it is unset PORT counts, and without either 3000',
  ),
  DUET_DATABASE_URL: setting(
    database,
    'sqlite:./data/duet.db',
    'Where the content is stored: a file, or a PostgreSQL database, of which several servers may be named with commas between',
  ),
  DUET_THREADS: setting(
    threadCount,
    'auto',
    'Threads that serve a SQLite store, each on a core of its own, on Linux; auto is one less than the cores, at most 8 and one for each 256 MiB of memory. PostgreSQL has --processes',
  ),
  DUET_STORE_WAIT: setting(
    time('1h'),
    '0s',
    'How long a start waits for another process to release a SQLite store, and a start or a migration for a primary of PostgreSQL, such as 30s',
  ),
  DUET_WAL: setting(
    oneOf(['own', 'shared'], 'must be own or shared'),
    'own',
    'Who checkpoints the -wal file of a SQLite store: Duet, or with shared another program, as Litestream does',
  ),
  DUET_WAL_MAX: setting(
    whole(1_048_576, 999_999_999_999),
    '1073741824',
    'With DUET_WAL=shared, the size of the -wal file in bytes above which Duet checkpoints it all the same, and says so',
  ),
  DUET_REPLICA_URLS: setting(
    replicas,
    '',
    'Read replicas of the PostgreSQL database, each URL one server, with commas between, or `auto` to find and follow them; reads go to them',
  ),
  DUET_PATRONI_URLS: setting(
    listOf(isWebAddress, 'must be http or https URLs with commas between them'),
    '',
    'REST endpoints of Patroni, with commas between, that know the replicas if DUET_REPLICA_URLS is `auto`',
  ),
  DUET_PG_PREPARE: setting(
    onOff,
    'on',
    'Whether statements are prepared by name on PostgreSQL; off behind PgBouncer in transaction mode',
  ),
  DUET_PG_READERS: setting(
    whole(1, 64),
    '2',
    'Connections to PostgreSQL, and to each replica, that quick reads share',
  ),
  DUET_PG_POOL: setting(
    whole(1, 1000),
    '10',
    'Connections to PostgreSQL for writes and for long reads, each used by one at a time',
  ),
  DUET_AUTH_SECRET: setting(text, '', 'Secret of HS256 tokens, 32 bytes or more'),
  DUET_JWKS_URL: setting(
    where(
      transformed(text, given => given.trim()),
      isWebAddress,
      'must be an http or https URL',
    ),
    '',
    'Where the public keys of tokens are served',
  ),
  DUET_JWKS_FILE: setting(trimmed, '', 'A file with the public keys of tokens'),
  DUET_AUTH_ISSUER: setting(trimmed, '', 'What `iss` of a token must be'),
  DUET_AUTH_AUDIENCE: setting(trimmed, '', 'What `aud` of a token must have'),
  DUET_PEOPLE_SECRET: setting(
    text,
    '',
    'Secret of sign-in, 32 bytes or more, for sessions, codes and keys at rest; development makes one in a file, and production has no sign-in without it',
  ),
  DUET_PEOPLE_SECRET_OLD: setting(
    text,
    '',
    'The secret of sign-in of before, while it is replaced: it opens keys that it sealed',
  ),
  DUET_SIGNIN: setting(
    listOf(
      one => waysIn.some(way => way === one),
      'must be some of code, oidc, password, with commas between them',
    ),
    '',
    'How people sign in: `code` in a mail, `oidc` with a provider, `password`; code and oidc as far as mail and providers are set up, and code in development',
  ),
  DUET_OIDC: setting(
    listOf(
      one => /^[a-z][a-z0-9-]{0,30}$/.test(one) && !takenProviders.includes(one),
      `must be names of identity providers such as google, in small letters, with commas between them, and none of ${takenProviders.join(', ')}`,
    ),
    '',
    'Identity providers, with commas between; for each, such as `google`, set DUET_OIDC_GOOGLE_ISSUER, DUET_OIDC_GOOGLE_CLIENT_ID and DUET_OIDC_GOOGLE_CLIENT_SECRET',
  ),
  DUET_APP_ORIGINS: setting(
    listOf(isOrigin, 'must be origins such as https://app.example.org, with commas between them'),
    '',
    'Origins besides our own whose pages may sign people in',
  ),
  DUET_INTROSPECTION: setting(
    onOff,
    '',
    'Whether GraphQL introspection answers: on in development, off in production',
  ),
  DUET_DOCUMENTS: setting(
    trimmed,
    '',
    'A folder of GraphQL documents that requests may name by an id: .graphql files, and .json manifests of tools',
  ),
  DUET_DOCUMENTS_ONLY: setting(
    onOff,
    'off',
    'Whether GraphQL serves the documents of DUET_DOCUMENTS and no others',
  ),
  DUET_ADMIN: setting(onOff, 'on', 'Whether the admin is served, at /admin'),
  DUET_CORS_ORIGINS: setting(
    textWhere(
      given => given === '*' || given.split(',').every(origin => isOrigin(origin.trim())),
      'must be * or origins such as https://example.org, with commas between',
    ),
    '*',
    'Origins whose pages may read answers, with commas between, or *',
  ),
  DUET_CORS_HEADERS: setting(
    listOf(
      given => /^(?:\*|[\w!#$%&'*+.^`|~-]+)$/.test(given),
      'must be * or names of headers such as sentry-trace, with commas between',
    ),
    'apollographql-client-name, apollographql-client-version, apollo-require-preflight, x-apollo-operation-name, x-apollo-operation-id, graphql-require-preflight, traceparent, tracestate, baggage, sentry-trace, x-requested-with',
    'Headers of tools that those pages may send beside the API’s own, with commas between, or * for all',
  ),
  DUET_PUBLIC_MAX_AGE: setting(
    whole(0, 31_536_000),
    '0',
    'Seconds for which caches may keep what anonymous may read: GETs of REST and of GraphQL',
  ),
  DUET_MAX_BODY: setting(whole(1024, 104_857_600), '1048576', 'Largest JSON body, in bytes'),
  DUET_FILES: setting(
    filesPlace,
    '',
    'Where the bytes of files are: a folder, or s3://BUCKET/PREFIX?endpoint=URL; the folder files beside a SQLite store, ./data/files with PostgreSQL',
  ),
  DUET_FILES_MAX: setting(
    whole(0, 999_999_999_999),
    '0',
    'Most bytes of all files together; 0 is any number',
  ),
  DUET_MAX_CONNECTIONS: setting(
    whole(1, 1_000_000),
    '10000',
    'Most connections of clients to one process; more are closed at once',
  ),
  DUET_MAX_URL: setting(whole(256, 16_384), '4096', 'Longest URL, in characters'),
  DUET_MAX_DEPTH: setting(whole(1, 100), '8', 'Deepest GraphQL operation, in selection levels'),
  DUET_MAX_SOURCE: setting(
    whole(64, 1_048_576),
    '16384',
    'Longest GraphQL document, in characters',
  ),
  DUET_MAX_TOKENS: setting(whole(10, 100_000), '1000', 'Most tokens in a GraphQL document'),
  DUET_MAX_COMMENTS: setting(whole(0, 100_000), '100', 'Most comments in a GraphQL document'),
  DUET_MAX_ALIASES: setting(whole(0, 10_000), '30', 'Most aliases in a GraphQL operation'),
  DUET_MAX_DIRECTIVES: setting(whole(0, 10_000), '20', 'Most directives in a GraphQL document'),
  DUET_MAX_ROOT_FIELDS: setting(whole(1, 1000), '20', 'Most root fields in a GraphQL operation'),
  DUET_MAX_OBJECTS: setting(whole(1, 1_000_000), '10000', 'Most objects in one response'),
  DUET_MAX_RESPONSE: setting(
    whole(1024, 1_073_741_824),
    '33554432',
    'Longest response, in characters',
  ),
  DUET_READ_TIMEOUT: setting(
    whole(10, 600_000),
    '5000',
    'Longest time for one read, in milliseconds',
  ),
  DUET_CACHE: setting(
    whole(0, 999_999_999_999),
    '33554432',
    'Most bytes of answers that are cached until what they show changes, on SQLite; 0 is off',
  ),
  DUET_READERS: setting(
    whole(1, 64),
    '',
    'Threads for slow reads on SQLite, each started when it is first needed; one for each spare core, at least one',
  ),
  DUET_WRITE_QUEUE: setting(
    whole(1, 100_000),
    '2000',
    'Most writes that wait; more are refused at once',
  ),
  DUET_MIN_DISK: setting(
    whole(0, 999_999_999_999),
    '67108864',
    'Least free room on the disk for writes, in bytes; below it they are refused. 0 is off',
  ),
  DUET_QUEUE_WAIT: setting(
    whole(10, 60_000),
    '200',
    'Longest wait of a read for its turn, in milliseconds; one that waited longer is refused',
  ),
  DUET_WRITE_WAIT: setting(
    // Below that, a process that is busy for a moment would refuse all of them.
    time('10m', '100ms'),
    '5s',
    'Longest time until a write is answered; one that would take longer, by the rate of those before it, is refused at once',
  ),
  DUET_QUEUE_SIZE: setting(
    whole(10, 1_000_000),
    '5000',
    'Most reads that wait, and most writes; more are refused',
  ),
  DUET_RATE_LIMIT: setting(
    whole(0, 100_000_000),
    '',
    `Most requests of one caller in a minute; 0 is off. ${usualRateLimit.production} in production, off in development`,
  ),
  DUET_TRUSTED_PROXIES: setting(
    listOf(isNetwork, 'must be addresses or networks such as 10.0.0.0/8, with commas between them'),
    '',
    'Proxies whose X-Forwarded-For counts: addresses or networks, with commas between',
  ),
  DUET_SMTP_URL: setting(
    textWhere(
      isMailServer,
      'must be smtp:// or smtps:// with a host, and no path, with each / ? # @ % of a password as %2F %3F %23 %40 %25',
    ),
    '',
    'Mail server, such as smtp://user:password@mail.example.org:587; without one, development shows mail and production sends none',
  ),
  DUET_MAIL_FROM: setting(
    textWhere(given => sender.test(given), 'must be an address, such as Duet <duet@example.org>'),
    '',
    'Whom mail is from',
  ),
  DUET_PUBLIC_URL: setting(
    transformed(
      textWhere(isBase, 'must be an http or https URL without query, such as https://example.org'),
      url => url.replace(/\/+$/, ''),
    ),
    '',
    'Where people reach the service, for links in mail; needed in production with a mail server',
  ),
  DUET_DRAIN_WAIT: setting(
    whole(0, 600_000),
    '0',
    'How long new connections are still taken at the end while /readyz says so, in milliseconds; behind a balancer, longer than its checks need',
  ),
  DUET_SHUTDOWN_TIMEOUT: setting(
    whole(0, 600_000),
    '10000',
    'Longest wait for running requests at the end, in milliseconds',
  ),
  DUET_DEPRECATION: setting(
    oneOf(['true', 'date'], 'must be true or date'),
    'true',
    'What the header Deprecation says: true, or the date as RFC 9745 has it, such as @1798761600',
  ),
  DUET_NOTICE: setting(
    oneOf(['told', 'kept'], 'must be told or kept'),
    'told',
    'What happens if callers were told of the end for less than six months: with told the version ends all the same, and the log warns; with kept it ends later, after the six months',
  ),
  DUET_LOG: setting(
    oneOf(['info', 'warn', 'error', 'silent'], 'must be info, warn, error or silent'),
    'info',
    'What is logged: info has a line for each request',
  ),
  DUET_SLOW: setting(
    time('1h'),
    '',
    'Requests that take at least this long, such as 250ms, have a second line in the log that says where the time went; 0ms is every request',
  ),
  DUET_METRICS_PORT: setting(
    port,
    '',
    'Port for Prometheus, which finds the metrics at /metrics there; 0 takes a free one. Without it none are collected. Process n of --processes takes the n-th port from this one on',
  ),
  DUET_METRICS_HOST: setting(host, '127.0.0.1', 'Address to listen on for Prometheus'),
} as const satisfies SettingTable

/** The names of an identity provider's settings, by their meaning. */
export const providerSettings = (provider: string) => {
  const prefix = `DUET_OIDC_${provider.toUpperCase().replaceAll('-', '_')}`
  return {
    issuer: `${prefix}_ISSUER`,
    clientId: `${prefix}_CLIENT_ID`,
    clientSecret: `${prefix}_CLIENT_SECRET`,
    label: `${prefix}_LABEL`,
    scopes: `${prefix}_SCOPES`,
  } as const
}

/** The settings of the identity providers that DUET_OIDC names. */
export const settingsOfProviders = (named: string | undefined): SettingTable => {
  const table: Record<string, Setting> = {}
  for (const provider of (named ?? '').split(',').flatMap(one => one.trim() || [])) {
    const { issuer, clientId, clientSecret, label, scopes } = providerSettings(provider)
    table[issuer] = setting(
      textWhere(isSafeAddress, 'must be an https URL (http on loopback) without query'),
      '',
      `The issuer of the identity provider ${provider}, whose discovery document says the rest`,
    )
    table[clientId] = setting(trimmed, '', `The client id that ${provider} gave this service`)
    table[clientSecret] = setting(
      trimmed,
      '',
      `The client secret that ${provider} gave this service`,
    )
    table[label] = setting(text, '', `What the button for ${provider} says`)
    table[scopes] = setting(
      text,
      'openid email profile',
      `The scopes that ${provider} is asked for`,
    )
  }
  return table
}

/** The names of the settings for the end of a version: from when on it is deprecated, and when it ends. */
export const endSettings = (version: number) =>
  [`DUET_V${version}_DEPRECATED`, `DUET_V${version}_SUNSET`] as const

/** The settings for the end of a content's oldest version, if it has a newer one. */
export const settingsOfVersions = (all: readonly number[]): SettingTable => {
  const [version = 1, next] = all
  const [deprecated, sunset] = endSettings(version)
  const about = {
    deprecated: `The day, in UTC, from which answers of version ${version} of the REST API say that it is deprecated`,
    sunset: `The day, in UTC, on which version ${version} ends, six months or more after ${deprecated}`,
  }
  return next === undefined
    ? {}
    : {
        [deprecated]: setting(day, '', about.deprecated),
        [sunset]: setting(day, '', about.sunset),
      }
}
