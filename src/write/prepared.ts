/**
 * The commands of plain writes to one row. The statements of a form, which is all of a write but its values, its viewer and its moment, are
 * made once; each command of it has them with values of its own. To make them anew took a seventh of a small write's processor time.
 */
import { lru } from '#base/cache.ts'
import type { Model } from '#model/model.ts'
import { given as ownValue, type SqlPart, type SqlValue } from '#sql/sql.ts'
import {
  type Command,
  type CommandDraft,
  commandOf,
  composed,
  type LateParameter,
  lateValue,
  type OwnValues,
  sessionOf,
  type Writing,
} from '#write/command.ts'
import { create, formOf, isPlainWrite, remove, update } from '#write/entity-commands.ts'
import type { Target, TargetForm } from '#write/guard.ts'
import type { Values } from '#write/input.ts'
import type { DeferredValue, JobStatement } from '#write/job.ts'

/** A statement in which parameters stand for the values that each command has of its own. */
type StatementForm = {
  readonly text: string
  readonly values: readonly (DeferredValue | LateParameter)[]
}

const formed = (writing: Writing, draft: CommandDraft) => {
  const { refusals: _, steps, ...form } = composed(writing, draft, from => from)
  return {
    form,
    steps: steps.map(({ statement, explain, ...step }) => ({ statement, explain, step })),
  }
}

/** The forms of a model that were used of late. */
const forms = new WeakMap<Model, ReturnType<typeof lru<ReturnType<typeof formed>>>>()
const most = 500

/** The command of a form with its own values. Why a step of it is refused is told by the command of the same draft that has all of them in it. */
const commandIn = (
  writing: Writing,
  key: string,
  own: ReadonlyMap<string, SqlValue>,
  draftOf: () => CommandDraft,
  whole: () => Command,
): Command => {
  const { model, dialect, viewer } = writing
  const known = forms.getOrInsertComputed(model, () => lru(most))
  // What a rule says of a caller depends on its role; the check of a viewer on how it is named.
  const named = `${viewer.id === null} ${viewer.session === undefined}`
  const full = `${dialect.name} ${viewer.role} ${named} ${key}`
  const { form, steps } = known.get(full) ?? known.set(full, formed(writing, draftOf()))
  const given: OwnValues =
    viewer.session === undefined ? own : new Map([...own, ...sessionOf(viewer)])
  const filled = ({ text, values }: StatementForm): JobStatement => {
    const all: DeferredValue[] = []
    for (const value of values) all.push(isLate(value) ? lateValue(writing, value, given) : value)
    return { text, values: all }
  }
  return {
    ...form,
    steps: steps.map(({ step, statement, explain }) => ({
      ...step,
      statement: filled(statement),
      ...(explain && { explain: filled(explain) }),
    })),
    viewer,
    before: undefined,
    refused: (index, rows) => whole().refused(index, rows),
  }
}

const isLate = (value: DeferredValue | LateParameter): value is LateParameter =>
  typeof value === 'object' && value !== null && 'kind' in value

/** Whether the statements of a viewer's writes are those of others too: a subject is looked up by what its token says. */
const isShared = ({ viewer, before, after }: Writing): boolean =>
  viewer.subject === undefined && before === undefined && after === undefined

/** The command that creates a row. */
export const createCommand = (
  writing: Writing,
  entityName: string,
  values: ReadonlyMap<string, SqlPart>,
): Command => {
  const whole = () => commandOf(writing, create(writing, entityName, values))
  if (!isShared(writing) || !isPlainWrite(writing, entityName, 'create')) return whole()
  const { key, form, own, isAnybodys } = formOf(writing, entityName, values, true)
  if (!isAnybodys) return whole()
  const draft = () => create(writing, entityName, form)
  return commandIn(writing, `create ${entityName} ${key}`, own, draft, whole)
}

/** A target with values of its own in the places of its ids and its revision; undefined for one with more preconditions. */
const targetForm = ({ entity, id, below, revisions = 'any', excluded, unchanged }: Target) => {
  if (excluded || unchanged) return undefined
  const own = new Map<string, SqlValue>([['the row', id]])
  const form: TargetForm = {
    entity,
    id: ownValue('the row'),
    ...(below && { below: { field: below.field, id: ownValue('the parent') } }),
    revisions: revisions === 'any' ? 'any' : revisions.map((_, at) => ownValue(`revision ${at}`)),
  }
  if (below) own.set('the parent', below.id)
  if (revisions !== 'any')
    for (const [at, revision] of revisions.entries()) own.set(`revision ${at}`, revision)
  const revised = revisions === 'any' ? '' : revisions.length
  return { key: `${entity} ${below?.field} ${revised}`, form, own }
}

/** The command that updates a row, or replaces all that its caller may set. */
export const updateCommand = (
  writing: Writing,
  target: Target,
  values: Values,
  isReplacement: boolean,
): Command => {
  const { model } = writing
  const whole = () => commandOf(writing, update(writing, target, values, { isReplacement }))
  const row = targetForm(target)
  // Whoever signs in by an address may have to sign in again to change it.
  const isAddress = model.people?.entity === target.entity && values.has(model.people.emailKey)
  if (!row || isAddress || !isShared(writing) || !isPlainWrite(writing, target.entity, 'update'))
    return whole()
  const { key, form, own, isAnybodys } = formOf(writing, target.entity, values, false)
  if (!isAnybodys) return whole()
  for (const [name, value] of row.own) own.set(name, value)
  const draft = () => update(writing, row.form, form, { isReplacement })
  return commandIn(writing, `update ${isReplacement} ${row.key} ${key}`, own, draft, whole)
}

/** The command that deletes a row. */
export const removeCommand = (writing: Writing, target: Target): Command => {
  const whole = () => commandOf(writing, remove(writing, target))
  const row = targetForm(target)
  if (!row || !isShared(writing) || !isPlainWrite(writing, target.entity, 'delete')) return whole()
  const draft = () => remove(writing, row.form)
  return commandIn(writing, `delete ${row.key}`, row.own, draft, whole)
}
