/** How tests ask a service: as whom, with which body, and what is answered. */
import { mint } from '#auth/token.ts'
import type { Content } from '#content.ts'
import type { App } from '#http/request.ts'
import { subjectFor } from '#kit/check/rows.ts'
import type { Model } from '#model/model.ts'
import type { VersionStyle } from '#model/version.ts'
import { checkTraffic } from './openapi/traffic.ts'

/** The key of the tokens in tests. */
export const secret = 'kX9vQ2mT7pLwZ4rB8nYc5hJd1sGf6aEu3oNi0tRq'

/** Who asks, with what. */
export type Asking = {
  as?: number | 'anonymous'
  /** The role of its token, where it is not the usual one. */
  role?: string
  headers?: Record<string, string>
  body?: unknown
  raw?: string | Uint8Array<ArrayBuffer>
}

/** What a test sees of an answer. */
export type Answered = {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The form of errors that its version has; of a path without versions that of the oldest. */
  readonly errors: VersionStyle['errors']
  // biome-ignore lint/suspicious/noExplicitAny: an answer may be anything; the assertion says what it is.
  readonly json: any
}

/** The member of this name of each row. */
// biome-ignore lint/suspicious/noExplicitAny: rows of an answer may be anything; the assertion says what they are.
export const pluck = <Row extends Record<Name, any>, Name extends string>(
  rows: readonly Row[],
  name: Name,
): Row[Name][] => rows.map(row => row[name])

/** What asks a service. */
export type Asks = {
  /** A token for user `id`; Ada's (1) has the role that may do everything. */
  readonly token: (id: number, role?: string) => Promise<string>
  /** Sends a request such as 'GET /api/users/1' as a user by id (or anonymous), with a JSON body or a raw one. */
  readonly ask: (line: string, asking?: Asking) => Promise<Answered>
  /** POSTs a GraphQL operation. */
  readonly gql: (
    query: string,
    asking?: Asking & { variables?: unknown; operationName?: string },
  ) => Promise<Answered>
}

/** The form that errors have in the version which an answer names, or in the oldest. */
export const errorsFor = ({ versions }: Content, headers: Headers): Answered['errors'] => {
  const named = versions.all.find(one => String(one) === headers.get('api-version'))
  return versions.styleOf(named ?? versions.oldest).errors
}

/** What asks this service, in whose documents each answer has to be described. */
export const askingOf = ({
  app,
  content,
  model,
  now,
}: {
  readonly app: App
  readonly content: Content
  readonly model: Model
  readonly now: () => number
}): Asks => {
  const tokens = new Map<string, Promise<string>>()
  const { superuser, default: usual } = content.viewers.roles
  const token = (id: number, role: string = id === 1 ? superuser : usual) => {
    const key = `${id} ${role}`
    const { viewers } = content
    const sub = viewers.by === undefined ? id : subjectFor(id)
    const made = tokens.get(key) ?? mint({ sub, role, ttl: 3600, viewers }, secret, now())
    tokens.set(key, made)
    return made
  }
  const ask = async (line: string, asking: Asking = {}): Promise<Answered> => {
    const [method = 'GET', path = '/'] = line.split(/ (.*)/s)
    const headers: Record<string, string> = { ...asking.headers }
    if (typeof asking.as === 'number')
      headers.Authorization ??= `Bearer ${await token(asking.as, asking.role)}`
    const body = asking.raw ?? (asking.body === undefined ? undefined : JSON.stringify(asking.body))
    if (asking.body !== undefined) headers['Content-Type'] ??= 'application/json'
    const response = await app.request(path, {
      method,
      headers,
      ...(body !== undefined && { body }),
    })
    const text = await response.text()
    await checkTraffic(content, model, line, {
      status: response.status,
      headers: response.headers,
      text,
      isAnonymous: !new Headers(headers).has('authorization'),
    })
    const isJson = /json/.test(response.headers.get('content-type') ?? '')
    return {
      status: response.status,
      headers: response.headers,
      text,
      errors: errorsFor(content, response.headers),
      json: isJson && text !== '' ? JSON.parse(text) : undefined,
    }
  }
  const gql: Asks['gql'] = (query, { variables, operationName, ...asking } = {}) =>
    ask('POST /graphql', {
      ...asking,
      body: {
        query,
        ...(variables !== undefined && { variables }),
        ...(operationName && { operationName }),
      },
    })
  return { token, ask, gql }
}
