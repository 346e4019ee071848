/** Errors as the GraphQL API prints them: message, locations, path and `extensions.code`. */
import { GraphQLError } from 'graphql'
import { ApiError } from '#errors.ts'
import { GraphqlErrors } from '#graphql/document.ts'

/** One entry of `errors` (GraphQL specification, section 7.1.2). */
export type Entry = {
  readonly message: string
  readonly locations?: readonly { readonly line: number; readonly column: number }[]
  readonly path?: readonly (string | number)[]
  readonly extensions: Readonly<Record<string, unknown>>
}

/** Where an error that knows no place of its own happened. */
export type Where = {
  readonly path?: readonly (string | number)[]
  readonly at?: { line: number; column: number } | undefined
}

/** The code of a validation error in GraphQL, where the REST API says `VALIDATION_ERROR`. */
const codeOf = (error: ApiError): string =>
  error.code === 'VALIDATION_ERROR' ? 'BAD_USER_INPUT' : error.code

const entryOf = (error: ApiError, requestId: string, where: Where): Entry => {
  const { place, details } = error
  const at = place?.at ?? where.at
  const path = place?.path ?? where.path
  return {
    message: error.message,
    ...(at && { locations: [at] }),
    ...(path && path.length > 0 && { path }),
    extensions: {
      code: codeOf(error),
      ...(details && { details }),
      ...(error.status >= 500 && { requestId }),
    },
  }
}

const fieldOfVariable = (error: GraphQLError): string =>
  /"\$?([\w.[\]]+)"/.exec(error.message)?.[1] ?? 'variables'

/** graphql-js quotes what it was sent, however long. */
const longestMessage = 500

const shortened = (message: string): string =>
  message.length > longestMessage ? `${message.slice(0, longestMessage)}…` : message

const schemaEntry = (error: GraphQLError, code: GraphqlErrors['code']): Entry => {
  const message = shortened(error.message)
  const details = code === 'BAD_USER_INPUT' && {
    details: [{ field: fieldOfVariable(error), message }],
  }
  return {
    message,
    ...(error.locations && {
      locations: error.locations.map(({ line, column }) => ({ line, column })),
    }),
    extensions: { code, ...details },
  }
}

/** The entries for something thrown; undefined for what is not the caller's. */
export const entriesOf = (
  error: unknown,
  requestId: string,
  where: Where = {},
): readonly Entry[] | undefined => {
  if (error instanceof GraphqlErrors)
    return error.errors.map(fault => schemaEntry(fault, error.code))
  // What graphql-js throws while a request runs: a variable that is null where its argument may not be.
  if (error instanceof GraphQLError) return [schemaEntry(error, 'BAD_USER_INPUT')]
  if (error instanceof ApiError) return [entryOf(error, requestId, where)]
  return undefined
}

/** The status of a request that was not run, for `application/graphql-response+json`. */
export const statusOf = (error: unknown): number => (error instanceof ApiError ? error.status : 400)
