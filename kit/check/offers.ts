/** Everything that a content offers to one row or to none, as requests that checks send: plain routes, mutations, actions and routes by hand. */
import { mapped } from '#base/object.ts'
import { type BodyOutcome, inVersion, type Purpose, valuesIfAny } from '#kit/check/bodies.ts'
import { pathOf } from '#kit/check/callers.ts'
import type { ReferenceRow, RowsReference } from '#kit/check/reference.ts'
import { brief, type CheckAnswer, type CheckService } from '#kit/check/service.ts'
import { validValue } from '#kit/check/values.ts'
import type { Entity } from '#model/entity.ts'
import { entityOf, type Model, typeName } from '#model/model.ts'
import { bulkKinds, partRelations } from '#model/parts.ts'
import type { Rule, Viewer } from '#model/policy.ts'
import { isIn } from '#model/version.ts'
import { type Route, rightsOf, routesOf } from '#rest/routes.ts'

/** What became of a request, in the words of neither API. */
export type RequestOutcome =
  | 'done'
  | 'unauthenticated'
  | 'refused'
  | 'absent'
  | 'conflict'
  | 'invalid'

const outcomes: Readonly<Record<string, RequestOutcome>> = {
  401: 'unauthenticated',
  403: 'refused',
  404: 'absent',
  409: 'conflict',
  UNAUTHENTICATED: 'unauthenticated',
  FORBIDDEN: 'refused',
  NOT_FOUND: 'absent',
  VALIDATION_ERROR: 'invalid',
  BAD_USER_INPUT: 'invalid',
}

/** What became of a request; of an operation of GraphQL, what became of its field `it`. */
export const outcomeOf = ({ status, json }: CheckAnswer, isGraphql = false): RequestOutcome => {
  if (!isGraphql) return outcomes[status] ?? (status < 300 ? 'done' : 'invalid')
  const code = json.errors?.[0]?.extensions?.code
  if (code !== undefined) return outcomes[code] ?? 'conflict'
  if (status >= 400) return 'invalid'
  return json.data?.it === null || json.data?.it === false ? 'absent' : 'done'
}

/** How a caller is refused: one without a token might have one. */
export const refusalOf = ({ id }: Viewer): RequestOutcome =>
  id === null ? 'unauthenticated' : 'refused'

/** A row that a request writes, by field; its parent in the same request, if it has one, by a field of it. */
type Written = {
  readonly entity: string
  readonly values: Readonly<Record<string, unknown>>
  readonly below?: string
}

/** A request that is to be sent, and the rows that it writes. */
export type Draft = {
  readonly line: string
  readonly body: unknown
  readonly told: string
  readonly written: readonly Written[]
}

/** What a request is made for: the n-th of all, by whom, about which row, over which rows, with which outcome. */
type Occasion = {
  readonly viewer: Viewer
  readonly row: ReferenceRow | undefined
  readonly reference: RowsReference
  readonly n: number
  readonly wanted?: BodyOutcome | undefined
  /** Whether a change leaves references as they are: what they name may be hidden. */
  readonly isOwn?: boolean
}

/** A request that callers may send. */
export type Offer = {
  readonly told: string
  readonly isGraphql: boolean
  readonly operation: 'read' | 'create' | 'update' | 'delete' | 'call'
  /** Whose row it reads, makes, changes, deletes, or is about; null for an action about none. */
  readonly entity: string | null
  readonly rule: Rule | undefined
  readonly route?: Route
  /** Whether it makes or ends a link between two rows, again and again. */
  readonly isLink?: boolean
  /** Whether it is an action of steps, which guards the row and the rule itself. */
  readonly hasSteps?: boolean
  /** The rule of the file that it puts or removes, beside that of the row. */
  readonly sets?: Rule | undefined
  /** The request; undefined where none can be made. */
  readonly draft: (occasion: Occasion) => Draft | undefined
}

/** What comes with a new row: rows below it, and links. */
const partsFor = (model: Model, purpose: Purpose) => {
  const body: Record<string, unknown> = {}
  const written: Written[] = []
  if (purpose.mode === 'create')
    for (const { key, entity, by, of, words, relation } of partRelations(
      model,
      purpose.entity,
      'create',
    )) {
      const { reference, viewer, n } = purpose
      if (of !== undefined) {
        const rows = reference.rowsIn(relation.to).filter(({ id }) => (id + n) % 4 === 0)
        body[key] = { set: rows.map(({ id }) => id) }
        for (const { id } of rows) written.push({ entity, values: { [of]: id }, below: by })
      } else if (words.includes('create')) {
        const child = { ...purpose, entity, viewer, given: { [by]: 0 }, wanted: undefined }
        const values = valuesIfAny(child)
        if (!values) continue
        body[key] = { create: [inVersion(child, values)] }
        written.push({ entity, values, below: by })
      }
    }
  return { body, written }
}

/** The n-th row for a create or a change, with its parts now and then, as the body that a version or GraphQL takes; one that is `kept` goes on referring to the same rows. */
const bodyOf = (model: Model, purpose: Purpose, hasParts: boolean, kept?: ReferenceRow) => {
  const { entity, given, mode, reference, viewer } = purpose
  const { fields } = entityOf(model, entity)
  const found = valuesIfAny(purpose) ?? valuesIfAny({ ...purpose, wanted: undefined })
  if (!found) return undefined
  const own = Object.entries(found).flatMap(([key, value]) => {
    if (kept && !reference.may(entity, kept, fields[key]?.settableBy, viewer)) return []
    if (!kept || !fields[key]?.references) return [[key, value]]
    return mode === 'replace' ? [[key, kept[key]]] : []
  })
  if (own.length === 0) return undefined
  const values = Object.fromEntries(own)
  const parts = hasParts && purpose.n % 2 === 0 ? partsFor(model, purpose) : undefined
  return {
    body: { ...inVersion(purpose, values), ...parts?.body },
    written: [{ entity, values: { ...values, ...given } }, ...(parts?.written ?? [])],
  }
}

/** How far the second row of a request is from the first: no other request has it. */
const apart = 50_000

const withBody = (line: string, body: unknown): string => {
  const shown = body instanceof Uint8Array ? 'bytes' : JSON.stringify(body)
  return shown === undefined ? line : `${line} with ${brief(shown)}`
}

const draftOf = (line: string, body: unknown, written: Draft['written'] = []): Draft => ({
  ...{ line, body, told: withBody(line, body), written },
})

const ofRest = (service: CheckService, route: Route): Offer => {
  const { model, view } = service
  const { kind, method, below } = route
  const { entity, operations } = rightsOf(model, route)
  const [right] = operations
  const { policy } = entityOf(model, entity)
  const isLink = kind === 'link' || kind === 'unlink'
  const sent = (ids: object, body?: unknown, written?: Draft['written']) =>
    draftOf(`${method} ${pathOf(route, view.prefix, ids)}`, body, written)
  const draft: Offer['draft'] = ({ viewer, row, reference, n, wanted, isOwn }) => {
    const parents = below ? reference.rowsIn(below.entity) : []
    const parent = parents.length > 0 ? parents[n % parents.length] : undefined
    const field = below?.field ?? ''
    if (isLink) {
      const of = below?.through?.of ?? ''
      const others = reference.rowsIn(route.entity)
      const other = others.length > 0 ? others[(n * 7) % others.length] : undefined
      if (!row && (!parent || !other)) return undefined
      const values = row ?? { [field]: parent?.id, [of]: other?.id }
      return sent({ parentId: values[field], id: values[of] }, undefined, [{ entity, values }])
    }
    const ids = { id: row?.id, parentId: row ? row[field] : parent?.id }
    if (kind === 'one' || kind === 'delete') return sent(ids)
    if (below && !row && !parent) return undefined
    const mode = kind === 'update' || kind === 'replace' ? kind : 'create'
    const given = !row && parent ? { [field]: parent.id } : {}
    const { version } = view
    const purpose: Purpose = { model, entity, version, mode, viewer, given, reference, n, wanted }
    const isNewest = version === model.versions.newest && !below
    if (kind !== 'bulk') {
      const one = bodyOf(model, purpose, isNewest, isOwn ? row : undefined)
      return one && sent(ids, one.body, one.written)
    }
    const two = [purpose, { ...purpose, n: n + apart, wanted: 'made' } as const].flatMap(
      each => bodyOf(model, each, isNewest) ?? [],
    )
    const create = two.map(({ body }) => body)
    return sent(
      ids,
      { create },
      two.flatMap(({ written }) => written),
    )
  }
  const operation = right ?? 'read'
  const rule = right ? policy[right] : (policy.enter ?? policy.read)
  const told = isLink ? `${kind} of ${route.entity}` : `${right ? kind : 'read'} of ${entity}`
  return { told, isGraphql: false, operation, entity, rule, route, isLink, draft }
}

/** A mutation of GraphQL, whose field is `it`. */
const mutation = (
  field: string,
  args: Readonly<Record<string, readonly [type: string, value: unknown]>>,
  selection: string,
  written: readonly Written[] = [],
): Draft => {
  const names = Object.keys(args)
  const variables = mapped(args, ([, value]) => value)
  const head = names.map(name => `$${name}: ${args[name]?.[0]}`).join(', ')
  const given = names.map(name => `${name}: $${name}`).join(', ')
  const query = `mutation ${head && `(${head})`} { it: ${field}${given && `(${given})`} ${selection} }`
  const told = withBody(`the mutation ${field}`, variables)
  return { line: 'POST /graphql', body: { query, variables }, told, written }
}

/** A change of the rows with some ids by these values, or their end if there are none. */
export const draftOfMany = (
  { model, view }: CheckService,
  entity: string,
  ids: readonly number[],
  values: Readonly<Record<string, unknown>> | undefined,
  isGraphql: boolean,
): Draft => {
  const { plural } = entityOf(model, entity)
  const where = { id: { in: ids } }
  const version = isGraphql ? undefined : view.version
  const input = values && inVersion({ model, entity, version }, values)
  if (!isGraphql) {
    const change = input ? { update: input } : { delete: true }
    return draftOf(`POST ${view.prefix}/${plural}/bulk`, { ...change, where })
  }
  const field = `${input ? 'update' : 'delete'}${typeName(plural)}`
  const args = {
    where: [`${typeName(entity)}Where`, where] as const,
    ...(input && { input: [`${typeName(field)}Input!`, input] as const }),
  }
  return mutation(field, args, '{ count }')
}

const ofGraphql = (
  { model }: CheckService,
  entity: string,
  kind: 'create' | 'update' | 'delete' | 'bulk',
): Offer => {
  const { policy, plural } = entityOf(model, entity)
  const type = typeName(entity)
  const operation = kind === 'bulk' ? 'create' : kind
  const draft: Offer['draft'] = ({ viewer, row, reference, n, wanted, isOwn }) => {
    const id = ['ID!', String(row?.id)] as const
    if (kind === 'delete') return mutation(`delete${type}`, { id }, '')
    const common = { model, entity, version: undefined, viewer, reference } as const
    const mode = operation as 'create' | 'update'
    const one = bodyOf(model, { ...common, mode, n, wanted }, true, isOwn ? row : undefined)
    if (!one) return undefined
    const input = [`${typeName(operation)}${type}Input!`, one.body] as const
    if (kind === 'update') return mutation(`update${type}`, { id, input }, '{ id }', one.written)
    if (kind === 'create') return mutation(`create${type}`, { input }, '{ id }', one.written)
    const other = bodyOf(model, { ...common, mode: 'create', n: n + apart, wanted: 'made' }, true)
    const inputs = [`[Create${type}Input!]!`, [one.body, ...(other ? [other.body] : [])]] as const
    const written = [...one.written, ...(other?.written ?? [])]
    return mutation(`create${typeName(plural)}`, { inputs }, '{ ids }', written)
  }
  const told = `${kind} of ${entity}`
  return { told, isGraphql: true, operation, entity, rule: policy[operation], draft }
}

/** Actions, those that are mutations twice, and routes by hand that write. */
const calls = async ({ content, model, view }: CheckService): Promise<readonly Offer[]> => {
  const actions = content.actions.filter(action => isIn(action, view.version))
  const line = (method: string, path: string, row: ReferenceRow | undefined) =>
    `${method} ${view.prefix}${path.replace(/:\w+/g, String(row?.id ?? 1))}`
  const input = ({ input = {}, name, about }: (typeof actions)[number], occasion: Occasion) =>
    mapped(input, (field, key) => {
      const { viewer, row, reference, n, isOwn } = occasion
      const to = field.references?.entity
      if (to === undefined) return validValue(`${key} of ${name}`, field, n)
      // What the row names by the same field, else a row that the caller may see.
      const isNamed =
        about !== null && entityOf(model, about).fields[key]?.references?.entity === to
      if (isOwn && isNamed && row?.[key]) return row[key]
      const shown = isOwn ? reference.seen(to, entityOf(model, to).policy.read, viewer) : []
      return shown[n % shown.length]?.id ?? 1 + (n % 4)
    })
  const common = { isGraphql: false, operation: 'call' } as const
  const ofActions = actions.flatMap((action): Offer[] => {
    const { name: told, method, path, about: entity, rule, bytes, described } = action
    const draft: Offer['draft'] = occasion => {
      const members = action.input ? input(action, occasion) : method === 'DELETE' ? undefined : {}
      const body =
        bytes === undefined ? members : new Uint8Array(Math.min(bytes, 64)).fill(occasion.n)
      return draftOf(line(method, path, occasion.row), body)
    }
    const own: Offer = { ...common, told, entity, rule, draft, hasSteps: !!action.steps }
    if (!action.graphql) return [own]
    const { operationId } = described
    const mutating: Offer['draft'] = occasion => {
      const type = `${typeName(operationId)}Input!`
      const args = {
        ...(entity !== null && { id: ['ID!', String(occasion.row?.id)] as const }),
        ...(action.input && { input: [type, input(action, occasion)] as const }),
      }
      return mutation(operationId, args, action.answers === null ? '' : '{ __typename }')
    }
    return [own, { ...own, isGraphql: true, draft: mutating }]
  })
  const { routes } = await content.served()
  const byHand = routes.flatMap((route): Offer[] => {
    const { method, path, described } = route
    if (method === 'GET' || !isIn(route, view.version)) return []
    const entity = entityAt(model, path)
    const draft: Offer['draft'] = ({ row }) =>
      draftOf(line(method, path, row), method === 'DELETE' ? undefined : {})
    const field = entity === null ? null : entityOf(model, entity).fields[path.split('/')[3] ?? '']
    const sets = field?.file ? field.settableBy : undefined
    return [{ ...common, told: `${method} ${path}`, entity, rule: described.rule, draft, sets }]
  })
  return [...ofActions, ...byHand]
}

/** The entity whose rows a path names by `/things/:id`; null if it names none. */
export const entityAt = ({ entities }: Model, path: string): string | null => {
  const [, plural, id] = path.split('/')
  const found = Object.keys(entities).find(name => entities[name]?.plural === plural)
  return id?.startsWith(':') ? (found ?? null) : null
}

const makesMany = (entity: Entity): boolean => bulkKinds(entity).includes('create')

/** All that the newest version of REST and GraphQL offer, but lists and writes of many rows by a condition, which have checks of their own. */
export const offersOf = async (service: CheckService): Promise<readonly Offer[]> => {
  const { model, view } = service
  const routes = routesOf(model).filter(
    ({ kind, lifetime, entity }) =>
      kind !== 'list' &&
      kind !== 'aggregate' &&
      isIn(lifetime, view.version) &&
      (kind !== 'bulk' || makesMany(entityOf(model, entity))),
  )
  const mutations = Object.entries(model.entities).flatMap(([entity, self]) =>
    [
      ...self.graphql.mutations,
      ...(makesMany(self) && self.graphql.type ? (['bulk'] as const) : []),
    ].map(kind => ofGraphql(service, entity, kind)),
  )
  return [...routes.map(route => ofRest(service, route)), ...mutations, ...(await calls(service))]
}

/** What came back, and what became of the request by it. */
export type Sent = { readonly answer: CheckAnswer; readonly is: RequestOutcome }

/** Sends what an offer drafts. */
export const sendOffer = async (
  { ask }: CheckService,
  { isGraphql }: Pick<Offer, 'isGraphql'>,
  { line, body }: Draft,
  viewer: Viewer,
): Promise<Sent> => {
  const answer = await ask(line, viewer, body)
  return { answer, is: outcomeOf(answer, isGraphql) }
}
