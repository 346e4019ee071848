/** The routes of the REST API as data, derived from the model, and the names that documents, and so clients, have for their operations and the schemas of their bodies. */
import type { Relation } from '#model/entity.ts'
import type { Field } from '#model/field.ts'
import { entityOf, type Model, typeName } from '#model/model.ts'
import { linkOf } from '#model/names.ts'
import type { OperationDocs } from '#model/operation-docs.ts'
import { bulkKinds } from '#model/parts.ts'
import { nobody, type Rule } from '#model/policy.ts'
import { resourceOf } from '#model/resource.ts'
import { isIn, type Lifetime, lifetimeOf, type Version, type Versions } from '#model/version.ts'
import type { VersionedRoute } from '#versions/differences.ts'

const methods = {
  list: 'GET',
  aggregate: 'GET',
  one: 'GET',
  create: 'POST',
  replace: 'PUT',
  update: 'PATCH',
  delete: 'DELETE',
  link: 'PUT',
  unlink: 'DELETE',
  bulk: 'POST',
} as const

type RouteKind = keyof typeof methods

/** Whether routes of a kind only read. */
export const isReading = (kind: RouteKind): kind is 'list' | 'aggregate' | 'one' =>
  methods[kind] === 'GET'

export type Route = {
  readonly kind: RouteKind
  readonly method: (typeof methods)[RouteKind]
  readonly path: string
  readonly entity: string
  /** The parent that a nested path names: `/things/{thingId}/parts`. */
  readonly below?:
    | {
        readonly entity: string
        readonly field: string
        /** The entity whose rows link the two, by its `field` for the parent and `of` for the thing. */
        readonly through?: { readonly entity: string; readonly of: string }
      }
    | undefined
  /** The versions that have it. */
  readonly lifetime: Lifetime
}

/** What the routes of a model follow from. */
type Routed = Pick<Model, 'entities' | 'versions'>

const route = (
  kind: RouteKind,
  path: string,
  entity: string,
  lifetime: Lifetime = {},
  below?: Route['below'],
): Route => ({ kind, method: methods[kind], path, entity, lifetime, below })

/** What may be done to the links of a relation below a row, by the rules that the entity which links has. */
const linkKinds = (
  model: Pick<Model, 'entities'>,
  { nestedWrites, through }: Relation,
): readonly ('link' | 'unlink')[] => {
  if (!nestedWrites || through === undefined) return []
  const { policy } = entityOf(model, through)
  const isOpen = (rule: Rule | undefined) => rule !== undefined && rule.kind !== 'nobody'
  return [
    ...(isOpen(policy.create) ? (['link'] as const) : []),
    ...(isOpen(policy.delete) ? (['unlink'] as const) : []),
  ]
}

/** The entity and the operations of whose rules a route that writes passes one; none for one that reads. */
export const rightsOf = (model: Pick<Model, 'entities'>, { kind, entity, below }: Route) => {
  const through = below?.through?.entity ?? entity
  if (isReading(kind)) return { entity, operations: [] }
  if (kind === 'bulk') return { entity, operations: bulkKinds(entityOf(model, entity)) }
  if (kind === 'link') return { entity: through, operations: ['create'] as const }
  if (kind === 'unlink') return { entity: through, operations: ['delete'] as const }
  return { entity, operations: [kind === 'replace' ? 'update' : kind] as const }
}

/** The rule that a route which writes passes; undefined for one that reads. */
export const ruleOfRoute = (model: Pick<Model, 'entities'>, route: Route): Rule | undefined => {
  const { entity, operations } = rightsOf(model, route)
  const { policy } = entityOf(model, entity)
  const rules = operations.map(operation => policy[operation] ?? nobody)
  return rules.length > 1 ? { kind: 'any of', rules } : rules[0]
}

/** The first version from which on all are strict; undefined if the newest is not. */
const strictSince = ({ all, newest, styleOf }: Versions): Version | undefined => {
  const lenient = all.findLast(version => !styleOf(version).isStrict)
  if (lenient === newest) return undefined
  return lenient === undefined ? all[0] : all.find(version => version > lenient)
}

/** All plain routes of the model, in the model's order: each entity's own routes, then the routes nested below its rows. */
export const routesOf = (model: Routed): readonly Route[] => {
  const since = strictSince(model.versions)
  return Object.entries(model.entities).flatMap(([name, entity]) => {
    const { rest, plural, relations } = entity
    const all = `/${plural}`
    const each = `/${plural}/:id`
    const { lifetimes } = rest
    const nested = Object.entries(relations).flatMap(([key, relation]) => {
      if (relation.kind !== 'many' || !relation.rest) return []
      const target = entityOf(model, relation.to).rest
      const { through } = relation
      const link = through === undefined ? undefined : linkOf(model.entities, name, relation)
      const below = {
        entity: name,
        field: link?.by ?? relation.by,
        ...(through !== undefined && link && { through: { entity: through, of: link.of } }),
      }
      const lifetime = { ...target.lifetimes.all, ...lifetimeOf(relation) }
      const path = `/${plural}/:parentId/${key}`
      return [
        route('list', path, relation.to, lifetime, below),
        ...linkKinds(model, relation).map(kind =>
          route(kind, `${path}/:id`, relation.to, lifetime, below),
        ),
        // Links may be made and deleted as rows of their own, too.
        ...(link ? [] : target.nested).map(kind => {
          const own = { ...lifetime, ...target.lifetimes[`nested ${kind}`] }
          return route(kind, kind === 'create' ? path : `${path}/:id`, relation.to, own, below)
        }),
      ]
    })
    return [
      ...(rest.list ? [route('list', all, name, lifetimes.list)] : []),
      ...(rest.list && since !== undefined
        ? [
            route('aggregate', `${all}/aggregate`, name, {
              ...lifetimes.list,
              since: Math.max(since, lifetimes.list?.since ?? since),
            }),
          ]
        : []),
      ...(rest.one ? [route('one', each, name, lifetimes.one)] : []),
      ...rest.writes.map(kind =>
        route(kind, kind === 'create' ? all : each, name, lifetimes[kind]),
      ),
      ...(bulkKinds(entity).length > 0
        ? [route('bulk', `${all}/bulk`, name, lifetimes.create ?? lifetimes.all)]
        : []),
      ...nested,
    ]
  })
}

/** The name of the relation of a nested route, below its parent. */
export const relationOf = (path: string): string => path.split('/')[3] ?? ''

/** The parent of a nested route and the name of its things below it. */
const belowOf = (model: Pick<Model, 'entities'>, { below, entity, path }: Route) => {
  if (!below) return undefined
  const key = relationOf(path)
  const { relations } = entityOf(model, below.entity)
  const same = Object.values(relations).filter(({ to, rest }) => rest && to === entity)
  return { parent: below.entity, key, thing: same.length > 1 ? key : entity }
}

/** The name of a route's operation in clients: `listParentThings`, `createThing`. */
export const operationIdOf = (model: Pick<Model, 'entities'>, route: Route): string => {
  const below = belowOf(model, route)
  const { plural } = entityOf(model, route.entity)
  const verb = route.kind === 'one' ? 'get' : route.kind
  const isMany = ['list', 'aggregate', 'bulk'].includes(route.kind)
  if (!below) return `${verb}${typeName(isMany ? plural : route.entity)}`
  const thing = route.kind === 'list' ? below.key : below.thing
  return `${verb}${typeName(below.parent)}${typeName(thing)}`
}

/** The name of the schema of the body that a route takes: `ParentThingCreate`, `ThingUpdate`; undefined if it takes nothing. */
export const inputNameOf = (model: Pick<Model, 'entities'>, route: Route): string | undefined => {
  const { kind, entity } = route
  if (kind !== 'create' && kind !== 'replace' && kind !== 'update' && kind !== 'bulk')
    return undefined
  const { parent = '', thing = entity } = belowOf(model, route) ?? {}
  return `${typeName(parent)}${typeName(thing)}${typeName(kind)}`
}

/** The name of the schema of the groups of an entity's rows. */
export const groupsNameOf = (entity: string): string => `${typeName(entity)}Aggregate`

/** The name of the schema of a list of an entity. */
export const listNameOf = (entity: string): string => `${typeName(entity)}List`

/** The name of the schema of the form that an object or a list has where its members are chosen. */
export const partialNameOf = (schema: string): string => `Partial${schema}`

/** A route that itself describes the bodies it takes and answers with. */
export type DescribedRoute = VersionedRoute & {
  readonly described: OperationDocs
  readonly answers?: string | null
  /** The members of its JSON body, if it does not describe that itself. */
  readonly input?: Readonly<Record<string, Field>>
}

const json = 'application/json'

/** The names of the schemas of the JSON that an operation which describes itself takes, and answers with unless that is an entity. */
export const bodyNameOf = (operationId: string): string => `${typeName(operationId)}Body`
export const answerNameOf = (operationId: string): string => `${typeName(operationId)}Answer`

/** The objects and lists of which a caller may choose members, each once. */
const chosenIn = ({ entities }: Routed, routes: readonly Route[]) => {
  const read = routes.filter(
    ({ kind, entity }) =>
      (kind === 'list' || kind === 'one') && entities[entity]?.rest.selectable === true,
  )
  const named = read.map(({ kind, entity }) => {
    const isList = kind === 'list'
    return [isList ? listNameOf(entity) : typeName(entity), { entity, isList }] as const
  })
  return new Map(named)
}

/** What the document of a version has schemas of; `others` are the operations that no entity gives. */
export const documentedIn = (
  model: Routed,
  others: readonly DescribedRoute[],
  version: Version,
) => {
  const routes = routesOf(model).filter(({ lifetime }) => isIn(lifetime, version))
  const offered = others.filter(other => isIn(other, version))
  const answered = new Set([
    ...routes.map(({ entity }) => entity),
    ...offered.flatMap(({ answers }) => answers ?? []),
  ])
  const objects = new Set<string>()
  const add = (name: string): void => {
    if (objects.has(name)) return
    objects.add(name)
    const { entity, members } = resourceOf(model, name, version)
    for (const member of members)
      if (member.kind === 'embedded') add(entity.relations[member.name]?.to ?? '')
  }
  for (const name of answered) add(name)
  return {
    routes,
    /** The entities that are answered by themselves, those and all within them, and those that are listed. */
    answered: [...answered],
    objects: [...objects],
    lists: [...new Set(routes.flatMap(({ kind, entity }) => (kind === 'list' ? [entity] : [])))],
    /** The schemas of those of which a caller may choose members: each name, its entity, and whether it is a list. */
    chosen: chosenIn(model, routes),
    groups: routes.flatMap(({ kind, entity }) => (kind === 'aggregate' ? [entity] : [])),
    inputs: routes.flatMap(route => {
      const name = inputNameOf(model, route)
      return name === undefined ? [] : [{ name, route }]
    }),
    /** The JSON that other operations describe, which they take or answer with. */
    bodies: offered.flatMap(route => {
      const { operationId, body, forms } = route.described
      const [taken, answer] = [body?.[json], forms?.[json]]
      const { input } = route
      return [
        ...(input ? [{ name: bodyNameOf(operationId), route, does: 'takes', input }] : []),
        ...(taken ? [{ name: bodyNameOf(operationId), route, does: 'takes', ...taken }] : []),
        ...(answer ? [{ name: answerNameOf(operationId), route, does: 'answers', ...answer }] : []),
      ]
    }),
  }
}
