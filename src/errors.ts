/** Every error this service can answer with: one class, a table of the machine's own codes, and a way to define more. */
import { checkShape, keys, must } from '#base/shape.ts'
import { clipped } from '#base/text.ts'

/** An error code with its usual status and message. */
export type ErrorKind<Code extends string = string> = {
  readonly code: Code
  /** The HTTP status, unless a throw names another one. */
  readonly status: number
  /** The meaning of the code, the same in all answers with it. */
  readonly title: string
  /** What an answer says with it, unless a throw gives another message; absent if it is the title. */
  readonly detail?: string
  /** A message that callers may meet, for the pages about errors; absent if it is the detail. */
  readonly example?: string
}

export const errorShape = keys<ErrorKind>({
  code: must('text'),
  status: must('number'),
  title: must('text'),
  detail: 'text',
  example: 'text',
})

type Described = Readonly<Record<string, Omit<ErrorKind, 'code'>>>

/**
 * The error kinds of a table, to throw as `new ApiError(errors.SOME_CODE, message)`. Throws a plain error for a code
 * that is not in capitals and for a status that is no error's, and gives none for another code.
 */
export const defineErrors = <const Table extends Described>(
  table: Table,
): { readonly [Code in keyof Table & string]: ErrorKind<Code> } => {
  const kinds = Object.entries(table).map(([code, kind]) => {
    const { status, title, ...more } = kind
    checkShape(errorShape, { code, ...kind }, `The error code ${code}`)
    if (!/^[A-Z][A-Z0-9_]*$/.test(code))
      throw new Error(`The error code ${code} is not in capitals: write it like NOT_FOUND`)
    if (!Number.isInteger(status) || status < 400 || status > 599)
      throw new Error(`The error code ${code} has the status ${status}: give it one of 400 to 599`)
    const { detail, example = detail } = more
    return [code, { code, status, title, ...more, ...(example !== undefined && { example }) }]
  })
  return new Proxy(Object.fromEntries(kinds), {
    get: (all, code) => {
      if (code in all || !/^[A-Z][A-Z0-9_]*$/.test(String(code))) return Reflect.get(all, code)
      throw new Error(`${String(code)} is no error: name one of ${Object.keys(all).join(', ')}`)
    },
  })
}

/** The error kinds of several tables by code; throws a plain error if two define the same code. */
export const mergeErrors = (
  ...tables: readonly Readonly<Record<string, ErrorKind>>[]
): ReadonlyMap<string, ErrorKind> => {
  const merged = new Map<string, ErrorKind>()
  for (const kind of tables.flatMap(table => Object.values(table))) {
    if (merged.has(kind.code))
      throw new Error(`The error code ${kind.code} is defined twice: give one of them another name`)
    merged.set(kind.code, kind)
  }
  return merged
}

/** The machine's own codes, the same for every content. */
export const machineErrors = defineErrors({
  MALFORMED_REQUEST: {
    status: 400,
    title: 'The request cannot be understood',
    example: 'The path has a malformed escape',
  },
  UNAUTHENTICATED: {
    status: 401,
    title: 'A valid token is needed',
    example: 'A token is needed to read things',
  },
  FORBIDDEN: {
    status: 403,
    title: 'The token does not give this right',
    example: 'This token gives no right to change this thing',
  },
  NOT_FOUND: { status: 404, title: 'No such thing', example: 'Thing 9 not found' },
  METHOD_NOT_ALLOWED: {
    status: 405,
    title: 'The path exists, the method does not',
    example: 'DELETE is not possible at /api/things; there are GET, HEAD, OPTIONS',
  },
  UNSUPPORTED_VERSION: {
    status: 400,
    title: 'No such version of the API',
    example: 'Version 99 of the API not found; offered: 1, 2',
  },
  NOT_ACCEPTABLE: {
    status: 406,
    title: 'No representation fits the Accept header',
    example: 'Answers are application/graphql-response+json or application/json',
  },
  REQUEST_TIMEOUT: {
    status: 408,
    title: 'The request did not come whole in time',
    example: 'The request did not come whole in time; send it again, without a pause in it',
  },
  CONFLICT: {
    status: 409,
    title: 'The change conflicts with what is stored',
    example: 'Cannot change things: its conditions do not hold',
  },
  IDEMPOTENCY_IN_FLIGHT: {
    status: 409,
    title: 'The first request with this key still runs',
    example: 'The first request with this Idempotency-Key is still running; try again in a moment',
  },
  VERSION_WITHDRAWN: { status: 410, title: 'The version of the API has ended' },
  PRECONDITION_FAILED: {
    status: 412,
    title: 'If-Match or If-None-Match does not hold',
    example: 'The thing was changed since: read it again, then repeat the change',
  },
  PAYLOAD_TOO_LARGE: {
    status: 413,
    title: 'The body is too large',
    example: 'The body is above 1048576 bytes',
  },
  URI_TOO_LONG: {
    status: 414,
    title: 'The URL is too long',
    example: 'The URL is longer than 4096 characters',
  },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    title: 'The body is of a type that is not read here',
    example: 'The body must be application/json in UTF-8; send Content-Type: application/json',
  },
  RANGE_NOT_SATISFIABLE: {
    status: 416,
    title: 'The file has no byte in this range',
    example: 'The file has 2048 bytes; ask for some of them',
  },
  HEADERS_TOO_MANY: {
    status: 431,
    title: 'The request has too many headers',
    example: 'The request has more than 100 headers',
  },
  VALIDATION_ERROR: {
    status: 422,
    title: 'Some values are not valid',
    example: 'limit must be a whole number',
  },
  IDEMPOTENCY_KEY_REUSED: {
    status: 422,
    title: 'The key was used for another request',
    example: 'This Idempotency-Key was used for another request; take a new key for a new request',
  },
  RATE_LIMITED: {
    status: 429,
    title: 'Too many requests of one caller, or too much work for them',
    example: 'More than 6000 requests in a minute; try again in 12 s',
  },
  CLIENT_CLOSED_REQUEST: { status: 499, title: 'The client hung up before it was answered' },
  INTERNAL: {
    status: 500,
    title: 'A fault of the server',
    example: 'The server failed to answer; its log has the reason under this request id',
  },
  NOT_IMPLEMENTED: {
    status: 501,
    title: 'The request needs what is not implemented here',
    example: 'A body in another Transfer-Encoding than chunked is not read here; send it plain',
  },
  HTTP_VERSION_NOT_SUPPORTED: {
    status: 505,
    title: 'The version of HTTP is not spoken here',
    example: 'Only HTTP/1.1 and HTTP/1.0 are spoken here',
  },
  STORAGE_FULL: {
    status: 507,
    title: 'There is no room for this file',
    example: 'There is no room for this file; try a smaller one, or tell the operator',
  },
  OVERLOADED: {
    status: 503,
    title: 'More work is waiting than can be done soon',
    example: 'All connections to the database are busy; try again',
  },
  UNAVAILABLE: {
    status: 503,
    title: 'A dependency is unavailable',
    example: 'This service sends no mail: its operator has set none up',
  },
  // After one of the first two, clients that know Apollo's protocol send the text; after the second they send no ids any more.
  PERSISTED_QUERY_NOT_FOUND: { status: 400, title: 'No document is stored under this id' },
  PERSISTED_QUERY_NOT_SUPPORTED: { status: 400, title: 'No documents are stored' },
  PERSISTED_QUERY_ONLY: {
    status: 400,
    title: 'Only stored documents are served',
    example:
      'Only stored documents are served here: have the operator put this one into the folder that DUET_DOCUMENTS names',
  },
  // Codes of GraphQL, the last two also of REST; the status is for `application/graphql-response+json`.
  GRAPHQL_PARSE_FAILED: {
    status: 400,
    title: 'The document does not parse',
    example: 'Syntax Error: Expected Name, found <EOF>.',
  },
  GRAPHQL_VALIDATION_FAILED: {
    status: 400,
    title: 'The document does not fit the schema',
    example: 'Cannot query field "nothing" on type "Query".',
  },
  BAD_USER_INPUT: {
    status: 400,
    title: 'Some values are not valid',
    example: 'name must be 1 to 200 characters; email must be an email address',
  },
  DEPTH_LIMIT: {
    status: 400,
    title: 'The operation nests too deep',
    example: 'The operation is 18 levels deep, at most 8 are allowed',
  },
  QUERY_TOO_COMPLEX: {
    status: 400,
    title: 'The operation asks too much',
    example: 'The document has 20481 characters, at most 16384 are allowed',
  },
  RESPONSE_TOO_LARGE: {
    status: 400,
    title: 'The answer would be too large',
    example: 'The answer would be too large; use `limit` on the lists in it',
  },
  TIMEOUT: {
    status: 503,
    title: 'Reading took too long',
    example: 'Reading took too long; ask for less',
  },
})

/** The codes of a content whose people sign in. */
export const peopleErrors = defineErrors({
  STEP_UP_NEEDED: {
    status: 403,
    title: 'This needs a session of the last ten minutes',
    example: 'Sign in again: email is changed with a session of the last ten minutes',
  },
  BLOCKED: { status: 403, title: 'This person is blocked and may not sign in' },
  INVALID_ORIGIN: {
    status: 403,
    title: 'Pages of this origin may not sign people in',
    example: 'Pages of https://example.net may not sign people in here',
  },
})

export type ErrorCode = keyof typeof machineErrors

/** A refusal for now: who tries again after so many seconds may be served. */
export const overloaded = (message: string, retryAfter = 1): ApiError =>
  new ApiError('OVERLOADED', message, { retryAfter })

/** How many faults of an input are told; one more says how many follow. */
export const mostFaults = 20

/** What is wrong; one that takes long to find is a function. */
export type FaultMessage = string | (() => string)

/** The message of a fault that others come before: it is found only if it is told. */
export const messageOf = (message: FaultMessage, before: number): string => {
  if (typeof message === 'string') return message
  return before < mostFaults ? message() : 'is not told'
}

/** One field at fault: its path in dots (`items.0.name`) and what is wrong with it. */
export type FieldFault = { readonly field: string; readonly message: string }

/** Where an error belongs in GraphQL: its path in the response, and its line and column in the document. */
export type ErrorLocation = {
  readonly path: readonly (string | number)[]
  readonly at?: { readonly line: number; readonly column: number }
}

type Facts = {
  /** The fields at fault, if there are any. */
  readonly details?: readonly FieldFault[] | undefined
  /** Response headers that belong to this error alone (`Allow`, `RateLimit`). */
  readonly headers?: Readonly<Record<string, string>>
  /** Seconds after which trying again may help. */
  readonly retryAfter?: number | undefined
  /** Whether a token was sent and not accepted. */
  readonly badToken?: boolean
  /** The status, if it is not the code's usual one (`UNSUPPORTED_VERSION`). */
  readonly status?: number
  readonly location?: ErrorLocation | undefined
  readonly cause?: unknown
}

/** The longest message, in bytes: with the details and the rest, an answer to bad input stays below 16 KiB. */
const longestMessage = 6000

/** Why something that the service depends on failed: the cause of an ApiError, which the log tells an operator. */
export class Failure extends Error {
  override readonly name = 'Failure'
}

/** An error that the caller may see. Everything else that is thrown is a bug: answered 500, with its message in the log only. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly code: string
  readonly status: number
  /** The meaning of the code, the same for all errors with it. */
  readonly title: string
  readonly details: readonly FieldFault[] | undefined
  readonly headers: Readonly<Record<string, string>>
  readonly retryAfter: number | undefined
  readonly badToken: boolean
  readonly location: ErrorLocation | undefined

  constructor(of: ErrorCode | ErrorKind, message?: string, facts: Facts = {}) {
    const {
      code,
      status,
      title,
      detail = title,
    }: ErrorKind = typeof of === 'string' ? machineErrors[of] : of
    super(
      clipped(message ?? detail, longestMessage),
      facts.cause === undefined ? undefined : { cause: facts.cause },
    )
    this.code = code
    this.status = facts.status ?? status
    this.title = title
    this.details = facts.details
    this.headers = facts.headers ?? {}
    this.retryAfter = facts.retryAfter
    this.badToken = facts.badToken ?? false
    this.location = facts.location
  }

  /** The same error about a part of the input, by its path. */
  aboutPart(path: string): ApiError {
    const { code, status, title, message, details } = this
    const told = details?.map(({ field, message }) => ({ field: `${path}.${field}`, message }))
    const own = { ...this, details: told ?? [{ field: path, message }] }
    return new ApiError({ code, status, title }, message, own)
  }

  /** The same error with its location in a GraphQL operation. */
  locatedAt(location: ErrorLocation): ApiError {
    const { code, status, title, message } = this
    return new ApiError({ code, status, title }, message, { ...this, location })
  }
}
