/** How large an operation may be before it runs: counted with its fragments wherever they are spread. */
import {
  type DocumentNode,
  type FragmentDefinitionNode,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  visit,
} from 'graphql'
import { ApiError } from '#errors.ts'

export type DocumentLimits = {
  readonly depth: number
  /** UTF-16 units of the source; lexical tokens; comments. */
  readonly source: number
  readonly tokens: number
  readonly comments: number
  readonly aliases: number
  readonly directives: number
  readonly rootFields: number
}

type Size = {
  readonly depth: number
  readonly fields: number
  readonly aliases: number
  readonly rootFields: number
}

const none: Size = { depth: 0, fields: 0, aliases: 0, rootFields: 0 }

export type Fragments = ReadonlyMap<string, FragmentDefinitionNode>

/** The fragments of a document by their names. */
export const fragmentsOf = ({ definitions }: DocumentNode): Fragments => {
  const fragments = definitions.filter(({ kind }) => kind === Kind.FRAGMENT_DEFINITION)
  return new Map((fragments as FragmentDefinitionNode[]).map(node => [node.name.value, node]))
}

/** The operations of a document in order. */
export const operationsOf = ({ definitions }: DocumentNode): readonly OperationDefinitionNode[] =>
  definitions.filter(node => node.kind === Kind.OPERATION_DEFINITION)

/** Measures selection sets; each fragment is measured once, so that a bomb of them costs nothing. */
const measuring = (fragments: Fragments) => {
  const measured = new Map<string, Size>()
  const sizeOf = ({ selections }: SelectionSetNode): Size => {
    const sizes = selections.map((selection): Size => {
      if (selection.kind === Kind.INLINE_FRAGMENT) return sizeOf(selection.selectionSet)
      if (selection.kind === Kind.FRAGMENT_SPREAD)
        return measured.getOrInsertComputed(selection.name.value, name => {
          const fragment = fragments.get(name)
          return fragment ? sizeOf(fragment.selectionSet) : none
        })
      const below = selection.selectionSet ? sizeOf(selection.selectionSet) : none
      // Introspection has a depth of its own, which graphql-js's rules keep.
      const isIntrospection = selection.name.value.startsWith('__')
      return {
        depth: isIntrospection ? 1 : below.depth + 1,
        fields: below.fields + 1,
        aliases: below.aliases + (selection.alias ? 1 : 0),
        rootFields: 1,
      }
    })
    return sizes.reduce(
      (a, b) => ({
        depth: Math.max(a.depth, b.depth),
        fields: a.fields + b.fields,
        aliases: a.aliases + b.aliases,
        rootFields: a.rootFields + b.rootFields,
      }),
      none,
    )
  }
  return sizeOf
}

const tooMuch = (count: number, limit: number, things: string) =>
  new ApiError(
    'QUERY_TOO_COMPLEX',
    `The operation has ${count > 1e6 ? 'far too many' : count} ${things}, at most ${limit} are allowed`,
  )

/** Throws `DEPTH_LIMIT` or `QUERY_TOO_COMPLEX` for a valid document with an operation over the limits. */
export const checkDocument = (document: DocumentNode, limits: DocumentLimits): void => {
  const sizeOf = measuring(fragmentsOf(document))
  let directives = 0
  visit(document, { Directive: () => void directives++ })
  if (directives > limits.directives) throw tooMuch(directives, limits.directives, 'directives')
  for (const { selectionSet } of operationsOf(document)) {
    const { rootFields, depth, aliases, fields } = sizeOf(selectionSet)
    if (rootFields > limits.rootFields) throw tooMuch(rootFields, limits.rootFields, 'root fields')
    if (depth > limits.depth)
      throw new ApiError(
        'DEPTH_LIMIT',
        `The operation is ${depth} levels deep, at most ${limits.depth} are allowed`,
      )
    if (aliases > limits.aliases) throw tooMuch(aliases, limits.aliases, 'aliases')
    // Without fragments a document has fewer fields than tokens: only nested fragments can exceed this.
    if (fields > limits.tokens) throw tooMuch(fields, limits.tokens, 'fields')
  }
}
