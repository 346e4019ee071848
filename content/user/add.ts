/** `duet user add`: adds a user, and the first admin of a store too, whom nobody could make through the APIs. */

import type { Content } from 'duet'
import { addRow, readArgs, UsageError } from 'duet/commands'

export const help = `Usage: duet user add --name NAME --email EMAIL [--role user|admin]

Adds a user to the store, checked by the rules of the API, and prints the id and the line
that makes a token for that user. This is how a production store gets its first admin. The
server may run meanwhile; whether sign-up is open does not matter, and no mail is sent.`

export const run = async ([verb, ...args]: readonly string[], content: Content): Promise<void> => {
  if (verb !== 'add')
    throw new UsageError('duet user has one form: duet user add --name NAME --email EMAIL')
  const { values } = readArgs(
    args,
    { name: { type: 'string' }, email: { type: 'string' }, role: { type: 'string' } },
    0,
  )
  const id = await addRow(content, 'user', values)
  const role = values.role === undefined ? '' : ` --role ${values.role}`
  process.stdout.write(`user ${id}\nbin/duet token --user ${id}${role} --ttl 1h\n`)
}
