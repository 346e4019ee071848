/** `duet explain`: prints what follows from an entity: its rules, fields, routes, GraphQL and tables. */
import { own } from '#base/object.ts'
import { readArgs, UsageError, unknownWord } from '#cli/arguments.ts'
import { aligned } from '#cli/terminal.ts'
import { loadConfig } from '#config.ts'
import type { Content } from '#content.ts'
import { definitionsOf } from '#engines/shared/schema.ts'
import { columnName, entityOf, type Model, typeName } from '#model/model.ts'
import { inWords, isForAll, nobody, type Rule } from '#model/policy.ts'
import { resourceOf } from '#model/resource.ts'
import { operationIdOf, routesOf } from '#rest/routes.ts'
import { modelFor, storeOf } from '#serve/store.ts'

export const help = `Usage: duet explain ENTITY [--json]

Prints what an entity is served as: who may do what, its fields, its routes and their parameters in each
version, its GraphQL types, its tables and indexes. What a read costs, and which indexes it uses, is in
the header Server-Timing of its answers in development. It opens no store; the settings say whether it is SQLite or PostgreSQL. --json prints it as an object.`

/** A row of a table that is printed, by the heads of its columns. */
type Line = Readonly<Record<string, string>>
const rulesOf = (model: Model, name: string): readonly Line[] => {
  const { policy } = entityOf(model, name)
  const { roles } = model.viewers
  return (['read', 'enter', 'create', 'update', 'delete'] as const).flatMap(operation => {
    const rule = policy[operation]
    if (operation === 'enter' && !rule) return []
    return [{ operation, 'may be done by': inWords(rule ?? nobody, roles) }]
  })
}

const fieldsOf = (model: Model, name: string, graphql: ReadonlyMap<string, string>) => {
  const entity = entityOf(model, name)
  const { roles } = model.viewers
  const resource = resourceOf(model, name, model.versions.newest)
  const who = (verb: string, rule: Rule) =>
    isForAll(rule)
      ? []
      : [rule.kind === 'nobody' ? `${verb} by the service` : `${verb} by ${inWords(rule, roles)}`]
  return Object.entries(entity.fields).map(([key, field]): Line => {
    const member = resource.members.find(one => one.kind === 'field' && one.field === key)
    const notes = [
      ...(field.nullable ? ['may be null'] : []),
      ...(field.unique === undefined ? [] : ['unique']),
      ...(field.references ? [`refers to ${field.references.entity}`] : []),
      ...(field.values ? [`one of ${field.values.join(', ')}`] : []),
      ...who('read', field.readableBy),
      ...who('set', field.settableBy),
    ]
    return {
      field: key,
      kind: field.scalar,
      column: columnName(key),
      REST: member?.name ?? '-',
      GraphQL: graphql.get(key) ?? '-',
      notes: notes.join('; '),
    }
  })
}

/** Each route of the entity in each version, with the parameters of its query. */
const routesIn = async (content: Content, model: Model, name: string): Promise<readonly Line[]> => {
  const { openApiOf } = await import('#openapi/openapi.ts')
  const routes = routesOf(model).filter(({ entity }) => entity === name)
  const actions = content.actions.filter(({ about, answers }) => [about, answers].includes(name))
  const lines: Line[] = []
  for (const version of model.versions.all) {
    const { paths, components } = await openApiOf(content, version, model)
    type Parameter = { name: string; in: string; $ref?: string }
    type Operation = { operationId?: string; parameters?: Parameter[] }
    const shared = (components as { parameters: Record<string, Parameter> }).parameters
    const ids = new Map<string | undefined, string>([
      ...routes.map(route => [operationIdOf(model, route), ''] as const),
      ...actions.map(({ described, name }) => [described.operationId, name] as const),
    ])
    for (const [path, operations] of Object.entries(paths as object))
      for (const [method, operation] of Object.entries(operations as Record<string, Operation>)) {
        if (!ids.has(operation.operationId)) continue
        const parameters = (operation.parameters ?? []).flatMap(one => {
          const found = one.$ref === undefined ? one : shared[one.$ref.split('/').at(-1) ?? '']
          return found?.in === 'query' && found.name !== 'version' ? [found.name] : []
        })
        lines.push({
          version: String(version),
          route: `${method.toUpperCase()} ${path}`,
          parameters: parameters.join(', ') || '-',
        })
      }
  }
  return lines
}

/** What GraphQL has of the entity: the types of its fields, and its queries and mutations as the schema writes them. */
const graphqlOf = async (content: Content, model: Model, name: string) => {
  const { deriveSchema } = await import('#graphql/schema.ts')
  const { getNamedType, isObjectType } = await import('graphql')
  const { schema } = deriveSchema(model, content.actions)
  const { plural } = entityOf(model, name)
  const type = schema.getType(typeName(name))
  const fields = isObjectType(type) ? Object.values(type.getFields()) : []
  const roots = [schema.getQueryType(), schema.getMutationType()].flatMap(root =>
    Object.values(root?.getFields() ?? {}).flatMap(({ name: field, args, type: answer }) => {
      const { name: answered } = getNamedType(answer)
      const own = typeName(name)
      const isIts =
        [own, `${own}Connection`, `${own}Aggregate`].includes(answered) ||
        [`delete${own}`, `delete${typeName(plural)}`, `update${typeName(plural)}`].includes(field)
      const given = args.map(({ name, type }) => `${name}: ${type}`).join(', ')
      return isIts ? [`${field}${given && `(${given})`}: ${answer}`] : []
    }),
  )
  return { types: new Map(fields.map(({ name, type }) => [name, String(type)])), roots }
}

export const run = async (args: readonly string[], content: Content): Promise<void> => {
  const { values, positionals } = readArgs(args, { json: { type: 'boolean' } }, 1)
  const names = Object.keys(content.entities)
  const [name] = positionals
  if (name === undefined) throw new UsageError(`ENTITY is missing: name one of ${names.join(', ')}`)
  const config = loadConfig(process.env, content.settings)
  const model = modelFor(config, content)
  const entity = own(model.entities, name)
  if (!entity) throw unknownWord('entity', name, names)
  const { ddl } = await storeOf(config, content)
  const { types, roots } = await graphqlOf(content, model, name)
  const definitions = definitionsOf(ddl, model.entities).filter(
    one => one.of === entity.table || (one.of === undefined && one.name === entity.table),
  )
  const explained: Readonly<Record<string, string | readonly Line[] | readonly string[]>> = {
    entity: name,
    description: entity.description,
    rules: rulesOf(model, name),
    fields: fieldsOf(model, name, types),
    routes: await routesIn(content, model, name),
    graphql: roots,
    store: definitions.map(({ text }) => text),
  }
  if (values.json === true)
    return void process.stdout.write(`${JSON.stringify(explained, null, 2)}\n`)
  const parts = Object.entries(explained).flatMap(([part, told]) => {
    if (typeof told === 'string' || told.length === 0) return []
    const heads = Object.keys(told[0] ?? {})
    const lines =
      typeof told[0] === 'string'
        ? told.map(line => String(line).replaceAll('\n', '\n  '))
        : aligned([
            heads,
            ...(told as readonly Line[]).map(line => heads.map(head => line[head] ?? '')),
          ])
    return [[part, ...lines].join('\n  ')]
  })
  process.stdout.write(`${name}: ${entity.description}\n\n${parts.join('\n\n')}\n`)
}
