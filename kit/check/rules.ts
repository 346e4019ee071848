/** Every rule by row, while the row changes that it looks at: who passed is refused from then on. */
import { rotated } from '#base/random.ts'
import { named } from '#kit/check/callers.ts'
import { offersOf, refusalOf, sendOffer } from '#kit/check/offers.ts'
import {
  type ReferenceRow,
  type ReferenceRows,
  type RowsReference,
  referenceOver,
} from '#kit/check/reference.ts'
import { brief, type CheckService, faultOf, restore } from '#kit/check/service.ts'
import { isDerived } from '#model/field.ts'
import { columnName, entityOf, type Model } from '#model/model.ts'
import { withArticle } from '#model/names.ts'
import { isByRow, type Rule, type Viewer } from '#model/policy.ts'
import { name, type SqlValue, sql } from '#sql/sql.ts'

/** A change of one value of a row, by which a rule says no. */
type Flip = {
  readonly entity: string
  readonly id: number
  readonly key: string
  readonly value: SqlValue
}

/** A row with those that it leads to and those that lead to it. */
const around = (model: Model, rows: ReferenceRows, entity: string, row: ReferenceRow) => {
  const { relations, fields } = entityOf(model, entity)
  const found: { entity: string; row: ReferenceRow }[] = [{ entity, row }]
  const add = (to: string, fits: (one: ReferenceRow) => boolean) => {
    for (const one of rows.get(to) ?? []) if (fits(one)) found.push({ entity: to, row: one })
  }
  for (const [key, { references }] of Object.entries(fields))
    if (references) add(references.entity, one => one.id === row[key])
  for (const { kind, to, by, through } of Object.values(relations))
    if (kind === 'many' && through === undefined) add(to, one => one[by] === row.id)
  return found
}

/** Values that a field may be changed to, past the APIs. */
const othersFor = (
  model: Model,
  rows: ReferenceRows,
  entity: string,
  key: string,
): readonly SqlValue[] => {
  const field = entityOf(model, entity).fields[key]
  if (!field || isDerived(field) || key === 'id' || key === 'revision') return []
  if (field.values) return field.values
  if (field.references)
    return (rows.get(field.references.entity) ?? []).map(({ id }) => id).slice(0, 6)
  if (field.scalar === 'flag') return [0, 1]
  return field.nullable ? [null] : []
}

/** The changes by which the rule says no to a caller to whom it says yes. */
const flipsOf = function* (
  model: Model,
  rows: ReferenceRows,
  entity: string,
  rule: Rule,
  row: ReferenceRow,
  viewer: Viewer,
): Generator<Flip> {
  for (const one of around(model, rows, entity, row))
    for (const key of Object.keys(entityOf(model, one.entity).fields))
      for (const value of othersFor(model, rows, one.entity, key)) {
        if (one.row[key] === value) continue
        const changed = { ...one.row, [key]: value }
        const all = (rows.get(one.entity) ?? []).map(other =>
          other.id === one.row.id ? changed : other,
        )
        const then = referenceOver(model, new Map([...rows, [one.entity, all]]))
        const target = then.byId(entity, row.id)
        if (target && !then.may(entity, target, rule, viewer))
          yield { entity: one.entity, id: one.row.id, key, value }
      }
}

/** Tries each rule by row; gives how many there are, how many changed their answer, and those of which none was found that does. Throws a Fault for one that does not decide as it says. */
export const checkRules = async (
  service: CheckService,
  random: () => number,
  isOver: () => boolean,
) => {
  const { model, callers } = service
  const before = await service.rows()
  const reference = referenceOver(model, before)
  const offers = (await offersOf(service)).filter(
    ({ operation, entity, rule, route, isLink }) =>
      entity !== null && isByRow(rule) && operation !== 'create' && !route?.below && !isLink,
  )
  const untried: string[] = []
  let changed = 0
  for (const [at, offer] of offers.entries()) {
    const { told, entity, rule, sets } = offer
    if (entity === null || !rule) continue
    // The first try is of each rule; more ways to the same one wait for time that is left.
    const isKnown = offers
      .slice(0, at)
      .some(other => other.rule === rule && other.operation === offer.operation)
    if (isKnown && isOver()) continue
    const send = async (viewer: Viewer, row: ReferenceRow, over: RowsReference) => {
      const draft = offer.draft({ viewer, row, reference: over, n: 500 + row.id, isOwn: true })
      const sent = draft && (await sendOffer(service, offer, draft, viewer))
      return sent && { ...sent, isNo: sent.is === 'absent' || sent.is === refusalOf(viewer) }
    }
    const pairs = callers.flatMap(viewer => reference.rowsIn(entity).map(row => ({ viewer, row })))
    // A superuser passes whatever the row is.
    const mine = rotated(pairs, random).filter(
      ({ viewer, row }) =>
        viewer.role !== model.viewers.roles.superuser &&
        !reference.isHidden(entity, row, viewer) &&
        reference.may(entity, row, rule, viewer) &&
        (sets === undefined || reference.may(entity, row, sets, viewer)),
    )
    const tryOne = async ({ viewer, row }: (typeof mine)[number]): Promise<boolean> => {
      for (const flip of flipsOf(model, before, entity, rule, row, viewer)) {
        const { table } = entityOf(model, flip.entity)
        const piece = sql`update ${name(table)} set ${name(columnName(flip.key))} = ${flip.value} where id = ${flip.id}`
        const meanwhile = send(viewer, row, reference)
        const isChanged = await service.change(piece).then(Boolean, () => false)
        const passed = await meanwhile
        const now = await service.reference()
        const target = now.byId(entity, row.id)
        const after = isChanged && passed ? await send(viewer, row, now) : undefined
        const about = `${told} ${row.id} by ${named(viewer)}`
        if (after && !after.isNo && target && !now.may(entity, target, rule, viewer))
          throw faultOf(
            `${about} after ${flip.entity}.${flip.key} became ${flip.value}`,
            'refused, as its rule says from then on',
            `${after.is} ${brief(after.answer.text)}`,
            'ask for the rule in the statement that writes, as steps do',
          )
        await restore(service, before)
        const alone = passed && (await send(viewer, row, reference))
        if (alone?.isNo && isChanged)
          throw faultOf(
            about,
            'done, as its rule lets it through',
            `${alone.is} ${brief(alone.answer.text)}`,
          )
        await restore(service, before)
        if (after) return true
      }
      return false
    }
    let isTried = false
    for (const pair of mine.slice(0, 4)) {
      isTried = await tryOne(pair)
      if (isTried) break
    }
    if (isTried) changed += 1
    else untried.push(`${told}${offer.isGraphql ? ' through GraphQL' : ''}`)
  }
  return { all: offers.length, changed, untried }
}

/** A sentence for each reference to rows that a caller may not see, by which rows are shown to it all the same: the rule may lack a condition. */
export const exposedIn = (
  model: Model,
  reference: RowsReference,
  callers: readonly Viewer[],
): readonly string[] =>
  Object.entries(model.entities).flatMap(([entity, { fields, policy }]) =>
    Object.entries(fields).flatMap(([key, { references }]) => {
      // People are often hidden where what they wrote is not.
      const to = references?.entity === model.viewers.entity ? undefined : references?.entity
      if (to === undefined || references?.entity === entity) return []
      const isExposed = (viewer: Viewer) =>
        reference.seen(entity, policy.read, viewer).some(row => {
          const target = reference.byId(to, row[key])
          return target && reference.isHidden(to, target, viewer)
        })
      const found = callers.find(isExposed)
      return found
        ? [
            `${entity} is shown to ${named(found)} also where its ${key} names ${withArticle(to)} that is hidden: is that meant?`,
          ]
        : []
    }),
  )
