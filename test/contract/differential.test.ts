/** Generated query operations, answered by Duet and by graphql-js over the same rows: the answers are equal to the letter. */
import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, test } from 'node:test'
import fc from 'fast-check'
import { executeSync, GraphQLError, parse } from 'graphql'
import { deriveSchema } from '#graphql/schema.ts'
import type { Query, Work } from '#sql/engine.ts'
import { createWorld, usualModel, type World, type WorldOptions } from '../world.ts'

const seed = Number(process.env.DUET_SEED ?? Date.now() % 1_000_000)

/** Nothing is refused for its size here: the limits have tests of their own. */
const roomy = {
  documents: {
    depth: 40,
    source: 1_000_000,
    tokens: 100_000,
    aliases: 10_000,
    directives: 10_000,
    rootFields: 1000,
  },
  engine: { limits: { objects: 1_000_000, bytes: 100_000_000 } },
}

// ---- The other side: plain resolvers over the same rows, by graphql-js.

type UserRow = { id: number; name: string; email: string; age: number | null }
type PostRow = { id: number; title: string; content: string; author_id: number; created_at: number }
type CommentRow = { id: number; text: string; post_id: number; author_id: number }
type Page = { limit?: number | null; offset?: number | null }

/** The contract's reading of `limit` and `offset`; a list is whole where it is not given. */
const paged = <T>(
  rows: readonly T[],
  { limit, offset }: Page,
  usual = rows.length,
): readonly T[] => {
  const from = Math.max(offset ?? 0, 0)
  const count = limit == null ? usual : Math.min(Math.max(limit, 1), 100)
  return rows.slice(from, from + count)
}

/** A root value whose members resolve as the contract says. */
const rootOver = (file: string) => {
  const database = new DatabaseSync(file, { readOnly: true })
  const all = <T>(sql: string) => database.prepare(sql).all() as T[]
  const users = all<UserRow>('select * from users order by id')
  const posts = all<PostRow>('select * from posts order by id desc')
  const comments = all<CommentRow>('select * from comments order by id desc')
  database.close()
  const idOf = (id: string) => (/^[1-9]\d{0,15}$/.test(id) ? Number(id) : 0)
  const user = (id: number): unknown => {
    const row = users.find(row => row.id === id)
    return row && { ...row, posts: (page: Page) => paged(postsOf(id), page).map(post) }
  }
  const postsOf = (id: number) => posts.filter(row => row.author_id === id)
  const comment = (row: CommentRow) => ({ ...row, author: () => user(row.author_id) })
  const post = (row: PostRow) => ({
    ...row,
    createdAt: new Date(row.created_at).toISOString(),
    author: () => user(row.author_id),
    comments: (page: Page) =>
      paged(
        comments.filter(comment => comment.post_id === row.id),
        page,
      ).map(comment),
  })
  return {
    user: ({ id }: { id: string }) => user(idOf(id)),
    users: (page: Page) => paged(users, page, 10).map(({ id }) => user(id)),
    post: ({ id }: { id: string }) => posts.filter(row => row.id === idOf(id)).map(post)[0],
    posts: ({ authorId, ...page }: Page & { authorId?: string | null }) => {
      if (authorId == null) return paged(posts, page).map(post)
      if (!user(idOf(authorId))) throw new GraphQLError(`User ${authorId} not found`)
      return paged(postsOf(idOf(authorId)), page).map(post)
    },
  }
}

// Its types resolve nothing by themselves; that it is the specification's is shown elsewhere.
const { schema } = deriveSchema(usualModel)

// ---- The generator: documents that are valid by their making.

/** Numbers without end, from which a document is made. */
const numbers = fc.infiniteStream(fc.noBias(fc.nat({ max: 999_999 })))

const drawing = (stream: fc.Stream<number>) => {
  const next = (): number => stream.next().value ?? 0
  const upTo = (max: number, min = 0) => min + (next() % (max - min + 1))
  return {
    upTo,
    chance: (percent: number) => upTo(99) < percent,
    of: <T>(...values: readonly T[]): T => values[upTo(values.length - 1)] as T,
  }
}

type Draw = ReturnType<typeof drawing>
type Operation = { query: string; variables: Record<string, unknown>; operationName?: string }

const scalars: Record<string, readonly string[]> = {
  User: ['id', 'name', 'email', 'age'],
  Post: ['id', 'title', 'content', 'createdAt'],
  Comment: ['id', 'text'],
}
const relations: Record<string, Record<string, string>> = {
  Query: { user: 'User', users: 'User', post: 'Post', posts: 'Post' },
  User: { posts: 'Post' },
  Post: { author: 'User', comments: 'Comment' },
  Comment: { author: 'User' },
}
const introspections = [
  '__schema { queryType { name fields { name args { name type { kind } } } } }',
  '__schema { directives { ...on __Directive { name } } types { name kind } }',
  '__type(name: "User") { name fields { name type { kind ofType { name } } } }',
  '__type(name: "Nobody") { name }',
]

type Shape = {
  readonly ids: number
  readonly levels: number
  readonly width: number
  readonly whole: boolean
}

/** One pool of variables for a document: name, type, default, and what a request gives. */
const variablePool = ({ of, upTo }: Draw, shape: Shape) => {
  const id = () => upTo(shape.ids, 1)
  const declared = new Map<string, { text: string; given: unknown }>()
  const declare = (name: string, text: string, given: unknown) =>
    declared.set(name, { text, given })
  declare('b0', '$b0: Boolean!', of(true, false))
  declare('b1', `$b1: Boolean = ${of('true', 'false')}`, of(undefined, true, false))
  declare('b2', `$b2: Boolean! = ${of('true', 'false')}`, of(undefined, true, false))
  declare('i0', '$i0: ID!', of<unknown>(id(), String(id())))
  declare('i1', `$i1: ID! = "${id()}"`, of<unknown>(undefined, id(), 'abc'))
  declare('i2', `$i2: ID = ${id()}`, of<unknown>(undefined, String(id())))
  declare('n0', '$n0: Int', of(undefined, null, -1, 0, 1, 2, 3, 101))
  declare('n1', `$n1: Int = ${of('null', '2', '-7', '5')}`, of(undefined, null, 1, 4))
  declare('n2', '$n2: Int! = 3', of(undefined, 0, 2))
  declare('a0', '$a0: ID', of<unknown>(undefined, null, id()))
  return declared
}

/** Makes a document of several operations and fragments, and a request for one of them. */
const documentOf = (draw: Draw, shape: Shape): Operation => {
  const { of, upTo, chance } = draw
  const pool = variablePool(draw, shape)
  const fragments: { name: string; type: string; body: string }[] = []
  // A key means one field with one list of arguments in all of the document: so any two fields merge.
  const meanings = new Map<string, string>()

  const idText = (nullable: boolean) => {
    if (chance(35)) return of('$i0', '$i1', '$i2', nullable ? '$a0' : '$i0')
    if (chance(8)) return nullable ? 'null' : of('"0"', '"-1"', '"1.5"', '"abc"', '99999', '"007"')
    const id = upTo(shape.ids, 1)
    return of(String(id), `"${id}"`)
  }
  const numberText = () =>
    chance(40) ? of('$n0', '$n1', '$n2') : of('null', '-3', '0', '1', '2', '3', '5', '100', '101')
  const argumentsOf = (type: string, field: string): string => {
    const list: string[] = []
    if (type === 'Query' && (field === 'user' || field === 'post'))
      list.push(`id: ${idText(false)}`)
    if (type === 'Query' && field === 'posts' && chance(40)) list.push(`authorId: ${idText(true)}`)
    if (/s$/.test(field)) {
      if (!shape.whole || chance(40))
        list.push(`limit: ${shape.whole ? numberText() : of('1', '2', '3', '4', '$n2')}`)
      if (chance(25)) list.push(`offset: ${of('$n0', '$n1', '0', '1', '2', '-2', 'null', '50')}`)
    }
    return list.length === 0 ? '' : `(${of(list, list.toReversed()).join(of(', ', ' '))})`
  }
  const directives = (): string => {
    if (!chance(22)) return ''
    const one = () => `@${of('skip', 'include')}(if: ${of('true', 'false', '$b0', '$b1', '$b2')})`
    const first = one()
    const second = first.startsWith('@skip') ? '@include(if: true)' : '@skip(if: $b0)'
    return ` ${first}${chance(20) ? ` ${second}` : ''}`
  }
  /** `alias: field(arguments)` whose key means the same wherever it is. */
  const member = (type: string, field: string): { text: string; field: string } => {
    const key = chance(40) ? of('a', 'b', 'c', '_', '__proto__', 'constructor') : field
    const known = meanings.get(`${type} ${key}`)
    const meant = known ?? `${field}${argumentsOf(type, field)}`
    meanings.set(`${type} ${key}`, meant)
    const real = /^\w+/.exec(meant)?.[0] ?? ''
    return { text: key === real ? meant : `${key}: ${meant}`, field: real }
  }
  const selection = (type: string, levels: number): string => {
    const kind = upTo(99)
    const deep = relations[type] ?? {}
    if (kind < 12) {
      const { text, field } = member(type, '__typename')
      return field in deep ? relation(type, text, field, levels) : `${text}${directives()}`
    }
    if (kind < 24) return `...${of('', ` on ${type}`)}${directives()} ${set(type, levels)}`
    if (kind < 36) return spread(type, levels)
    if (kind < (type === 'Query' ? 38 : 66)) {
      if (type === 'Query') return `${of(...introspections)}`
      const { text, field } = member(type, of(...(scalars[type] ?? [])))
      return field in deep ? relation(type, text, field, levels) : `${text}${directives()}`
    }
    if (levels <= 0) return '__typename'
    const { text, field } = member(type, of(...Object.keys(deep)))
    return field in deep ? relation(type, text, field, levels) : `${text}${directives()}`
  }
  const relation = (type: string, text: string, field: string, levels: number): string =>
    `${text}${directives()} ${set(relations[type]?.[field] ?? '', levels - 1)}`
  const set = (type: string, levels: number): string => {
    const members = Array.from({ length: upTo(shape.width, 1) }, () => selection(type, levels))
    return `{ ${members.join(of(' ', ', ', '\n'))} }`
  }
  /** A new fragment or a known one that is not being made, so that none is within itself. */
  const spread = (type: string, levels: number): string => {
    const known = fragments.filter(fragment => fragment.type === type)
    if (known.length > 0 && chance(60)) return `...${of(...known).name}${directives()}`
    const body = set(type, Math.max(levels - 1, 0))
    const name = `F${fragments.length}`
    fragments.push({ name, type, body })
    return `...${name}${directives()}`
  }
  // Introspection keys must mean one thing each as well.
  const introspected = (text: string) => {
    let count = 0
    return text.replace(
      /(?<![\w.])__(schema|type)\b(?=[ (])/g,
      name => `x${count++}_${fc.hash(text) >>> 0}: ${name}`,
    )
  }
  const count = of(1, 1, 1, 2, 3)
  const bodies = Array.from({ length: count }, () => introspected(set('Query', shape.levels)))
  const texts = fragments.map(({ name, type, body }) => ({
    name,
    text: `fragment ${name} on ${type} ${type === 'Query' ? introspected(body) : body}`,
  }))
  const reached = (text: string, found = new Set<string>()): Set<string> => {
    for (const [, name = ''] of text.matchAll(/\.\.\.(F\d+)/g)) {
      if (found.has(name)) continue
      found.add(name)
      reached(texts.find(fragment => fragment.name === name)?.text ?? '', found)
    }
    return found
  }
  const isNamed = count > 1 || chance(50)
  const used = new Set<string>()
  const operations = bodies.map((body, index) => {
    const names = reached(body)
    for (const name of names) used.add(name)
    const whole = body + texts.filter(({ name }) => names.has(name)).map(({ text }) => text)
    const variables = [...pool].filter(([name]) => new RegExp(`\\$${name}\\b`).test(whole))
    const head = variables.length > 0 ? `(${variables.map(([, { text }]) => text).join(', ')})` : ''
    if (!isNamed && head === '' && chance(50)) return body
    return `query ${isNamed ? `Q${index}` : ''}${head} ${body}`
  })
  const kept = texts.filter(({ name }) => used.has(name)).map(({ text }) => text)
  const variables = Object.fromEntries(
    [...pool].flatMap(([name, { given }]) => (given === undefined ? [] : [[name, given]])),
  )
  return {
    query: of([...operations, ...kept], [...kept, ...operations]).join('\n'),
    variables,
    ...((count > 1 || (isNamed && chance(50))) && { operationName: `Q${upTo(count - 1)}` }),
  }
}

// ---- The comparison.

/** The text that Duet owes for an operation, by what graphql-js makes of it. */
const expectedOf = (root: object, { query, variables, operationName }: Operation): string => {
  const result = executeSync({
    schema,
    document: parse(query),
    rootValue: root,
    variableValues: variables,
    operationName,
  })
  const [error] = result.errors ?? []
  if (!error) return `{"data":${JSON.stringify(result.data)}}`
  assert.match(
    error.message,
    /not found$/,
    `the generator made a bad document: ${error.message}\n${query}`,
  )
  const { message, locations, path } = error
  // Of merged fields, Duet names the place of the first.
  const first = locations?.slice(0, 1)
  const entry = { message, locations: first, path, extensions: { code: 'NOT_FOUND' } }
  return `{"errors":${JSON.stringify([entry])},"data":null}`
}

const differential = (name: string, runs: number, shape: Shape, options: WorldOptions) =>
  describe(name, () => {
    let world: World
    let root: object
    before(async () => {
      world = await createWorld({ ...roomy, ...options })
      root = rootOver(world.file)
    })
    after(() => world.close())
    test(`${runs} generated operations are answered to the letter as by graphql-js`, async t => {
      t.diagnostic(`seed ${seed}`)
      let letters = 0
      let errors = 0
      await fc.assert(
        fc.asyncProperty(numbers, async stream => {
          const operation = documentOf(drawing(stream), shape)
          const expected = expectedOf(root, operation)
          const { query, ...rest } = operation
          const { text } = await world.gql(query, { as: 2, ...rest })
          if (text !== expected) t.diagnostic(JSON.stringify(operation))
          assert.equal(text, expected)
          letters += text.length
          if (text.startsWith('{"errors"')) errors++
        }),
        { seed, numRuns: runs, endOnFailure: true },
      )
      t.diagnostic(`${Math.round(letters / runs)} characters an answer, ${errors} errors`)
      assert.ok(letters / runs > 100, 'the answers hold something')
    })
  })

/** Texts that are hard to write: escapes, quotes, emoji, separators. */
const hardText = (max: number) =>
  fc
    .array(
      fc.constantFrom(
        'a',
        'é',
        '"',
        '\\',
        '\n',
        '\t',
        '\u0001',
        '\u007f',
        '\u2028',
        '\u2029',
        '😀',
        '</b>',
        '日',
        '\u{1F468}\u200D\u{1F469}',
        '%',
        "'",
        ' ',
      ),
      { minLength: 1, maxLength: max },
    )
    .map(parts => `x${parts.join('')}x`)

const largeRows = (): NonNullable<WorldOptions['rows']> => {
  const [texts = []] = fc.sample(fc.array(hardText(40), { minLength: 831, maxLength: 831 }), {
    seed,
    numRuns: 1,
  })
  const [numbers = []] = fc.sample(
    fc.array(fc.nat(), { minLength: 2000, maxLength: 2000, size: 'max' }),
    { seed, numRuns: 1 },
  )
  const pick = (index: number, count: number) => ((numbers[index] ?? 0) % count) + 1
  return {
    user: Array.from({ length: 30 }, (_, n) => ({
      name: texts[n]?.trim(),
      email: `u${n}@example.org`,
      ...(n % 3 !== 0 && { age: pick(n, 150) }),
    })),
    // Users 25 to 30 write no posts; posts above 160 have no comments.
    post: Array.from({ length: 200 }, (_, n) => ({
      authorId: pick(30 + n, 24),
      title: texts[30 + n]?.trim(),
      content: texts[230 - n],
    })),
    comment: Array.from({ length: 600 }, (_, n) => ({
      postId: pick(230 + n, 160),
      authorId: pick(830 + n, 30),
      text: texts[230 + n],
    })),
  }
}

differential('a small world', 1300, { ids: 6, levels: 5, width: 4, whole: true }, {})
differential(
  'a large world in pages',
  350,
  { ids: 220, levels: 5, width: 4, whole: false },
  { rows: largeRows() },
)
differential(
  'a large world in whole lists',
  50,
  { ids: 40, levels: 2, width: 3, whole: true },
  { rows: largeRows() },
)

// ---- One operation, one read.

type Seen = { reads: number; texts: string[] }

/** The world's reader, watched: how often it is asked, and with which statements. */
const watch = (world: World): (() => Seen) => {
  let seen: Seen = { reads: 0, texts: [] }
  const { snapshot } = world.core.reader
  const counted = function* <R>(work: Work<R>): Work<R> {
    let step = work.next()
    while (!step.done) {
      const query: Query = step.value
      seen.texts.push(query.text)
      step = work.next(yield query)
    }
    return step.value
  }
  const reader = {
    snapshot: <R>(work: Work<R>) => {
      seen.reads++
      return snapshot(counted(work))
    },
  }
  Object.assign(world.core, { reader })
  return () => {
    const last = seen
    seen = { reads: 0, texts: [] }
    return last
  }
}

/** The levels that an answer shows: distinct paths, without indexes, of objects and of lists, empty ones too. */
const levelsOf = (data: Record<string, unknown>): Set<string> => {
  const paths = new Set<string>()
  const visit = (value: unknown, path: string): void => {
    if (Array.isArray(value)) {
      paths.add(path)
      for (const item of value) visit(item, path)
    } else if (typeof value === 'object' && value !== null) {
      paths.add(path)
      for (const [key, member] of Object.entries(value)) visit(member, `${path}.${key}`)
    }
  }
  for (const [key, value] of Object.entries(data)) {
    paths.add(key)
    visit(value, key)
  }
  return paths
}

describe('a generated operation', () => {
  test('asks the store once, in one moment, with one statement a level at the most', async t => {
    t.diagnostic(`seed ${seed}`)
    const world = await createWorld(roomy)
    t.after(() => world.close())
    const look = watch(world)
    const root = rootOver(world.file)
    let most = 0
    await fc.assert(
      fc.asyncProperty(numbers, async stream => {
        const operation = documentOf(drawing(stream), { ids: 6, levels: 5, width: 4, whole: true })
        const { query, ...rest } = operation
        const { json, text } = await world.gql(query, { as: 2, ...rest })
        assert.equal(text, expectedOf(root, operation))
        const { reads, texts } = look()
        assert.ok(reads <= 1, 'one read')
        if (!json.data) return
        // An author that a list is asked of is looked for by a statement of its own.
        const exists = texts.filter(text => text.startsWith('select 1 ')).length
        const levels = levelsOf(json.data).size
        assert.ok(
          texts.length - exists <= levels,
          `${texts.length} statements for ${levels} levels`,
        )
        most = Math.max(most, texts.length)
      }),
      { seed, numRuns: 200, endOnFailure: true },
    )
    t.diagnostic(`at most ${most} statements`)
    assert.ok(most > 5)
  })

  test('of ten users, their posts, comments and authors is four statements', async t => {
    const world = await createWorld({ rows: largeRows() })
    t.after(() => world.close())
    const look = watch(world)
    const query = '{ users { name posts { title comments { text author { name } } } } }'
    const { json } = await world.gql(query, { as: 2 })
    assert.equal(json.data.users.length, 10)
    assert.equal(look().texts.length, 4)
  })
})
