/** Bodies with members that are not the caller's to set, beside those that are. */
import fc from 'fast-check'

const foreign = [
  ...['role', 'status', 'id', 'ownerId', 'userId', 'customerId', 'authorId', 'price', 'total'],
  ...['createdAt', 'updatedAt', 'created_at', 'isAdmin', 'admin', 'passwordHash', 'password'],
  ...['emailVerified', 'email_verified', 'revision', 'emailKey', 'likes', 'stock', 'paidAt'],
  ...['posts', 'orders', '_links', '__proto__', 'constructor', 'prototype', 'toString', '$set'],
  ...['Name', 'name ', 'NAME', 'ema\u0131l', 'rôle', 'role\u0000', 'user[role]', 'user.role', ''],
]

const roles = ['admin', 'paid', 'active', 1, 0, true, null, [], {}, { role: 'admin' }, ['admin']]

/** What may be sent to a place, as a user of the small world. */
type Place = {
  readonly line: string
  readonly good: Readonly<Record<string, unknown>>
  /** Members of it that the caller may set, with those of `good`. */
  readonly may?: readonly string[]
}

const places: readonly Place[] = [
  { line: 'POST /api/users', good: { name: 'n', email: 'new@example.org' }, may: ['age'] },
  { line: 'PUT /api/users/2', good: { name: 'n', email: 'ben@example.org' }, may: ['age'] },
  { line: 'PATCH /api/users/2', good: { name: 'n' }, may: ['email', 'age'] },
  { line: 'POST /api/users/2/posts', good: { title: 't', content: 'c' } },
  { line: 'PATCH /api/posts/1', good: { title: 't' }, may: ['content'] },
  { line: 'POST /api/posts/1/comments', good: { text: 't' } },
  { line: 'POST /api/orders', good: { items: [{ productId: 1, quantity: 1 }] } },
]

const mutations: Readonly<Record<string, string>> = {
  'POST /api/users': 'mutation($i: CreateUserInput!) { createUser(input: $i) { id } }',
  'PATCH /api/users/2': 'mutation($i: UpdateUserInput!) { updateUser(id: 2, input: $i) { id } }',
  'POST /api/users/2/posts': 'mutation($i: CreatePostInput!) { createPost(input: $i) { id } }',
}

const withMore = (good: object, more: string): string =>
  `${JSON.stringify(good).slice(0, -1)},${more}}`

/** Where a member is put: among the others, twice, or into an item of an order. */
const textOf = ({ line, good }: Place, name: string, value: unknown, form: number): string => {
  const member = `${JSON.stringify(name)}:${JSON.stringify(value)}`
  if (form === 0) return withMore(good, `${member},${member}`)
  if (form === 1 && line === 'POST /api/orders')
    return `{"items":[${withMore({ productId: 1, quantity: 1 }, member)}]}`
  return withMore(good, member)
}

export type Sent = { readonly line: string; readonly raw: string }

/** So many bodies, for both APIs, each with a member that its sender may not set. */
export const foreignBodies = (count: number, seed: number): readonly Sent[] => {
  const drawn = fc
    .record({
      place: fc.constantFrom(...places),
      name: fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...foreign) }, fc.string()),
      value: fc.oneof(fc.constantFrom(...roles), fc.jsonValue()),
      form: fc.nat(5),
      isGraphql: fc.boolean(),
    })
    .filter(({ place, name }) => !(Object.hasOwn(place.good, name) || place.may?.includes(name)))
  return fc
    .sample(drawn, { numRuns: count, seed })
    .map(({ place, name, value, form, isGraphql }) => {
      const mutation = mutations[place.line]
      if (!isGraphql || mutation === undefined)
        return { line: place.line, raw: textOf(place, name, value, form) }
      const good = /createPost/.test(mutation) ? { ...place.good, authorId: 2 } : place.good
      const other = name === 'authorId' ? 'author' : name
      const raw = `{"query":${JSON.stringify(mutation)},"variables":{"i":${textOf({ ...place, good }, other, value, form)}}}`
      return { line: 'POST /graphql', raw }
    })
}
