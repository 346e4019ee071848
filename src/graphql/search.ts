/** Search in the GraphQL API: the argument of lists, and their order by relevance. */
import { type FieldNode, type GraphQLField, GraphQLString } from 'graphql'
import {
  type ArgumentSlots,
  argumentFault,
  argumentOf,
  givenFor,
  type Variables,
} from '#graphql/arguments.ts'
import type { Entity } from '#model/entity.ts'
import { searchedWords } from '#model/words.ts'
import type { Slot, Sort } from '#read/selection.ts'

/** The argument by which the lists of an entity are searched; none if they are not. */
export const searchArgument = ({ search }: Entity) => {
  const keys = Object.keys(search)
  if (keys.length === 0) return undefined
  const description = `Only those with all these words in ${keys.join(', ')}, whatever their case and accents; the last word may be the beginning of one.`
  return { search: { type: GraphQLString, description, extensions: { isSearch: true } } }
}

/** Whether a value of that argument has any words. */
export const hasWords = (given: unknown): boolean => {
  const words = searchedWords(String(given ?? ''))
  return 'fault' in words || words.value !== ''
}

/** Gives the words that a list is searched for; empty for none. */
export const wordsIn = (field: GraphQLField<unknown, unknown>, node: FieldNode) => {
  const given = argumentOf(field, node, 'search')
  return (variables: Variables): string => {
    const words = searchedWords(String(given(variables) ?? ''))
    if ('value' in words) return words.value
    throw argumentFault(node, 'search', words.fault)
  }
}

/** The slot of the words that a list is searched for, and its order with relevance by them; without words, by nothing. */
export const searchIn = (
  slots: ArgumentSlots,
  field: GraphQLField<unknown, unknown>,
  node: FieldNode,
  variables: Variables,
  order: readonly Sort[] | undefined,
): { readonly search?: Slot; readonly sort?: readonly Sort[] } => {
  if (!field.args.some(({ extensions }) => extensions.isSearch)) return order ? { sort: order } : {}
  const words = wordsIn(field, node)
  const search = words(variables) === '' ? undefined : slots.take(words)
  const isRelevance = ({ field, path = [] }: Sort) => field === 'relevance' && path.length === 0
  if (order?.some(isRelevance) && !givenFor(node, 'search'))
    throw argumentFault(node, 'orderBy', 'names relevance, and there is no argument "search"')
  // Without words all rows fit alike, and the id decides.
  const byId = { field: 'id', descending: false }
  const sort = order?.map(key => {
    if (!isRelevance(key)) return key
    return search === undefined ? byId : { ...key, isRelevance: true }
  })
  return { ...(search !== undefined && { search }), ...(sort && { sort }) }
}
