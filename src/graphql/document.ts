/** A request's document: parsed, validated, within the limits, and cached; bad documents never displace good ones. */
import {
  type ArgumentNode,
  type ASTNode,
  type ASTVisitFn,
  type EnumValueNode,
  type FloatValueNode,
  GraphQLError,
  type GraphQLSchema,
  getNamedType,
  type IntValueNode,
  NoSchemaIntrospectionCustomRule,
  type OperationDefinitionNode,
  parse,
  specifiedRules,
  type ValidationRule,
  validate,
  visit,
} from 'graphql'
import { lru } from '#base/cache.ts'
import { isReadBack, notReadBack } from '#base/number.ts'
import { ApiError } from '#errors.ts'
import { inputFault, type Variables } from '#graphql/arguments.ts'
import { placing } from '#graphql/connection-type.ts'
import { GraphqlErrors } from '#graphql/errors.ts'
import {
  checkDocument,
  type DocumentLimits,
  type Fragments,
  fragmentsOf,
  operationsOf,
} from '#graphql/limits.ts'
import { type Account, partOf } from '#http/memory.ts'

export type GraphqlOperation = {
  readonly node: OperationDefinitionNode
  readonly fragments: Fragments
  /** The variables of `@skip` and `@include`, and those in orders and of groups: with the operation they decide what is read. */
  readonly conditions: readonly string[]
  /** The variables of searches, which decide it by having words or none. */
  readonly searches: readonly string[]
  /** The variables of the places and directions of connections, which decide it by having a value or none. */
  readonly places: readonly string[]
  /** Whether its document has conditions on the rows of lists. */
  readonly hasConditions: boolean
  /** The value derived from the operation under this key; made unless it is cached, where it may keep the variables that it was made with. */
  readonly derived: <Value>(key: string, variables: Variables | null, make: () => Value) => Value
}

export type Document = { readonly operations: readonly GraphqlOperation[] }

const tooComplex = (message: string) => new ApiError('QUERY_TOO_COMPLEX', message)

// The parser's own message for its limits; no text of the document can come before it.
const overItsLimits = /^Syntax Error: Document contains more than \d+ (tokens|comments)\./

/** The arguments whose variables decide what is read. */
const deciding = ['orderBy', 'groupBy', 'having', 'timeZone']

/** The result of work that goes as deep as the document nests, which may exhaust the stack. */
const orTooDeep = <Result>(verb: string, work: () => Result): Result => {
  try {
    return work()
  } catch (error) {
    if (error instanceof RangeError) throw tooComplex(`The document nests too deep to be ${verb}`)
    throw error
  }
}

const parsed = (source: string, limits: DocumentLimits) => {
  if (source.length > limits.source)
    throw tooComplex(
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
    if (!(error instanceof GraphQLError)) throw error
    if (overItsLimits.test(error.message))
      throw tooComplex(error.message.replace(/^Syntax Error: /, ''))
    throw new GraphqlErrors('GRAPHQL_PARSE_FAILED', [error])
  }
}

/** Types whose own rules see to their numbers: an Int that is too large is refused, and an ID is a text. */
const exactTypes = ['Int', 'ID']

/** The input that a value within an argument is, such as `input.price`. */
const inputOf = (ancestors: readonly (ASTNode | readonly ASTNode[] | undefined)[]): string =>
  ancestors
    .flatMap(one =>
      one && 'kind' in one && /^(Argument|ObjectField)$/.test(one.kind) ? [one] : [],
    )
    .map(one => (one as ArgumentNode).name.value)
    .join('.')

/** No number of a document is another one when it is read (RFC 7493, section 2.2), and no enum value becomes a text of JSON. */
const ExactValuesRule: ValidationRule = context => {
  // TypeInfo knows no type within JSON.
  const typeName = () => getNamedType(context.getInputType())?.name ?? 'JSON'
  const number: ASTVisitFn<IntValueNode | FloatValueNode> = (node, _, parent, __, ancestors) => {
    if (isReadBack(node.value) || exactTypes.includes(typeName())) return
    const fault = { field: inputOf([...ancestors, parent]), message: notReadBack(node.value) }
    context.reportError(inputFault(node, fault, `The number ${fault.message}.`))
  }
  const word: ASTVisitFn<EnumValueNode> = (node, _, parent, __, ancestors) => {
    if (typeName() !== 'JSON') return
    const message = `has the enum value ${node.value}, and JSON has none: write "${node.value}"`
    const fault = { field: inputOf([...ancestors, parent]), message }
    context.reportError(inputFault(node, fault, `The JSON ${message}.`))
  }
  return { IntValue: number, FloatValue: number, EnumValue: word }
}

const mostGood = 1000
const mostBad = 100

/** The share of the account that each kind of value may take. */
const shares = { documents: 2 / 7, derived: 4 / 7, faults: 1 / 7 } as const

const bytesOfToken = 300

/**
 * The bytes that a value takes up, as measured: by itself and for each token of its document. Statements and their texts are with
 * what is derived. A fault has its text, its stack, the place where it was found, and the tree that it was found in, whose tokens
 * are not known if the document does not parse.
 */
const weightOf = {
  document: (source: string, tokens: number) => 1024 + 2 * source.length + bytesOfToken * tokens,
  derived: (tokens: number, key: string, variables: string) =>
    4096 + 200 * tokens + 8 * (key.length + variables.length),
  faults: (source: string, tokens: number, faults: number) =>
    2 * source.length + bytesOfToken * Math.min(source.length, tokens) + 3072 * faults,
} as const

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
  const rules = introspection
    ? [...specifiedRules, ExactValuesRule]
    : [...specifiedRules, ExactValuesRule, NoSchemaIntrospectionCustomRule]
  let operationCount = 0
  const read = (source: string): Document => {
    const node = orTooDeep('parsed', () => parsed(source, limits))
    const options = { maxErrors: 10, hideSuggestions: !introspection }
    const faults = orTooDeep('validated', () => validate(schema, node, rules, options))
    // Whether fields may be merged is compared pair by pair; graphql-js gives up above half a million.
    if (faults.at(-1)?.message === 'Validation aborted.')
      throw tooComplex('The document selects too many fields under one name')
    const isInput = faults.every(({ extensions }) => extensions.fault)
    if (faults.length > 0)
      throw new GraphqlErrors(isInput ? 'BAD_USER_INPUT' : 'GRAPHQL_VALIDATION_FAILED', faults)
    checkDocument(node, limits)
    const fragments = fragmentsOf(node)
    const conditions = new Set<string>()
    const searches = new Set<string>()
    const places = new Set<string>()
    let hasConditions = false
    visit(node, {
      Directive: directive => {
        const value = directive.arguments?.find(({ name }) => name.value === 'if')?.value
        if (value?.kind === 'Variable') conditions.add(value.name.value)
      },
      Argument: ({ name: { value: own }, value }) => {
        if (deciding.includes(own))
          visit(value, { Variable: ({ name }) => void conditions.add(name.value) })
        if (own === 'where') hasConditions = true
        if (value.kind !== 'Variable') return
        if (own === 'search') searches.add(value.name.value)
        if (placing.includes(own)) places.add(value.name.value)
      },
    })
    const { tokenCount: tokens = 0 } = node
    const operations = operationsOf(node).map((node): GraphqlOperation => {
      // All operations share one cache of derived values.
      const number = ++operationCount
      const derived: GraphqlOperation['derived'] = (key, variables, make) => {
        const full = `${number} ${key}`
        const known = derivations.get(full)
        if (known !== undefined) return known as ReturnType<typeof make>
        const kept = JSON.stringify(variables?.coerced ?? null)
        const made = make()
        derivations.set(full, made, weightOf.derived(tokens, full, kept))
        return made
      }
      const sorted = (names: Set<string>) => [...names].sort()
      const by = {
        conditions: sorted(conditions),
        searches: sorted(searches),
        places: sorted(places),
      }
      return { node, fragments, ...by, hasConditions, derived }
    })
    return good.set(source, { operations }, weightOf.document(source, tokens))
  }
  const readOrRemember = (source: string): Document => {
    try {
      return read(source)
    } catch (error) {
      const fault = error as Error
      // Until its stack is read, V8 keeps for each error all that validation had in hand: ten times as much.
      const all = fault instanceof GraphqlErrors ? [fault, ...fault.errors] : [fault]
      const count = all.filter(({ stack }) => stack !== undefined).length
      if (source.length <= limits.source)
        bad.set(source, fault, weightOf.faults(source, limits.tokens, count))
      throw error
    }
  }
  return (source: string, readNew: ReadNew = run => run()): Document => {
    const known = good.get(source)
    if (known) return known
    const fault = bad.get(source)
    if (fault) throw fault
    return readNew(() => readOrRemember(source))
  }
}

/** GetOperation (GraphQL specification, section 6.1): the operation of that name, or the only one. */
export const getOperation = (
  { operations }: Document,
  name: string | undefined,
): GraphqlOperation => {
  const found =
    name === undefined
      ? operations.length === 1 && operations[0]
      : operations.find(({ node }) => node.name?.value === name)
  if (found) return found
  let fault = 'The document has no operation.'
  if (name !== undefined) fault = `The document has no operation named "${name}".`
  else if (operations.length > 1)
    fault = 'The document has several operations: say which one by operationName.'
  throw new GraphqlErrors('GRAPHQL_VALIDATION_FAILED', [new GraphQLError(fault)])
}
