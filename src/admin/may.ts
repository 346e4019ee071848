/** What the admin finds out of rows beside the APIs: which writes and actions a caller may do to them, and those whose title begins with a text. */
import { isShownTo, readableTitleOf } from '#admin/model.ts'
import { after } from '#base/after.ts'
import { type Core, prepareFor } from '#core.ts'
import { allOf, anyOf, type Predicate, resolveCondition, viewer } from '#model/condition.ts'
import { entityOf } from '#model/model.ts'
import { judge, nobody, type Rule, resolvingIn, rowRights, type Viewer } from '#model/policy.ts'
import { resourceOf } from '#model/resource.ts'
import { read } from '#read/read.ts'
import { keysOf, type Sort } from '#read/selection.ts'
import { isSortable } from '#rest/sort.ts'
import type { ReadOptions } from '#sql/engine.ts'

type Row = { readonly id: number; readonly [member: string]: unknown }

/** An entity as a caller sees it, on the terms of a request. */
export type EntityOfCaller = {
  readonly core: Core
  readonly name: string
  readonly viewer: Viewer
  readonly options: ReadOptions
}

/** The most rows that a picker is offered. */
const mostFound = 20

/** The rows that a caller sees and that fit, with these fields by name; all, or the first few in an order. */
const rowsWhere = async (
  { core, name: entity, viewer, options }: EntityOfCaller,
  rows: { readonly condition?: Predicate; readonly granted?: Predicate },
  fields: Readonly<Record<string, string>> = {},
  sort?: readonly Sort[],
): Promise<readonly Row[]> => {
  if (!isShownTo(core.model, entity, viewer)) return []
  const items = Object.entries({ id: 'id', ...fields }).map(
    ([key, field]) => ({ kind: 'field', key, field }) as const,
  )
  const root = {
    ...{ entity, items, where: [], exists: [], total: false, many: true, fetchOneMore: false },
    ...{ sort: sort ?? [], page: sort ? { limit: 1, offset: null } : null, ...rows },
  }
  const prepared = prepareFor(core, { encoding: 'rest', roots: [root] }, viewer.role)
  const values = [viewer.subject ?? viewer.id, mostFound]
  const [found] = await after(read(core.reader, prepared, values, options), all => all)
  return JSON.parse(String(found?.text ?? '[]'))
}

/** A condition of the entity's rows. */
const predicateOf = ({ core, name }: EntityOfCaller, condition: unknown): Predicate =>
  resolveCondition(resolvingIn(core.model), name, condition).predicate

/** The id of the caller's own row, if it has one and sees it; else null. */
export const ownIdOf = async (of: EntityOfCaller): Promise<number | null> =>
  (await rowsWhere(of, { condition: predicateOf(of, { id: viewer }) }))[0]?.id ?? null

/** Rows that the viewer sees, by their titles: those with these ids; without one those whose title begins with a text, in small letters, capitals or as it is written, and any for an empty text. */
export const titledRows = async (of: EntityOfCaller, text: string, ids: readonly number[]) => {
  const { model } = of.core
  const title = readableTitleOf(model, of.name, of.viewer)
  if (title === undefined) return []
  const { entity, nameOf } = resourceOf(model, of.name, model.versions.newest)
  const shown = { [nameOf(title)]: title }
  if (ids.length > 0)
    return rowsWhere(of, { condition: predicateOf(of, { id: { in: ids } }) }, shown)
  const capital = text.charAt(0).toUpperCase() + text.slice(1)
  const spellings = [...new Set([text, text.toLowerCase(), text.toUpperCase(), capital])]
  const begins = { kind: 'compare', field: title, is: 'startsWith' } as const
  const condition = anyOf(spellings.map(value => ({ ...begins, to: { kind: 'value', value } })))
  const sort = isSortable(entity, title) ? [{ field: title, descending: false }] : []
  return rowsWhere(of, text ? { condition } : {}, shown, keysOf(sort))
}

/** The revisions of these rows as far as the viewer sees them, by their ids; none where they have no revisions. */
export const revisionsOf = async (
  of: EntityOfCaller,
  ids: readonly number[],
): Promise<Readonly<Record<string, unknown>>> => {
  if (!entityOf(of.core.model, of.name).fields.revision || ids.length === 0) return {}
  const condition = predicateOf(of, { id: { in: ids } })
  const rows = await rowsWhere(of, { condition }, { revision: 'revision' })
  return Object.fromEntries(rows.map(({ id, revision }) => [id, revision]))
}

/** By ids of the rows that the viewer sees: `update`, `delete`, and the names of actions, as far as its rules hold for the row. */
export const mayOf = async (
  of: EntityOfCaller,
  ids: readonly number[],
): Promise<Readonly<Record<string, readonly string[]>>> => {
  const { core, name, viewer } = of
  const { model, actions } = core
  const { policy } = entityOf(model, name)
  type WordRule = readonly [word: string, rule: Rule | undefined, when: readonly Predicate[]]
  const rules: readonly WordRule[] = [
    ['update', policy.update, []],
    ['delete', policy.delete, []],
    ...actions
      .filter(({ about }) => about === name)
      .map(({ described, rule, when, admin: { hiddenWhen } = {} }): WordRule => {
        const hidden = hiddenWhen && ({ kind: 'not', of: predicateOf(of, hiddenWhen) } as const)
        const conditions = [...(when ? [predicateOf(of, when)] : []), ...(hidden ? [hidden] : [])]
        return [described.operationId, rule, conditions]
      }),
  ]
  if (ids.length === 0) return {}
  const condition = predicateOf(of, { id: { in: ids } })
  const idsWhere = async (granted?: Predicate) =>
    (await rowsWhere(of, { condition, ...(granted && { granted }) })).map(({ id }) => String(id))
  const seen = await idsWhere()
  const may = new Map(seen.map(id => [id, [] as string[]]))
  for (const [word, rule = nobody, when] of rules) {
    const verdict = judge(rule, viewer, model)
    if (verdict === 'no') continue
    const rights = () => anyOf(rowRights(model, name, rule, viewer).map(({ before }) => before))
    const wanted = [...when, ...(verdict === 'row' ? [rights()] : [])]
    const fitting = wanted.length === 0 ? seen : await idsWhere(allOf(wanted))
    for (const id of fitting) may.get(id)?.push(word)
  }
  return Object.fromEntries(may)
}
