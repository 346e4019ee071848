/** The content that both stores begin with: the same rows with the same ids, with gaps, and the same keys. */

import { entities } from '#content/duet.config.ts'
import type { OpenStore } from '#content.ts'
import { inserter } from '#serve/insert.ts'
import type { SqlValue } from '#sql/sql.ts'
import type { Draw } from '#test/operations.ts'
import { names } from '#test/support/drawn-values.ts'
import type { WorldOptions } from '../../world.ts'

/** The keys with which both stores sign cursors and tokens in mail. */
export const keys = { cursor: Buffer.alloc(32, 'cursor'), mail: Buffer.alloc(32, 'mail') }

/** Times before and after 1970, of years of few and of many digits. */
const times = [
  '0001-01-01T00:00:00.000Z',
  '1582-10-10T12:00:00.000Z',
  '1969-12-31T23:59:59.999Z',
  '1970-01-01T00:00:00.000Z',
  '1970-01-01T00:00:00.001Z',
  '2024-02-29T23:59:59.999Z',
  '9999-12-31T23:59:59.999Z',
]

/** Ids that leave some out; the n-th is the same in each run. */
export const idAt = (n: number) => n + 1 + Math.floor(n / 7)

/** How many of each there are. */
const size = { user: 50, post: 180, comment: 320, product: 140 }

export const rowsBy = ({ of, upTo, chance }: Draw): NonNullable<WorldOptions['rows']> => {
  const anId = (what: keyof typeof size) => idAt(upTo(size[what] - 1))
  const time = (member: string) => (chance(20) ? { [member]: of(...times) } : {})
  const name = () => of(...names)
  const user = Array.from({ length: size.user }, (_, n) => ({
    id: idAt(n),
    name: name(),
    email: n === 0 ? 'ada@example.org' : `${n % 5 === 0 ? 'U' : 'u'}${idAt(n)}@example.org`,
    ...(chance(60) && { age: of(0, 28, 28, 28, 36, 150) }),
    ...(n === 0 && { role: 'admin' }),
    ...([4, 9].includes(idAt(n)) && { status: 'suspended' }),
    emailVerified: chance(50),
    ...time('createdAt'),
  }))
  const post = Array.from({ length: size.post }, (_, n) => ({
    id: idAt(n),
    authorId: n % 3 === 0 ? 2 : anId('user'),
    title: name(),
    content: `${name()}\n${name()} `,
    ...time('createdAt'),
  }))
  const comment = Array.from({ length: size.comment }, (_, n) => ({
    id: idAt(n),
    postId: n % 4 === 0 ? 1 : anId('post'),
    authorId: anId('user'),
    text: of(' ', '\n', `${name()} `, name()),
    ...time('createdAt'),
  }))
  const pairs = new Set(
    Array.from({ length: 260 }, () => `${anId('user')} ${chance(20) ? 1 : anId('comment')}`),
  )
  const like = [...pairs].map(pair => {
    const [userId, commentId] = pair.split(' ').map(Number)
    return { userId, commentId, ...time('createdAt') }
  })
  const product = Array.from({ length: size.product }, (_, n) => ({
    id: idAt(n),
    name: name(),
    category: of('kitchen', 'Kitchen', 'küche', 'KÜCHE', '台所', '100%', "o'", ''.padEnd(100, 'c')),
    price: of(0, 0.01, 0.1, 9.95, 14.5, 14.5, 14.5, 79.9, 999_999_999.99),
    stock: of(0, 0, 1, 3, 40, 5000, 2_147_483_647),
    ...(chance(50) && { image: `https://images.example.org/${encodeURIComponent(name())}` }),
    ...time('created_at'),
  }))
  return { user, post, comment, like, product }
}

type Row = Readonly<Record<string, SqlValue>>

const put = async (line: OpenStore, what: keyof typeof entities, rows: readonly Row[]) => {
  const insert = inserter(line, entities[what])
  for (const row of rows) await insert(new Map(Object.entries(row)))
  await line.session.settleIds([entities[what].table])
}

/** With so few rows PostgreSQL would walk through its tables; with many it goes by its indexes, and they decide. */
const byIndexes = async ({ session, dialect }: OpenStore) => {
  if (dialect.name !== 'postgres') return
  const text = `do $$ begin
    execute format('alter database %I set enable_seqscan = off', current_database());
  end $$`
  await session.query({ text, values: [] })
}

/** What an import of rows does not bring: orders of all times and currencies, and the keys. */
export const alsoBy =
  ({ of, upTo }: Draw) =>
  async (line: OpenStore): Promise<void> => {
    await byIndexes(line)
    for (const [secret, key] of Object.entries(keys))
      await line.session.query({
        text: `update secrets set value = ${line.dialect.placeholder(1)} where name = ${line.dialect.placeholder(2)}`,
        values: [key, secret],
      })
    const at = () => Date.parse(of(...times.slice(2, 6))) + upTo(400) * 21_600_000
    const customers = [2, 3, 5, 6].map((userId, n) => ({
      id: n + 1,
      name: names[n] ?? '',
      email: of(null, `c${n}@example.org`),
      createdAt: at(),
      userId,
    }))
    const orders = Array.from({ length: 60 }, (_, n) => ({
      id: idAt(n),
      status: of('pending', 'paid', 'paid', 'cancelled', 'refunded'),
      amount: of(0, 1, 999, 12_345, Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER - 1),
      currency: of('USD', 'USD', 'USD', 'EUR'),
      customerId: upTo(4, 1),
      createdAt: at(),
      paidAt: of(null, at()),
    }))
    const items = orders.flatMap(({ id }) =>
      Array.from({ length: upTo(3) }, () => ({
        orderId: id,
        productId: of(1, 2, 3, 5, Number.MAX_SAFE_INTEGER),
        name: of(...names),
        quantity: upTo(1000, 1),
        price: of(0, 1450, 99_999_999_999),
      })),
    )
    await put(line, 'customer', customers)
    await put(line, 'order', orders)
    await put(line, 'orderItem', items)
  }
