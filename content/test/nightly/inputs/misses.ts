/** Names that are nearly those of the schema, at each place of a document where one stands. */
import { type GraphQLSchema, isEnumType, isInputObjectType, isObjectType } from 'graphql'

/** All names of the schema that are not those of GraphQL itself. */
const namesIn = (schema: GraphQLSchema): readonly string[] => {
  const names = new Set<string>()
  for (const [name, type] of Object.entries(schema.getTypeMap())) {
    if (name.startsWith('__')) continue
    names.add(name)
    if (isEnumType(type)) for (const value of type.getValues()) names.add(value.name)
    if (isInputObjectType(type)) for (const field of Object.keys(type.getFields())) names.add(field)
    if (!isObjectType(type)) continue
    for (const field of Object.values(type.getFields())) {
      names.add(field.name)
      for (const arg of field.args) names.add(arg.name)
    }
  }
  return [...names]
}

const swapped = (name: string) => `${name.slice(0, -2)}${name.at(-1)}${name.at(-2)}`

const nearly: readonly ((name: string) => string)[] = [
  name => `${name}s`,
  name => `${name}x1`,
  name => name.slice(0, -1),
  name => `${name[0]}${name}`,
  swapped,
  name => name.toLowerCase(),
  name => name.toUpperCase(),
  name => `_${name}`,
  name => name.slice(1),
  name => `${name}${name.at(-1)}`,
  name => `${name.slice(0, 1)}${name.slice(2)}`,
  name => `${name.slice(0, -1)}z`,
  name => `my_${name}`,
  name => `${name.slice(0, 2)}o${name.slice(2)}`,
]

type Sent = { readonly query: string; readonly variables?: unknown }

const forms: readonly ((miss: string) => Sent)[] = [
  miss => ({ query: `{ ${miss} { id } }` }),
  miss => ({ query: `{ posts { ${miss} } }` }),
  miss => ({ query: `{ posts { author { ${miss} } } }` }),
  miss => ({ query: `{ posts(${miss}: 1) { id } }` }),
  miss => ({ query: `{ ... on ${miss} { id } }` }),
  miss => ({ query: `query($v: ${miss}) { posts { id } }` }),
  miss => ({ query: `mutation { ${miss}(input: {}) { id } }` }),
  miss => ({ query: `mutation { createUser(input: {${miss}: 1}) { id } }` }),
  miss => ({ query: `mutation { createUser(input: {name: ${miss}}) { id } }` }),
  miss => ({ query: `mutation { updateUser(id: 1, ${miss}: 1) { id } }` }),
  miss => ({ query: `{ posts { id @${miss} } }` }),
  miss => ({ query: `{ posts { ...${miss} } }` }),
  miss => ({
    query: 'mutation($i: CreateUserInput!) { createUser(input: $i) { id } }',
    variables: { i: { [miss]: 1 } },
  }),
]

/** Thousands of operations, each with a name that is nearly one of the schema. */
export const nearMisses = (schema: GraphQLSchema): readonly Sent[] => {
  const names = namesIn(schema)
  const known = new Set(names)
  const misses = new Set(names.flatMap(name => nearly.map(change => change(name))))
  return [...misses]
    .filter(miss => /^[_A-Za-z]\w*$/.test(miss) && !known.has(miss) && !miss.startsWith('__'))
    .flatMap(miss => forms.map(form => form(miss)))
}
