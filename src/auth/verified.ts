/** Caches verified tokens, so that a signature is checked once and each further use is a look-up. */
import type { Viewer } from '#model/policy.ts'
import type { VerifyingKey } from './jwk.ts'
import type { Grant } from './token.ts'

type Entry = Grant & { readonly key: VerifyingKey }

const holds = ({ from, until, key }: Entry, time: number): boolean =>
  time < until && time >= from && time < key.until && time >= key.from

/** An empty cache for at most `limit` tokens; when it is full, the half that was not used recently is dropped. */
export const createVerified = (now: () => number, limit = 10_000) => {
  // Two halves, because deleting the oldest of one full Map costs 8 µs: it passes all earlier holes.
  let recent = new Map<string, Entry>()
  let older = new Map<string, Entry>()

  const keep = (authorization: string, entry: Entry) => {
    if (recent.size >= limit / 2) {
      older = recent
      recent = new Map()
    }
    recent.set(authorization, entry)
  }

  return {
    /** The viewer of an `Authorization` header that was added, while its token and key still hold. */
    viewerOf: (authorization: string): Viewer | undefined => {
      const latest = recent.get(authorization)
      const entry = latest ?? older.get(authorization)
      if (entry === undefined || !holds(entry, now())) return undefined
      if (latest === undefined) keep(authorization, entry)
      return entry.viewer
    },
    add: (authorization: string, grant: Grant, key: VerifyingKey): void =>
      keep(authorization, { ...grant, key }),
    size: () => recent.size + older.size,
  }
}
