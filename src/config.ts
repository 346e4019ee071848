/** The environment as a Config, checked once; one error names all faults. */

import { lstatSync, readFileSync, statSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseEnv } from 'node:util'
import { isPostgres, parameterFault, targetIn } from '#base/database-url.ts'
import { noticeMonths, soonestEnd } from '#base/dates.ts'
import { nearest } from '#base/text.ts'
import {
  ConfigError,
  port,
  providerSettings,
  type SettingTable,
  settings,
  settingsOfProviders,
  type ValuesOf,
} from '#settings.ts'

/** An identity provider, by its settings. */
export type Provider = {
  readonly name: string
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string
  readonly label: string
  readonly scopes: readonly string[]
}

export type Config = {
  readonly development: boolean
  readonly host: string
  readonly port: number
  /** The SQLite file, or the PostgreSQL database. */
  readonly store:
    | { readonly kind: 'sqlite'; readonly file: string }
    | { readonly kind: 'postgres'; readonly url: string }
  readonly values: ValuesOf<typeof settings>
  /** The identity providers that DUET_OIDC names. */
  readonly providers: readonly Provider[]
  /** The values of the content's own settings. */
  readonly content: Readonly<Record<string, unknown>>
}

/** The variable that names a server for `duet check`; every other command leaves it alone. */
export const checkDatabase = 'DUET_CHECK_DATABASE_URL'

const keySettings = ['DUET_AUTH_SECRET', 'DUET_JWKS_URL', 'DUET_JWKS_FILE'] as const

const withoutPrefix = (name: string): string => name.slice('DUET_'.length)

/** The setting that an unknown name was probably meant for: the nearest, or the only one that begins with it; undefined if there is none. */
export const settingMeant = (
  name: string,
  names: readonly string[] = Object.keys(settings),
): string | undefined => {
  // The common prefix is taken away, since it makes every name long and alike.
  const part = withoutPrefix(name)
  const parts = names.map(withoutPrefix)
  const begun = parts.filter(known => known.startsWith(`${part}_`))
  const meant = nearest(part, parts) ?? (begun.length === 1 ? begun[0] : undefined)
  return names.find(known => withoutPrefix(known) === meant)
}

/** The folder of the documents as a path from the working directory: of this checkout, or of the installed package. */
export const documents = relative('', fileURLToPath(new URL('../docs', import.meta.url)))

/** Variables that Kubernetes makes of a Service. */
const ofService = /_SERVICE_(HOST|PORT)|_PORT_\d+_(TCP|UDP|SCTP)/

const unknown = (name: string, names: readonly string[]): string => {
  if (ofService.test(name))
    return `${name} is not a setting; if Kubernetes made it from a Service, set enableServiceLinks: false`
  const meant = settingMeant(name.toUpperCase(), names)
  if (meant !== undefined) return `${name} is not a setting; did you mean ${meant}?`
  const ofProvider = /^DUET_OIDC_/i.test(name) ? ' of a provider that DUET_OIDC names' : ''
  return `${name} is not a setting${ofProvider}; ${documents}/settings.md lists them all`
}

type ConfigEnvironment = Readonly<Record<string, string | undefined>>
type Raw = Readonly<Record<string, unknown>>

const readTable = (table: SettingTable, environment: ConfigEnvironment, faults: string[]): Raw => {
  const values: Record<string, unknown> = {}
  for (const [name, { rule, usual }] of Object.entries(table)) {
    const given = environment[name] || usual
    if (given === '') continue
    const checked = rule(given)
    // The value itself may be a secret: only the name and the rule are shown.
    if ('fault' in checked) faults.push(`${name} ${checked.fault}`)
    else values[name] = checked.value
  }
  return values
}

const deprecationFaults = (content: Raw, environment: ConfigEnvironment): readonly string[] => {
  const end = Object.keys(content).find(name => /^DUET_V\d+_SUNSET$/.test(name))
  if (end === undefined) return []
  const start = end.replace('SUNSET', 'DEPRECATED')
  if (!environment[start])
    return [
      `${end} needs ${start}: set it to a day ${noticeMonths} months or more before, from which callers are told`,
    ]
  const soonest = content[start] === undefined ? '' : soonestEnd(String(content[start]))
  if (String(content[end]) >= soonest) return []
  return [
    `${end} is less than ${noticeMonths} months after ${start}: set it to ${soonest} or a later day`,
  ]
}

const providersOf = (named: readonly string[], values: Raw, faults: string[]): Provider[] =>
  named.map(name => {
    const settingOf = providerSettings(name)
    const given = (key: keyof typeof settingOf) => String(values[settingOf[key]] ?? '')
    for (const key of ['issuer', 'clientId', 'clientSecret'] as const)
      if (values[settingOf[key]] === undefined)
        faults.push(`${settingOf[key]} is needed, as DUET_OIDC names ${name}`)
    return {
      name,
      issuer: given('issuer'),
      clientId: given('clientId'),
      clientSecret: given('clientSecret'),
      label: given('label') || name.charAt(0).toUpperCase() + name.slice(1),
      scopes: given('scopes').split(/[\s,]+/),
    }
  })

/** Faults between settings that are right by themselves. */
const contradictions = (values: Raw, environment: ConfigEnvironment): readonly string[] => {
  const faults: string[] = []
  const keys = keySettings.filter(name => values[name] !== undefined)
  if (keys.length > 1)
    faults.push(`${keys.join(' and ')} cannot be set together: choose one source of keys`)
  if (values.DUET_SMTP_URL !== undefined) {
    const isProduction = values.DUET_ENV === 'production'
    const needed = isProduction ? ['DUET_MAIL_FROM', 'DUET_PUBLIC_URL'] : ['DUET_MAIL_FROM']
    for (const name of needed)
      if (!environment[name]) faults.push(`${name} is needed if DUET_SMTP_URL is set`)
  }
  if (values.DUET_REPLICA_URLS !== undefined && !isPostgres(String(values.DUET_DATABASE_URL)))
    faults.push('DUET_REPLICA_URLS is for PostgreSQL: DUET_DATABASE_URL must be a postgres:// URL')
  if (values.DUET_PATRONI_URLS !== undefined && values.DUET_REPLICA_URLS !== 'auto')
    faults.push('DUET_PATRONI_URLS finds replicas: it needs DUET_REPLICA_URLS=auto')
  if (values.DUET_DOCUMENTS_ONLY === true && values.DUET_DOCUMENTS === undefined)
    faults.push('DUET_DOCUMENTS_ONLY=on needs DUET_DOCUMENTS: the folder of the documents to serve')
  const target = targetIn(String(values.DUET_DATABASE_URL))
  if (target !== undefined && !/^(read-write|primary)$/.test(target))
    faults.push(
      'DUET_DATABASE_URL must have target_session_attrs=read-write, or none: the service needs the server that takes writes',
    )
  const { PGSSLMODE: mode } = environment
  const modeFault = mode && parameterFault(`?sslmode=${encodeURIComponent(mode)}`)
  if (modeFault && isPostgres(String(values.DUET_DATABASE_URL)))
    faults.push(`PGSSLMODE ${modeFault}`)
  return faults
}

/** The Config of an environment, with the content's own settings. Throws a ConfigError that names every fault. */
export const loadConfig = (environment: ConfigEnvironment, own: SettingTable = {}): Config => {
  const faults: string[] = []
  const ofProviders = settingsOfProviders(environment.DUET_OIDC)
  const names = [...Object.keys(settings), ...Object.keys(own), ...Object.keys(ofProviders)]
  for (const name of Object.keys(environment))
    if (/^duet_/i.test(name) && !names.includes(name) && name !== checkDatabase)
      faults.push(unknown(name, names))
  const values = readTable(settings, environment, faults) as Config['values']
  const content = readTable(own, environment, faults)
  faults.push(...contradictions(values, environment), ...deprecationFaults(content, environment))
  const { DUET_OIDC: named = [] } = values
  const providers = providersOf(named, readTable(ofProviders, environment, faults), faults)
  const inPort = port(environment.PORT || '3000')
  if ('fault' in inPort) faults.push(`PORT ${inPort.fault}`)
  if (faults.length > 0) throw new ConfigError(faults.join('\n'))
  const development = values.DUET_ENV !== 'production'
  const url = values.DUET_DATABASE_URL
  return {
    development,
    host: values.DUET_HOST ?? (development ? '127.0.0.1' : '0.0.0.0'),
    port: values.DUET_PORT ?? ('value' in inPort ? inPort.value : 3000),
    store: url.startsWith('sqlite:')
      ? { kind: 'sqlite', file: resolve(url.slice('sqlite:'.length)) }
      : { kind: 'postgres', url },
    values,
    providers,
    content,
  }
}

/** The version of this program. */
export const version: string = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
).version

/** What the `.env` of a folder sets, nothing if there is none; throws a sentence with the remedy for one that cannot be read. */
export const settingsBeside = (folder: string): Readonly<Record<string, string | undefined>> => {
  const file = join(folder, '.env')
  const unusable = (what: string) =>
    new Error(`${file} ${what}: make it a file of settings, or take it away`)
  if (!lstatSync(file, { throwIfNoEntry: false })) return {}
  if (statSync(file, { throwIfNoEntry: false })?.isDirectory()) throw unusable('is a folder')
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (cause) {
    throw unusable(`cannot be read (${(cause as NodeJS.ErrnoException).code})`)
  }
  if (/[\0\ufffd]/.test(text)) throw unusable('is not UTF-8')
  // The mark with which some editors begin a text is no part of a name.
  const values = parseEnv(text.replace(/^\ufeff/, ''))
  // Node passes over a line without =, and the service would run without the setting. A value in quotes may have such lines.
  const bare = text.replace(/=[ \t]*(["'`])[\s\S]*?\1/g, '=')
  for (const [, name = ''] of bare.matchAll(/^\s*(?:export\s+)?(DUET_\w+)/gim))
    if (!Object.hasOwn(values, name))
      throw new Error(`${file} names ${name} and sets nothing: write ${name}=VALUE, or take it out`)
  return values
}
