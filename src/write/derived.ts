/** The plain create, update and delete that every entity has unless its policy closes them. */
import { ApiError } from '#errors.ts'
import type { Entity } from '#model/entity.ts'
import { columnName, entityOf, fieldOf, type Model, notFound } from '#model/model.ts'
import { judge, type Rule, refusal } from '#model/policy.ts'
import type { Viewer } from '#model/viewer.ts'
import { conditionSql, selfCondition } from '#read/condition.ts'
import { VIEWER } from '#read/selection.ts'
import type { Dialect } from '#sql/dialect.ts'
import type { Rows } from '#sql/engine.ts'
import {
  and,
  bind,
  column,
  comma,
  join,
  name,
  type Sql,
  type SqlValue,
  type Statement,
  sql,
  statement,
} from '#sql/sql.ts'
import type { Command } from '#write/command.ts'
import { initialValue, type Values } from '#write/input.ts'
import type { Step } from '#write/job.ts'

/** What commands are made with: one model, one database, who asks. */
export type Writing = { readonly model: Model; readonly dialect: Dialect; readonly viewer: Viewer }

/** The statement, with the viewer's id in its slot: a step has no slots. */
export const ready = (piece: Sql, { dialect, viewer }: Writing): Statement => {
  const { text, parameters } = statement(piece, dialect.placeholder)
  return {
    text,
    parameters: parameters.map(parameter =>
      parameter.kind === 'slot' && parameter.slot === VIEWER
        ? { kind: 'value', value: viewer.id }
        : parameter,
    ),
  }
}

/** Whether the viewer may, by the rule alone; throws 401 or 403. `row`: it depends on whose row it is. */
export const permit = (writing: Writing, rule: Rule | undefined, what: string): 'yes' | 'row' => {
  const { model, viewer } = writing
  const verdict = rule === undefined ? 'no' : judge(rule, viewer, model.settings)
  if (verdict === 'no') throw refusal(viewer, what)
  return verdict
}

/** That the token's user is not barred from writing and, where it acts as itself, exists. */
const standing = (
  writing: Writing,
  asSelf: boolean,
): { step: Step; refused: (rows: Rows) => ApiError } => {
  const { viewers } = writing.model
  const { table } = entityOf(writing.model, viewers.entity)
  const viewer = sql`select ${name(columnName(viewers.barred.field))} from ${name(table)}
    where ${name('id')} = ${bind(writing.viewer.id)}`
  const barred = sql`exists (${viewer} and ${name(columnName(viewers.barred.field))} = ${bind(viewers.barred.value)})`
  const exists = asSelf ? sql` and exists (${viewer})` : sql``
  return {
    step: {
      statement: ready(sql`select 1 where not ${barred}${exists}`, writing),
      expect: 'row',
      explain: ready(viewer, writing),
    },
    refused: rows =>
      rows.length > 0
        ? new ApiError(
            'FORBIDDEN',
            `The ${viewers.entity} of this token is ${viewers.barred.value} and may not write`,
          )
        : new ApiError('FORBIDDEN', `The ${viewers.entity} of this token does not exist any more`),
  }
}

/** A step with what it means when its expectation fails. */
export type GuardedStep = { readonly step: Step; readonly refused?: (rows: Rows) => ApiError }

/** How a command answers: its status, and which of its steps returns the id of what it made (the last one). */
type Answering = Partial<Pick<Command, 'status' | 'text' | 'asks'>> & { readonly makes?: number }

/** Steps behind the check of who asks; `status`, `makes` and `asks` count from the first of them. */
export const guarded = (
  writing: Writing,
  asSelf: boolean,
  name: string,
  steps: readonly GuardedStep[],
  { status = 200, makes = steps.length - 1, text, asks }: Answering = {},
): Command => {
  const checks = writing.viewer.id === null ? [] : [standing(writing, asSelf)]
  const all: readonly GuardedStep[] = [...checks, ...steps]
  return {
    name,
    steps: all.map(({ step }) => step),
    makes: makes + checks.length,
    status: typeof status === 'number' ? status : { ...status, step: status.step + checks.length },
    ...(text !== undefined && { text }),
    ...(asks !== undefined && { asks: asks + checks.length }),
    refused: (index, rows) =>
      all[index]?.refused?.(rows) ??
      new ApiError('CONFLICT', `Cannot ${name}: what it needs is not so any more`),
  }
}

/** The rows that must be there for these values, by the fields that refer to them. */
const referred = (entity: Entity, values: Values) =>
  [...values].flatMap(([key, value]) => {
    const { references } = fieldOf(entity, key)
    return references && value !== null ? [{ key, value, entity: references.entity }] : []
  })

const existsSql = (model: Model, entity: string, id: SqlValue): Sql =>
  sql`exists (select 1 from ${name(entityOf(model, entity).table)} where ${name('id')} = ${bind(id)})`

/** What making a row with these values needs: the right to it, and that what it refers to is there. */
const claim = (writing: Writing, entityName: string, values: Values) => {
  const { model, viewer } = writing
  const entity = entityOf(model, entityName)
  const rule = entity.policy.create
  const what = `create ${entity.plural}`
  const verdict = permit(writing, rule, what)
  const isForOther =
    verdict === 'row' &&
    rule?.kind === 'self' &&
    !rule.fields.some(field => values.get(field) === viewer.id)
  const isOwn = (key: string) => fieldOf(entity, key).initial === 'viewer'
  const references = referred(entity, values).filter(({ key }) => !isOwn(key))
  const conditions = references.map(reference =>
    existsSql(model, reference.entity, reference.value),
  )
  const refused = (rows: Rows): ApiError => {
    const absent = references[rows[0]?.findIndex(found => !found) ?? -1]
    if (absent) return notFound(absent.entity, absent.value)
    return isForOther ? refusal(viewer, `${what} for somebody else`) : new ApiError('CONFLICT')
  }
  const explain =
    conditions.length > 0 ? { explain: ready(sql`select ${join(conditions, comma)}`, writing) } : {}
  const asSelf = verdict === 'row' || Object.keys(entity.fields).some(isOwn)
  const where = and(isForOther ? [...conditions, sql`false`] : conditions)
  return { entity, where, explain, refused, asSelf }
}

/** Makes a row. What it refers to must exist, else `NOT_FOUND`; for oneself one must exist oneself, else 403. */
export const create = (writing: Writing, entityName: string, values: Values): Command => {
  const { entity, where, explain, refused, asSelf } = claim(writing, entityName, values)
  const columns = [...values.keys()].map(key => name(columnName(key)))
  const { viewers } = writing.model
  const asked = viewers.entity === entityName ? (viewers.asked ?? []) : []
  const given = [...values].map(([key, value]) =>
    writing.dialect.typed(bind(value), fieldOf(entity, key).scalar),
  )
  const insert = sql`insert into ${name(entity.table)} (${join(columns, comma)})
    select ${join(given, comma)} where ${where} returning ${join(
      ['id', ...asked].map(key => name(columnName(key))),
      comma,
    )}`
  const step: Step = { statement: ready(insert, writing), expect: 'row', ...explain }
  return guarded(writing, asSelf, `create ${entityName}`, [{ step, refused }], {
    status: 201,
    ...(asked.length > 0 && { asks: 0 }),
  })
}

/** Whether a row could be made below these parents at all: what a create whose input is at fault asks first. */
export const claimOf = (writing: Writing, entityName: string, given: Values): Command => {
  const { where, explain, refused, asSelf } = claim(writing, entityName, given)
  const step: Step = {
    statement: ready(sql`select 1 where ${where}`, writing),
    expect: 'row',
    ...explain,
  }
  return guarded(writing, asSelf, `look below for ${entityName}`, [{ step, refused }])
}

/** The condition that a rule is on the rows of an entity's table: true where it is not about whose they are. */
export const conditionOf = (writing: Writing, entityName: string, rule: Rule | undefined): Sql => {
  const { model, dialect, viewer } = writing
  const entity = entityOf(model, entityName)
  const verdict = rule === undefined ? 'no' : judge(rule, viewer, model.settings)
  if (verdict !== 'row' || !rule) return verdict === 'yes' ? sql`true` : sql`false`
  return conditionSql(selfCondition(model, entity, rule), entity.table, dialect, entity.table)
}

/** Which row is meant, and what must be so of it. */
export type Target = {
  readonly entity: string
  readonly id: number
  /** The parent that the path names: the row must be below it. */
  readonly below?: { readonly field: string; readonly id: number }
  /** `If-Match`: the revisions that it lists, or any; undefined: no such header. */
  readonly revisions?: readonly number[] | 'any' | undefined
}

/** The conditions of a target, and the error when they do not hold. */
const aim = (writing: Writing, target: Target, verdict: 'yes' | 'row', rule: Rule | undefined) => {
  const { model, dialect, viewer } = writing
  const entity = entityOf(model, target.entity)
  const of = entity.table
  const id = sql`${column(of, 'id')} = ${bind(target.id)}`
  const parent = target.below
    ? [sql`${column(of, columnName(target.below.field))} = ${bind(target.below.id)}`]
    : []
  const mine =
    verdict === 'row' && rule
      ? conditionSql(selfCondition(model, entity, rule), of, dialect, of)
      : sql`true`
  const { revisions } = target
  const current = Array.isArray(revisions)
    ? revisions.length === 0
      ? sql`false`
      : sql`${column(of, 'revision')} in (${join(revisions.map(bind), comma)})`
    : sql`true`
  const explain = ready(
    sql`select ${mine}, ${current} from ${name(of)} where ${and([id, ...parent])}`,
    writing,
  )
  const refused = (rows: Rows): ApiError => {
    const [row] = rows
    if (!row) return notFound(target.entity, target.id)
    if (!row[0]) return refusal(viewer, `change this ${target.entity}`)
    return new ApiError(
      'PRECONDITION_FAILED',
      `The ${target.entity} was changed since: read it again, then repeat the change`,
    )
  }
  return { where: and([id, ...parent, mine, current]), explain, refused }
}

/** Changes a row: only what `values` has. A change of nothing changes nothing, not even the revision. */
export const update = (writing: Writing, target: Target, values: Values): Command => {
  const entity = entityOf(writing.model, target.entity)
  const rule = entity.policy.update
  const verdict = permit(writing, rule, `change ${entity.plural}`)
  const { where, explain, refused } = aim(writing, target, verdict, rule)
  const sets = [...values].map(
    ([key, value]) =>
      sql`${name(columnName(key))} = ${writing.dialect.typed(bind(value), fieldOf(entity, key).scalar)}`,
  )
  for (const [key, { resetBy }] of Object.entries(entity.fields)) {
    const value = resetBy === undefined ? undefined : values.get(resetBy)
    if (resetBy === undefined || value === undefined || values.has(key)) continue
    const own = name(columnName(key))
    sets.push(sql`${own} = case when ${name(columnName(resetBy))} = ${bind(value)} then ${own}
      else ${bind(initialValue(entity, key))} end`)
  }
  const change =
    sets.length === 0
      ? sql`select ${name('id')} from ${name(entity.table)} where ${where}${writing.dialect.lockClause}`
      : sql`update ${name(entity.table)} set ${join([...sets, sql`${name('revision')} = ${name('revision')} + 1`], comma)}
          where ${where} returning ${name('id')}`
  const step: Step = { statement: ready(change, writing), expect: 'row', explain }
  return guarded(writing, false, `update ${target.entity}`, [{ step, refused }])
}

/** Deletes a row, and what belongs to it. */
export const remove = (writing: Writing, target: Target): Command => {
  const entity = entityOf(writing.model, target.entity)
  const rule = entity.policy.delete
  const verdict = permit(writing, rule, `delete ${entity.plural}`)
  const { where, explain, refused } = aim(writing, target, verdict, rule)
  const change = sql`delete from ${name(entity.table)} where ${where} returning ${name('id')}`
  const step: Step = { statement: ready(change, writing), expect: 'row', explain }
  return guarded(writing, false, `delete ${target.entity}`, [{ step, refused }], {
    status: 204,
    text: 'true',
  })
}

/**
 * Whether the viewer may touch the target at all: what a write whose input is at fault asks first, because
 * 403 and 404 come before 422. Changes nothing.
 */
export const standingOf = (
  writing: Writing,
  target: Target,
  operation: 'update' | 'delete',
): Command => {
  const entity = entityOf(writing.model, target.entity)
  const rule = entity.policy[operation]
  const verdict = permit(writing, rule, `change ${entity.plural}`)
  const { revisions: _, ...anyRevision } = target
  const { where, explain, refused } = aim(writing, anyRevision, verdict, rule)
  const look = sql`select ${name('id')} from ${name(entity.table)} where ${where}`
  return guarded(writing, false, `look at ${target.entity}`, [
    { step: { statement: ready(look, writing), expect: 'row', explain }, refused },
  ])
}
