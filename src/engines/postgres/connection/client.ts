/** The internals of pg's clients that this service needs: the socket, and the names of prepared statements. */
import type { Socket } from 'node:net'
import pg from 'pg'
import { databaseIn } from '#base/hosts.ts'
import { endsWithin } from '#engines/postgres/connection/within.ts'

/** How long a connection may take to end in good order, in milliseconds. */
const endTimeout = 1000

type Status = { readonly parameterName: string; readonly parameterValue: string }

type Inside = {
  readonly stream: Pick<Socket, 'cork' | 'uncork' | 'destroy'>
  parsedStatements: object
  submittedNamedStatements: object
  on(event: 'parameterStatus', listen: (status: Status) => void): void
}

const insideOf = (client: pg.ClientBase): Inside =>
  (client as unknown as { readonly connection: Inside }).connection

/** What pg makes of a configuration. */
const parametersOf = (client: pg.ClientBase) =>
  (client as unknown as { readonly connectionParameters: { options?: string; database?: string } })
    .connectionParameters

/**
 * The URL for pg, which checks the certificate of the server for each of these modes, and warns of all but the last; asked to be as
 * libpq, it does what they mean there.
 */
const withMode = (url: string): string =>
  /[?&]uselibpqcompat=true(&|$)/.test(url)
    ? url
    : url.replace(/([?&]sslmode=)(?:prefer|require|verify-ca)(?=&|$)/g, '$1verify-full')

export type Role = 'primary' | 'standby'

/** A client that knows the role of its server: PostgreSQL says it at the beginning of a session, and when it changes. */
export class ServerClient extends pg.Client {
  /** Undefined where the server does not say it, as behind some poolers. */
  role: Role | undefined

  constructor(config: pg.ClientConfig) {
    const url = config.connectionString ?? ''
    super({ ...config, connectionString: withMode(url) })
    // Those in the URL take the place of the others in pg; of two values for one setting the last holds.
    const parameters = parametersOf(this)
    if (config.options && parameters.options !== config.options)
      parameters.options = `${parameters.options} ${config.options}`
    // Of a name in a URL pg leaves the escapes of / ? # and others as they are.
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

/** Ends clients in good order; closes their sockets where that takes too long. */
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
