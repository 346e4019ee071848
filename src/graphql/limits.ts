/** How large an operation may be before it runs: counted with fragments where they are spread. */
import {
  type DocumentNode,
  type FragmentDefinitionNode,
  type OperationDefinitionNode,
  type SelectionNode,
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

const both = (a: Size, b: Size): Size => ({
  depth: Math.max(a.depth, b.depth),
  fields: a.fields + b.fields,
  aliases: a.aliases + b.aliases,
  rootFields: a.rootFields + b.rootFields,
})

export type Fragments = ReadonlyMap<string, FragmentDefinitionNode>

/** The fragments of a document by their names. */
export const fragmentsOf = ({ definitions }: DocumentNode): Fragments => {
  const fragments = definitions.filter(({ kind }) => kind === 'FragmentDefinition')
  return new Map((fragments as FragmentDefinitionNode[]).map(node => [node.name.value, node]))
}

/** The operations of a document in order. */
export const operationsOf = ({ definitions }: DocumentNode): readonly OperationDefinitionNode[] =>
  definitions.filter(node => node.kind === 'OperationDefinition')

/** Measures selection sets; each fragment is measured once, so that a bomb of them costs nothing. */
const measurer = (fragments: Fragments) => {
  const measured = new Map<string, Size>()
  const ofFragment = (name: string): Size =>
    measured.getOrInsertComputed(name, () => {
      const fragment = fragments.get(name)
      return fragment ? ofSet(fragment.selectionSet) : none
    })
  const ofSelection = (selection: SelectionNode): Size => {
    if (selection.kind === 'FragmentSpread') return ofFragment(selection.name.value)
    if (selection.kind === 'InlineFragment') return ofSet(selection.selectionSet)
    const below = selection.selectionSet ? ofSet(selection.selectionSet) : none
    // Introspection has a depth of its own, which graphql-js's rules keep.
    const isIntrospection = selection.name.value.startsWith('__')
    return {
      depth: isIntrospection ? 1 : below.depth + 1,
      fields: below.fields + 1,
      aliases: below.aliases + (selection.alias ? 1 : 0),
      rootFields: 1,
    }
  }
  const ofSet = ({ selections }: SelectionSetNode): Size =>
    selections.reduce((size, selection) => both(size, ofSelection(selection)), none)
  return ofSet
}

const directivesIn = (document: DocumentNode): number => {
  let count = 0
  visit(document, { Directive: () => void count++ })
  return count
}

const tooMuch = (count: number, limit: number, what: string) =>
  new ApiError(
    'QUERY_TOO_COMPLEX',
    `The operation has ${count > 1e6 ? 'far too many' : count} ${what}, at most ${limit} are allowed`,
  )

/** Throws `DEPTH_LIMIT` or `QUERY_TOO_COMPLEX` for a valid document with an operation over the limits. */
export const checkDocument = (document: DocumentNode, limits: DocumentLimits): void => {
  const sizeOf = measurer(fragmentsOf(document))
  const directives = directivesIn(document)
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
