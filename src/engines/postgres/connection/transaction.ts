/** Transactions on a connection: begin, run work, roll back. */
import type { Connection } from '#engines/postgres/connection/connection.ts'
import { localSettings, type SessionOptions } from '#engines/postgres/connection/settings.ts'

/** Begins a transaction without waiting for the answer: the next query is pipelined behind it. */
export const begin = (connection: Connection, options: SessionOptions, how: string): void => {
  const text = options.prepare ? `begin ${how}` : `begin ${how}; ${localSettings(options)}`
  // If it fails, so do the queries behind it, and those are awaited.
  connection.run(text).catch(() => {})
}

/** Rolls a transaction back; a connection that cannot do so is closed. */
export const rollBack = async (connection: Connection): Promise<void> => {
  try {
    await connection.run('rollback')
  } catch {
    connection.cut()
  }
}
