/** What the admin asks of rows beside the APIs: which writes and actions a caller may do to them, and those whose title begins with a text. */
import { isShownTo, readableTitleOf } from '#admin/model.ts'
import { after } from '#base/after.ts'
import { type Core, prepareFor } from '#core.ts'
import { allOf, anyOf, type Predicate, resolveCondition } from '#model/condition.ts'
import { entityOf } from '#model/model.ts'
import { judge, nobody, type Rule, resolvingIn, rowRights, type Viewer } from '#model/policy.ts'
import { resourceOf } from '#model/resource.ts'
import { read } from '#read/read.ts'
import { keysOf, type Sort } from '#read/selection.ts'
import { isSortable } from '#rest/sort.ts'
import type { ReadOptions } from '#sql/engine.ts'
import type { Action } from '#write/action.ts'

type Row = { readonly id: number; readonly [member: string]: unknown }

/** The rows of an entity that a caller sees and that fit, with these fields by name; all, or the first of them in an order. */
const rowsWhere = async (
  core: Core,
  viewer: Viewer,
  entity: string,
  conditions: { readonly asked?: Predicate; readonly granted?: Predicate },
  options: ReadOptions,
  fields: Readonly<Record<string, string>> = {},
  first?: { readonly count: number; readonly sort: readonly Sort[] },
): Promise<readonly Row[]> => {
  const items = Object.entries({ id: 'id', ...fields }).map(
    ([key, field]) => ({ kind: 'field', key, field }) as const,
  )
  const root = {
    ...{ entity, items, where: [], exists: [], total: false, many: true, fetchOneMore: false },
    sort: first?.sort ?? [],
    page: first ? { limit: 1, offset: null } : null,
    ...conditions,
  }
  const prepared = prepareFor(core, { encoding: 'rest', roots: [root] }, viewer.role)
  const values = [viewer.subject ?? viewer.id, first?.count ?? 0]
  const results = read(core.reader, prepared, values, options)
  const [found] = await after(results, all => all)
  return JSON.parse(String(found?.text ?? '[]'))
}

/** The most rows that a picker is offered. */
const mostFound = 20

/** Rows that the viewer sees whose title begins with a text, in small letters, capitals or as it is written; any rows for an empty text. */
export const beginningWith = async (
  core: Core,
  name: string,
  text: string,
  viewer: Viewer,
  options: ReadOptions,
): Promise<readonly Row[]> => {
  const entity = entityOf(core.model, name)
  const title = readableTitleOf(core.model, name, viewer)
  if (title === undefined || !isShownTo(core.model, name, viewer)) return []
  const { nameOf } = resourceOf(core.model, name, core.model.versions.newest)
  const capital = text.charAt(0).toUpperCase() + text.slice(1)
  const spellings = [...new Set([text, text.toLowerCase(), text.toUpperCase(), capital])]
  const asked: Predicate = {
    kind: 'or',
    of: spellings.map(value => ({
      kind: 'compare',
      field: title,
      is: 'startsWith',
      to: { kind: 'value', value },
    })),
  }
  const sort = isSortable(entity, title) ? [{ field: title, descending: false }] : []
  const first = { count: mostFound, sort: keysOf(sort) }
  const conditions = text ? { asked } : {}
  return rowsWhere(core, viewer, name, conditions, options, { [nameOf(title)]: title }, first)
}

/** By ids of the rows that the viewer sees: `update`, `delete`, and the names of actions, as far as its rules hold for the row. */
export const mayOf = async (
  core: Core,
  actions: readonly Action[],
  name: string,
  ids: readonly number[],
  viewer: Viewer,
  options: ReadOptions,
): Promise<Readonly<Record<string, readonly string[]>>> => {
  const { model } = core
  const { policy } = entityOf(model, name)
  const resolved = (condition: unknown) =>
    resolveCondition(resolvingIn(model), name, condition).predicate
  const rules: readonly (readonly [
    word: string,
    rule: Rule | undefined,
    when: readonly Predicate[],
  ])[] = [
    ['update', policy.update, []],
    ['delete', policy.delete, []],
    ...actions
      .filter(({ about }) => about === name)
      .map(({ described, rule, when, admin: { hiddenWhen } = {} }) => {
        const conditions = [
          ...(when ? [resolved(when)] : []),
          ...(hiddenWhen ? [{ kind: 'not', of: resolved(hiddenWhen) } as const] : []),
        ]
        return [described.operationId, rule, conditions] as const
      }),
  ]
  if (ids.length === 0 || !isShownTo(core.model, name, viewer)) return {}
  const among = resolved({ id: { in: [...ids] } })
  const idsWhere = async (granted?: Predicate) => {
    const conditions = { asked: among, ...(granted && { granted }) }
    return (await rowsWhere(core, viewer, name, conditions, options)).map(({ id }) => String(id))
  }
  const seen = await idsWhere()
  const may = new Map(seen.map(id => [id, [] as string[]]))
  for (const [word, rule = nobody, when] of rules) {
    const verdict = judge(rule, viewer, model)
    if (verdict === 'no') continue
    const rights = () => anyOf(rowRights(model, name, rule, viewer).map(({ before }) => before))
    const asked = [...when, ...(verdict === 'row' ? [rights()] : [])]
    const fitting = asked.length === 0 ? seen : await idsWhere(allOf(asked))
    for (const id of fitting) may.get(id)?.push(word)
  }
  return Object.fromEntries(may)
}
