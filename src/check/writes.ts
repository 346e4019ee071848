/** Generated writes through both APIs, each judged by the reference: what is answered, what is stored, and that a refusal changes nothing. */
import { isDeepStrictEqual } from 'node:util'
import { oneOf, turned } from '#base/random.ts'
import { inVersion, valuesIfAny } from '#check/bodies.ts'
import { isHeld, named } from '#check/callers.ts'
import {
  type Draft,
  type Offer,
  offersOf,
  outcomeOf,
  type RequestOutcome,
  refusalOf,
  sendOffer,
} from '#check/offers.ts'
import { comparable, sameOrFault } from '#check/reads.ts'
import {
  memberName,
  nobodysRow,
  type ReferenceRow,
  type RowsReference,
  referenceOver,
  verdict,
} from '#check/reference.ts'
import { stored } from '#check/rows.ts'
import { brief, type CheckService, faultOf, restore, stateOf } from '#check/service.ts'
import { mayAskField } from '#model/entity.ts'
import { entityOf, type Model, typeName } from '#model/model.ts'
import { bulkKinds } from '#model/parts.ts'
import { alternativesOf, isByRow, type Rule, type Viewer } from '#model/policy.ts'

/** The rows that a create makes, in the order of its body: each after its parent, with ids that nothing has. */
const rowsMade = (model: Model, { written }: Draft, viewer: Viewer) => {
  const { digits } = model.settings.currency
  let parent = 0
  return written.map(({ entity, values, below }, at) => {
    const { fields } = entityOf(model, entity)
    const columns = Object.entries(fields).map(([key, field]) => {
      const { initial } = field
      if (key in values) return [key, stored(field, values[key], digits)]
      if (initial === 'viewer') return [key, viewer.id]
      return [key, typeof initial === 'object' && 'value' in initial ? initial.value : null]
    })
    const id = -1 - at
    if (below === undefined) parent = id
    const row = {
      ...Object.fromEntries(columns),
      ...(below !== undefined && { [below]: parent }),
      id,
    }
    return { entity, row: row as ReferenceRow, given: Object.keys(values) }
  })
}

/** Whether what a write refers to is not there, or hidden from its caller. */
const refersToNone = (
  model: Model,
  reference: RowsReference,
  { entity, row, given }: ReturnType<typeof rowsMade>[number],
  viewer: Viewer,
): boolean =>
  given.some(key => {
    const to = entityOf(model, entity).fields[key]?.references?.entity
    if (to === undefined || row[key] === null) return false
    const target = reference.byId(to, row[key])
    return !target || reference.isHidden(to, target, viewer)
  })

/** Whether a rule says what a row must become by a change, beside what it must be. */
const saysBecoming = (rule: Rule | undefined): boolean =>
  rule !== undefined && alternativesOf(rule).some(one => 'after' in one && one.after !== undefined)

/** What may become of a write by the reference. */
const rightOutcomes = (
  service: CheckService,
  reference: RowsReference,
  { operation, entity: entityName, rule, route, isLink }: Offer,
  viewer: Viewer,
  row: ReferenceRow | undefined,
  draft: Draft,
): ReadonlySet<RequestOutcome> => {
  const { model } = service
  const entity = entityName ?? ''
  const refused = refusalOf(viewer)
  const isHidden =
    row === nobodysRow || (row !== undefined && reference.isHidden(entity, row, viewer))
  if (verdict(rule, viewer, model) === 'no') return new Set([refused])
  if (isHidden) {
    // To end a hidden link is to end none.
    const lenient: RequestOutcome[] = isLink ? ['done'] : []
    return new Set(['absent', ...(viewer.id === null ? [refused] : []), ...lenient])
  }
  const { policy, fields, before } = entityOf(model, entity)
  const right = new Set<RequestOutcome>()
  if (operation === 'create') {
    const made = rowsMade(model, draft, viewer)
    const parents = made.filter((_, at) => draft.written[at]?.below === undefined)
    const rows = new Map(reference.all)
    for (const { entity, row } of parents) rows.set(entity, [...(rows.get(entity) ?? []), row])
    const then = referenceOver(model, rows)
    const away = made.filter(one => refersToNone(model, reference, one, viewer))
    // A row is not there yet when its own rule looks at others.
    const closed = made.filter(({ entity, row }, at) => {
      const over = draft.written[at]?.below === undefined ? reference : then
      return !over.may(entity, row, entityOf(model, entity).policy.create, viewer)
    })
    if (away.length > 0) right.add('absent')
    if (closed.length > 0) right.add(refused)
    // A link that is there stays as it is.
    const [link] = isLink ? made : []
    const isThere = ({ row }: (typeof made)[number]) =>
      reference
        .rowsIn(entity)
        .some(one =>
          draft.written.every(({ values }) =>
            Object.keys(values).every(key => one[key] === row[key]),
          ),
        )
    if (right.size === 0 || (link && isThere(link))) right.add('done')
  } else if (row && !reference.may(entity, row, rule, viewer)) return new Set([refused])
  else if (operation === 'update' && row) {
    const [values = {}] = draft.written.map(({ values }) => values)
    const { digits } = model.settings.currency
    const given = Object.entries(values).flatMap(([key, value]) =>
      fields[key] ? [[key, stored(fields[key], value, digits)]] : [],
    )
    const then = { ...row, ...Object.fromEntries(given) } as ReferenceRow
    const isAway = refersToNone(
      model,
      reference,
      { entity, row: then, given: Object.keys(values) },
      viewer,
    )
    const mayThen = reference.may(entity, then, rule, viewer)
    if (isAway) right.add('absent')
    if (!mayThen) right.add(refused)
    if (saysBecoming(rule)) right.add(refused)
    if (saysBecoming(rule) || right.size === 0) right.add('done')
    if (Object.keys(values).some(key => isByRow(fields[key]?.settableBy)))
      right.add('invalid').add(refused)
  } else {
    right.add('done')
    if (isHeld(model, entity)) right.add('conflict')
  }
  // A hook refuses in words of its own; a path leads through what its caller may not see.
  if (operation !== 'call' && operation !== 'read' && before[operation])
    for (const one of ['invalid', 'conflict', refused, 'absent'] as const) right.add(one)
  if (route?.below && policy) right.add('absent')
  return right
}

/** Compares the rows that a write left with what it was given; throws a Fault. */
const compareStored = (
  service: CheckService,
  [before, now]: readonly [RowsReference, RowsReference],
  { operation, entity, route, isLink }: Offer,
  viewer: Viewer,
  row: ReferenceRow | undefined,
  draft: Draft,
  about: string,
): ReferenceRow | undefined => {
  const { model, view } = service
  const { digits } = model.settings.currency
  const taken = new Set<ReferenceRow>()
  let first: ReferenceRow | undefined
  for (const { entity: of, values } of draft.written) {
    const { fields, before: hooks } = entityOf(model, of)
    const expected = Object.entries(values).flatMap(([key, value]) => {
      const field = fields[key]
      const isNamed = !route || field === undefined || memberName(key, field, view.version)
      // A PUT leaves what its caller may not read.
      const isClosed =
        row && route?.kind === 'replace' && !before.may(of, row, field?.readableBy, viewer)
      const isTold = field && isNamed && !isClosed && field.foldedFrom === undefined
      return isTold ? [[key, stored(field, value, digits)] as const] : []
    })
    const fits = (one: ReferenceRow) =>
      operation === 'create' &&
      (hooks.create || expected.every(([key, value]) => one[key] === value))
    const isNew = (one: ReferenceRow) => isLink || !before.byId(of, one.id)
    const kept =
      operation === 'create'
        ? now.rowsIn(of).find(one => isNew(one) && !taken.has(one) && fits(one))
        : now.byId(of, row?.id)
    if (!kept) {
      const news = now.rowsIn(of).filter(isNew)
      const are = news.length > 0 ? `; new are ${brief(JSON.stringify(news))}` : ''
      throw faultOf(about, `a ${of} with its values`, `done, and no such row${are}`)
    }
    taken.add(kept)
    first ??= kept
    const { revision } = fields
    if (operation === 'update' && revision && row)
      sameOrFault(kept.revision, Number(row.revision) + 1, `${about}: the revision`)
    if (operation === 'update' && hooks.update === undefined)
      for (const [key, value] of expected)
        sameOrFault(kept[key], value, `${about}: ${entity}.${key} in the store`)
  }
  return first
}

/** Sends a write, and compares what it answers and leaves with what is right; gives the rows that are there then. */
const attempt = async (
  service: CheckService,
  offer: Offer,
  viewer: Viewer,
  row: ReferenceRow | undefined,
  before: RowsReference,
  n: number,
): Promise<RowsReference> => {
  const { model, view } = service
  const { operation, isGraphql, told, rule } = offer
  const entity = offer.entity ?? ''
  const wanted = operation === 'create' ? wantedOutcomes[n % 3] : undefined
  const draft = offer.draft({ viewer, row, reference: before, n, wanted })
  if (!draft) return before
  const { answer, is } = await sendOffer(service, offer, draft, viewer)
  const about = `${told}${row && entity ? ` ${row.id}` : ''} by ${named(viewer)}: ${draft.told}`
  const now = await service.reference()
  const isChanged = () =>
    !isDeepStrictEqual(before.all, now.all) &&
    !isDeepStrictEqual(
      stateOf(service, before.all, now.all),
      stateOf(service, before.all, before.all),
    )
  if (operation === 'call') {
    const isNamed = verdict(rule, viewer, model) !== 'no'
    const isAway = row === nobodysRow || (row && before.isHidden(entity, row, viewer))
    const may = isNamed && !isAway && (!row || before.may(entity, row, rule, viewer))
    const refusal = refusalOf(viewer)
    const right: readonly RequestOutcome[] = may
      ? ['done', 'conflict', 'absent', 'invalid']
      : offer.hasSteps
        ? [isNamed && isAway ? 'absent' : refusal]
        : [refusal, 'absent']
    // Beside its rule, what it does is told by no rule.
    if (!right.includes(is) && !(may && !offer.hasSteps))
      throw faultOf(
        about,
        may
          ? 'not refused, as its rule lets it through'
          : `${right.join(' or ')}, as its rule says`,
        `${is} ${brief(answer.text)}`.trim(),
        'write it with steps, which ask for the rule, or let its command ask',
      )
    if (may) return now
    if (isChanged()) throw faultOf(about, 'no row changed', `${is}, and rows changed`)
    return now
  }
  const right =
    viewer === service.barred
      ? new Set<RequestOutcome>(['refused', 'absent'])
      : rightOutcomes(service, before, offer, viewer, row, draft)
  if (!right.has(is))
    throw faultOf(about, [...right].join(' or '), `${is} ${brief(answer.text)}`.trim())
  if (is !== 'done') {
    if (is === 'absent' && isGraphql && operation === 'delete')
      sameOrFault(answer.json, { data: { it: false } }, about)
    if (isChanged()) throw faultOf(about, 'no row changed', `${is}, and rows changed`)
    return now
  }
  if (operation === 'delete') {
    const isThere = row && !before.isHidden(entity, row, viewer) && now.byId(entity, row.id)
    if (isThere) throw faultOf(about, 'no such row', 'done, and it is still there')
    return now
  }
  const kept = compareStored(service, [before, now], offer, viewer, row, draft, about)
  const { policy } = entityOf(model, entity)
  const isShown = !isGraphql && offer.route?.kind !== 'bulk' && !offer.isLink
  if (isShown && kept && viewer.id !== null && now.may(entity, kept, policy.read, viewer)) {
    const right = now.objectOf(entity, kept, view, viewer)
    sameOrFault(
      comparable(service, entity, viewer, answer.json),
      comparable(service, entity, viewer, right, false),
      `${about}: the answer`,
    )
  }
  return now
}

/** The writes that were attempted by now: bodies are told apart by it. */
let attempts = 0

const wantedOutcomes = ['made', 'refused', 'absent'] as const

const inTurn: readonly Offer['operation'][] = ['create', 'update', 'delete', 'call']

/** Each write and action by each caller, to rows that its rule gives to it, to others and to none; some tries of each where the time is over. */
export const checkWrites = async (
  service: CheckService,
  random: () => number,
  isOver: () => boolean,
  operations = inTurn,
): Promise<void> => {
  const { model, callers, barred } = service
  const offers = (await offersOf(service))
    .filter(({ operation }) => operations.includes(operation))
    .toSorted((a, b) => inTurn.indexOf(a.operation) - inTurn.indexOf(b.operation))
  const beginning = await service.rows()
  let reference = await service.reference()
  const isCaller = (id: number) => id < 8 || id === barred?.id
  for (const offer of offers) {
    const { operation, entity, rule } = offer
    const isMaking = operation === 'create' || entity === null
    const wishes = isMaking ? wantedOutcomes : ([true, false, 'no row'] as const)
    // Whether a route by hand lets write who is barred is its own matter.
    const asking = barred && operation !== 'call' ? [...callers, barred] : callers
    const tries = asking.flatMap(viewer => wishes.map(wanted => ({ viewer, wanted })))
    for (const [at, { viewer, wanted }] of turned(tries, random).entries()) {
      if (at > 2 && isOver()) break
      const rows = isMaking
        ? []
        : reference.rowsIn(entity).filter(
            row =>
              reference.may(entity, row, rule, viewer) === wanted &&
              // Callers go on asking.
              !(operation === 'delete' && entity === model.viewers.entity && isCaller(row.id)),
          )
      const row = wanted === 'no row' ? nobodysRow : oneOf(rows, random)
      if (!isMaking && !row) continue
      const before = reference
      reference = await attempt(service, offer, viewer, row, before, attempts++)
      if (operation !== 'call' || isDeepStrictEqual(reference.all, before.all)) continue
      await restore(service, beginning)
      reference = await service.reference()
    }
  }
}

/** Changes and deletes of many rows by each caller, through both APIs: all that fit and that it may read are written, or none is. */
export const checkMany = async (service: CheckService, random: () => number): Promise<void> => {
  const { model, view, callers } = service
  const beginning = await service.rows()
  const reference = referenceOver(model, beginning)
  for (const [name, entity] of Object.entries(model.entities))
    for (const kind of bulkKinds(entity)) {
      // Its rows are chosen by their ids.
      const isAsked = kind !== 'create' && view.style.isStrict && mayAskField(entity, 'id')
      if (!isAsked || name === model.viewers.entity) continue
      const { fields, policy, plural, graphql, before } = entity
      const rule = policy[kind]
      for (const viewer of callers)
        for (const isGraphql of graphql.type ? [false, true] : [false]) {
          const rows = reference.rowsIn(name).filter(() => random() < 0.3)
          const seen = rows.filter(row => reference.may(name, row, policy.read, viewer))
          const version = isGraphql ? undefined : view.version
          const common = { model, entity: name, version, viewer, reference, n: attempts++ } as const
          const found = Object.entries(valuesIfAny({ ...common, mode: 'update' }) ?? {})
          const plain = found.filter(([key]) => {
            const { references, unique, settableBy } = fields[key] ?? {}
            return !references && !unique && !isByRow(settableBy)
          })
          const values = Object.fromEntries(plain.slice(0, 1))
          if (kind === 'update' && plain.length === 0) continue
          const where = { id: { in: rows.map(({ id }) => id) } }
          const field = `${kind}${typeName(plural)}`
          const input = inVersion(common, values)
          const variables = { where, ...(kind === 'update' && { input }) }
          const heads = [
            `$where: ${typeName(name)}Where`,
            ...(kind === 'update' ? [`$input: ${typeName(field)}Input!`] : []),
          ]
          const args = Object.keys(variables).map(key => `${key}: $${key}`)
          const query = `mutation (${heads.join(', ')}) { it: ${field}(${args.join(', ')}) { count } }`
          const change = kind === 'update' ? { update: input } : { delete: true }
          const [line, body] = isGraphql
            ? ['POST /graphql', { query, variables }]
            : [`POST ${view.prefix}/${plural}/bulk`, { ...change, where }]
          const answer = await service.ask(line, viewer, body)
          const is = outcomeOf(answer, isGraphql)
          const mayAll = seen.every(row => {
            const { digits } = model.settings.currency
            const then = plain.slice(0, 1).flatMap(([key, value]) => {
              const of = fields[key]
              return of ? [[key, stored(of, value, digits)]] : []
            })
            const after = { ...row, ...(kind === 'update' && Object.fromEntries(then)) }
            return [row, after].every(one => reference.may(name, one, rule, viewer))
          })
          const isNamed = verdict(rule, viewer, model) !== 'no'
          const right: RequestOutcome[] = isNamed && mayAll ? ['done'] : [refusalOf(viewer)]
          if (isNamed && kind === 'delete' && isHeld(model, name)) right.push('conflict')
          if (before[kind]) right.push('done', 'invalid', 'conflict')
          if (saysBecoming(rule)) right.push('done', refusalOf(viewer))
          const asked = isGraphql ? `the mutation ${field}` : line
          const about = `${kind} of many ${plural} by ${named(viewer)}: ${asked} with ${brief(JSON.stringify(isGraphql ? variables : body))}`
          if (!right.includes(is))
            throw faultOf(about, right.join(' or '), `${is} ${brief(answer.text)}`)
          const now = await service.reference()
          if (is !== 'done' && !isDeepStrictEqual(now.all, reference.all))
            throw faultOf(about, 'no row changed', `${is}, and rows changed`)
          if (is === 'done') {
            const { count } = isGraphql ? answer.json.data.it : answer.json
            sameOrFault(count, seen.length, `${about}: the count`)
            const isWritten = ({ id, revision }: ReferenceRow) => {
              const row = now.byId(name, id)
              return kind === 'delete' ? !row : !fields.revision || row?.revision !== revision
            }
            const written = rows.filter(isWritten).map(({ id }) => id)
            if (fields.revision || kind === 'delete')
              sameOrFault(
                written,
                seen.map(({ id }) => id),
                `${about}: the ids of what it wrote`,
              )
            await restore(service, beginning)
          }
        }
    }
}
