/** The OpenAPI 3.1.1 document of a version of the REST API, derived from all that it is made of. */
import { program, versionPath } from '#base/paths.ts'
import type { Content } from '#content.ts'
import { entityOf, type Model, typeName } from '#model/model.ts'
import type { JsonSchema } from '#model/operation-docs.ts'
import { resourceOf } from '#model/resource.ts'
import { isIn, type Version } from '#model/version.ts'
import { exampleOf, listExample } from '#openapi/examples.ts'
import {
  type DocumentOperation,
  describedOperation,
  routeOperation,
  tagOf,
} from '#openapi/operations.ts'
import { parameter, sharedParameters } from '#openapi/parameters.ts'
import { type DocumentParts, partsOf } from '#openapi/parts.ts'
import { errorSchema, headers } from '#openapi/responses.ts'
import {
  bulkSchema,
  comparedSchemas,
  fileSchema,
  groupsSchema,
  inputSchema,
  marksOf,
  membersSchema,
  objectOf,
  objectSchema,
  partialSchema,
  refTo,
  type Schemas,
} from '#openapi/schemas.ts'
import { whereNameOf, whereSchemas } from '#openapi/where.ts'
import { documentedIn, groupsNameOf, listNameOf, partialNameOf } from '#rest/routes.ts'
import type { Lifecycle } from '#versions/deprecation.ts'

export type OpenApi = JsonSchema & {
  readonly openapi: string
  /** The operations of each path by method, and the parameters of all of them. */
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, JsonSchema | readonly JsonSchema[]>>>
  >
  readonly components: Readonly<Record<string, Schemas>>
}

const about = `Objects, lists and errors are JSON. A list is answered page by page; QUERY (RFC 10008) asks for it as GET does, with query parameters in a body. An unknown member of a body is refused.
A GET answers with an ETag, and with 304 where If-None-Match names it. If-Match guards PUT, PATCH, DELETE and actions against lost updates.
With an Idempotency-Key a POST or a PATCH may be sent again without a second effect.
New members and links may appear without notice: ignore those you do not know.`

const securitySchemes = {
  bearer: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: `A JSON Web Token, from the operator of the service; \`${program} token\` makes one with its secret.`,
  },
} as const

/** Those of the shared parts of a kind that a text refers to. */
const usedIn = (text: string, kind: string, shared: Schemas): Schemas => {
  const references = text.matchAll(new RegExp(`"#/components/${kind}/([^"]+)"`, 'g'))
  const used = new Set(references.map(([, name]) => name))
  return Object.fromEntries(Object.entries(shared).filter(([name]) => used.has(name)))
}

/** The schemas that a text refers to, and those that they refer to in turn. */
const reachedFrom = (text: string, schemas: Schemas): Schemas => {
  const used = usedIn(text, 'schemas', schemas)
  const more = text + JSON.stringify(used)
  const isAll = Object.keys(usedIn(more, 'schemas', schemas)).length === Object.keys(used).length
  return isAll ? used : reachedFrom(more, schemas)
}

/** Lets operations refer to the parameters that several have alike; gives those too, by names such as `books.sort`, or `limit`. */
const sharingParameters = (operations: readonly DocumentOperation[], named: Schemas) => {
  const parametersOf = ({ operation }: DocumentOperation) =>
    operation.parameters as readonly JsonSchema[]
  const all = operations.flatMap(one =>
    parametersOf(one).map(parameter => ({ text: JSON.stringify(parameter), tag: tagOf(one.path) })),
  )
  const uses = Map.groupBy(all, ({ text }) => text)
  const known = new Map<string, string>()
  const shared: Record<string, JsonSchema> = {}
  const referring = (parameter: JsonSchema): JsonSchema => {
    const text = JSON.stringify(parameter)
    const [first, ...others] = uses.get(text) ?? []
    if (parameter.$ref !== undefined || others.length === 0) return parameter
    const name = known.getOrInsertComputed(text, () => {
      const own = String(parameter.name).replaceAll('[', '.').replaceAll(']', '')
      const plain = others.every(({ tag }) => tag === first?.tag) ? `${first?.tag}.${own}` : own
      // Another parameter may have the name.
      let name = plain
      for (let count = 2; shared[name] || named[name]; count++) name = `${plain}.${count}`
      shared[name] = parameter
      return name
    })
    return { $ref: `#/components/parameters/${name}` }
  }
  return {
    operations: operations.map(one => ({
      ...one,
      operation: { ...one.operation, parameters: parametersOf(one).map(referring) },
    })),
    alike: shared,
  }
}

const count = { type: 'integer', minimum: 0 } as const
const flag = { type: 'boolean' } as const
const nullable = ['string', 'null'] as const
const cursor = { type: nullable, description: 'The cursor of the next page; null on the last one.' }
const prevCursor = {
  type: nullable,
  description:
    'The cursor of the page before, of a page by cursors in an order; null on the first one.',
}
const limit = { ...count, description: 'How many to a page.' }

/** What makes the schema of an entity's list, whole or of another schema of its objects, and the schemas of the paging that lists have beside `data`. */
const listSchemas = ({ model, style }: DocumentParts) => {
  const isUniform = style.lists === 'uniform'
  // Lists of a strict version have cursors for any order.
  const schemaOf = (needed: Schemas, more: Schemas): JsonSchema =>
    style.isStrict ? objectOf({ ...needed, ...more }, Object.keys(needed)) : objectOf(needed)
  const listSchema = (name: string, object = typeName(name)): JsonSchema => {
    const data = { type: 'array', items: refTo(object) }
    const isByCursor = entityOf(model, name).rest.listing.paging === 'cursor'
    if (!isByCursor) return objectOf({ data, pagination: refTo('Pagination') })
    return isUniform
      ? objectOf({ data, pagination: refTo('CursorPagination') })
      : schemaOf({ data, nextCursor: cursor }, { prevCursor })
  }
  const numbered = { page: count, total: count, totalPages: count }
  const byCursor = { limit, hasNext: flag, nextCursor: cursor }
  return {
    listSchema,
    pages: isUniform
      ? {
          CursorPagination: schemaOf(byCursor, { hasPrev: flag, prevCursor }),
          Pagination: schemaOf({ ...byCursor, ...numbered, hasPrev: flag }, { prevCursor }),
        }
      : {
          Pagination: schemaOf(
            { ...numbered, limit, hasNext: flag, hasPrev: flag },
            { nextCursor: cursor, prevCursor },
          ),
        },
  }
}

/** What the document of a version that comes to its end says first; undefined while it is offered. */
const noticeOf = (
  { version, state, from, end }: Lifecycle,
  newest: Version,
): string | undefined => {
  if (state === 'offered') return undefined
  if (state === 'withdrawn') return `Version ${version} ended on ${end}: use version ${newest}.`
  return `Version ${version} is deprecated since ${from}${end === undefined ? '' : ` and ends on ${end}`}: use version ${newest}.`
}

/**
 * The document of a content for a version, with a model of an operator's settings or of the usual ones; of a version that
 * its lifecycle says is deprecated or withdrawn it says so. Throws a plain error of one sentence that names an error code
 * that cannot be described.
 */
export const openApiOf = async (
  content: Content,
  version: Version,
  usual?: Model,
  lifecycle?: Lifecycle,
): Promise<OpenApi> => {
  const parts = await partsOf(content, version, usual)
  const { model, rows, shared, style } = parts
  const others = [...parts.actions, ...parts.extras]
  const documented = documentedIn(model, others, version)
  const { answered, objects, lists, chosen, groups, inputs, bodies } = documented

  const lived = lifecycle?.version === version ? lifecycle : undefined
  const notice = lived && noticeOf(lived, model.versions.newest)
  const sunset = lived?.end
  const marks =
    notice === undefined ? {} : marksOf({ deprecated: notice, ...(sunset && { sunset }) })

  // The operations by path and method. Paths that differ in the names of their parameters alone are one.
  const named = sharedParameters(version)
  const all = [
    ...documented.routes.map(route => routeOperation(parts, route)),
    ...others.filter(other => isIn(other, version)).map(other => describedOperation(parts, other)),
  ]
  // Strict versions have a parameter for each member that is compared.
  const { operations, alike } = style.isStrict
    ? sharingParameters(all, named)
    : { operations: all, alike: {} }
  const parameters = ['version', 'apiVersion', 'requestId'].map(parameter)
  const byPath = Map.groupBy(operations, ({ path }) => path.replace(/\{\w+\}/g, '{}'))
  const paths = Object.fromEntries(
    [...byPath.values()].map(group => {
      const methods = group.map(({ method, operation }) => [method, { ...operation, ...marks }])
      return [group[0]?.path ?? '', { parameters, ...Object.fromEntries(methods) }]
    }),
  )
  const text = JSON.stringify([paths, ...shared.values()])
  const tags = [...new Set(operations.map(({ path }) => tagOf(path)))].map(name => {
    const entity = Object.values(model.entities).find(({ plural }) => plural === name)
    return { name, description: entity?.description ?? `Everything below /${name}.` }
  })

  const codes = [...shared.values()].flatMap(response => (response['x-codes'] ?? []) as string[])
  const { listSchema, pages } = listSchemas(parts)
  const resource = (name: string) => resourceOf(model, name, version)
  const bulked = documented.routes.flatMap(({ kind, entity }) => (kind === 'bulk' ? [entity] : []))
  const byName = <Part>(part: readonly Part[], entryOf: (part: Part) => [string, JsonSchema]) =>
    Object.fromEntries(part.map(entryOf))
  const schemas: Schemas = {
    ...byName(objects, name => [typeName(name), objectSchema(model, resource(name))]),
    ...byName(lists, name => [listNameOf(name), listSchema(name)]),
    ...byName([...new Set([...chosen.values()].map(({ entity }) => entity))], name => [
      partialNameOf(typeName(name)),
      partialSchema(objectSchema(model, resource(name))),
    ]),
    ...byName(
      [...chosen].filter(([, { isList }]) => isList),
      ([name, { entity }]) => [
        partialNameOf(name),
        listSchema(entity, partialNameOf(typeName(entity))),
      ],
    ),
    ...byName(groups, name => [groupsNameOf(name), groupsSchema(resource(name))]),
    ...byName(inputs, ({ name, route }) => [
      name,
      route.kind === 'bulk'
        ? bulkSchema(model, resource(route.entity), refTo(whereNameOf(route.entity)))
        : inputSchema(model, resource(route.entity), route),
    ]),
    ...byName(bodies, body => [
      body.name,
      'input' in body ? membersSchema(body.input) : body.schema,
    ]),
    ...whereSchemas(model, [...(style.isStrict ? lists : []), ...bulked], version),
    ...pages,
    ...(bulked.length > 0 && {
      BulkWrite: objectOf({
        count,
        ids: { type: 'array', items: { type: 'integer', format: 'int64' } },
      }),
    }),
    ...(groups.length > 0 && comparedSchemas),
    ...(Object.values(model.entities).some(({ fields }) =>
      Object.values(fields).some(({ file, rest }) => file && rest),
    ) && { StoredFile: fileSchema }),
    Link: { description: 'Where to find something.', ...objectOf({ href: { type: 'string' } }) },
    ...errorSchema(parts, [...new Set(codes)].toSorted()),
  }
  const isMade = (name: string) => rows[name] !== undefined
  const examples = {
    ...byName(answered.filter(isMade), name => [typeName(name), { value: exampleOf(parts, name) }]),
    ...byName(lists.filter(isMade), name => [
      listNameOf(name),
      { value: listExample(parts, name) },
    ]),
  }
  return {
    openapi: '3.1.1',
    info: {
      title: `${content.title}, version ${version}`,
      version: String(version),
      description: [notice, content.description, about].filter(text => text).join('\n\n'),
      ...(content.contact && { contact: content.contact }),
      ...(content.license && { license: content.license }),
    },
    servers: [{ url: versionPath(version) }],
    tags,
    paths,
    components: {
      schemas: reachedFrom(text + JSON.stringify([alike, named, headers]), schemas),
      parameters: { ...usedIn(text, 'parameters', named), ...alike },
      headers: usedIn(text, 'headers', headers),
      responses: Object.fromEntries(shared),
      examples,
      securitySchemes,
    },
  }
}
