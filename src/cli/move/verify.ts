/** Compares both sides of a move, table by table: the number of rows and a checksum of them. */
import { createHash } from 'node:crypto'
import { progress } from '#cli/progress.ts'
import { keyOf, type MovedTable, pageBehind, type Side } from '#engines/shared/moving.ts'
import type { Row, Rows } from '#sql/engine.ts'
import type { SqlValue } from '#sql/sql.ts'

/** The number and the checksum of a table's rows. */
type Sum = { readonly rows: number; readonly checksum: string }
export type Compared = { readonly name: string; readonly source: Sum; readonly target: Sum }

/** Numbers, texts and null as JSON has them; bytes as a list, which no other value is. */
const plain = (value: SqlValue) => {
  if (value instanceof Uint8Array) return [Buffer.from(value).toString('base64')]
  return typeof value === 'bigint' ? [String(value), 'integer'] : value
}

const lineOf = (row: Row): string => `${JSON.stringify(row.map(plain))}\n`

const sumOf = async (pages: AsyncIterable<Rows>, onRows: (count: number) => void): Promise<Sum> => {
  const hash = createHash('sha256')
  let count = 0
  for await (const rows of pages) {
    hash.update(rows.map(lineOf).join(''))
    count += rows.length
    onRows(rows.length)
  }
  return { rows: count, checksum: hash.digest('hex') }
}

const pagesOf = async function* (side: Side, table: MovedTable): AsyncGenerator<Rows> {
  let rows = await pageBehind(side, table, null)
  for (let last = rows.at(-1); last; last = rows.at(-1)) {
    yield rows
    rows = await pageBehind(side, table, keyOf(table, last))
  }
}

/** The counts of a side: PostgreSQL splits a count into parts, and a count of zero equals none. */
const countsOf = async function* ({ query }: Side): AsyncGenerator<Rows> {
  yield await query({
    text: `select entity, field, value, cast(sum(n) as bigint) from counts
      group by entity, field, value having sum(n) <> 0 order by entity, field, value`,
    values: [],
  })
}

export const isSame = ({ source, target }: Compared): boolean =>
  source.rows === target.rows && source.checksum === target.checksum

/** Compares the rows of these tables, and the counts that each side keeps of them. */
export const compare = async (
  source: Side,
  target: Side,
  tables: readonly MovedTable[],
): Promise<readonly Compared[]> => {
  const shown = progress('verifying rows')
  const both = async (name: string, pages: (side: Side) => AsyncIterable<Rows>) => {
    const [ofSource, ofTarget] = await Promise.all([
      sumOf(pages(source), shown.step),
      sumOf(pages(target), () => {}),
    ])
    return { name, source: ofSource, target: ofTarget }
  }
  const compared: Compared[] = []
  for (const table of tables) compared.push(await both(table.name, side => pagesOf(side, table)))
  compared.push(await both('counts', countsOf))
  shown.done()
  return compared
}

const cells = (compared: Compared): readonly string[] => {
  const { name, source, target } = compared
  const sum = (side: Sum) => [side.rows.toLocaleString('en'), side.checksum.slice(0, 12)]
  if (isSame(compared)) return [name, ...sum(source), 'ok']
  return [name, ...sum(source), `differs: ${sum(target).join(' rows, ')} in the target`]
}

/** The comparison for people to read. */
export const tableText = (compared: readonly Compared[]): string => {
  const lines = [['table', 'rows', 'checksum', ''], ...compared.map(cells)]
  const width = (column: number) => Math.max(...lines.map(line => line[column]?.length ?? 0))
  const [first, second] = [width(0), width(1)]
  return lines
    .map(([name = '', rows = '', checksum = '', verdict = '']) =>
      `${name.padEnd(first)}  ${rows.padStart(second)}  ${checksum.padEnd(12)}  ${verdict}`.trimEnd(),
    )
    .map(line => `${line}\n`)
    .join('')
}
