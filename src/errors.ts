/** Every error this service can answer with: one class, one table. The voices print it; nothing else decides a status. */

const table = {
  MALFORMED_REQUEST: { status: 400, title: 'The request cannot be understood' },
  UNAUTHENTICATED: { status: 401, title: 'A valid token is needed' },
  FORBIDDEN: { status: 403, title: 'The token does not give this right' },
  NOT_FOUND: { status: 404, title: 'No such thing' },
  METHOD_NOT_ALLOWED: { status: 405, title: 'The path exists, the method does not' },
  UNSUPPORTED_VERSION: { status: 400, title: 'No such version of the API' },
  NOT_ACCEPTABLE: { status: 406, title: 'No representation fits the Accept header' },
  EMAIL_TAKEN: { status: 409, title: 'The email address is in use' },
  CONFLICT: { status: 409, title: 'The change conflicts with what is stored' },
  INVALID_STATE: { status: 409, title: 'The thing is not in a state that allows this' },
  OUT_OF_STOCK: { status: 409, title: 'There is not enough in stock' },
  IDEMPOTENCY_IN_FLIGHT: { status: 409, title: 'The first request with this key still runs' },
  PRECONDITION_FAILED: { status: 412, title: 'The If-Match header does not hold' },
  PAYLOAD_TOO_LARGE: { status: 413, title: 'The body is too large' },
  URI_TOO_LONG: { status: 414, title: 'The URL is too long' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, title: 'The body is of a type that is not read here' },
  VALIDATION_ERROR: { status: 422, title: 'Some values are not valid' },
  IDEMPOTENCY_KEY_REUSED: { status: 422, title: 'The key was used for another request' },
  RATE_LIMITED: { status: 429, title: 'Too many requests of one caller in a minute' },
  INTERNAL: { status: 500, title: 'A fault of the server' },
  OVERLOADED: { status: 503, title: 'More work is waiting than can be done soon' },
  UNAVAILABLE: { status: 503, title: 'A part the service needs is away' },
  // The GraphQL voice alone; the status holds for `application/graphql-response+json`.
  GRAPHQL_PARSE_FAILED: { status: 400, title: 'The document does not parse' },
  GRAPHQL_VALIDATION_FAILED: { status: 400, title: 'The document does not fit the schema' },
  BAD_USER_INPUT: { status: 400, title: 'Some values are not valid' },
  DEPTH_LIMIT: { status: 400, title: 'The operation nests too deep' },
  QUERY_TOO_COMPLEX: { status: 400, title: 'The operation asks too much' },
  RESPONSE_TOO_LARGE: { status: 400, title: 'The answer would be too large' },
  TIMEOUT: { status: 503, title: 'Reading took too long' },
} as const satisfies Record<string, { status: number; title: string }>

export type ErrorCode = keyof typeof table

/** The codes of the table with their statuses and titles, for the documents made from it. */
export const errorTable: Readonly<Record<ErrorCode, { status: number; title: string }>> = table

/** One field at fault: its path in dots (`items.0.productId`) and what is wrong with it. */
export type FieldFault = { readonly field: string; readonly message: string }

/** Where in a GraphQL operation an error stands: the path in the response, and the place in the document. */
export type ErrorPlace = {
  readonly path: readonly (string | number)[]
  readonly at?: { readonly line: number; readonly column: number }
}

type Facts = {
  /** The single fields at fault, when fields are. */
  readonly details?: readonly FieldFault[]
  /** Response headers that belong to the error (`Allow`, `Retry-After`, `WWW-Authenticate`). */
  readonly headers?: Readonly<Record<string, string>>
  /** Where a code has several statuses (`UNSUPPORTED_VERSION`), the one that holds. */
  readonly status?: number
  readonly place?: ErrorPlace | undefined
  readonly cause?: unknown
}

/** What the caller did or met. Everything else that is thrown is a bug, answered 500 with its message kept in the log. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly code: ErrorCode
  readonly status: number
  readonly details: readonly FieldFault[] | undefined
  readonly headers: Readonly<Record<string, string>>
  readonly place: ErrorPlace | undefined

  constructor(code: ErrorCode, message: string = table[code].title, facts: Facts = {}) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause })
    this.code = code
    this.status = facts.status ?? table[code].status
    this.details = facts.details
    this.headers = facts.headers ?? {}
    this.place = facts.place
  }
}
