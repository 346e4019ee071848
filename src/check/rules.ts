/** Every rule by row: a caller whom it lets through, one whom it does not, and one whose row changes meanwhile. */
import { callablesOf, callOf, restore } from '#check/actions.ts'
import { bodyIfAny } from '#check/bodies.ts'
import { named, pathOf } from '#check/callers.ts'
import {
  type ReferenceRow,
  type ReferenceRows,
  type RowsReference,
  referenceOver,
} from '#check/reference.ts'
import { outcomeOf } from '#check/requests.ts'
import { brief, type CheckAnswer, type CheckService, Fault } from '#check/service.ts'
import { isDerived } from '#model/field.ts'
import { columnName, entityOf, type Model } from '#model/model.ts'
import { isByRow, type Rule, type Viewer } from '#model/policy.ts'
import { isIn } from '#model/version.ts'
import { routesOf } from '#rest/routes.ts'
import { queryOf } from '#sql/engine.ts'
import { name, type SqlValue, sql } from '#sql/sql.ts'

/** A rule by row, and the request that it decides. */
type Ruled = {
  readonly told: string
  readonly entity: string
  readonly rule: Rule
  /** Sends it; undefined where nothing can be asked. */
  readonly ask: (
    viewer: Viewer,
    row: ReferenceRow,
    reference: RowsReference,
  ) => Promise<CheckAnswer | undefined>
}

/** A change of one value of a row, by which a rule says no. */
type Flip = {
  readonly entity: string
  readonly id: number
  readonly key: string
  readonly value: SqlValue
}

const ruledIn = async (service: CheckService): Promise<readonly Ruled[]> => {
  const { model, view, ask } = service
  const plain = routesOf(model).flatMap((route): Ruled[] => {
    const { kind, entity, lifetime, below } = route
    const isOffered = !below && isIn(lifetime, view.version)
    if (!isOffered || (kind !== 'one' && kind !== 'update' && kind !== 'delete')) return []
    const { policy } = entityOf(model, entity)
    const rule = kind === 'one' ? (policy.enter ?? policy.read) : policy[kind]
    if (!rule || !isByRow(rule)) return []
    const send: Ruled['ask'] = async (viewer, row, reference) => {
      const purpose = {
        model,
        entity,
        version: view.version,
        mode: 'update',
        viewer,
        reference,
      } as const
      const body = kind === 'update' ? bodyIfAny({ ...purpose, n: 500 + row.id }) : undefined
      // A body that refers to other rows is refused for those.
      const own = Object.entries(body ?? {}).filter(
        ([key]) => !entityOf(model, entity).fields[key]?.references,
      )
      if (kind === 'update' && own.length === 0) return undefined
      return ask(
        `${route.method} ${pathOf(route, view.prefix, { id: row.id })}`,
        viewer,
        body && Object.fromEntries(own),
      )
    }
    return [{ told: `${kind === 'one' ? 'read' : kind} of ${entity}`, entity, rule, ask: send }]
  })
  const others = (await callablesOf(service)).flatMap((callable): Ruled[] => {
    const { about, rule, name } = callable
    if (about === null || !rule || !isByRow(rule)) return []
    const send: Ruled['ask'] = async (viewer, row) => {
      const { line, body } = callOf(service, callable, viewer, row, 1)
      return ask(line, viewer, body)
    }
    return [{ told: name, entity: about, rule, ask: send }]
  })
  return [...plain, ...others]
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
  { entity, rule }: Ruled,
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

/** What the check of rules found. */
export type RulesTried = {
  readonly all: number
  readonly changed: number
  readonly untried: readonly string[]
}

const isRefusal = (answer: CheckAnswer): boolean =>
  ['refused', 'absent'].includes(outcomeOf(answer))

/** Tries each rule by row; throws a Fault for one that does not decide as it says. */
export const checkRules = async (
  service: CheckService,
  random: () => number,
): Promise<RulesTried> => {
  const { model, callers, session, dialect } = service
  const before = await service.rows()
  const reference = referenceOver(model, before)
  const all = await ruledIn(service)
  const untried: string[] = []
  let changed = 0
  for (const ruled of all) {
    const { told, entity, rule, ask } = ruled
    const pairs = callers.flatMap(viewer => reference.rowsIn(entity).map(row => ({ viewer, row })))
    const from = Math.floor(random() * pairs.length)
    const turned = [...pairs.slice(from), ...pairs.slice(0, from)]
    const visible = ({ viewer, row }: (typeof pairs)[number]) =>
      !reference.isHidden(entity, row, viewer)
    const no = turned.find(({ viewer, row }) => !reference.may(entity, row, rule, viewer))
    const refused = no && (await ask(no.viewer, no.row, reference))
    if (no && refused && !isRefusal(refused))
      throw new Fault(
        `${told} ${no.row.id} by ${named(no.viewer)}, whom its rule refuses, is answered: ${brief(refused.text)}`,
      )
    await restore(service, before)
    // A superuser passes whatever the row is.
    const mine = turned.filter(
      pair =>
        visible(pair) &&
        pair.viewer.role !== model.viewers.roles.superuser &&
        reference.may(entity, pair.row, rule, pair.viewer),
    )
    let isTried = false
    for (const { viewer, row } of mine.slice(0, 4)) {
      for (const flip of flipsOf(model, before, ruled, row, viewer)) {
        const { table } = entityOf(model, flip.entity)
        const piece = sql`update ${name(table)} set ${name(columnName(flip.key))} = ${flip.value} where id = ${flip.id}`
        const meanwhile = ask(viewer, row, reference)
        const isChanged = await session.query(queryOf(piece, dialect)).then(
          () => true,
          () => false,
        )
        const passed = await meanwhile
        const now = await service.reference()
        const target = now.byId(entity, row.id)
        const after = isChanged && passed ? await ask(viewer, row, now) : undefined
        if (after && !isRefusal(after) && target && !now.may(entity, target, rule, viewer))
          throw new Fault(
            `${told} ${row.id} by ${named(viewer)} is still answered after ${flip.entity}.${flip.key} became ${flip.value}: ${brief(after.text)}`,
          )
        await restore(service, before)
        const alone = passed && (await ask(viewer, row, reference))
        if (alone && isRefusal(alone) && isChanged)
          throw new Fault(
            `${told} ${row.id} by ${named(viewer)}, whom its rule lets through, is refused: ${brief(alone.text)}`,
          )
        await restore(service, before)
        isTried ||= after !== undefined
        if (isTried) break
      }
      if (isTried) break
    }
    if (isTried) changed += 1
    else untried.push(told)
  }
  return { all: all.length, changed, untried }
}
