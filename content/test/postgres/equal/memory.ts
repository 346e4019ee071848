/** What generated requests know of the answers before them: how far ids go, tags, further pages, keys that were used. */
import type { Draw } from '#test/operations.ts'
import type { Viewer } from '#test/support/drawn-values.ts'

/** A request as both stores get it. */
export type Asked = {
  readonly kind: string
  readonly line: string
  readonly as: Viewer
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array<ArrayBuffer>
}

export type Answered = {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

export type Memory = {
  /** The highest id of each, as far as answers told. */
  readonly highest: Record<'users' | 'posts' | 'comments' | 'products' | 'orders', number>
  /** Tags that things had, by path; the last is the newest. */
  readonly tags: Map<string, string[]>
  /** Further pages, each with who asked for the one before. */
  readonly pages: Pick<Asked, 'line' | 'as'>[]
  /** Requests that had a key. */
  readonly keyed: Asked[]
  /** The clock that both services go by. */
  now: number
}

export const newMemory = (now: number): Memory => ({
  highest: { users: 57, posts: 205, comments: 365, products: 159, orders: 68 },
  tags: new Map(),
  pages: [],
  keyed: [],
  now,
})

const isKnown = (memory: Memory, plural: string): plural is keyof Memory['highest'] =>
  Object.hasOwn(memory.highest, plural)

/** Records the ids, tags and pages of an answer. */
export const learn = (memory: Memory, asked: Asked, { status, headers }: Answered): void => {
  const [method, url = ''] = asked.line.split(' ')
  const [path = ''] = url.split('?')
  const [, plural = '', id] = /^\/api\/(\w+)\/(\d+)$/.exec(headers.location ?? '') ?? []
  if (isKnown(memory, plural)) memory.highest[plural] = Math.max(memory.highest[plural], Number(id))
  const { etag } = headers
  if (etag && (status === 200 || status === 201))
    for (const key of new Set([method === 'GET' ? url : path, headers.location ?? path])) {
      const known = memory.tags.get(key) ?? []
      memory.tags.set(key, [...known.slice(-3), etag])
    }
  const next = /<([^>]*)>; rel="next"/.exec(headers.link ?? '')?.[1]
  if (next !== undefined && memory.pages.length < 60)
    memory.pages.push({ line: `GET ${next}`, as: asked.as })
  if (asked.headers?.['Idempotency-Key'] !== undefined) memory.keyed.push(asked)
}

/** A header that names a tag of a thing, and the tags that it was or was never of. */
export const tagsOf = ({ of, chance }: Draw, memory: Memory, path: string): string => {
  const known = memory.tags.get(path) ?? []
  const last = known.at(-1) ?? '"users-1-1-x"'
  if (chance(60)) return last
  return of(
    ...['*', known[0] ?? '"x"', `"x", ${last}`, `${known.join(', ')}`, `W/${last}`, '"never"'],
    ...['no tag', '', `${last.replace(/-\d+-/, '-9223372036854775808-')}`, ',', '""'],
  )
}
