/** Errors as the GraphQL API prints them: message, locations, path and `extensions.code`. */
import type { GraphQLError } from 'graphql'
import type { ApiError, ErrorLocation } from '#errors.ts'
import { GraphqlErrors } from '#graphql/document.ts'

/** One entry of `errors` (GraphQL specification, section 7.1.2). */
export type Entry = {
  readonly message: string
  readonly locations?: readonly { readonly line: number; readonly column: number }[]
  readonly path?: readonly (string | number)[]
  readonly extensions: Readonly<Record<string, unknown>>
}

/** The code of a validation error in GraphQL, where the REST API says `VALIDATION_ERROR`. */
const codeOf = (error: ApiError): string =>
  error.code === 'VALIDATION_ERROR' ? 'BAD_USER_INPUT' : error.code

const entryOf = (
  error: ApiError,
  requestId: string,
  location: ErrorLocation | undefined,
): Entry => {
  const { details } = error
  const { path = [], at } = error.location ?? location ?? {}
  return {
    message: error.message,
    ...(at && { locations: [at] }),
    ...(path.length > 0 && { path }),
    extensions: {
      code: codeOf(error),
      ...(details && { details }),
      ...(error.status >= 500 && { requestId }),
    },
  }
}

const fieldOfVariable = (error: GraphQLError): string =>
  /"\$?([\w.[\]]+)"/.exec(error.message)?.[1] ?? 'variables'

/** Messages of graphql-js quote the document, however long; here they are cut to so many characters. */
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

/** The entries for an error; `location` is for one that has none of its own. */
export const entriesOf = (
  error: GraphqlErrors | ApiError,
  requestId: string,
  location?: ErrorLocation,
): readonly Entry[] =>
  error instanceof GraphqlErrors
    ? error.errors.map(fault => schemaEntry(fault, error.code))
    : [entryOf(error, requestId, location)]
