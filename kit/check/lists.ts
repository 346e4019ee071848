/** Lists as callers may ask for them: conditions, orders, searches, pages by cursors and sums by groups, through both APIs. */
import { type JsonObject, mapped } from '#base/object.ts'
import { oneOf } from '#base/random.ts'
import { named, pathOf } from '#kit/check/callers.ts'
import { type StoredRow, satisfies } from '#kit/check/conditions.ts'
import { askDeclared } from '#kit/check/declared.ts'
import { sameOrFault } from '#kit/check/reads.ts'
import {
  compareNullsLast,
  linkRules,
  memberName,
  type ReferenceRow,
  type RowsReference,
  searchedIn,
  verdict,
  written,
} from '#kit/check/reference.ts'
import { brief, type CheckService, faultOf } from '#kit/check/service.ts'
import { validValue } from '#kit/check/values.ts'
import { groupValues } from '#model/aggregate.ts'
import { type Condition, operatorsOf } from '#model/condition.ts'
import { type Entity, mayNameField, mayNameRelation } from '#model/entity.ts'
import { isOrdering } from '#model/field.ts'
import { entityOf, type Model, typeName } from '#model/model.ts'
import { digitsOf } from '#model/money.ts'
import type { Viewer } from '#model/policy.ts'
import { resourceOf } from '#model/resource.ts'
import { isIn, type Version } from '#model/version.ts'
import { keptWords } from '#model/words.ts'
import { queryParameters } from '#rest/query.ts'
import { type Route, routesOf } from '#rest/routes.ts'

/** Who asks, in which API (a version of REST, or GraphQL), over which rows. */
type Asker = {
  readonly model: Model
  readonly reference: RowsReference
  readonly viewer: Viewer
  readonly version: Version | undefined
  readonly random: () => number
}

/** The fields of an entity that the caller may compare. */
const fieldsFor = ({ model, viewer, version }: Asker, entity: Entity): readonly string[] =>
  Object.entries(entity.fields).flatMap(([key, field]) => {
    const isShown =
      version === undefined
        ? field.graphql === 'shown'
        : field.rest && memberName(key, field, version) !== undefined
    const isOpen = verdict(field.readableBy, viewer, model) === 'yes'
    return isShown && isOpen && mayNameField(entity, key) ? [key] : []
  })

/** The relations that it may cross: to rows of which it may see some. */
const relationsFor = ({ model, viewer }: Asker, entity: Entity) =>
  Object.entries(entity.relations).filter(
    ([key, { to, through = to, graphql }]) =>
      graphql &&
      entityOf(model, to).graphql.type &&
      mayNameRelation(model.entities, entity, key) &&
      [to, through].every(one => verdict(entityOf(model, one).policy.read, viewer, model) !== 'no'),
  )

/** A value to compare a field with: mostly one that a row has. */
const valueFor = ({ reference, random }: Asker, name: string, entity: Entity, key: string) => {
  const field = entity.fields[key]
  const row = oneOf(reference.rowsIn(name), random)
  const own = row && reference.shown(entity, key, row[key] ?? null)
  if (own !== null && own !== undefined) return own
  if (!field || field.scalar === 'id') return 1
  return validValue(`${name}.${key}`, { ...field, nullable: false }, Math.floor(random() * 9))
}

/** A condition on rows of an entity, whose members are those of the model. */
const conditionOn = (asker: Asker, name: string, depth: number): Condition => {
  const { model, random } = asker
  const entity = entityOf(model, name)
  const kind = depth > 0 && random() < 0.4 ? oneOf(['and', 'or', 'not'], random) : undefined
  if (kind === 'not') return { not: conditionOn(asker, name, depth - 1) }
  if (kind) return { [kind]: [1, 2].map(() => conditionOn(asker, name, depth - 1)) }
  const relations = depth > 0 ? relationsFor(asker, entity) : []
  const fields = fieldsFor(asker, entity).filter(key => operatorsOf(entity, key).length > 0)
  const across = random() < 0.4 || fields.length === 0 ? oneOf(relations, random) : undefined
  if (across) {
    const [key, relation] = across
    const inner = random() < 0.2 ? {} : conditionOn(asker, relation.to, depth - 1)
    if (relation.kind === 'one') return { [key]: inner }
    return { [key]: { [random() < 0.6 ? 'some' : 'none']: inner } }
  }
  const key = oneOf(fields, random)
  if (key === undefined) return {}
  const operator = oneOf(operatorsOf(entity, key), random) ?? 'eq'
  const values = [1, 2].map(() => valueFor(asker, name, entity, key))
  const [value] = values
  const isText = operator === 'contains' || operator === 'startsWith'
  const given = (): unknown => {
    if (operator === 'isNull') return random() < 0.5
    if (operator === 'in' || operator === 'notIn') return values
    if (operator === 'has' || operator === 'hasSome') {
      const items = values.flatMap(one => (Array.isArray(one) && one.length > 0 ? [one[0]] : []))
      return operator === 'has' ? (items[0] ?? 'none') : items
    }
    if (isText) return [...String(value)].slice(operator === 'contains' ? 1 : 0, 4).join('') || 'x'
    return operator === 'eq' && random() < 0.2 ? null : value
  }
  return { [key]: { [operator]: given() } } as Condition
}

/** The same condition with the members and values of a version of REST. */
const inRest = (model: Model, name: string, version: Version, condition: Condition): object =>
  Object.fromEntries(
    Object.entries(condition).map(([key, given]): [string, unknown] => {
      const { fields, relations } = entityOf(model, name)
      const inner = (one: unknown, to = name) => inRest(model, to, version, one as Condition)
      if (key === 'and' || key === 'or') return [key, (given as object[]).map(one => inner(one))]
      if (key === 'not') return [key, inner(given)]
      const relation = relations[key]
      if (relation?.kind === 'one') return [key, inner(given, relation.to)]
      if (relation) {
        const [[which = '', of] = []] = Object.entries(given as object)
        return [key, { [which]: inner(of, relation.to) }]
      }
      const field = fields[key]
      const [[operator = '', value] = []] = Object.entries(given as object)
      const isPlain = ['isNull', 'contains', 'startsWith', 'has', 'hasSome'].includes(operator)
      const of = (one: unknown) => (isPlain ? one : written(field, one, version))
      const all = Array.isArray(value) ? value.map(of) : of(value)
      return [memberName(key, field, version) ?? key, { [operator]: all }]
    }),
  )

/** One key of an order: a field, or one of the row that a relation leads to; `isDeclared` keeps its own place for null. */
type OrderKey = {
  readonly path: readonly string[]
  readonly isDown: boolean
  readonly isDeclared: boolean
}

const orderFor = (asker: Asker, entity: Entity): readonly OrderKey[] => {
  const { model, random, version } = asker
  const { sort } = entity.rest.listing
  const ordering = (of: Entity) =>
    fieldsFor(asker, of).filter(key => of.fields[key] && isOrdering(of.fields[key]))
  const across = relationsFor(asker, entity).flatMap(([key, { kind, to }]) =>
    kind === 'one' ? ordering(entityOf(model, to)).map(field => [key, field]) : [],
  )
  const paths = [...ordering(entity).map(key => [key]), ...across]
  return [1, 2].flatMap(() => {
    const path = oneOf(paths, random)
    const isDown = random() < 0.5
    const term = `${isDown ? '-' : ''}${path?.join('.')}`
    const isDeclared =
      version !== undefined &&
      sort?.fields.includes(term) === true &&
      isIn(sort.lifetimes?.[term] ?? {}, version)
    return path ? [{ path, isDown, isDeclared }] : []
  })
}

type Question = {
  readonly where: Condition | undefined
  readonly search: string | undefined
  readonly order: readonly OrderKey[]
}

const questionFor = (asker: Asker, name: string): Question => {
  const { model, reference, random } = asker
  const entity = entityOf(model, name)
  const [searched] = Object.keys(entity.search)
  const texts = searched ? reference.rowsIn(name).map(row => String(row[searched] ?? '')) : []
  const [word = ''] = keptWords(oneOf(texts, random) ?? '').split(' ')
  const where = conditionOn(asker, name, 2)
  return {
    where: Object.keys(where).length > 0 ? where : undefined,
    search: word !== '' && random() < 0.5 ? [...word].slice(0, 5).join('') : undefined,
    order: orderFor(asker, entity),
  }
}

/** The rows among those of a list that a question finds, in its order. */
const rightRows = (
  { model, reference, viewer }: Asker,
  name: string,
  listed: readonly ReferenceRow[],
  { where, search, order }: Question,
): readonly ReferenceRow[] => {
  const { search: weights, relations } = entityOf(model, name)
  const memory = reference.memoryOf(viewer)
  const found = search === undefined ? undefined : new Set(searchedIn(weights, listed, search))
  const rows = listed.filter(
    row =>
      (!where || satisfies(memory, name, row as StoredRow, where)) && (!found || found.has(row.id)),
  )
  const valueAt = (row: ReferenceRow, [head = '', field]: readonly string[]) => {
    if (field === undefined) return row[head] ?? null
    const { to = '', by = '' } = relations[head] ?? {}
    return memory.rows[to]?.find(({ id }) => id === row[by])?.[field] ?? null
  }
  return rows.toSorted((a, b) => {
    for (const { path, isDown, isDeclared } of order) {
      const [one, other] = [valueAt(a, path), valueAt(b, path)]
      const [left, right] = isDown && isDeclared ? [other, one] : [one, other]
      const sign = compareNullsLast(left, right, isDown && !isDeclared)
      if (sign !== 0) return sign
    }
    return a.id - b.id
  })
}

type Grouping = {
  readonly key: string | undefined
  readonly number: string | undefined
  readonly ranged: string | undefined
}

const groupingFor = (asker: Asker, entity: Entity): Grouping => {
  const open = fieldsFor(asker, entity).filter(
    key => entity.fields[key] && isOrdering(entity.fields[key]),
  )
  const named = open.map(key => [key, key] as const)
  const values = [...groupValues(entity, named).values()]
  const of = (kind: string) => {
    const fields = values.flatMap(one =>
      one.kind === kind && 'field' in one && !('part' in one) ? [one.field] : [],
    )
    return oneOf(fields, asker.random)
  }
  return { key: of('key'), number: of('sum'), ranged: of('max') }
}

/** The groups that rows make, as the answers of both APIs have them, by the names of the API. */
const rightGroups = (
  { model, reference, version }: Asker,
  name: string,
  rows: readonly ReferenceRow[],
  { key, number, ranged }: Grouping,
  nameOf: (key: string) => string,
) => {
  const entity = entityOf(model, name)
  const shown = (field: string, value: ReferenceRow[string]) => {
    const plain = reference.shown(entity, field, value)
    if (version !== undefined) return written(entity.fields[field], plain, version)
    return plain !== null && entity.fields[field]?.scalar === 'id' ? String(plain) : plain
  }
  const by = Map.groupBy(rows, row => (key === undefined ? null : (row[key] ?? null)))
  if (key === undefined && rows.length === 0) by.set(null, [])
  return [...by].map(([value, own]) => {
    const numbers = own
      .flatMap(row => (number === undefined ? [] : (row[number] ?? [])))
      .map(Number)
    const sum = numbers.reduce((total, one) => total + one, 0)
    const field = number === undefined ? undefined : entity.fields[number]
    const digits = field ? digitsOf(field, model.settings.currency.digits) : 0
    const mean = Math.sign(sum) * Math.round((Math.abs(sum) * 10_000) / numbers.length)
    const exact = (total: number, decimals: number) =>
      numbers.length === 0 ? null : Number((total / 10 ** decimals).toFixed(decimals))
    const sorted = own
      .flatMap(row => (ranged === undefined ? [] : (row[ranged] ?? [])))
      .toSorted((a, b) => compareNullsLast(a, b, false))
    const [least = null] = sorted
    return {
      ...(key !== undefined && { [nameOf(key)]: shown(key, value) }),
      count: own.length,
      ...(number !== undefined && {
        sum: { [nameOf(number)]: exact(sum, digits) },
        avg: { [nameOf(number)]: exact(mean, digits + 4) },
      }),
      ...(ranged !== undefined && {
        min: { [nameOf(ranged)]: shown(ranged, least) },
        max: { [nameOf(ranged)]: shown(ranged, sorted.at(-1) ?? null) },
      }),
    }
  })
}

/** Groups with numbers for sums and means, which an answer may give as texts, in the order of their keys. */
const inOrder = (groups: readonly Record<string, unknown>[], key = '') => {
  const exact = (value: unknown) => (value === null ? null : Number(value))
  const plain = groups.map(group =>
    mapped(group, (value, part) =>
      part === 'sum' || part === 'avg' ? mapped(value as JsonObject, exact) : value,
    ),
  )
  return plain.toSorted((a, b) =>
    JSON.stringify(a[key] ?? null) < JSON.stringify(b[key] ?? null) ? -1 : 1,
  )
}

/** The rows that a page has; few, so that there are several. */
const pageSize = 3

const askGraphql = async ({ gql }: CheckService, asker: Asker, name: string): Promise<void> => {
  const { model, reference, viewer } = asker
  const entity = entityOf(model, name)
  const { plural, policy } = entity
  const question = questionFor(asker, name)
  const type = typeName(name)
  const order = question.order.map(({ path: [head = '', field], isDown }) => {
    const direction = isDown ? 'DESC' : 'ASC'
    return { [head]: field === undefined ? direction : { [field]: direction } }
  })
  const given = [
    ...(question.where ? [['where', `${type}Where`, question.where] as const] : []),
    ...(order.length > 0 ? [['orderBy', `[${type}Order!]`, order] as const] : []),
    ...(question.search ? [['search', 'String', question.search] as const] : []),
  ]
  const head = [...given.map(([key, type]) => `$${key}: ${type}`), '$after: String'].join(', ')
  const args = given.map(([key]) => `${key}: $${key}`)
  const variables = Object.fromEntries(given.map(([key, , value]) => [key, value]))
  const list = [...args, `first: ${pageSize}`, 'after: $after'].join(', ')
  const page = `page: ${plural}Connection(${list}) { totalCount edges { node { id } } pageInfo { hasNextPage endCursor } }`
  const all = `all: ${plural}(${[...args, 'limit: 100'].join(', ')}) { id }`
  const about = `${plural} by ${named(viewer)} through GraphQL for ${brief(JSON.stringify(variables))}`
  const listed = reference.seen(name, policy.enter ?? policy.read, viewer)
  const right = rightRows(asker, name, listed, question).map(({ id }) => id)
  const found: number[] = []
  let after: string | null = null
  do {
    const first: boolean = after === null
    const answer = await gql(`query (${head}) { ${page} ${first ? all : ''} }`, viewer, {
      ...variables,
      after,
    })
    const { data, errors } = answer.json
    if (errors) throw faultOf(about, 'an answer', brief(answer.text))
    const idsOf = (rows: readonly { readonly id: string }[]) => rows.map(({ id }) => Number(id))
    if (first) {
      sameOrFault(data.page.totalCount, right.length, `the number of ${about}`)
      sameOrFault(idsOf(data.all), right.slice(0, 100), `the ids of ${about}`)
    }
    found.push(...idsOf(data.page.edges.map(({ node }: { node: { id: string } }) => node)))
    after = data.page.pageInfo.hasNextPage ? data.page.pageInfo.endCursor : null
  } while (after !== null && found.length <= right.length)
  sameOrFault(found, right, `the ids on pages by cursors of ${about}`)
  const grouping = groupingFor(asker, entity)
  const { key, number, ranged } = grouping
  const part = [
    key,
    'count',
    number && `sum { ${number} } avg { ${number} }`,
    ranged && `min { ${ranged} } max { ${ranged} }`,
  ]
  const by = [question.where && 'where: $where', key && `groupBy: [${key}]`]
    .filter(Boolean)
    .join(', ')
  const whereHead = question.where ? `query ($where: ${type}Where) ` : ''
  const answer = await gql(
    `${whereHead}{ it: ${plural}Aggregate${by && `(${by})`} { ${part.filter(Boolean).join(' ')} } }`,
    viewer,
    question.where ? { where: question.where } : {},
  )
  if (answer.json.errors) throw faultOf(`groups of ${about}`, 'an answer', brief(answer.text))
  const rows = rightRows(asker, name, listed, { ...question, search: undefined })
  const groups = rightGroups(asker, name, rows, grouping, own => own)
  const what = `groups of ${about}${key ? ` by ${key}` : ''}`
  sameOrFault(inOrder(answer.json.data.it, key), inOrder(groups, key), what)
}

const askRest = async (
  { view, ask }: CheckService,
  asker: Asker,
  route: Route,
  parent: number | undefined,
): Promise<void> => {
  const { model, reference, viewer } = asker
  const { version, prefix, style } = view
  const { entity: name, kind } = route
  const entity = entityOf(model, name)
  const resource = resourceOf(model, name, version)
  const takesWhere = queryParameters(resource, kind, style).includes('where')
  const asked = questionFor(asker, name)
  const question = takesWhere ? asked : { ...asked, where: undefined }
  const member = (of: Entity, key: string) => memberName(key, of.fields[key], version) ?? key
  const query = new URLSearchParams()
  if (question.where)
    query.set('where', JSON.stringify(inRest(model, name, version, question.where)))
  if (question.search) query.set('search', question.search)
  const listed = reference.listed(route, parent, viewer)
  const path = `GET ${pathOf(route, prefix, { parentId: parent })}`
  const refused = (line: string, text: string) =>
    faultOf(`${line} by ${named(viewer)}`, 'an answer', brief(text))
  if (kind === 'aggregate') {
    const grouping = groupingFor(asker, entity)
    const nameOf = (key: string) => member(entity, key)
    const [key, number, ranged] = [grouping.key, grouping.number, grouping.ranged].map(
      one => one && nameOf(one),
    )
    if (key) query.set('group', key)
    for (const part of number ? ['sum', 'avg'] : []) query.set(part, number ?? '')
    for (const part of ranged ? ['min', 'max'] : []) query.set(part, ranged ?? '')
    const line = `${path}?${query}`
    const answer = await ask(line, viewer)
    if (answer.status !== 200) throw refused(line, answer.text)
    const rows = rightRows(asker, name, listed, question)
    const groups = inOrder(rightGroups(asker, name, rows, grouping, nameOf), key)
    return sameOrFault(inOrder(answer.json.data, key), groups, `${line} by ${named(viewer)}`)
  }
  const right = rightRows(asker, name, listed, question).map(({ id }) => id)
  const sort = question.order.map(({ path: [head = '', field], isDown }) => {
    const to = entity.relations[head]?.to
    const term =
      field === undefined
        ? member(entity, head)
        : `${head}.${member(entityOf(model, to ?? ''), field)}`
    return isDown ? `-${term}` : term
  })
  if (sort.length > 0) query.set('sort', sort.join())
  query.set('limit', String(pageSize))
  const found: number[] = []
  let cursor: string | null = ''
  do {
    if (cursor !== '' || entity.rest.listing.paging !== 'cursor') query.set('cursor', cursor)
    const line = `${path}?${query}`
    const answer = await ask(line, viewer)
    if (answer.status !== 200) throw refused(line, answer.text)
    found.push(...answer.json.data.map((row: { id: number }) => row.id))
    cursor = (answer.json.pagination ?? answer.json).nextCursor
  } while (cursor && found.length <= right.length)
  sameOrFault(found, right, `the ids on pages of ${path}?${query} by ${named(viewer)}`)
}

/** Each list and its groups, asked by each caller in words of its own, through both APIs. */
export const checkLists = async (service: CheckService, random: () => number): Promise<void> => {
  const { model, view, callers } = service
  const reference = await service.reference()
  const lists = routesOf(model).filter(
    ({ kind, lifetime, entity }) =>
      (kind === 'list' || (kind === 'aggregate' && view.style.isStrict)) &&
      isIn(lifetime, view.version) &&
      entityOf(model, entity).fields.id?.rest,
  )
  for (const viewer of callers) {
    const isOpen = (name: string) => {
      const { policy } = entityOf(model, name)
      return verdict(policy.enter ?? policy.read, viewer, model) !== 'no'
    }
    const common = { model, reference, viewer, random }
    for (const [name, { graphql, fields }] of Object.entries(model.entities))
      if (graphql.type && graphql.roots && isOpen(name) && fields.id?.graphql === 'shown')
        await askGraphql(service, { ...common, version: undefined }, name)
    for (const route of lists) {
      const { below, entity } = route
      const above = below && entityOf(model, below.entity).policy.read
      const parents = below ? reference.seen(below.entity, above, viewer) : []
      const parent = oneOf(parents, random)
      const isLinked = linkRules(model, route).every(rule => verdict(rule, viewer, model) !== 'no')
      if (!isLinked || !isOpen(entity) || (below && !parent)) continue
      if (view.style.isStrict)
        await askRest(service, { ...common, version: view.version }, route, parent?.id)
      if (route.kind === 'list')
        await askDeclared(service, reference, route, parent?.id, viewer, random)
    }
  }
}
