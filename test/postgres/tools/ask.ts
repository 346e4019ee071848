/** Short questions to a server, for a test's own look at it. */
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'

/** A session, which the test ends; an error between its questions is passed over. */
export const connected = async (url: string): Promise<Client> => {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 5000 })
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

/** Waits until something is so, and fails if that takes too long. */
export const until = async (isSo: () => boolean | Promise<boolean>) => {
  for (const end = Date.now() + 8000; Date.now() < end; await sleep(20)) if (await isSo()) return
  assert.fail('it does not come true')
}
