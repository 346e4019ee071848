/** The types and arguments of connections, as Relay's Cursor Connections specification has them. */
import {
  GraphQLBoolean,
  type GraphQLFieldConfigArgumentMap,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLString,
} from 'graphql'

const flag = new GraphQLNonNull(GraphQLBoolean)

const pageInfo = new GraphQLObjectType({
  name: 'PageInfo',
  description: 'Whether there are rows beside a page, and where it begins and ends.',
  fields: {
    hasNextPage: { type: flag },
    hasPreviousPage: { type: flag },
    startCursor: { type: GraphQLString },
    endCursor: { type: GraphQLString },
  },
})

const connectionType = (node: GraphQLObjectType): GraphQLObjectType => {
  const cursor = { type: new GraphQLNonNull(GraphQLString) }
  const edge = new GraphQLObjectType({
    name: `${node.name}Edge`,
    description: 'A row with its place in the order.',
    fields: { cursor, node: { type: new GraphQLNonNull(node) } },
  })
  const total = 'How many there are on all pages; counted only where it is asked for.'
  return new GraphQLObjectType({
    name: `${node.name}Connection`,
    description: 'A page of rows by their order.',
    fields: {
      edges: { type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(edge))) },
      pageInfo: { type: new GraphQLNonNull(pageInfo) },
      totalCount: { type: new GraphQLNonNull(GraphQLInt), description: total },
    },
  })
}

const connectionPage = {
  first: { type: GraphQLInt, description: 'How many from the start at the most, 0 to 100.' },
  after: { type: GraphQLString, description: 'Only those after the row with this cursor.' },
  last: { type: GraphQLInt, description: 'How many from the end at the most, 0 to 100.' },
  before: { type: GraphQLString, description: 'Only those before the row with this cursor.' },
}

/** Gives the field of a connection to objects of a type, of which there is one type for each, with the other arguments of their lists. */
export const connectionField = () => {
  const types = new Map<string, GraphQLObjectType>()
  return (node: GraphQLObjectType, listArguments: GraphQLFieldConfigArgumentMap) => ({
    type: new GraphQLNonNull(types.getOrInsertComputed(node.name, () => connectionType(node))),
    args: { ...connectionPage, ...listArguments },
  })
}

/** The arguments of a connection that decide its plan by having a value or none. */
export const placing = ['after', 'before', 'last']
