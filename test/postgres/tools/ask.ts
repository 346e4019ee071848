/** Short questions to a server, for a test's own look at it. */
import { Client } from 'pg'
import { longest } from '../../support/wait.ts'

/** A session, which the test ends; an error between its questions is passed over. */
export const connected = async (url: string): Promise<Client> => {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: longest })
  client.on('error', () => {})
  await client.connect()
  return client
}

/** The first value that a statement gives, in a session of its own. */
export const ask = async (url: string, sql: string): Promise<unknown> => {
  const client = await connected(url)
  try {
    const { rows } = await client.query({ text: sql, rowMode: 'array' })
    return rows[0]?.[0]
  } finally {
    await client.end()
  }
}
