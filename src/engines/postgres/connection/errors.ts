/** Errors of PostgreSQL and of the network, by SQLSTATE (PostgreSQL manual, appendix A), as errors of the service. */
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

/** The server ends the session (57P) or gives none (53300, 08), or the socket or pg's client says so. */
const isConnectionLost = ({ code = '', severity, message }: DatabaseError): boolean =>
  severity === undefined
    ? /^E[A-Z]/.test(code) || /terminated|timeout|connection|closed/i.test(message)
    : severity === 'FATAL' || /^(57P|08|53300)/.test(code)

/** Whether a server refuses this user or this database, or the client has no password for it, which no wait changes. */
export const isLasting = (error: unknown): boolean => /^(28|3D|42501)/.test(codeOf(error))

/** Whether a prepared statement is missing, or no longer fits its table. */
export const isStale = (error: Error): boolean =>
  /^(26000|0A000)$/.test((error as DatabaseError).code ?? '')

/** `table.column` of a constraint: indexes are named after their table and columns. */
const targetOf = ({ table = '', constraint = '' }: DatabaseError): string => {
  const column = constraint.startsWith(`${table}_by_`)
    ? constraint.slice(`${table}_by_`.length)
    : constraint
  return `${table}.${constraint === `${table}_pkey` ? 'id' : column}`
}

type Reply = readonly [
  code: 'TIMEOUT' | 'OVERLOADED' | 'UNAVAILABLE',
  message: string,
  retryAfter: number,
]

const noSpace: Reply = ['UNAVAILABLE', 'The database has no space left: nothing was written', 10]

/** What callers get for temporary errors of the database. */
const temporary: Readonly<Record<string, Reply>> = {
  '57014': ['TIMEOUT', 'The database took too long; ask for less, or try again', 5],
  '55P03': ['OVERLOADED', 'Another request is changing the same data; try again', 1],
  '25006': ['UNAVAILABLE', 'The database is read-only now', 2],
  '53100': noSpace,
  '53200': noSpace,
}

/** The error as the model and the APIs know it; an unknown one is a bug and comes back unchanged. */
export const translated = (error: unknown): unknown => {
  if (!(error instanceof Error) || error instanceof ApiError || error instanceof UnreachableError)
    return error
  const fault = error as DatabaseError
  const kind = kinds[fault.code ?? '']
  if (kind) return new ConstraintError(kind, targetOf(fault), { cause: error })
  const [code, message, retryAfter] = temporary[fault.code ?? ''] ?? []
  if (code) return new ApiError(code, message, { cause: error, retryAfter })
  return isConnectionLost(fault) || isStale(fault)
    ? new LostError(`the database cannot be reached: ${error.message}`, { cause: error })
    : error
}

/** The SQLSTATE of an error or of its cause; the driver has none for a server that asks for a password where none was given. */
export const codeOf = (error: unknown): string => {
  if (error instanceof Error && error.message.startsWith('SASL:')) return '28P01'
  const { code } = (error instanceof Error ? error : {}) as DatabaseError
  if (code !== undefined && !(error instanceof ApiError)) return code
  return error instanceof Error && error.cause !== undefined ? codeOf(error.cause) : ''
}

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
