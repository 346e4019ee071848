/** Generated writes through both APIs, each judged by the reference: what is answered, what is stored, and that a refusal changes nothing. */
import { isDeepStrictEqual } from 'node:util'
import { oneOf, rotated } from '#base/random.ts'
import { valuesIfAny } from '#kit/check/bodies.ts'
import { isHeld, named } from '#kit/check/callers.ts'
import {
  type Draft,
  draftOfMany,
  type Offer,
  offersOf,
  type RequestOutcome,
  refusalOf,
  sendOffer,
} from '#kit/check/offers.ts'
import { comparable, outcomeOrFault, owed, sameOrFault } from '#kit/check/reads.ts'
import {
  memberName,
  nobodysRow,
  type ReferenceRow,
  type RowsReference,
  referenceOver,
  verdict,
} from '#kit/check/reference.ts'
import { stored } from '#kit/check/rows.ts'
import { brief, type CheckService, faultOf, restore, stateOf } from '#kit/check/service.ts'
import { mayNameField, uniquesOf } from '#model/entity.ts'
import { entityOf, type Model } from '#model/model.ts'
import { withArticle } from '#model/names.ts'
import { bulkKinds } from '#model/parts.ts'
import { alternativesOf, isByRow, type Rule, type Viewer } from '#model/policy.ts'

/** Whether a rule says what a row must become by a change, beside what it must be. */
const saysBecoming = (rule: Rule | undefined): boolean =>
  rule !== undefined && alternativesOf(rule).some(one => 'after' in one && one.after !== undefined)

/** Whether a caller may set a field of a row, where that depends on the row. */
const maySet = (
  model: Model,
  reference: RowsReference,
  entity: string,
  row: ReferenceRow,
  key: string,
  viewer: Viewer,
): boolean => {
  const rule = entityOf(model, entity).fields[key]?.settableBy
  return rule === undefined || !isByRow(rule) || reference.may(entity, row, rule, viewer)
}

const rightOutcomes = (
  service: CheckService,
  reference: RowsReference,
  { operation, entity: about, rule, route, isLink, hasSteps }: Offer,
  viewer: Viewer,
  row: ReferenceRow | undefined,
  draft: Draft,
): readonly RequestOutcome[] => {
  const { model, blocked } = service
  const entity = about ?? ''
  const refused = refusalOf(viewer)
  if (viewer === blocked) return ['refused', 'absent']
  const isNamed = verdict(rule, viewer, model) !== 'no'
  const isHidden =
    row === nobodysRow || (row !== undefined && reference.isHidden(entity, row, viewer))
  const may = isNamed && !isHidden && (!row || reference.may(entity, row, rule, viewer))
  // What a route or a command by hand does where its rule lets it is told by no rule.
  if (operation === 'call' && !hasSteps) return may ? anyOutcome : [refused, 'absent']
  if (operation === 'call' && may) return ['done', 'conflict', 'absent', 'invalid']
  if (!isNamed) return [refused]
  if (isHidden && operation === 'call') return ['absent']
  // To end a hidden link is to end none.
  if (isHidden)
    return [
      'absent',
      ...(viewer.id === null ? [refused] : []),
      ...(isLink ? (['done'] as const) : []),
    ]
  // What its path leads through may be hidden where the row itself is not.
  const { field = '', entity: parent = '', through } = route?.below ?? {}
  const leadsTo = [[parent, field] as const, [route?.entity ?? '', through?.of ?? ''] as const]
  const isBelowHidden = leadsTo.some(([to, key]) => {
    const above = row && key !== '' ? reference.byId(to, row[key]) : undefined
    return above !== undefined && reference.isHidden(to, above, viewer)
  })
  if (operation !== 'create' && !may) return isBelowHidden ? [refused, 'absent'] : [refused]
  const { before } = entityOf(model, entity)
  const right: RequestOutcome[] = []
  if (operation === 'create') {
    // The rows that it makes, in the order of its body: each after its parent, with ids that nothing has.
    let parent = 0
    const made = draft.written.map(({ entity, values, below }, at) => {
      const row = reference.made(entity, values, viewer, -1 - at)
      if (below === undefined) parent = row.id
      const whole: ReferenceRow = below === undefined ? row : { ...row, [below]: parent }
      return { entity, row: whole, keys: Object.keys(values), isPart: below !== undefined }
    })
    const rows = new Map(reference.all)
    for (const { entity, row, isPart } of made)
      if (!isPart) rows.set(entity, [...(rows.get(entity) ?? []), row])
    const then = referenceOver(model, rows)
    if (made.some(({ entity, row, keys }) => reference.refersToNone(entity, row, keys, viewer)))
      right.push('absent')
    // Who may set a field of some rows only sets none of the others.
    const isRuled = ({ entity, row, keys }: (typeof made)[number]) =>
      keys.some(key => !maySet(model, reference, entity, row, key, viewer))
    if (made.some(isRuled)) right.push(refused)
    // A row is not there yet when its own rule looks at others.
    const isClosed = ({ entity, row, isPart }: (typeof made)[number]) =>
      !(isPart ? then : reference).may(entity, row, entityOf(model, entity).policy.create, viewer)
    if (made.some(isClosed)) right.push(refused)
    // A link that is there stays as it is.
    const isThere =
      isLink &&
      made.every(({ entity, row, keys }) =>
        reference.rowsIn(entity).some(one => keys.every(key => one[key] === row[key])),
      )
    if (isThere) right.push('done')
    else if (right.length === 0) {
      for (const { entity, row, isPart } of made)
        if (isPart) rows.set(entity, [...(rows.get(entity) ?? []), row])
      const written = referenceOver(model, rows)
      const isTaken = made.some(({ entity, row }) => written.isTaken(entity, row))
      right.push(isTaken ? 'conflict' : 'done')
    }
  } else if (operation === 'update' && row) {
    const values = draft.written[0]?.values ?? {}
    const then = { ...row, ...reference.storedValues(entity, values) }
    const keys = Object.keys(values)
    if (reference.refersToNone(entity, then, keys, viewer)) right.push('absent')
    if (!reference.may(entity, then, rule, viewer)) right.push(refused)
    if (keys.some(key => !maySet(model, reference, entity, row, key, viewer))) right.push(refused)
    if (right.length === 0) right.push(reference.isTaken(entity, then) ? 'conflict' : 'done')
    if (saysBecoming(rule)) right.push(refused, 'done')
  } else {
    right.push('done')
    if (isHeld(model, entity)) right.push('conflict')
  }
  // A hook refuses in words of its own; a path leads through what its caller may not see.
  if (operation !== 'call' && operation !== 'read' && before[operation])
    right.push('invalid', 'conflict', refused, 'absent')
  if (route?.below) right.push('absent')
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
      throw faultOf(about, `${withArticle(of)} with its values`, `done, and no such row${are}`)
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
  const { operation, isGraphql } = offer
  const entity = offer.entity ?? ''
  const wanted = operation === 'create' ? wantedOutcomes[n % 3] : undefined
  const draft = offer.draft({ viewer, row, reference: before, n, wanted })
  if (!draft) return before
  const sent = await sendOffer(service, offer, draft, viewer)
  const { answer, is } = sent
  const id = row && entity ? ` ${row.id}` : ''
  const about = `${offer.told}${id} by ${named(viewer)}: ${draft.told}`
  const now = await service.reference()
  const right = rightOutcomes(service, before, offer, viewer, row, draft)
  const isCall = operation === 'call'
  const remedy = 'write it with steps, which ask for the rule, or let its command ask'
  outcomeOrFault(sent, right, about, isCall ? remedy : undefined)
  if (isCall && right.includes('done')) return now
  if (is !== 'done') {
    if (is === 'absent' && isGraphql && operation === 'delete')
      sameOrFault(answer.json, { data: { it: false } }, about)
    const state = (rows: RowsReference) => stateOf(service, before.all, rows.all)
    if (!isDeepStrictEqual(before.all, now.all) && !isDeepStrictEqual(state(before), state(now)))
      throw faultOf(about, 'no row changed', `${is}, and rows changed`)
    return now
  }
  if (operation === 'delete') {
    const isThere = row && !before.isHidden(entity, row, viewer) && now.byId(entity, row.id)
    if (isThere) throw faultOf(about, 'no such row', 'done, and it is still there')
    return now
  }
  const kept = compareStored(service, [before, now], offer, viewer, row, draft, about)
  const { policy } = entityOf(service.model, entity)
  const isShown = !isGraphql && offer.route?.kind !== 'bulk' && !offer.isLink
  if (isShown && kept && viewer.id !== null && now.may(entity, kept, policy.read, viewer)) {
    const told = comparable(service, entity, viewer, answer.json)
    sameOrFault(told, owed(service, now, entity, kept, viewer), `${about}: the answer`)
  }
  return now
}

/** The writes that were attempted by now: bodies are told apart by it. */
let attempts = 0

const anyOutcome: readonly RequestOutcome[] = [
  ...(['done', 'unauthenticated', 'refused', 'absent', 'conflict', 'invalid'] as const),
]

const wantedOutcomes = ['made', 'refused', 'absent'] as const

const inTurn: readonly Offer['operation'][] = ['create', 'update', 'delete', 'call']

/** Each write and action by each caller, to rows that its rule gives to it, to others and to none; some tries of each where the time is over. */
export const checkWrites = async (
  service: CheckService,
  random: () => number,
  isOver: () => boolean,
  operations = inTurn,
): Promise<void> => {
  const { model, callers, blocked } = service
  const offers = (await offersOf(service))
    .filter(({ operation }) => operations.includes(operation))
    .toSorted((a, b) => inTurn.indexOf(a.operation) - inTurn.indexOf(b.operation))
  const beginning = await service.rows()
  let reference = await service.reference()
  const isCaller = (id: number) => id < 8 || id === blocked?.id
  for (const offer of offers) {
    const { operation, entity, rule } = offer
    const isMaking = operation === 'create' || entity === null
    const wishes = isMaking ? wantedOutcomes : ([true, false, 'no row'] as const)
    // Whether a route by hand lets write who is blocked is its own matter.
    const asking = blocked && operation !== 'call' ? [...callers, blocked] : callers
    const tries = asking.flatMap(viewer => wishes.map(wanted => ({ viewer, wanted })))
    for (const [at, { viewer, wanted }] of rotated(tries, random).entries()) {
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
      const isAsked = kind !== 'create' && view.style.isStrict && mayNameField(entity, 'id')
      if (!isAsked || name === model.viewers.entity) continue
      const { fields, policy, graphql, before } = entity
      const rule = policy[kind]
      const unique = uniquesOf(entity).flat()
      const distinct = new Set(unique.flatMap(key => [key, fields[key]?.foldedFrom]))
      for (const viewer of callers)
        for (const isGraphql of graphql.type ? [false, true] : [false]) {
          const rows = reference.rowsIn(name).filter(() => random() < 0.3)
          const seen = rows.filter(row => reference.may(name, row, policy.read, viewer))
          const version = isGraphql ? undefined : view.version
          const common = { model, entity: name, version, viewer, reference, n: attempts++ } as const
          const found = Object.entries(valuesIfAny({ ...common, mode: 'update' }) ?? {})
          const plain = found.find(([key]) => {
            const { references, settableBy } = fields[key] ?? {}
            return !references && !distinct.has(key) && !isByRow(settableBy)
          })
          if (kind === 'update' && !plain) continue
          const values = kind === 'update' && plain ? Object.fromEntries([plain]) : undefined
          const ids = rows.map(({ id }) => id)
          const draft = draftOfMany(service, name, ids, values, isGraphql)
          const sent = await sendOffer(service, { isGraphql }, draft, viewer)
          const { answer, is } = sent
          const mayAll = seen.every(row =>
            [row, { ...row, ...reference.storedValues(name, values ?? {}) }].every(one =>
              reference.may(name, one, rule, viewer),
            ),
          )
          const isNamed = verdict(rule, viewer, model) !== 'no'
          const right: RequestOutcome[] = isNamed && mayAll ? ['done'] : [refusalOf(viewer)]
          if (isNamed && kind === 'delete' && isHeld(model, name)) right.push('conflict')
          if (before[kind]) right.push('done', 'invalid', 'conflict')
          if (saysBecoming(rule)) right.push('done', refusalOf(viewer))
          const about = `${kind} of many ${name} by ${named(viewer)}: ${draft.told}`
          outcomeOrFault(sent, right, about)
          const now = await service.reference()
          if (is !== 'done' && !isDeepStrictEqual(now.all, reference.all))
            throw faultOf(about, 'no row changed', `${is}, and rows changed`)
          if (is !== 'done') continue
          const { count } = isGraphql ? answer.json.data.it : answer.json
          sameOrFault(count, seen.length, `${about}: the count`)
          const isWritten = ({ id, revision }: ReferenceRow) => {
            const row = now.byId(name, id)
            return values === undefined ? !row : !fields.revision || row?.revision !== revision
          }
          if (fields.revision || kind === 'delete')
            sameOrFault(rows.filter(isWritten), seen, `${about}: what it wrote`)
          await restore(service, beginning)
        }
    }
}
