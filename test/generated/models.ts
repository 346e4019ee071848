/** Generated models: a few entities with fields, references, rules, lists and counts, right by their making. */
import { fieldsIn } from '#model/computed.ts'
import { type Condition, viewer } from '#model/condition.ts'
import { type Entity, entity, many, one, type Relation } from '#model/entity.ts'
import {
  avg,
  choice,
  computed,
  count,
  created,
  date,
  decimal,
  email,
  type Field,
  type Formula,
  file,
  fixed,
  flag,
  folded,
  id,
  int,
  json,
  list,
  money,
  reference,
  revision,
  type StandardSchema,
  slug,
  text,
  time,
  updatedAt,
  webUrl,
} from '#model/field.ts'
import type { Entities } from '#model/model.ts'
import {
  anyone,
  type DeclaredRule,
  isByRow,
  isForAll,
  isSameRule,
  type Rule,
  self,
  signedIn,
} from '#model/policy.ts'
import { isComparable } from '#model/values.ts'
import type { Draw } from '../operations.ts'
import { admin } from '../support/roles.ts'

type Drafted = {
  readonly name: string
  readonly fields: Record<string, Field>
  readonly relations: Record<string, Relation>
}

/** A policy by which any caller with a token may do anything. */
export const bySignedIn = {
  read: signedIn,
  create: signedIn,
  update: signedIn,
  delete: signedIn,
} as const

/** The routes of an entity that may be read and written in each way but replaced. */
export const allRoutes = {
  list: true,
  one: true,
  writes: ['create', 'update', 'delete'],
} as const

/** Who asks: each model has members, whom tokens name. */
export const member: Entity = entity({
  table: 'members',
  plural: 'members',
  description: 'A member.',
  fields: {
    id: id(),
    name: text({ max: 20 }),
    status: choice(['active', 'blocked'], { ...fixed, initial: { value: 'active' } }),
    revision: revision(),
  },
  policy: { read: anyone, create: admin },
  rest: { list: true, one: true, listing: { paging: 'page', limit: 10 }, writes: ['create'] },
  graphql: { paged: true },
})

/** A schema that takes any object. */
export const anyObject: StandardSchema<object> = {
  '~standard': { version: 1, validate: value => ({ value: value as object }) },
}

const kinds: readonly ((draw: Draw, nullable: boolean) => Field)[] = [
  (_, nullable) => text({ max: 20, nullable }),
  (draw, nullable) =>
    text({ max: 30, trimmed: true, nullable, ...(draw.chance(30) && { initial: { value: 'x' } }) }),
  (_, nullable) => choice(['red', 'green', 'Blue'], { nullable }),
  (_, nullable) => int({ min: -3, max: 3, nullable }),
  (_, nullable) => int({ min: 0, max: 2 ** 40, nullable, immutable: true }),
  (draw, nullable) =>
    money({ max: 50, nullable, ...(draw.chance(30) && { initial: { value: 150 } }) }),
  (draw, nullable) =>
    decimal({
      scale: 2,
      min: -1,
      max: 2.5,
      nullable,
      ...(draw.chance(30) && { initial: { value: 150 } }),
    }),
  (_, nullable) => date({ nullable }),
  (_, nullable) => list(text({ max: 5 }), { max: 3, nullable }),
  (_, nullable) => json(anyObject, { nullable }),
  (_, nullable) => time({ nullable }),
  (draw, nullable) => flag({ nullable, ...(draw.chance(30) && { initial: { value: 1 } }) }),
  (_, nullable) => email({ nullable }),
  (_, nullable) => webUrl({ nullable }),
]

/** With files as kinds, whose bytes the service needs a place for. */
const kindsWithFiles: typeof kinds = [
  ...kinds,
  ...Array(3).fill((_: Draw, nullable: boolean) =>
    file({ accept: ['application/pdf'], max: '1 kB', nullable }),
  ),
]

const fieldsBy = (draw: Draw, among: typeof kinds): Record<string, Field> => {
  const fields: Record<string, Field> = { id: id() }
  for (let n = 0; n < draw.upTo(5, 1); n++) {
    const make = draw.of(...among)
    const field = make(draw, draw.chance(40))
    const key = `${field.scalar}${n}`
    const isUnique = field.scalar === 'text' && !field.values && (field.range?.max ?? 0) <= 30
    fields[key] = isUnique && draw.chance(20) ? { ...field, unique: 'CONFLICT' } : field
    if (isUnique && draw.chance(50))
      fields[`${key}Key`] = folded(key, { nullable: field.nullable, indexed: true })
  }
  const [from] =
    Object.entries(fields).find(
      ([, { scalar, foldedFrom, values }]) => scalar === 'text' && !foldedFrom && !values,
    ) ?? []
  if (from !== undefined && draw.chance(40)) fields.slug = slug({ from, nullable: true })
  const terms = Object.entries(fields).filter(
    ([, { scalar, foldedFrom }]) => ['int', 'decimal', 'text'].includes(scalar) && !foldedFrom,
  )
  if (terms.length > 1 && draw.chance(50)) fields.made = computedOf(draw, terms)
  return fields
}

/** A field that is computed of these: as text, or as a number with up to four decimals. */
const computedOf = (draw: Draw, terms: readonly (readonly [string, Field])[]): Field => {
  const numbers = terms.flatMap(([key, { scalar, range }]) =>
    scalar !== 'text' && (range?.max ?? 0) < 2 ** 20 ? [key] : [],
  )
  const texts = terms
    .flatMap(([key, { scalar, range }]) =>
      scalar === 'int' || (range?.max ?? 0) <= 30 ? [key] : [],
    )
    .filter(key => terms.some(([other, { scalar }]) => other === key && scalar !== 'decimal'))
  const [a = '', b = a] = numbers
  if (numbers.length === 0 || draw.chance(50))
    return computed({
      as: text({ min: 0, max: 99, nullable: true }),
      from: { concat: [...texts.slice(0, 2), { text: '-' }] },
    })
  return computed({
    as: decimal({ scale: 4, min: -10_000, max: 10_000, nullable: true }),
    from: draw.of<Formula>(
      { plus: [a, { times: [a, b] }] },
      { minus: [{ coalesce: [a, { value: 0.5 }] }, b] },
      { coalesce: [b, a] },
    ),
  })
}

/** References between the entities, without circles, some to their own kind; and the relations along them. */
const relate = (draw: Draw, drafts: readonly Drafted[]) => {
  for (const [index, { name, fields, relations }] of drafts.entries()) {
    for (let n = 0; n < draw.upTo(2); n++) {
      const target = drafts[draw.upTo(index)] as Drafted
      const nullable = target.name === name || draw.chance(40)
      const key = `${target.name}${n}Id`
      const onDelete = nullable
        ? draw.of('cascade', 'set null', 'restrict')
        : draw.of('cascade', 'restrict')
      fields[key] = reference(target.name, { nullable, onDelete, immutable: draw.chance(50) })
      if (draw.chance(80)) relations[`${target.name}${n}`] = one(target.name, key)
      if (draw.chance(80)) {
        // Lists of REST may go by cursors, which are newest first.
        const oldest = { oldestFirst: true, rest: false } as const
        target.relations[`${name}s${n}`] = many(name, key, draw.chance(25) ? oldest : {})
      }
    }
    if (draw.chance(40)) fields.createdAt = created()
    if (draw.chance(30)) fields.updatedAt = updatedAt()
    if (draw.chance(60)) fields.revision = revision()
  }
}

const sortable = ([, { scalar, range }]: [string, Field]) =>
  isComparable(scalar) && (scalar !== 'text' || (range?.max ?? 0) <= 254)

const listingBy = ({ chance, of, upTo }: Draw, fields: Record<string, Field>) => {
  const shown = Object.entries(fields).filter(([key]) => key !== 'id' && key !== 'revision')
  const filters = shown.flatMap(([key, { scalar, foldedFrom }]) => {
    if (chance(30) || !isComparable(scalar)) return []
    if (foldedFrom) return [[`find_${key}`, { kind: 'contains', field: key }]]
    const bounds = ['int', 'money', 'decimal', 'date', 'time'].includes(scalar)
      ? [
          [`min_${key}`, { kind: 'at least', field: key }],
          [`max_${key}`, { kind: 'at most', field: key }],
        ]
      : []
    const positive = ['int', 'money', 'decimal'].includes(scalar)
      ? [[`some_${key}`, { kind: 'above zero', field: key }]]
      : []
    return [[key, { kind: 'equals', field: key }], ...bounds, ...positive]
  })
  const keys = shown.filter(sortable).map(([key]) => key)
  const paging = of('page', 'page or offset', 'cursor')
  const style = of('field and order', 'signed list')
  const signed = keys.flatMap(key => (style === 'signed list' ? [key, `-${key}`] : [key]))
  return {
    paging,
    limit: upTo(5, 1),
    filters: Object.fromEntries(filters),
    ...(paging !== 'cursor' && { sort: { style, fields: signed } }),
  }
}

/** A condition on one field of those, by its own values; undefined if none can be compared. */
const comparisonBy = (draw: Draw, fields: Record<string, Field>): Condition | undefined => {
  const words = { choice: ['red', 'Blue'], flag: [true, false], int: [0, 1], money: [1, 20] }
  const known = Object.entries(fields).flatMap(
    ([key, { scalar, values, computed, foldedFrom }]) => {
      if (computed || foldedFrom || key === 'revision') return []
      const kind = values ? 'choice' : scalar
      return kind in words ? [[key, kind as keyof typeof words] as const] : []
    },
  )
  const [[key, kind] = []] = known.length > 0 ? [draw.of(...(known as [(typeof known)[0]]))] : []
  if (key === undefined || kind === undefined) return undefined
  const value = draw.of<string | number | boolean>(...(words[kind] as [number]))
  const isRanged = kind === 'int' || kind === 'money'
  return {
    [key]: draw.of<never>(
      value as never,
      { ne: value } as never,
      { in: [value] } as never,
      { isNull: draw.chance(50) } as never,
      ...(isRanged ? [{ gte: value } as never, { lt: value } as never] : []),
    ),
  }
}

/** A condition on the rows of an entity, and on those beside them; `isNew`: on one that does not exist yet. */
const conditionBy = (
  draw: Draw,
  drafts: readonly Drafted[],
  { fields, relations }: Pick<Drafted, 'fields' | 'relations'>,
  isNew = false,
): Condition => {
  const parts: Condition[] = []
  const own = comparisonBy(draw, fields)
  if (own) parts.push(draw.chance(20) ? { not: own } : own)
  if (fields.ownerId && draw.chance(60)) parts.push({ ownerId: viewer })
  for (const [key, { kind, to }] of Object.entries(relations)) {
    const target = drafts.find(({ name }) => name === to)
    const inner = target && draw.chance(30) ? comparisonBy(draw, target.fields) : undefined
    if (inner && kind === 'one') parts.push({ [key]: inner })
    else if (inner && !isNew) parts.push({ [key]: draw.of({ some: inner }, { none: inner }) })
  }
  if (parts.length === 0) return {}
  return draw.chance(50) ? { or: parts } : { and: parts }
}

/** The rules of an entity, of which some look at rows. */
const policyBy = (
  draw: Draw,
  drafts: readonly Drafted[],
  of: Pick<Drafted, 'fields' | 'relations'>,
) => {
  const condition = (isNew = false) => conditionBy(draw, drafts, of, isNew)
  const owned = of.fields.ownerId !== undefined
  const read = () =>
    draw.of<DeclaredRule>(
      anyone.where(condition()),
      [anyone.where(condition()), signedIn.where(condition())],
      [signedIn.where(condition())],
    )
  const update = signedIn.where(condition())
  return {
    read: draw.chance(40) ? read() : owned ? self('ownerId') : draw.of(anyone, anyone, signedIn),
    create: draw.chance(20) ? signedIn.where(condition(true)) : signedIn,
    update: draw.chance(30)
      ? draw.of<DeclaredRule>(update, [update, signedIn.where(condition()).becoming(condition())])
      : owned
        ? draw.of<Rule>(signedIn, self('ownerId'))
        : signedIn,
    delete: draw.chance(20) ? signedIn.where(condition()) : signedIn,
  }
}

const entityBy = (draw: Draw, drafts: readonly Drafted[], drafted: Drafted): Entity => {
  const { name, fields, relations } = drafted
  const { chance } = draw
  const owned = chance(30)
  const all: Record<string, Field> = owned
    ? {
        ...fields,
        ownerId: reference('member', { onDelete: 'cascade', ...fixed, initial: 'viewer' }),
      }
    : { ...fields }
  // A field that is readable by row is in no list's filters and sorts, and nothing is computed of it.
  const terms = fields.made?.computed ? fieldsIn(fields.made.computed) : []
  const veiled = Object.entries(all).find(
    ([key, { scalar, unique }]) =>
      ['flag', 'int', 'money', 'time', 'file'].includes(scalar) &&
      !unique &&
      !['revision', 'createdAt', 'updatedAt', ...terms].includes(key) &&
      chance(25),
  )
  const listed = { ...all }
  if (veiled) {
    const [key, field] = veiled
    delete listed[key]
    all[key] = {
      ...field,
      readableBy: anyone.where(conditionBy(draw, drafts, { ...drafted, fields: listed })),
    }
  }
  const given = Object.entries(all).filter(
    ([key, { foldedFrom, computed }]) =>
      !computed &&
      key !== veiled?.[0] &&
      !['id', 'revision', 'createdAt', 'updatedAt'].includes(key) &&
      !foldedFrom,
  )
  const counted = given.filter(
    ([, { nullable, scalar, range }]) =>
      !nullable && isComparable(scalar) && (scalar !== 'text' || (range?.max ?? 0) <= 254),
  )
  const changes = given.some(([, { immutable }]) => !immutable)
  const nullable = Object.entries(all).flatMap(([key, { references, nullable }]) =>
    references && nullable ? [[`the_${key}`, `/${references.entity}s/{${key}}`]] : [],
  )
  const small = counted
    .filter(([, { scalar, values }]) => scalar !== 'text' || values)
    .map(([key]) => key)
  const hasRevision = fields.revision !== undefined
  const searched = given.flatMap(([key, { scalar, initial }]) =>
    scalar === 'text' && !(typeof initial === 'object' && 'slugOf' in initial)
      ? [[key, draw.upTo(3, 1)]]
      : [],
  )
  return entity({
    table: `${name.toLowerCase()}s`,
    plural: `${name}s`,
    description: name,
    fields: all,
    relations,
    policy: policyBy(draw, drafts, { fields: all, relations }),
    ...(chance(70) && { links: { self: `/${name}s/{id}`, ...Object.fromEntries(nullable) } }),
    rest: {
      list: true,
      one: true,
      selectable: false,
      writes: hasRevision ? ['create', 'update', 'delete'] : ['create', 'delete'],
      listing: listingBy(draw, listed),
    },
    graphql: {
      paged: chance(50),
      filters: given
        .filter(([, { scalar }]) => isComparable(scalar) && chance(50))
        .map(([key]) => key),
      mutations: hasRevision && changes ? ['create', 'update'] : ['create'],
    },
    ...(chance(50) && { counted: counted.filter(() => chance(50)).map(([key]) => key) }),
    ...(searched.length > 0 && chance(60) && { search: Object.fromEntries(searched) }),
    ...(small.length > 1 && chance(25) && { sets: [small.slice(0, 2)] }),
  } as never) as unknown as Entity
}

/** The entity with counts and means of rows below it. */
const keeping = (draw: Draw, entity: Entity, all: Entities): Entity => {
  const fields = { ...entity.fields }
  for (const [key, { kind, to }] of Object.entries(entity.relations)) {
    const target = all[to]
    if (kind !== 'many' || !target || isByRow(target.policy.read) || draw.chance(40)) continue
    // Those whom fewer see would be known by their number.
    const { read: readableBy = anyone } = target.policy
    if (!isForAll(readableBy) && !isSameRule(readableBy, entity.policy.read ?? anyone)) continue
    fields[`${key}Kept`] = count(key, { readableBy })
    const numbers = Object.entries(target.fields).filter(
      ([, { scalar, range, computed, readableBy }]) =>
        ['int', 'decimal'].includes(scalar) &&
        !isByRow(readableBy) &&
        !computed &&
        (range?.max ?? 0) < 1000,
    )
    for (const [of] of numbers.slice(0, 1))
      fields[`${key}Mean`] = avg(`${key}.${of}`, { readableBy })
  }
  return { ...entity, fields }
}

/** Entities of a model, in any order; some with files where it says so. */
export const modelBy = (draw: Draw, hasFiles = false): Entities => {
  const drafts = Array.from(
    { length: draw.upTo(5, 1) },
    (_, n): Drafted => ({
      name: `kind${'ABCDE'[n]}`,
      fields: fieldsBy(draw, hasFiles ? kindsWithFiles : kinds),
      relations: {},
    }),
  )
  relate(draw, drafts)
  const made = drafts.map(draft => [draft.name, entityBy(draw, drafts, draft)] as const)
  const entities = made.map(
    ([name, entity]) => [name, keeping(draw, entity, Object.fromEntries(made))] as const,
  )
  const all = [...entities, ['member', member] as const]
  return Object.fromEntries(draw.chance(50) ? all : all.toReversed())
}
