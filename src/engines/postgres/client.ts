/** What this service needs of the inside of pg's clients: the socket, the role of the server, the names of prepared statements, and rows without pg's parsing. */
import type { Socket } from 'node:net'
import pg from 'pg'
import { databaseIn } from '#base/database-url.ts'
import { endsWithin } from '#base/retry.ts'
import type { Query, Row } from '#sql/engine.ts'
import type { SqlValue } from '#sql/sql.ts'

/** How long a connection may take to end in good order, in milliseconds. */
const endTimeout = 1000

type Inside = {
  readonly stream: Pick<Socket, 'cork' | 'uncork' | 'destroy'>
  parsedStatements: object
  submittedNamedStatements: object
  on(
    event: 'parameterStatus',
    listen: (status: { readonly parameterName: string; readonly parameterValue: string }) => void,
  ): void
}

const insideOf = (client: pg.ClientBase): Inside =>
  (client as unknown as { readonly connection: Inside }).connection

/** What a server is: one that takes writes, or one that follows it. */
export type ServerRole = 'primary' | 'standby'

/** A client that knows the role of its server: PostgreSQL says it at the beginning of a session, and when it changes. */
export class ServerClient extends pg.Client {
  /** Undefined if the server does not say it, as behind some poolers. */
  role: ServerRole | undefined

  constructor(config: pg.ClientConfig) {
    const url = config.connectionString ?? ''
    // pg checks the certificate of the server for each of these modes, and warns of all but the last; asked to be as libpq,
    // it does what they mean there.
    const connectionString = /[?&]uselibpqcompat=true(&|$)/.test(url)
      ? url
      : url.replace(/([?&]sslmode=)(?:prefer|require|verify-ca)(?=&|$)/g, '$1verify-full')
    super({ ...config, connectionString })
    // In pg one source takes the place of the others; of two values for one setting the last holds.
    const { connectionParameters: parameters } = this as unknown as {
      readonly connectionParameters: { options?: string; database?: string }
    }
    const { options } = config
    const given = parameters.options === options ? process.env.PGOPTIONS : parameters.options
    if (options && given) parameters.options = `${given} ${options}`
    // pg does not decode the escapes of / ? # and others in a name of a URL.
    const database = databaseIn(url)
    if (database !== undefined) parameters.database = database
    insideOf(this).on('parameterStatus', ({ parameterName, parameterValue }) => {
      if (parameterName === 'in_hot_standby')
        this.role = parameterValue === 'on' ? 'standby' : 'primary'
    })
  }
}

/** The number of the server's process for a connected client. */
export const processOf = (client: pg.ClientBase): number =>
  (client as unknown as { readonly processID: number }).processID

/** Closes the socket of a client at once. */
export const destroy = (client: pg.ClientBase): void => void insideOf(client).stream.destroy()

/** Ends clients in good order; closes their sockets if that takes too long. */
export const endAll = async (clients: Iterable<pg.ClientBase>, end: () => Promise<void>) => {
  const ended = end().catch(() => {})
  if (!(await endsWithin(endTimeout, ended))) for (const client of clients) destroy(client)
}

/** A function to call before each send, so that all sends of one turn of the event loop leave in one packet. */
export const corking = (client: pg.ClientBase): (() => void) => {
  let isCorked = false
  return () => {
    if (isCorked) return
    isCorked = true
    const { stream } = insideOf(client)
    stream.cork()
    process.nextTick(() => {
      isCorked = false
      stream.uncork()
    })
  }
}

/** The most prepared statements; then all are dropped, so that the memory of neither side grows without a limit. */
const mostNames = 1000

/** The names by which a client prepares statements, by their text. */
export const statementNames = (client: pg.ClientBase): ((text: string) => string) => {
  let names = new Map<string, string>()
  let generation = 0
  return text => {
    const known = names.get(text)
    if (known !== undefined) return known
    if (names.size >= mostNames) {
      names = new Map()
      generation++
      // Sent after the queries that use the old names and before the first that uses a new one.
      client.query('deallocate all', () => {})
      const inside = insideOf(client)
      inside.parsedStatements = {}
      inside.submittedNamedStatements = {}
    }
    const name = `d${generation}_${names.size}`
    names.set(text, name)
    return name
  }
}

type Convert = (text: string) => SqlValue

const toNumber: Convert = text => {
  const value = Number(text)
  return Number.isSafeInteger(value) ? value : BigInt(text)
}

// The server writes bytes in one of two forms, by its setting `bytea_output`.
const toBytes: (text: string) => Buffer = pg.types.getTypeParser(17, 'text')

/** Sums and means, which PostgreSQL writes with the decimals of its type: `5.0000000000000000`. */
const toSum: Convert = text => (/^-?\d+$/.test(text) ? toNumber(text) : Number(text))

/** By PostgreSQL's numbers of types: numbers as such, flags as 0 and 1, bytes as bytes; anything else stays text. */
const converts: Readonly<Record<number, Convert>> = {
  16: text => (text === 't' ? 1 : 0),
  17: text => new Uint8Array(toBytes(text)),
  20: toNumber,
  21: toNumber,
  23: toNumber,
  700: Number,
  701: Number,
  1700: toSum,
}

type RowDescription = { readonly fields: readonly { readonly dataTypeID: number }[] }
type DataRow = { readonly fields: (string | null)[]; readonly length: number }

/** pg's Query with the methods that are overridden here; the package's types leave them out. */
const RowQuery = pg.Query as unknown as new (
  config: object,
) => {
  callback: (error: Error | null) => void
  handleRowDescription(message: RowDescription): void
  handleDataRow(message: DataRow): void
}

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

  override handleRowDescription({ fields }: RowDescription): void {
    this.#converts = fields.flatMap(({ dataTypeID }, index) => {
      const convert = converts[dataTypeID]
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
