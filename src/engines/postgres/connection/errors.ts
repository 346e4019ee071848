/** Errors of PostgreSQL and of the network before it, by SQLSTATE (PostgreSQL manual, appendix A), as the service knows them. */
import { ApiError } from '#errors.ts'
import { ConstraintError } from '#sql/engine.ts'

/** The server cannot be reached, or went away. */
export class UnreachableError extends Error {
  override readonly name = 'UnreachableError'
}

/** A connection was lost while something was on its way over it. */
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
const isAway = ({ code = '', severity, message }: DatabaseError): boolean =>
  severity === undefined
    ? /^E[A-Z]/.test(code) || /terminated|timeout|connection|closed/i.test(message)
    : severity === 'FATAL' || /^(57P|08|53300)/.test(code)

/** A prepared statement that is not there, or that stands for what a table no longer is. */
export const isStale = (error: Error): boolean =>
  /^(26000|0A000)$/.test((error as DatabaseError).code ?? '')

/** Indexes are named after their table and columns, so the name says which column it was. */
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

const noRoom: Reply = ['UNAVAILABLE', 'The database has no room: nothing was written', 10]

/** What callers are told of errors that are not theirs and may pass. */
const replies: Readonly<Record<string, Reply>> = {
  '57014': ['TIMEOUT', 'The database took too long; ask for less, or try again', 5],
  '55P03': ['OVERLOADED', 'What this needs is being changed; try again', 1],
  '25006': ['UNAVAILABLE', 'The database can only be read now', 2],
  '53100': noRoom,
  '53200': noRoom,
}

/** The error as the model and the APIs know it; one that is not known is a bug and comes back as it is. */
export const translated = (error: unknown): unknown => {
  if (!(error instanceof Error) || error instanceof ApiError || error instanceof UnreachableError)
    return error
  const fault = error as DatabaseError
  const kind = kinds[fault.code ?? '']
  if (kind) return new ConstraintError(kind, targetOf(fault), { cause: error })
  const [code, message, retryAfter] = replies[fault.code ?? ''] ?? []
  if (code) return new ApiError(code, message, { cause: error, retryAfter })
  return isAway(fault) || isStale(fault)
    ? new LostError(`the database is not there: ${error.message}`, { cause: error })
    : error
}

/** The SQLSTATE of an error, or of what caused it. */
export const codeOf = (error: unknown): string => {
  const { code } = (error instanceof Error ? error : {}) as DatabaseError
  if (code !== undefined && !(error instanceof ApiError)) return code
  return error instanceof Error && error.cause !== undefined ? codeOf(error.cause) : ''
}

/**
 * Failures after which the same transaction may be tried again: two wanted what the other had, what a guard saw
 * was gone when the row was written, or the session was lost before anything was kept.
 */
export const isRetryable = (error: unknown): boolean =>
  error instanceof UnreachableError || /^(40001|40P01|23503)$/.test(codeOf(error))

/** Whether a COMMIT that failed with this error has surely kept nothing. */
export const isSurelyUndone = (error: unknown): boolean => /^(23|40)/.test(codeOf(error))

/** Whether a transaction only lost against another one. */
export const isConflict = (error: unknown): boolean => /^(40001|40P01)$/.test(codeOf(error))

/** Whether a lock was not to be had in time. */
export const isLockTimeout = (error: unknown): boolean => codeOf(error) === '55P03'
