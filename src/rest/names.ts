/** What the operations of routes and the schemas of their bodies are called in documents, and so in clients. */
import { entityOf, type Model, typeName } from '#model/model.ts'
import type { Route } from '#rest/routes.ts'

type Named = Pick<Model, 'entities'>

/** The name of the relation of a nested route, below its parent. */
export const relationOf = (path: string): string => path.split('/')[3] ?? ''

/** The parent of a nested route and the name of its things below it. */
const belowOf = (model: Named, { below, entity, path }: Route) => {
  if (!below) return undefined
  const key = relationOf(path)
  const { relations } = entityOf(model, below.entity)
  const same = Object.values(relations).filter(({ to, rest }) => rest && to === entity)
  return { parent: below.entity, key, thing: same.length > 1 ? key : entity }
}

/** The name of a route's operation in clients: `listParentThings`, `createThing`. */
export const operationIdOf = (model: Named, route: Route): string => {
  const below = belowOf(model, route)
  const { plural } = entityOf(model, route.entity)
  const verb = route.kind === 'one' ? 'get' : route.kind
  if (!below) return `${verb}${typeName(route.kind === 'list' ? plural : route.entity)}`
  const thing = route.kind === 'list' ? below.key : below.thing
  return `${verb}${typeName(below.parent)}${typeName(thing)}`
}

/** The name of the schema of what a route takes: `ParentThingCreate`, `ThingUpdate`; undefined where it takes nothing. */
export const inputNameOf = (model: Named, route: Route): string | undefined => {
  const { kind, entity } = route
  if (kind === 'list' || kind === 'one' || kind === 'delete') return undefined
  const { parent = '', thing = entity } = belowOf(model, route) ?? {}
  return `${typeName(parent)}${typeName(thing)}${typeName(kind)}`
}

/** The name of the schema of a list of an entity. */
export const listNameOf = (entity: string): string => `${typeName(entity)}List`

/** The name of the schema of the JSON that an operation which describes itself takes. */
export const bodyNameOf = (operationId: string): string => `${typeName(operationId)}Body`

/** The name of the schema of the JSON that it answers with, where that is no entity. */
export const answerNameOf = (operationId: string): string => `${typeName(operationId)}Answer`
