/** What the GraphQL API says not to use any more, and choices that are enums there. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { printSchema, validateSchema } from 'graphql'
import { deriveSchema } from '#graphql/schema.ts'
import { type Entity, entity, many, one } from '#model/entity.ts'
import { choice, id, reference, revision, text } from '#model/field.ts'
import { anyone, signedIn } from '#model/policy.ts'
import { forAllTests } from '../support/fixture.ts'
import { library } from '../support/library/index.ts'
import market from '../support/market/duet.config.ts'
import { modelAsUsual } from '../world.ts'
import { member } from './models.ts'
import { modelFor, serveModel } from './serve.ts'

const poem: Entity = entity({
  table: 'poems',
  plural: 'poems',
  description: '',
  fields: {
    id: id(),
    title: text({
      max: 9,
      deprecated: { reason: 'Use first.', on: '2027-01-01' },
      sunset: '2027-08-01',
    }),
    note: text({ max: 9, nullable: true, deprecated: 'Use title.' }),
    mood: choice(['glad', 'sad', 'both'], {
      nullable: true,
      enum: { name: 'Mood', deprecated: { both: 'Use one of them.' } },
    }),
    ownerId: reference('member', { onDelete: 'cascade', nullable: true, deprecated: 'Use owner.' }),
    revision: revision(),
  },
  relations: {
    owner: one('member', 'ownerId', { deprecated: 'Poems are nobody’s.' }),
  },
  policy: { read: anyone, create: signedIn, update: signedIn },
  rest: { list: true, one: true, listing: { paging: 'page', limit: 9 } },
  graphql: {
    filters: ['mood', 'ownerId', 'note'],
    mutations: ['create', 'update'],
    deprecated: { poem: 'Use poems.', updatePoem: 'Poems stay.', note: 'Use mood.' },
  },
})
const owner = {
  ...member,
  relations: { poems: many('poem', 'ownerId', { deprecated: 'Use poems(ownerId:).' }) },
} as unknown as Entity

const schemaOf = (entities: Parameters<typeof modelFor>[0]) =>
  deriveSchema(modelFor(entities)).schema

test('what is deprecated is so in fields, relations, roots, filters, optional inputs and values', () => {
  const schema = schemaOf({ poem, member: owner })
  assert.deepEqual(validateSchema(schema), [])
  const lines = printSchema(schema)
    .split('\n')
    .filter(line => line.includes('@deprecated'))
    .map(line => line.trim())
  assert.deepEqual(lines, [
    'poem(id: ID!): Poem @deprecated(reason: "Use poems.")',
    'ownerId: ID @deprecated(reason: "Use owner.")',
    'note: String @deprecated(reason: "Use mood.")',
    // The filters of the list are those of its groups too.
    'ownerId: ID @deprecated(reason: "Use owner.")',
    'note: String @deprecated(reason: "Use mood.")',
    'title: String! @deprecated(reason: "Use first. Gone from 2027-08-01.")',
    'note: String @deprecated(reason: "Use title.")',
    'ownerId: ID @deprecated(reason: "Use owner.")',
    'owner: Member @deprecated(reason: "Poems are nobody’s.")',
    'both @deprecated(reason: "Use one of them.")',
    '): [Poem!]! @deprecated(reason: "Use poems(ownerId:).")',
    // Its connection ends with it.
    '): PoemConnection! @deprecated(reason: "Use poems(ownerId:).")',
    'title: StringCondition @deprecated(reason: "Use first. Gone from 2027-08-01.")',
    'note: StringCondition @deprecated(reason: "Use title.")',
    'ownerId: IDCondition @deprecated(reason: "Use owner.")',
    'owner: MemberWhere @deprecated(reason: "Poems are nobody’s.")',
    'poems: PoemMatch @deprecated(reason: "Use poems(ownerId:).")',
    'title: SortDirection @deprecated(reason: "Use first. Gone from 2027-08-01.")',
    'note: SortDirection @deprecated(reason: "Use title.")',
    'ownerId: SortDirection @deprecated(reason: "Use owner.")',
    'owner: MemberOrder @deprecated(reason: "Poems are nobody’s.")',
    '): Poem! @deprecated(reason: "Poems stay.")',
    // What a create must be given cannot be deprecated there.
    'note: String @deprecated(reason: "Use title.")',
    'ownerId: ID @deprecated(reason: "Use owner.")',
    'title: String @deprecated(reason: "Use first. Gone from 2027-08-01.")',
    'note: String @deprecated(reason: "Use title.")',
  ])
})

test('a value with the name of what every object has is not deprecated by that', () => {
  const deprecated = { sad: 'Use glad.' }
  const mood = choice<string>(['sad', 'constructor'], {
    nullable: true,
    enum: { name: 'Mood', deprecated },
  })
  const schema = schemaOf({ poem: { ...poem, fields: { ...poem.fields, mood } }, member: owner })
  assert.match(
    printSchema(schema),
    /enum Mood \{\n {2}sad @deprecated\(reason: "Use glad."\)\n {2}constructor\n\}/,
  )
})

test('a schema without enums and deprecations has none', () => {
  const [plain, named] = [market, library].map(content =>
    printSchema(deriveSchema(modelAsUsual(content)).schema),
  )
  assert.doesNotMatch(plain ?? '', /@deprecated|^enum (?!SortDirection |\w+AggregateKey )/m)
  assert.match(named ?? '', /^enum BookLanguage \{/m)
})

describe('an enum', () => {
  const service = forAllTests(() => serveModel({ poem, member: owner }, 'sqlite'))

  const ask = async (query: string, variables = {}) => {
    const { text } = await service.ask({
      line: 'POST /graphql',
      as: 'user',
      body: { query, variables },
    })
    return JSON.parse(text)
  }

  test('is written and read by its names, as literal and as variable', async () => {
    const made = await ask(
      'mutation ($m: Mood) { a: createPoem(input: {title: "a", mood: glad}) { mood } b: createPoem(input: {title: "b", mood: $m}) { mood } c: createPoem(input: {title: "c"}) { mood } }',
      { m: 'sad' },
    )
    assert.deepEqual(made, {
      data: { a: { mood: 'glad' }, b: { mood: 'sad' }, c: { mood: null } },
    })
    const found = await ask(
      'query ($m: Mood) { x: poems(mood: glad) { title } y: poems(mood: $m) { title } z: poems { title } }',
      { m: 'sad' },
    )
    assert.deepEqual(found, {
      data: {
        x: [{ title: 'a' }],
        y: [{ title: 'b' }],
        z: [{ title: 'c' }, { title: 'b' }, { title: 'a' }],
      },
    })
  })

  test('has no other names, and is no string', async () => {
    for (const [query, variables, code] of [
      ['{ poems(mood: angry) { id } }', {}, 'GRAPHQL_VALIDATION_FAILED'],
      ['{ poems(mood: "glad") { id } }', {}, 'GRAPHQL_VALIDATION_FAILED'],
      ['query ($m: Mood) { poems(mood: $m) { id } }', { m: 'angry' }, 'BAD_USER_INPUT'],
    ] as const)
      assert.equal((await ask(query, variables)).errors[0].extensions.code, code, query)
  })

  test('is told by introspection with its deprecated values', async () => {
    const query =
      '{ __type(name: "Mood") { kind enumValues(includeDeprecated: true) { name deprecationReason } } }'
    const { data } = await ask(query)
    assert.deepEqual(data.__type, {
      kind: 'ENUM',
      enumValues: [
        { name: 'glad', deprecationReason: null },
        { name: 'sad', deprecationReason: null },
        { name: 'both', deprecationReason: 'Use one of them.' },
      ],
    })
  })
})
