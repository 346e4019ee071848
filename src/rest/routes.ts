/** The routes of the REST API as data, derived from the model. */
import type { Entity } from '#model/entity.ts'
import { entityOf, type Model } from '#model/model.ts'
import { type Lifetime, lifetimeOf } from '#model/version.ts'

type Named = Pick<Model, 'entities'>

/** The parent that a nested path names: `/things/{thingId}/parts`. */
type Nesting = { readonly entity: string; readonly field: string }

const methods = {
  list: 'GET',
  one: 'GET',
  create: 'POST',
  replace: 'PUT',
  update: 'PATCH',
  delete: 'DELETE',
} as const

type RouteKind = keyof typeof methods

export type Route = {
  readonly kind: RouteKind
  readonly method: (typeof methods)[RouteKind]
  readonly path: string
  readonly entity: string
  readonly below?: Nesting | undefined
  /** The versions that have it. */
  readonly lifetime: Lifetime
}

const route = (
  kind: RouteKind,
  path: string,
  entity: string,
  lifetime: Lifetime = {},
  below?: Nesting,
): Route => ({ kind, method: methods[kind], path, entity, lifetime, below })

const ownRoutes = (name: string, entity: Entity): readonly Route[] => {
  const { rest, plural } = entity
  const all = `/${plural}`
  const each = `/${plural}/:id`
  const { lifetimes } = rest
  const writes = rest.writes.map(kind =>
    route(kind, kind === 'create' ? all : each, name, lifetimes[kind]),
  )
  return [
    ...(rest.list ? [route('list', all, name, lifetimes.list)] : []),
    ...(rest.one ? [route('one', each, name, lifetimes.one)] : []),
    ...writes,
  ]
}

const nestedRoutes = (name: string, entity: Entity, model: Named): readonly Route[] =>
  Object.entries(entity.relations).flatMap(([key, relation]) => {
    if (relation.kind !== 'many' || !relation.rest) return []
    const target = entityOf(model, relation.to)
    const below = { entity: name, field: relation.by }
    const lifetime = { ...target.rest.lifetimes.all, ...lifetimeOf(relation) }
    const all = `/${entity.plural}/:parentId/${key}`
    return [
      route('list', all, relation.to, lifetime, below),
      ...target.rest.nested.map(kind => {
        const own = { ...lifetime, ...target.rest.lifetimes[`nested ${kind}`] }
        return route(kind, kind === 'create' ? all : `${all}/:id`, relation.to, own, below)
      }),
    ]
  })

/** All plain routes of the model, in the model's order. */
export const routesOf = (model: Named): readonly Route[] =>
  Object.entries(model.entities).flatMap(([name, entity]) => [
    ...ownRoutes(name, entity),
    ...nestedRoutes(name, entity, model),
  ])
