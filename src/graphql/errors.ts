/** Errors as the GraphQL API prints them: message, locations, path and `extensions.code`. */
import type { GraphQLError } from 'graphql'
import { clipped } from '#base/clipped.ts'
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

/** Messages of graphql-js quote the document or a variable, however long: the bytes for one, and for all of an answer. */
const longestMessage = 500
const allMessages = 7000

/** The most places in the document that one fault names. */
const mostLocations = 15

const schemaEntry = (error: GraphQLError, code: GraphqlErrors['code'], longest: number): Entry => {
  const message = clipped(error.message, longest)
  const details = code === 'BAD_USER_INPUT' && {
    details: [{ field: clipped(fieldOfVariable(error), 100), message }],
  }
  const locations = error.locations?.slice(0, mostLocations)
  return {
    message,
    ...(locations && { locations: locations.map(({ line, column }) => ({ line, column })) }),
    extensions: { code, ...details },
  }
}

const schemaEntries = ({ code, errors }: GraphqlErrors): readonly Entry[] => {
  const longest = Math.min(longestMessage, Math.floor(allMessages / errors.length))
  return errors.map(error => schemaEntry(error, code, longest))
}

/** The entries for an error; `location` is for one that has none of its own. */
export const entriesOf = (
  error: GraphqlErrors | ApiError,
  requestId: string,
  location?: ErrorLocation,
): readonly Entry[] =>
  error instanceof GraphqlErrors ? schemaEntries(error) : [entryOf(error, requestId, location)]
