/** Which writes and actions a caller may do to rows: one read for the rows that it sees, and one for each rule that looks at them. */
import { after } from '#base/after.ts'
import { type Core, prepareFor } from '#core.ts'
import { allOf, anyOf, type Predicate, resolveCondition } from '#model/condition.ts'
import { entityOf } from '#model/model.ts'
import { judge, nobody, type Rule, resolvingIn, rowRights, type Viewer } from '#model/policy.ts'
import { read } from '#read/read.ts'
import type { Action } from '#write/action.ts'

/** By ids of the rows that the viewer sees: `update`, `delete`, and the names of actions, as far as its rules hold for the row. */
export const mayOf = async (
  core: Core,
  actions: readonly Action[],
  name: string,
  ids: readonly number[],
  viewer: Viewer,
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
  if (ids.length === 0 || judge(policy.enter ?? policy.read ?? nobody, viewer, model) === 'no')
    return {}
  const among = resolved({ id: { in: [...ids] } })
  const idsWhere = async (asked: typeof among): Promise<readonly string[]> => {
    const root = {
      entity: name,
      items: [{ kind: 'field', key: 'id', field: 'id' }] as const,
      ...{ where: [], exists: [], sort: [], many: true, page: null, fetchOneMore: false },
      total: false,
      asked,
    }
    const prepared = prepareFor(core, { encoding: 'rest', roots: [root] }, viewer.role)
    const results = read(core.reader, prepared, [viewer.subject ?? viewer.id])
    const [found] = await after(results, all => all)
    return JSON.parse(String(found?.text ?? '[]')).map(({ id }: { id: number }) => String(id))
  }
  const seen = await idsWhere(among)
  const may = new Map(seen.map(id => [id, [] as string[]]))
  for (const [word, rule = nobody, when] of rules) {
    const verdict = judge(rule, viewer, model)
    if (verdict === 'no') continue
    const rights = () => anyOf(rowRights(model, name, rule, viewer).map(({ before }) => before))
    const asked = [...when, ...(verdict === 'row' ? [rights()] : [])]
    const fitting = asked.length === 0 ? seen : await idsWhere(allOf([among, ...asked]))
    for (const id of fitting) may.get(id)?.push(word)
  }
  return Object.fromEntries(may)
}
