/** Generated requests through both APIs, each judged by the reference in memory. */
import { isDeepStrictEqual } from 'node:util'
import { bodyIfAny } from '#check/bodies.ts'
import { isHeld, named, pathOf } from '#check/callers.ts'
import { memberName, type ReferenceRow, type RowsReference, verdict } from '#check/reference.ts'
import { stored } from '#check/rows.ts'
import { brief, type CheckAnswer, type CheckService, Fault } from '#check/service.ts'
import { entityOf, typeName } from '#model/model.ts'
import { alternativesOf, isByRow, type Rule, type Viewer } from '#model/policy.ts'
import { isIn } from '#model/version.ts'
import { type Route, routesOf } from '#rest/routes.ts'

/** What becomes of a request, in the words of neither API. */
type RequestOutcome = 'done' | 'refused' | 'absent' | 'conflict' | 'invalid'

const outcomes: Readonly<Record<number, RequestOutcome>> = {
  401: 'refused',
  403: 'refused',
  404: 'absent',
  409: 'conflict',
}

const codes: Readonly<Record<string, RequestOutcome>> = {
  UNAUTHENTICATED: 'refused',
  FORBIDDEN: 'refused',
  NOT_FOUND: 'absent',
  VALIDATION_ERROR: 'invalid',
  BAD_USER_INPUT: 'invalid',
}

/** What became of a request to REST. */
export const outcomeOf = ({ status }: CheckAnswer): RequestOutcome =>
  outcomes[status] ?? (status < 300 ? 'done' : 'invalid')

/** What became of the field `it` of a GraphQL operation. */
const graphqlOutcome = ({ status, json }: CheckAnswer): RequestOutcome => {
  const code = json.errors?.[0]?.extensions?.code
  if (code !== undefined) return codes[code] ?? 'conflict'
  if (status >= 400) return 'invalid'
  return json.data?.it === null || json.data?.it === false ? 'absent' : 'done'
}

const sameOrFault = (told: unknown, right: unknown, about: string): void => {
  if (isDeepStrictEqual(told, right)) return
  const [is, was] = [told, right].map(one => brief(JSON.stringify(one) ?? 'nothing'))
  throw new Fault(`${about}: ${is}, where the rows say ${was}`)
}

/** The fields of an entity that a caller may read in some rows at least. */
const readable = ({ model }: CheckService, entity: string, viewer: Viewer) =>
  Object.entries(entityOf(model, entity).fields).filter(
    ([, { readableBy }]) => verdict(readableBy, viewer, model) !== 'no',
  )

/** An object of REST, or of the reference, without the members that the caller may not read in any row. */
const comparable = (service: CheckService, entity: string, viewer: Viewer, object: object) => {
  const { version } = service.view
  const open = new Set(readable(service, entity, viewer).map(([key]) => key))
  const closed = Object.entries(entityOf(service.model, entity).fields).flatMap(([key, field]) =>
    open.has(key) ? [] : [memberName(key, field, version)],
  )
  return Object.fromEntries(Object.entries(object).filter(([member]) => !closed.includes(member)))
}

/** A row as the GraphQL API shows the fields that the caller may read. */
const graphqlObject = (
  service: CheckService,
  reference: RowsReference,
  entityName: string,
  row: ReferenceRow,
  viewer: Viewer,
) => {
  const entity = entityOf(service.model, entityName)
  const members = readable(service, entityName, viewer).flatMap(([key, field]) => {
    if (field.graphql !== 'shown') return []
    const { readableBy } = field
    const isOpen = !isByRow(readableBy) || reference.may(entityName, row, readableBy, viewer)
    const value = isOpen ? reference.shown(entity, key, row[key] ?? null) : null
    return [[key, field.scalar === 'id' && value !== null ? String(value) : value]]
  })
  return Object.fromEntries(members)
}

/** The routes of some kinds that the newest version has. */
const offered = ({ model, view }: CheckService, ...kinds: readonly Route['kind'][]) =>
  routesOf(model).filter(
    ({ kind, lifetime }) => kinds.includes(kind) && isIn(lifetime, view.version),
  )

const readsOfRest = async (
  service: CheckService,
  reference: RowsReference,
  random: () => number,
) => {
  const { model, view, callers, ask } = service
  for (const route of offered(service, 'one', 'list')) {
    const { entity, below } = route
    const { policy, rest } = entityOf(model, entity)
    const rule = policy.enter ?? policy.read
    const all = reference.rowsIn(entity)
    for (const viewer of callers) {
      const row = all[Math.floor(random() * all.length)]
      const parents = below ? reference.rowsIn(below.entity) : []
      const parent =
        route.kind === 'list'
          ? parents[Math.floor(random() * parents.length)]
          : parents.find(({ id }) => id === row?.[below?.field ?? ''])
      if (!row || (below && !parent)) continue
      const line = `GET ${pathOf(route, view.prefix, { id: row.id, parentId: parent?.id })}`
      const answer = await ask(line, viewer)
      const about = `${line} of ${named(viewer)}`
      // One row is there by its own rule; a list, where its parent is.
      const isAbove =
        !below ||
        route.kind === 'one' ||
        reference.may(
          below.entity,
          parent as ReferenceRow,
          entityOf(model, below.entity).policy.read,
          viewer,
        )
      const isOpen = verdict(rule, viewer, model) !== 'no'
      const isThere = isAbove && (route.kind === 'list' || reference.may(entity, row, rule, viewer))
      const right: RequestOutcome = !isOpen ? 'refused' : isThere ? 'done' : 'absent'
      const is = outcomeOf(answer)
      if (!isAbove && is !== 'done') continue
      if (is !== right)
        throw new Fault(`${about} is ${is}, where the rules say ${right}: ${brief(answer.text)}`)
      if (right !== 'done') continue
      const object = (one: ReferenceRow) =>
        comparable(service, entity, viewer, reference.objectOf(entity, one, view, viewer))
      const told = (one: object) => comparable(service, entity, viewer, one)
      if (route.kind === 'one') sameOrFault(told(answer.json), object(row), about)
      else {
        const rows = reference.listed(route, parent?.id, viewer).slice(0, rest.listing.limit)
        sameOrFault(answer.json.data.map(told), rows.map(object), about)
      }
    }
  }
}

const readsOfGraphql = async (
  service: CheckService,
  reference: RowsReference,
  random: () => number,
) => {
  const { model, callers, gql } = service
  for (const [entity, { graphql, plural, policy }] of Object.entries(model.entities)) {
    if (!graphql.type || !graphql.roots) continue
    const rule = policy.enter ?? policy.read
    for (const viewer of callers) {
      const all = reference.rowsIn(entity)
      const row = all[Math.floor(random() * all.length)]
      if (!row) continue
      const object = (one: ReferenceRow) => graphqlObject(service, reference, entity, one, viewer)
      const keys = Object.keys(object(row))
      if (keys.length === 0) continue
      const byId = (one: { id?: unknown }, other: { id?: unknown }) =>
        Number(one.id) - Number(other.id)
      const about = `of ${named(viewer)} through GraphQL`
      const one = await gql(
        `query ($id: ID!) { it: ${entity}(id: $id) { ${keys.join(' ')} } }`,
        viewer,
        { id: row.id },
      )
      const isOpen = verdict(rule, viewer, model) !== 'no'
      const right = !isOpen
        ? 'refused'
        : reference.may(entity, row, rule, viewer)
          ? 'done'
          : 'absent'
      const is = graphqlOutcome(one)
      if (is !== right)
        throw new Fault(
          `${entity} ${row.id} ${about} is ${is}, where the rules say ${right}: ${brief(one.text)}`,
        )
      if (right === 'done')
        sameOrFault(one.json.data.it, object(row), `${entity} ${row.id} ${about}`)
      if (!isOpen) continue
      const list = await gql(`{ it: ${plural}(limit: 100) { ${keys.join(' ')} } }`, viewer)
      const rows = reference.seen(entity, rule, viewer)
      if (rows.length > 100) continue
      sameOrFault(
        list.json.data?.it?.toSorted(byId) ?? list.json.errors,
        rows.map(object).toSorted(byId),
        `${plural} ${about}`,
      )
    }
  }
}

/** Each row and list as each caller reads it, through both APIs. */
export const checkReads = async (service: CheckService, random: () => number): Promise<void> => {
  const reference = await service.reference()
  await readsOfRest(service, reference, random)
  await readsOfGraphql(service, reference, random)
}

type Write = 'create' | 'update' | 'delete'

/** A write as one of the APIs offers it. */
type Offer = { readonly kind: Write; readonly entity: string; readonly route?: Route }

const offersOf = (service: CheckService): readonly Offer[] => [
  ...offered(service, 'create', 'update', 'replace', 'delete').map(route => {
    const kind = route.kind === 'replace' ? 'update' : (route.kind as Write)
    return { kind, entity: route.entity, route }
  }),
  ...Object.entries(service.model.entities).flatMap(([entity, { graphql }]) =>
    graphql.mutations.map(kind => ({ kind, entity })),
  ),
]

/** Whether the callers' own rows are among those that the row of that id takes along. */
const isKept = ({ model }: CheckService, entity: string, id: number): boolean =>
  entity === model.viewers.entity && id < 8

/** What may become of a write by the reference. */
const rightOutcomes = (
  service: CheckService,
  reference: RowsReference,
  { kind, entity, route }: Offer,
  viewer: Viewer,
  row: ReferenceRow | undefined,
  values: Readonly<Record<string, unknown>>,
): ReadonlySet<RequestOutcome> => {
  const { model } = service
  const { policy, fields, before } = entityOf(model, entity)
  const rule = policy[kind]
  if (verdict(rule, viewer, model) === 'no')
    return new Set(
      row && reference.isHidden(entity, row, viewer) ? ['refused', 'absent'] : ['refused'],
    )
  const right = new Set<RequestOutcome>()
  const { digits } = model.settings.currency
  const given = Object.entries(values).map(([key, value]) => {
    const field = fields[key]
    return [key, field ? stored(field, value, digits) : null] as const
  })
  const initial = Object.entries(fields).map(([key, { initial }]) => [
    key,
    initial === 'viewer'
      ? viewer.id
      : typeof initial === 'object' && 'value' in initial
        ? initial.value
        : null,
  ])
  const then: ReferenceRow = {
    ...Object.fromEntries(row ? [] : initial),
    id: 0,
    ...row,
    ...Object.fromEntries(given),
  }
  if (row && reference.isHidden(entity, row, viewer)) return new Set(['absent', 'refused'])
  if (row && !reference.may(entity, row, rule, viewer)) return new Set(['refused'])
  const isAway = (key: string) => {
    const to = fields[key]?.references?.entity
    if (to === undefined || then[key] === null) return false
    const target = reference.byId(to, then[key])
    return !target || reference.isHidden(to, target, viewer)
  }
  const away = kind !== 'delete' && Object.keys(values).some(isAway)
  const mayThen = kind === 'delete' || reference.may(entity, then, rule, viewer)
  if (away) right.add('absent')
  if (!mayThen) right.add('refused')
  const isBecoming = alternativesOf(rule as Rule).some(
    one => 'after' in one && one.after !== undefined,
  )
  if ((!away && mayThen) || (isBecoming && row)) {
    right.add('done')
    if (isBecoming && row) right.add('refused')
    if (kind !== 'delete' || isHeld(model, entity)) right.add('conflict')
  }
  // A hook refuses in words of its own; a path leads through what its caller may not see.
  if (before[kind])
    for (const one of ['invalid', 'conflict', 'refused', 'absent'] as const) right.add(one)
  if (route?.below) right.add('absent')
  if (Object.keys(values).some(key => isByRow(fields[key]?.settableBy))) {
    right.add('invalid')
    right.add('refused')
  }
  return right
}

let bodies = 0

const attempt = async (
  service: CheckService,
  offer: Offer,
  viewer: Viewer,
  row: ReferenceRow | undefined,
  random: () => number,
): Promise<void> => {
  const { model, view, ask, gql } = service
  const { kind, entity, route } = offer
  const reference = await service.reference()
  const { fields, before, policy } = entityOf(model, entity)
  const parents = route?.below ? reference.rowsIn(route.below.entity) : []
  const parentId = row
    ? row[route?.below?.field ?? '']
    : parents[Math.floor(random() * parents.length)]?.id
  const given = !row && route?.below ? { [route.below.field]: Number(parentId) } : {}
  const mode = route?.kind === 'replace' ? 'replace' : kind === 'create' ? kind : 'update'
  const wanted =
    kind === 'create' ? (['made', 'refused', 'absent'] as const)[bodies % 3] : undefined
  const purpose = { model, entity, mode, viewer, given, reference, n: bodies++ } as const
  const bodyFor = (wanted?: 'made' | 'refused' | 'absent') =>
    bodyIfAny({ ...purpose, version: undefined, wanted })
  const version = route ? view.version : undefined
  const values = kind === 'delete' ? {} : (bodyFor(wanted) ?? bodyFor())
  const body =
    values && version !== undefined
      ? Object.fromEntries(
          Object.entries(values).flatMap(([key, value]) => {
            const field = fields[key]
            const member = memberName(key, field, version)
            return member === undefined ? [] : [[member, value]]
          }),
        )
      : values
  // The forms of versions have tests of the machine.
  const hasForms = Object.values(fields).some(
    ({ until, from }) => Object.keys({ ...until, ...from }).length > 0,
  )
  if (!body || !values || (route && hasForms && kind !== 'delete')) return
  const type = typeName(entity)
  const path = route ? pathOf(route, view.prefix, { id: row?.id, parentId }) : ''
  const operation =
    kind === 'delete'
      ? `mutation ($id: ID!) { it: delete${type}(id: $id) }`
      : kind === 'update'
        ? `mutation ($id: ID!, $input: Update${type}Input!) { it: update${type}(id: $id, input: $input) { id } }`
        : `mutation ($input: Create${type}Input!) { it: create${type}(input: $input) { id } }`
  const answer = route
    ? await ask(`${route.method} ${path}`, viewer, kind === 'delete' ? undefined : body)
    : await gql(operation, viewer, { id: row?.id, input: body })
  const is = route ? outcomeOf(answer) : graphqlOutcome(answer)
  const right = rightOutcomes(service, reference, offer, viewer, row, { ...values, ...given })
  const about = `${kind} of ${entity}${row ? ` ${row.id}` : ''} by ${named(viewer)} through ${route ? `${route.method} ${path}` : 'GraphQL'}${kind === 'delete' ? '' : ` with ${brief(JSON.stringify(body))}`}`
  const now = await service.reference()
  if (!right.has(is))
    throw new Fault(
      `${about} is ${is}, where the rules say ${[...right].join(' or ')}: ${brief(answer.text)}`,
    )
  if (is !== 'done') {
    const rows = [reference, now].map(one =>
      row ? one.byId(entity, row.id) : one.rowsIn(entity).length,
    )
    sameOrFault(rows[1], rows[0], `${about} was ${is} and changed the store`)
    return
  }
  if (kind === 'delete') {
    if (now.byId(entity, row?.id)) throw new Fault(`${about} was done, and the row is still there`)
    return
  }
  const id = row?.id ?? Number(route ? now.rowsIn(entity).at(-1)?.id : answer.json.data.it.id)
  const kept = now.byId(entity, id)
  if (!kept) throw new Fault(`${about} was done, and no row has the id ${id}`)
  if (before[kind] === undefined)
    for (const [key, value] of Object.entries(values)) {
      const field = fields[key]
      if (!field) continue
      const isLeftOut = route && !((memberName(key, field, view.version) ?? '') in body)
      const { readableBy } = field
      // A PUT leaves what its caller may not read.
      const isClosed = row && !reference.may(entity, row, readableBy, viewer)
      if (isLeftOut || (mode === 'replace' && isClosed)) continue
      sameOrFault(
        kept[key],
        stored(field, value, model.settings.currency.digits),
        `${about} was done, and ${key} of the row is`,
      )
    }
  if (route && viewer.id !== null && now.may(entity, kept, policy.read, viewer)) {
    const shown = comparable(service, entity, viewer, now.objectOf(entity, kept, view, viewer))
    sameOrFault(comparable(service, entity, viewer, answer.json), shown, `${about} answers`)
  }
}

/** Writes of each kind by each caller, to rows that the rule gives to it and to others. */
export const checkWrites = async (
  service: CheckService,
  random: () => number,
  isOver: () => boolean,
): Promise<void> => {
  const { model, callers } = service
  const order: Readonly<Record<Write, number>> = { create: 0, update: 1, delete: 2 }
  for (const offer of offersOf(service).toSorted((a, b) => order[a.kind] - order[b.kind]))
    for (const viewer of callers)
      for (const mine of [true, false]) {
        if (isOver()) return
        const { kind, entity } = offer
        const rule = entityOf(model, entity).policy[kind]
        const reference = await service.reference()
        const rows = reference
          .rowsIn(entity)
          .filter(
            row =>
              reference.isMine(entity, row, rule, viewer) === mine &&
              !(kind === 'delete' && isKept(service, entity, row.id)),
          )
        const row = rows[Math.floor(random() * rows.length)]
        if (kind === 'create' || row)
          await attempt(service, offer, viewer, kind === 'create' ? undefined : row, random)
      }
}
