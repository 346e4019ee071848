/** The rows of a query as arrays of the server's values, with as little parsing as possible. */
import pg from 'pg'
import type { Query, Row } from '#sql/engine.ts'
import type { SqlValue } from '#sql/sql.ts'

const bool = 16
const bytea = 17
const numbers = new Set([20, 21, 23])

type Convert = (text: string) => SqlValue

const toNumber: Convert = text => {
  const value = Number(text)
  return Number.isSafeInteger(value) ? value : BigInt(text)
}

// In either form of the server's setting `bytea_output`.
const toBytes: (text: string) => Buffer = pg.types.getTypeParser(bytea, 'text')

/** Whole numbers as numbers, flags as 0 and 1, bytes as bytes; anything else stays text. */
const convertOf = (type: number): Convert | null => {
  if (numbers.has(type)) return toNumber
  if (type === bool) return text => (text === 't' ? 1 : 0)
  if (type === bytea) return text => new Uint8Array(toBytes(text))
  return null
}

type Field = { readonly dataTypeID: number }
type DataRow = { readonly fields: (string | null)[]; readonly length: number }

/** The methods of pg's Query that are overridden here; the package's types leave them out. */
type Handlers = {
  handleRowDescription(message: { readonly fields: readonly Field[] }): void
  handleDataRow(message: DataRow): void
}

const RowQuery = pg.Query as unknown as new (
  config: object,
) => Handlers & { callback: (error: Error | null) => void }

/**
 * A query whose rows are arrays of the server's values, without pg's own parsing, which costs as much as all
 * the rest of a small read. Rows beyond `most` bytes are dropped as they arrive.
 */
export class ArrayQuery extends RowQuery {
  readonly found: Row[] = []
  bytes = 0
  readonly most: number
  #converts: readonly (readonly [number, Convert])[] = []

  constructor(query: Query, name: string | undefined, done: (error: Error | null) => void) {
    super({ text: query.text, values: query.values, name, callback: done, queryMode: 'extended' })
    this.most = query.bytes ?? Number.POSITIVE_INFINITY
  }

  override handleRowDescription({ fields }: { readonly fields: readonly Field[] }): void {
    this.#converts = fields.flatMap(({ dataTypeID }, index) => {
      const convert = convertOf(dataTypeID)
      return convert ? [[index, convert] as const] : []
    })
  }

  override handleDataRow({ fields, length }: DataRow): void {
    this.bytes += length
    if (this.bytes > this.most) {
      this.found.length = 0
      return
    }
    const row = fields as SqlValue[]
    for (const [index, convert] of this.#converts) {
      const value = row[index]
      if (value != null) row[index] = convert(value as string)
    }
    this.found.push(row)
  }
}
