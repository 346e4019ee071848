/** A database as messages name it, and the reasons why it cannot be reached; never with a password. */
import { serversIn } from '#base/hosts.ts'
import { codeOf, UnreachableError } from '#engines/postgres/connection/errors.ts'

/** The address without user and password. */
export const labelOf = (url: string): string => {
  const servers = serversIn(url).map(one => URL.parse(one))
  return `postgres://${servers.map(one => one?.host ?? '').join()}${servers[0]?.pathname ?? ''}`
}

type Fault = Error & { readonly code?: string }

/** Why a server refuses a session, and the remedy, by SQLSTATE (PostgreSQL manual, appendix A). */
const refusals: Readonly<Record<string, readonly [problem: string, remedy: string]>> = {
  '28P01': ['refuses the user', 'correct the user or the password'],
  '28000': ['refuses the user', 'correct the user, or let it in'],
  '3D000': ['cannot be used', 'create it, or correct its name'],
  '42501': ['cannot be used', 'give the user the right to it'],
  '53300': ['has no connection left', 'allow it more, or use fewer'],
}

const unreachable = ['cannot be reached', 'start it, or correct its address'] as const

/** The error for a session that cannot be opened, in one line with the remedy. */
export const refused = (error: unknown, url: string): UnreachableError => {
  const { code = '', message } = error as Fault
  // No address of the host answered; each has an error of its own.
  const reason = error instanceof AggregateError ? code : message
  const [problem, remedy] = refusals[codeOf(error)] ?? unreachable
  return new UnreachableError(`${labelOf(url)} ${problem} (${reason}): ${remedy}`, { cause: error })
}

/** Runs work on a database; an error for a missing right names the database and the remedy. */
export const withRight = async <Result>(
  url: string,
  work: () => Promise<Result>,
): Promise<Result> => {
  try {
    return await work()
  } catch (cause) {
    if (!(cause instanceof Error) || (cause as Fault).code !== '42501') throw cause
    const remedy = 'give the user the right to it, or name another user'
    throw new Error(`${labelOf(url)} cannot be used (${cause.message}): ${remedy}`, { cause })
  }
}
