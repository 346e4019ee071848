/** A store with so many rows that reads of them take long. */
import assert from 'node:assert/strict'
import { duet, type Settings } from '#test/duet.ts'

/** Fills a store with made-up rows, among them so many users. */
export const seedMany = async (settings: Settings, users: number): Promise<void> => {
  const sizes = { users, posts: 5000, comments: 20_000, products: 50_000 }
  const numbers = Object.entries(sizes).flatMap(([name, number]) => [`--${name}`, String(number)])
  assert.equal((await duet(['seed', ...numbers], settings)).code, 0)
}
