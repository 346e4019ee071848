/** How large an operation may be before it runs: counted with fragments where they are spread. */
import type {
  DocumentNode,
  FragmentDefinitionNode,
  OperationDefinitionNode,
  SelectionSetNode,
} from 'graphql'
import { visit } from 'graphql'
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

type Size = { readonly depth: number; readonly fields: number; readonly aliases: number }

const none: Size = { depth: 0, fields: 0, aliases: 0 }

const both = (a: Size, b: Size): Size => ({
  depth: Math.max(a.depth, b.depth),
  fields: a.fields + b.fields,
  aliases: a.aliases + b.aliases,
})

/** Sizes of selection sets; each fragment is measured once, so that a bomb of them costs nothing. */
const measurer = (fragments: ReadonlyMap<string, FragmentDefinitionNode>) => {
  const measured = new Map<string, Size>()
  const ofFragment = (name: string): Size => {
    const known = measured.get(name)
    if (known) return known
    const fragment = fragments.get(name)
    const size = fragment ? ofSet(fragment.selectionSet) : none
    measured.set(name, size)
    return size
  }
  const ofSet = (set: SelectionSetNode): Size => {
    let size = none
    for (const selection of set.selections) {
      if (selection.kind === 'FragmentSpread') size = both(size, ofFragment(selection.name.value))
      else if (selection.kind === 'InlineFragment') size = both(size, ofSet(selection.selectionSet))
      else {
        const below = selection.selectionSet ? ofSet(selection.selectionSet) : none
        // Introspection has a depth of its own, which graphql-js's rules keep.
        const isIntrospection = selection.name.value.startsWith('__')
        size = both(size, {
          depth: isIntrospection ? 1 : below.depth + 1,
          fields: below.fields + 1,
          aliases: below.aliases + (selection.alias ? 1 : 0),
        })
      }
    }
    return size
  }
  const rootFields = (set: SelectionSetNode): number =>
    set.selections.reduce((sum, selection) => {
      if (selection.kind === 'Field') return sum + 1
      if (selection.kind === 'InlineFragment') return sum + rootFields(selection.selectionSet)
      const fragment = fragments.get(selection.name.value)
      return sum + (fragment ? spreadRoots(selection.name.value, fragment) : 0)
    }, 0)
  const rootsOf = new Map<string, number>()
  const spreadRoots = (name: string, fragment: FragmentDefinitionNode): number => {
    const known = rootsOf.get(name)
    if (known !== undefined) return known
    const count = rootFields(fragment.selectionSet)
    rootsOf.set(name, count)
    return count
  }
  return { ofSet, rootFields }
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
  const operations = document.definitions.filter(
    (d): d is OperationDefinitionNode => d.kind === 'OperationDefinition',
  )
  const fragments = new Map(
    document.definitions
      .filter((d): d is FragmentDefinitionNode => d.kind === 'FragmentDefinition')
      .map(fragment => [fragment.name.value, fragment]),
  )
  const { ofSet, rootFields } = measurer(fragments)
  const directives = directivesIn(document)
  if (directives > limits.directives) throw tooMuch(directives, limits.directives, 'directives')
  for (const { selectionSet } of operations) {
    const roots = rootFields(selectionSet)
    if (roots > limits.rootFields) throw tooMuch(roots, limits.rootFields, 'root fields')
    const { depth, aliases, fields } = ofSet(selectionSet)
    if (depth > limits.depth)
      throw new ApiError(
        'DEPTH_LIMIT',
        `The operation is ${depth} levels deep, at most ${limits.depth} are allowed`,
      )
    if (aliases > limits.aliases) throw tooMuch(aliases, limits.aliases, 'aliases')
    // No document writes out more fields than it may have tokens: only fragments within fragments spread to more.
    if (fields > limits.tokens) throw tooMuch(fields, limits.tokens, 'fields')
  }
}
