/** Errors of the GraphQL API, and how it prints them: message, locations, path and `extensions.code`. */
import type { GraphQLError } from 'graphql'
import { clipped } from '#base/text.ts'
import type { ApiError, ErrorLocation, FieldFault } from '#errors.ts'

/** The faults of a document or of its variables, as graphql-js reports them, under one code. */
export class GraphqlErrors extends Error {
  override readonly name = 'GraphqlErrors'
  readonly code: 'GRAPHQL_PARSE_FAILED' | 'GRAPHQL_VALIDATION_FAILED' | 'BAD_USER_INPUT'
  readonly errors: readonly GraphQLError[]

  constructor(code: GraphqlErrors['code'], errors: readonly GraphQLError[]) {
    super(errors[0]?.message ?? code)
    this.code = code
    this.errors = errors
  }
}

/** One entry of `errors` (GraphQL specification, section 7.1.2). */
export type ErrorEntry = {
  readonly message: string
  readonly locations?: readonly { readonly line: number; readonly column: number }[]
  readonly path?: readonly (string | number)[]
  readonly extensions: Readonly<Record<string, unknown>>
}

/** Messages of graphql-js quote the document or a variable, however long: the most bytes of one message, and of all in an answer. */
const longestMessage = 500
const allMessages = 7000

/** The most places in the document that one fault names. */
const mostLocations = 15

/** The input at fault: of an argument as it is told, of a variable as graphql-js writes it (`Variable "$input" has invalid value at .age: …`). */
const detailOf = ({ message, extensions }: GraphQLError): FieldFault => {
  if (extensions.fault) return extensions.fault as FieldFault
  const [, name, path = '', own] =
    /^Variable "\$(\w+)" has invalid value(?: at ([^:]*))?: (.*)$/s.exec(message) ?? []
  if (name !== undefined && own !== undefined)
    return { field: name + path.replace(/\[(\d+)\]/g, '.$1'), message: own }
  return { field: /"\$?([\w.]+)"/.exec(message)?.[1] ?? 'variables', message }
}

const entriesOfFaults = ({ code, errors }: GraphqlErrors): readonly ErrorEntry[] => {
  const longest = Math.min(longestMessage, Math.floor(allMessages / errors.length))
  return errors.map(fault => {
    const message = clipped(fault.message, longest)
    const locations = fault.locations?.slice(0, mostLocations)
    const told = detailOf(fault)
    const details = [{ field: clipped(told.field, 100), message: clipped(told.message, longest) }]
    return {
      message,
      ...(locations && { locations: locations.map(({ line, column }) => ({ line, column })) }),
      extensions: { code, ...(code === 'BAD_USER_INPUT' && { details }) },
    }
  })
}

/** The entries of an error; `location` is for one that has none of its own. */
export const entriesOf = (
  error: GraphqlErrors | ApiError,
  requestId: string,
  location?: ErrorLocation,
): readonly ErrorEntry[] => {
  if (error instanceof GraphqlErrors) return entriesOfFaults(error)
  const { message, code, details, status } = error
  const { path = [], at } = error.location ?? location ?? {}
  return [
    {
      message,
      ...(at && { locations: [at] }),
      ...(path.length > 0 && { path }),
      extensions: {
        code: code === 'VALIDATION_ERROR' ? 'BAD_USER_INPUT' : code,
        ...(details && { details }),
        ...(status >= 500 && { requestId }),
      },
    },
  ]
}
