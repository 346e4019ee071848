/** Names of entities that are those of types which the schema makes by itself. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deriveSchema } from '#graphql/schema.ts'
import { choice } from '#model/field.ts'
import { anyone } from '#model/policy.ts'
import { member } from '../../test/generated/models.ts'
import { modelFor } from '../../test/generated/serve.ts'
import { author, book, changed, withFields } from '../../test/support/model-faults.ts'

const open = changed(book, {
  policy: { read: anyone },
  rest: { writes: [], nested: [] },
  graphql: { mutations: [] },
})
const bare = changed(author, { table: 'others', plural: 'others', relations: {} })
const schemaWith = (others: object, of = open) =>
  deriveSchema(modelFor({ member, author, book: of, ...others } as never))

test('an entity that is named as an input of conditions is refused in one sentence', () => {
  for (const name of [
    'intCondition',
    'stringCondition',
    'bookGenreCondition',
    'bookAggregateHaving',
  ])
    assert.throws(
      () => schemaWith({ [name]: bare }),
      {
        message: new RegExp(
          `^the entity ${name} has the name of another type of the GraphQL schema, ${name[0]?.toUpperCase()}${name.slice(1)}: give it another one$`,
        ),
      },
      name,
    )
  assert.doesNotThrow(() => schemaWith({ intRule: bare }))
})

test('so is an enum', () => {
  const named = choice(['a', 'b'], {
    enum: { name: 'IDCondition' },
    initial: { value: 'a' },
  } as never)
  assert.throws(
    () => schemaWith({}, changed(open, withFields({ kind: named }))),
    /^Error: the enum of book.kind has the name of another type of the GraphQL schema, IDCondition: /,
  )
})
