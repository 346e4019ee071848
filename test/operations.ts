/** Generated query operations: documents that are valid by their making, from a stream of numbers. */
import fc from 'fast-check'
import {
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isInputObjectType,
  isObjectType,
} from 'graphql'

/** Numbers without end, from which a document is made. */
export const numbers = fc.infiniteStream(fc.noBias(fc.nat({ max: 999_999 })))

export const drawing = (stream: fc.Stream<number>) => {
  const next = (): number => stream.next().value ?? 0
  const upTo = (max: number, min = 0) => min + (next() % (max - min + 1))
  return {
    upTo,
    chance: (percent: number) => upTo(99) < percent,
    of: <T>(...values: readonly T[]): T => values[upTo(values.length - 1)] as T,
  }
}

export type Draw = ReturnType<typeof drawing>
export type Operation = {
  query: string
  variables: Record<string, unknown>
  operationName?: string
}

/** What documents are made of: the fields of each type, those with a value and those that lead to another type. */
export type Vocabulary = {
  readonly scalars: Readonly<Record<string, readonly string[]>>
  readonly relations: Readonly<Record<string, Readonly<Record<string, string>>>>
  /** The arguments of a field, by `Type.field`. */
  readonly arguments: Readonly<Record<string, readonly string[]>>
  readonly introspections: readonly string[]
}

/** The vocabulary of a schema. */
export const vocabularyOf = (schema: GraphQLSchema): Vocabulary => {
  const scalars: Record<string, string[]> = {}
  const relations: Record<string, Record<string, string>> = {}
  const named: Record<string, string[]> = {}
  const types = Object.values(schema.getTypeMap()).filter(
    type => isObjectType(type) && type !== schema.getMutationType() && !type.name.startsWith('__'),
  ) as GraphQLObjectType[]
  for (const type of types) {
    scalars[type.name] = []
    relations[type.name] = {}
    for (const [key, field] of Object.entries(type.getFields())) {
      const target = getNamedType(field.type)
      // Connections, orders and groups are generated in tests of their own.
      if (/(Connection|Aggregate)$/.test(target.name)) continue
      const plain = field.args.filter(({ type }) => !isInputObjectType(getNamedType(type)))
      named[`${type.name}.${key}`] = plain.map(({ name }) => name)
      if (isObjectType(target)) Object.assign(relations[type.name] ?? {}, { [key]: target.name })
      else scalars[type.name]?.push(key)
    }
  }
  const type = types.find(({ name }) => name !== 'Query')?.name
  const introspections = [
    '__schema { queryType { name fields { name args { name type { kind } } } } }',
    '__schema { directives { ...on __Directive { name } } types { name kind } }',
    `__type(name: "${type}") { name fields { name type { kind ofType { name } } } }`,
    '__type(name: "Nobody") { name }',
  ]
  return { scalars, relations, arguments: named, introspections }
}

export type Shape = {
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
export const documentOf = (draw: Draw, shape: Shape, vocabulary: Vocabulary): Operation => {
  const { of, upTo, chance } = draw
  const { scalars, relations, introspections } = vocabulary
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
    const names = vocabulary.arguments[`${type}.${field}`] ?? []
    for (const name of names.filter(name => !/^(id|limit|offset)$/.test(name)))
      if (chance(40)) list.push(`${name}: ${idText(true)}`)
    if (names.includes('id')) list.push(`id: ${idText(false)}`)
    if (names.includes('limit')) {
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
