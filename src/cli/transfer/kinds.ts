/** The kinds of rows that `import` reads and `export` writes, and what files call them. */
import { UsageError } from '#cli/usage.ts'

export type Kind = {
  /** The entity's name in the model. */
  readonly entity: string
  /** Fields that no voice shows and that a round trip needs. */
  readonly also: readonly string[]
  /** Members of other programs' files: the one they stand for here, or null where they are left out. */
  readonly foreign: Readonly<Record<string, string | null>>
}

const kind = (entity: string, more: Partial<Kind> = {}): Kind => ({
  entity,
  also: [],
  foreign: {},
  ...more,
})

/** In the order in which they can be imported: what others refer to comes first. */
export const kinds: Readonly<Record<string, Kind>> = {
  users: kind('user'),
  posts: kind('post'),
  comments: kind('comment'),
  likes: kind('like'),
  products: kind('product'),
  customers: kind('customer', {
    also: ['userId'],
    foreign: { code: null, company: null, country: null },
  }),
  orders: kind('order', { foreign: { orderedAt: 'createdAt', shippedAt: null } }),
}

/** The kind of that plural; throws UsageError where there is none. */
export const kindOf = (plural: string): Kind => {
  const found = Object.hasOwn(kinds, plural) ? kinds[plural] : undefined
  if (!found)
    throw new UsageError(
      `KIND must be one of ${Object.keys(kinds).join(', ')}, not ${plural || 'nothing'}`,
    )
  return found
}

/** What a member of a file is called here. */
export const nameOf = ({ foreign }: Kind, member: string): string =>
  (Object.hasOwn(foreign, member) ? foreign[member] : null) ?? member

export type Format = 'ndjson' | 'csv'

/** The format that a file's ending says; undefined for another ending. */
export const formatOf = (file: string): Format | undefined => {
  if (file.endsWith('.csv')) return 'csv'
  return /\.(nd)?jsonl?$/.test(file) ? 'ndjson' : undefined
}
