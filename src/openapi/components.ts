/** The schemas of a document: objects, lists, inputs and errors. */

import { entityOf, typeName } from '#model/model.ts'
import type { JsonSchema } from '#model/operation-docs.ts'
import { resourceOf } from '#model/resource.ts'
import { isIn } from '#model/version.ts'
import { describedSchemas } from '#openapi/described.ts'
import { exampleOf, listExample } from '#openapi/examples.ts'
import { inputOf } from '#openapi/operations.ts'
import type { Parts } from '#openapi/parts.ts'
import { errorSchema } from '#openapi/responses.ts'
import {
  inputSchema,
  objectOf,
  objectSchema,
  refTo,
  type Schemas,
  withEmbedded,
} from '#openapi/schemas.ts'
import type { Route } from '#rest/routes.ts'
import { listNameOf } from '#rest/routes.ts'

const count = { type: 'integer', minimum: 0 } as const
const flag = { type: 'boolean' } as const
const nullable = ['string', 'null'] as const
const cursor = { type: nullable, description: 'The cursor of the next page; null on the last one.' }
const noCursor = {
  type: nullable,
  description:
    'Always null here, where pages have numbers: ask for the next `page` while `hasNext`.',
}
const limit = { ...count, description: 'How many to a page.' }

/** The schemas of what lists have beside `data`. */
const pageSchemas = ({ style }: Parts): Schemas => {
  const numbered = { page: count, total: count, totalPages: count }
  if (style.lists !== 'uniform')
    return { Pagination: objectOf({ ...numbered, limit, hasNext: flag, hasPrev: flag }) }
  const byCursor = { limit, hasNext: flag, nextCursor: cursor }
  return {
    CursorPagination: objectOf(byCursor),
    Pagination: objectOf({ ...byCursor, nextCursor: noCursor, ...numbered, hasPrev: flag }),
  }
}

const listSchema = ({ model, style }: Parts, name: string): JsonSchema => {
  const data = { type: 'array', items: refTo(typeName(name)) }
  const isByCursor = entityOf(model, name).rest.listing.paging === 'cursor'
  if (!isByCursor) return objectOf({ data, pagination: refTo('Pagination') })
  return style.lists === 'uniform'
    ? objectOf({ data, pagination: refTo('CursorPagination') })
    : objectOf({ data, nextCursor: cursor })
}

const inputSchemas = (parts: Parts, routes: readonly Route[]): Schemas =>
  Object.fromEntries(
    routes.flatMap(route => {
      const made = inputOf(parts, route)
      const resource = resourceOf(parts.model, route.entity, parts.version)
      return made ? [[made.name, inputSchema(parts.model, resource, made.input)]] : []
    }),
  )

const listedIn = (routes: readonly Route[]): readonly string[] => [
  ...new Set(routes.filter(({ kind }) => kind === 'list').map(({ entity }) => entity)),
]

/** The entities whose objects are answers by themselves. */
const answeredIn = ({ actions }: Parts, routes: readonly Route[]): readonly string[] => [
  ...new Set([
    ...routes.map(({ entity }) => entity),
    ...actions.flatMap(({ answers }) => answers ?? []),
  ]),
]

const describedIn = ({ actions, extras, version }: Parts): Schemas =>
  Object.assign(
    {},
    ...[...actions, ...extras]
      .filter(operation => isIn(operation, version))
      .map(({ described }) => describedSchemas(described)),
  )

/** All the schemas of a document with these routes and error codes. */
export const schemasOf = (
  parts: Parts,
  routes: readonly Route[],
  codes: readonly string[],
): Schemas => {
  const { model, version } = parts
  // Those of the routes and actions, and those that they embed.
  const shown = withEmbedded(model, answeredIn(parts, routes), version)
  const objects = shown.map(name => [
    typeName(name),
    objectSchema(resourceOf(model, name, version)),
  ])
  const lists = listedIn(routes).map(name => [listNameOf(name), listSchema(parts, name)])
  return {
    ...Object.fromEntries([...objects, ...lists]),
    ...inputSchemas(parts, routes),
    ...describedIn(parts),
    ...pageSchemas(parts),
    Link: { description: 'Where to find something.', ...objectOf({ href: { type: 'string' } }) },
    ...errorSchema(parts, codes),
  }
}

/** The examples of a document, by the schemas that they show. */
export const examplesOf = (parts: Parts, routes: readonly Route[]): Schemas => {
  const isMade = (name: string) => parts.rows[name] !== undefined
  const objects = answeredIn(parts, routes)
    .filter(isMade)
    .map(name => [typeName(name), { value: exampleOf(parts, name) }])
  const lists = listedIn(routes)
    .filter(isMade)
    .map(name => {
      const path = `/${entityOf(parts.model, name).plural}`
      return [listNameOf(name), { value: listExample(parts, name, path) }]
    })
  return Object.fromEntries([...objects, ...lists])
}
