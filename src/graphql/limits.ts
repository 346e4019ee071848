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

type Size = { depth: number; fields: number; aliases: number; rootFields: number }

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
  const sizeOf = (set: SelectionSetNode | undefined): Size => {
    const size = { depth: 0, fields: 0, aliases: 0, rootFields: 0 }
    for (const selection of set?.selections ?? []) {
      let part: Size
      if (selection.kind === Kind.FRAGMENT_SPREAD)
        part = measured.getOrInsertComputed(selection.name.value, name =>
          sizeOf(fragments.get(name)?.selectionSet),
        )
      else part = sizeOf(selection.selectionSet)
      if (selection.kind === Kind.FIELD)
        part = {
          // Introspection has a depth of its own, which graphql-js's rules keep.
          depth: selection.name.value.startsWith('__') ? 1 : part.depth + 1,
          fields: part.fields + 1,
          aliases: part.aliases + (selection.alias ? 1 : 0),
          rootFields: 1,
        }
      size.depth = Math.max(size.depth, part.depth)
      size.fields += part.fields
      size.aliases += part.aliases
      size.rootFields += part.rootFields
    }
    return size
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
