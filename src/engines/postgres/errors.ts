/** Errors of PostgreSQL and of the network as errors of the service, by SQLSTATE (PostgreSQL manual, appendix A), and why a server cannot be reached. */
import { placeIn } from '#base/database-url.ts'
import { ApiError } from '#errors.ts'
import { ConstraintError } from '#sql/engine.ts'

/** The server cannot be reached, or ended the connection. */
export class UnreachableError extends Error {
  override readonly name = 'UnreachableError'
}

/** A connection was lost while a query was open on it. */
export class LostError extends UnreachableError {}

type DatabaseError = Error & {
  readonly code?: string
  readonly table?: string
  readonly constraint?: string
  readonly severity?: string
}

const kinds: Readonly<Record<string, ConstraintError['kind']>> = {
  '23505': 'unique',
  '23503': 'reference',
  // Since PostgreSQL 18, for `on delete restrict`.
  '23001': 'reference',
  '23514': 'check',
  '23502': 'check',
  '22003': 'check',
}

const noSpace = ['UNAVAILABLE', 'The database has no space left: nothing was written', 10] as const

/** What callers get for temporary errors of the database. */
const temporary: Readonly<
  Record<
    string,
    readonly [code: 'TIMEOUT' | 'OVERLOADED' | 'UNAVAILABLE', message: string, retryAfter: number]
  >
> = {
  '57014': ['TIMEOUT', 'The database took too long; ask for less, or try again', 5],
  '55P03': ['OVERLOADED', 'Another request is changing the same data; try again', 1],
  '25006': ['UNAVAILABLE', 'The database is read-only now', 2],
  '53100': noSpace,
  '53200': noSpace,
}

/** The SQLSTATE of an error or of its cause; the driver has none for a server that asks for a password if none was given. */
export const codeOf = (error: unknown): string => {
  if (!(error instanceof Error)) return ''
  if (error.message.startsWith('SASL:')) return '28P01'
  const { code } = error as DatabaseError
  if (code !== undefined && !(error instanceof ApiError)) return code
  return error.cause === undefined ? '' : codeOf(error.cause)
}

/** Whether a prepared statement is missing, or no longer fits its table. */
export const isStale = (error: Error): boolean =>
  /^(26000|0A000)$/.test((error as DatabaseError).code ?? '')

/** Whether a pooler, such as PgBouncer, refuses what a session begins with. */
const isOfPooler = (error: unknown): boolean =>
  error instanceof Error &&
  (/^unsupported startup parameter/.test(error.message) || isOfPooler(error.cause))

/** Whether a server refuses this user, this database or these options, or the client has no password for it, which no wait changes. */
export const isLasting = (error: unknown): boolean =>
  /^(28|3D|42501|42601|42704|22023)/.test(codeOf(error)) || isOfPooler(error)

/**
 * Whether the same transaction may be tried again: after a conflict or a deadlock with another one, after a row that
 * a guard had found was deleted before the write, or after the session was lost before the commit.
 */
export const isRetryable = (error: unknown): boolean =>
  error instanceof UnreachableError || /^(40001|40P01|23503)$/.test(codeOf(error))

/** Whether a COMMIT that failed with this error has surely committed nothing. */
export const isSurelyUndone = (error: unknown): boolean => /^(23|40)/.test(codeOf(error))

/** Whether a server refused because it takes no writes: it is in recovery, or was set so, and another one may be the primary. */
export const isReadOnly = (error: unknown): boolean => codeOf(error) === '25006'

/** Whether a transaction only lost against another one. */
export const isConflict = (error: unknown): boolean => /^(40001|40P01)$/.test(codeOf(error))

/** Whether a lock could not be taken in time. */
export const isLockTimeout = (error: unknown): boolean => codeOf(error) === '55P03'

/** The error as the model and the APIs know it; an unknown one is a bug and comes back unchanged. */
export const translated = (error: unknown): unknown => {
  if (!(error instanceof Error) || error instanceof ApiError || error instanceof UnreachableError)
    return error
  const { code = '', table = '', constraint = '', severity, message } = error as DatabaseError
  const kind = kinds[code]
  if (kind) {
    // Indexes are named after their table and columns.
    const start = `${table}_by_`
    const column = constraint.startsWith(start) ? constraint.slice(start.length) : constraint
    const target = `${table}.${constraint === `${table}_pkey` ? 'id' : column}`
    return new ConstraintError(kind, target, { cause: error })
  }
  const reply = temporary[code]
  if (reply) return new ApiError(reply[0], reply[1], { cause: error, retryAfter: reply[2] })
  // The server ends the session (57P) or gives none (53300, 08), or the socket or pg's client says so.
  const isLost =
    severity === undefined
      ? /^E[A-Z]/.test(code) || /terminated|timeout|connection|closed/i.test(message)
      : severity === 'FATAL' || /^(57P|08|53300)/.test(code)
  return isLost || isStale(error)
    ? new LostError(`the database cannot be reached: ${message}`, { cause: error })
    : error
}

type Telling = readonly [problem: string, remedy: string]

const badOptions: Telling = [
  'takes no session with these options',
  'correct the parameter options of its URL, or PGOPTIONS',
]

/** Why a server refuses a session, and the remedy, by SQLSTATE. */
const refusals: Readonly<Record<string, Telling>> = {
  '28P01': ['refuses the user', 'correct the user or the password'],
  '28000': ['refuses the user', 'correct the user, or let it in'],
  '3D000': ['cannot be used', 'create it, or correct its name'],
  '42501': ['cannot be used', 'give the user the right to it'],
  '42601': badOptions,
  '42704': badOptions,
  '22023': badOptions,
  '53300': ['has no connection left', 'allow it more, or use fewer'],
}

const untrusted: Telling = [
  'has a certificate that is not trusted',
  'add sslrootcert=FILE to the URL, with the certificate of its authority',
]

/** Why there is no TLS with a server, and the remedy, by the code of Node. */
const tlsFaults: Readonly<Record<string, Telling>> = {
  ERR_TLS_CERT_ALTNAME_INVALID: [
    'has the certificate of another server',
    'name it in the URL as its certificate does, or correct the certificate',
  ],
  CERT_HAS_EXPIRED: ['has a certificate that has expired', 'renew it there'],
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted,
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  UNABLE_TO_GET_ISSUER_CERT: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
}

const withoutTls: Telling = ['offers no TLS', 'set ssl = on there, or sslmode=disable in the URL']

/** What a session begins with, beyond what the URL says, is left out with this setting. */
const throughPooler = (url: string): Telling => [
  'is a pooler, such as PgBouncer, which takes no settings of a session',
  /[?&]options=/.test(url)
    ? 'set DUET_PG_PREPARE=off, and take options out of the URL: alter role … set does the same'
    : 'set DUET_PG_PREPARE=off',
]

const unreachable: Telling = ['cannot be reached', 'start it, or correct its address']

/** The error for a session that cannot be opened, in one line with the remedy; never with a password. */
export const refused = (error: unknown, url: string): UnreachableError => {
  const { code = '', message } = error as DatabaseError
  const hasNoTls = message === 'The server does not support SSL connections'
  const ofPooler = isOfPooler(error)
  const [problem, remedy] = hasNoTls
    ? withoutTls
    : ofPooler
      ? throughPooler(url)
      : (refusals[codeOf(error)] ?? tlsFaults[code] ?? unreachable)
  // A server that lets this client in only with TLS, or not at all, ends its message so.
  const more = message.endsWith('no encryption')
    ? '; if it asks for TLS, add sslmode=verify-full to the URL'
    : ''
  // No address of the host answered; each has an error of its own.
  const reason = error instanceof AggregateError ? code : message
  return new UnreachableError(`${placeIn(url)} ${problem} (${reason}): ${remedy}${more}`, {
    cause: error,
  })
}

/** Runs work on a database; an error for a missing right names the database and the remedy. */
export const withRight = async <Result>(
  url: string,
  work: () => Promise<Result>,
): Promise<Result> => {
  try {
    return await work()
  } catch (cause) {
    if (!(cause instanceof Error) || (cause as DatabaseError).code !== '42501') throw cause
    const remedy = 'give the user the right to it, or name another user'
    throw new Error(`${placeIn(url)} cannot be used (${cause.message}): ${remedy}`, { cause })
  }
}
