/** A request's document, parsed, validated and cached; bad documents never displace good ones. */
import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  NoSchemaIntrospectionCustomRule,
  type OperationDefinitionNode,
  parse,
  specifiedRules,
  validate,
  visit,
} from 'graphql'
import { lru } from '#base/lru.ts'
import { ApiError } from '#errors.ts'
import {
  checkDocument,
  type DocumentLimits,
  type Fragments,
  fragmentsOf,
  operationsOf,
} from '#graphql/limits.ts'
import { type Account, partOf } from '#http/memory.ts'

export type Operation = {
  readonly node: OperationDefinitionNode
  readonly fragments: Fragments
  /** The variables of `@skip` and `@include`: with the operation they decide which fields are selected. */
  readonly conditions: readonly string[]
  /** The value derived from the operation under this key, made where it is not cached. */
  readonly derived: <Value>(key: string, make: () => Value) => Value
}

export type Document = { readonly operations: readonly Operation[] }

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

const conditionsOf = (document: DocumentNode): readonly string[] => {
  const names = new Set<string>()
  visit(document, {
    Directive: node => {
      const value = node.arguments?.find(({ name }) => name.value === 'if')?.value
      if (value?.kind === 'Variable') names.add(value.name.value)
    },
  })
  return [...names].sort()
}

// The parser's own message for its limits; no text of the document can come before it.
const tooComplex = /^Syntax Error: Document contains more than \d+ (tokens|comments)\./

const parsed = (source: string, limits: DocumentLimits): DocumentNode => {
  if (source.length > limits.source)
    throw new ApiError(
      'QUERY_TOO_COMPLEX',
      `The document has ${source.length} characters, at most ${limits.source} are allowed`,
    )
  try {
    return parse(source, {
      maxLexicalTokens: limits.tokens,
      maxComments: limits.comments,
      // GraphQL specification, section 2.4: a selection set has at least one selection.
      allowEmptySelectionSets: false,
    })
  } catch (error) {
    if (error instanceof GraphQLError) {
      if (!tooComplex.test(error.message)) throw new GraphqlErrors('GRAPHQL_PARSE_FAILED', [error])
      throw new ApiError('QUERY_TOO_COMPLEX', error.message.replace(/^Syntax Error: /, ''))
    }
    // A document can nest too deep for the parser's own recursion.
    if (error instanceof RangeError)
      throw new ApiError('QUERY_TOO_COMPLEX', 'The document nests too deep to be parsed')
    throw error
  }
}

const validated = (node: DocumentNode, schema: GraphQLSchema, introspection: boolean): void => {
  const rules = introspection
    ? specifiedRules
    : [...specifiedRules, NoSchemaIntrospectionCustomRule]
  let errors: readonly GraphQLError[]
  try {
    errors = validate(schema, node, rules, { maxErrors: 10, hideSuggestions: !introspection })
  } catch (error) {
    if (error instanceof RangeError)
      throw new ApiError('QUERY_TOO_COMPLEX', 'The document nests too deep to be validated')
    throw error
  }
  // Whether fields may be merged is compared pair by pair; graphql-js gives up above half a million.
  if (errors.at(-1)?.message === 'Validation aborted.')
    throw new ApiError('QUERY_TOO_COMPLEX', 'The document selects too many fields under one name')
  if (errors.length > 0) throw new GraphqlErrors('GRAPHQL_VALIDATION_FAILED', errors)
}

const mostGood = 1000
const mostBad = 100

/** What each kind of value may take of the account. */
const shares = { documents: 2 / 7, derived: 4 / 7, faults: 1 / 7 } as const

/** The bytes that a document takes up for each of its tokens. */
const bytesOfToken = 300

/**
 * The bytes that a value takes up, as measured: by itself and for each token of its document. Statements and their texts are with
 * what is derived. A fault has its text, its stack, the place where it was found, and the tree that it was found in, whose tokens
 * are not known where the document does not parse.
 */
const weightOf = {
  document: (source: string, tokens: number) => 1024 + 2 * source.length + bytesOfToken * tokens,
  derived: (tokens: number) => 4096 + 200 * tokens,
  faults: (source: string, tokens: number, faults: number) =>
    2 * source.length + bytesOfToken * Math.min(source.length, tokens) + 3072 * faults,
} as const

/** How many errors one stands for. Until its stack is read, V8 keeps for each all that validation had in hand: ten times as much. */
const readStacks = (error: Error): number => {
  const all = error instanceof GraphqlErrors ? [error, ...error.errors] : [error]
  return all.filter(({ stack }) => stack !== undefined).length
}

/** Reads a document that is not cached; may throw instead. */
export type ReadNew = (read: () => Document) => Document

/** A cache of documents for a schema, in the memory of an account: gives the document, or throws its faults. */
export const documentCache = (
  schema: GraphQLSchema,
  limits: DocumentLimits,
  introspection: boolean,
  account: Account,
) => {
  const good = lru<Document>(mostGood, partOf(account, shares.documents))
  const bad = lru<Error>(mostBad, partOf(account, shares.faults))
  const derivations = lru<unknown>(10 * mostGood, partOf(account, shares.derived))
  let operationCount = 0
  /** The operation's view of the derived values, which all operations share. */
  const derivedFor = (weight: number): Operation['derived'] => {
    const number = ++operationCount
    return <Value>(key: string, make: () => Value): Value => {
      const full = `${number} ${key}`
      return (derivations.get(full) ?? derivations.set(full, make(), weight)) as Value
    }
  }
  const analyse = (source: string): { readonly document: Document; readonly weight: number } => {
    const node = parsed(source, limits)
    validated(node, schema, introspection)
    checkDocument(node, limits)
    const fragments = fragmentsOf(node)
    const conditions = conditionsOf(node)
    const { tokenCount: tokens = 0 } = node
    const operations = operationsOf(node).map((node): Operation => {
      const derived = derivedFor(weightOf.derived(tokens))
      return { node, fragments, conditions, derived }
    })
    return { document: { operations }, weight: weightOf.document(source, tokens) }
  }
  const read = (source: string): Document => {
    try {
      const { document, weight } = analyse(source)
      return good.set(source, document, weight)
    } catch (error) {
      const fault = error as Error
      if (source.length <= limits.source)
        bad.set(source, fault, weightOf.faults(source, limits.tokens, readStacks(fault)))
      throw error
    }
  }
  return (source: string, readNew: ReadNew = run => run()): Document => {
    const known = good.get(source)
    if (known) return known
    const fault = bad.get(source)
    if (fault) throw fault
    return readNew(() => read(source))
  }
}

/** GetOperation (GraphQL specification, section 6.1): the operation of that name, or the only one. */
export const getOperation = (document: Document, name: string | undefined): Operation => {
  const { operations } = document
  const fail = (message: string): never => {
    throw new GraphqlErrors('GRAPHQL_VALIDATION_FAILED', [new GraphQLError(message)])
  }
  if (name !== undefined)
    return (
      operations.find(({ node }) => node.name?.value === name) ??
      fail(`The document has no operation named "${name}".`)
    )
  if (operations.length > 1)
    fail('The document has several operations: say which one by operationName.')
  return operations[0] ?? fail('The document has no operation.')
}
