/** A small GraphQL schema with everything that may change in one. */

/** Everything that may change. */
export const before = `
"""A way to mark."""
directive @mark(text: String, level: Int = 1) repeatable on FIELD | QUERY
type Query {
  thing(id: ID!, size: Int = 3, kind: Kind): Thing
  names: [String!]!
  any: Any
  node: Node
}
type Mutation { make(input: NewThing!): Thing! }
interface Node { id: ID! }
interface Named { name: String }
type Thing implements Node {
  id: ID!
  name: String
  old: Picture @deprecated(reason: "Use name. Gone from 2026-11-22.")
  soon: String @deprecated(reason: "Gone from 2026-11-23.")
  vague: String @deprecated(reason: "Use name.")
}
type Picture { url: String!, by: Painter }
type Painter { fame: Float }
type Part { count: Int! }
union Any = Thing | Part
enum Kind { NEW USED }
input NewThing { name: String!, size: Int = 2, kind: Kind }
scalar Day @specifiedBy(url: "https://example.org/day")
`
