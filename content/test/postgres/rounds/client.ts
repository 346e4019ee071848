/** Asks a service that runs, over HTTP, as tests ask a world. */
import { mint } from '#auth/token.ts'
import content from '#content/duet.config.ts'
import { errorsFor } from '#test/asking.ts'
import { type Answered, type Asking, secret } from '../../world.ts'

export type Client = {
  /** Asks as a user by id, of whom the first is an admin, or as nobody; 'GET /api/users/1'. */
  readonly ask: (line: string, asking?: Asking) => Promise<Answered>
  /** POSTs a GraphQL operation. */
  readonly gql: (query: string, asking?: Asking) => Promise<Answered>
}

const tokens = new Map<number, Promise<string>>()

/** A token of a user by id. */
export const tokenOf = (id: number): Promise<string> => {
  const role = id === 1 ? 'admin' : 'user'
  const made = tokens.get(id) ?? mint({ sub: id, role, ttl: 7200 }, secret, Date.now())
  tokens.set(id, made)
  return made
}

/** A client of the service at an address. */
export const clientOf = ({ url }: { readonly url: string }): Client => {
  const ask: Client['ask'] = async (line, { as, headers, body, raw } = {}) => {
    const [method = 'GET', path = '/'] = line.split(/ (.*)/s)
    const sent = raw ?? (body === undefined ? undefined : JSON.stringify(body))
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        ...(typeof as === 'number' && { Authorization: `Bearer ${await tokenOf(as)}` }),
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(sent !== undefined && { body: sent }),
    })
    const text = await response.text()
    const isJson = /json/.test(response.headers.get('content-type') ?? '') && text !== ''
    return {
      status: response.status,
      headers: response.headers,
      text,
      errors: errorsFor(content, response.headers),
      json: isJson ? JSON.parse(text) : undefined,
    }
  }
  return { ask, gql: (query, asking) => ask('POST /graphql', { ...asking, body: { query } }) }
}
