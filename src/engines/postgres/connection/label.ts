/** A database as messages name it, and the reasons why it cannot be reached; never with a password. */
import { placeIn } from '#base/hosts.ts'
import { codeOf, UnreachableError } from '#engines/postgres/connection/errors.ts'

type Fault = Error & { readonly code?: string }

/** Why a server refuses a session, and the remedy, by SQLSTATE (PostgreSQL manual, appendix A). */
const refusals: Readonly<Record<string, readonly [problem: string, remedy: string]>> = {
  '28P01': ['refuses the user', 'correct the user or the password'],
  '28000': ['refuses the user', 'correct the user, or let it in'],
  '3D000': ['cannot be used', 'create it, or correct its name'],
  '42501': ['cannot be used', 'give the user the right to it'],
  '53300': ['has no connection left', 'allow it more, or use fewer'],
}

const untrusted = [
  'has a certificate that is not trusted',
  'add sslrootcert=FILE to the URL, with the certificate of its authority',
] as const

/** Why there is no TLS with a server, and the remedy, by the code of Node. */
const tlsFaults: Readonly<Record<string, readonly [problem: string, remedy: string]>> = {
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

const withoutTls = ['offers no TLS', 'set ssl = on there, or sslmode=disable in the URL'] as const

const unreachable = ['cannot be reached', 'start it, or correct its address'] as const

/** What is the matter, and the remedy. */
const tellingOf = (error: unknown): readonly [problem: string, remedy: string] => {
  const { code = '', message } = error as Fault
  if (message === 'The server does not support SSL connections') return withoutTls
  const [problem, remedy] = refusals[codeOf(error)] ?? tlsFaults[code] ?? unreachable
  // So ends what a server says to one whom it would let in only with TLS, or not at all.
  return message.endsWith('no encryption')
    ? [problem, `${remedy}; where it asks for TLS, add sslmode=verify-full to the URL`]
    : [problem, remedy]
}

/** The error for a session that cannot be opened, in one line with the remedy. */
export const refused = (error: unknown, url: string): UnreachableError => {
  const { code = '', message } = error as Fault
  // No address of the host answered; each has an error of its own.
  const reason = error instanceof AggregateError ? code : message
  const [problem, remedy] = tellingOf(error)
  return new UnreachableError(`${placeIn(url)} ${problem} (${reason}): ${remedy}`, { cause: error })
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
    throw new Error(`${placeIn(url)} cannot be used (${cause.message}): ${remedy}`, { cause })
  }
}
