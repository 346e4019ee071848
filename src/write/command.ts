/** Makes commands from named steps, after a guard of the viewer. */
import { lru } from '#base/cache.ts'
import { ApiError } from '#errors.ts'
import { anyOf, type Predicate, someOf } from '#model/condition.ts'
import { columnName, entityOf, type Model } from '#model/model.ts'
import { withArticle } from '#model/names.ts'
import { judge, type Rule, refusal, rowRights, type Viewer } from '#model/policy.ts'
import { type ColumnOf, columnsOf, predicateSql } from '#read/predicate.ts'
import { VIEWER } from '#read/selection.ts'
import type { Dialect } from '#sql/dialect.ts'
import type { Rows } from '#sql/engine.ts'
import {
  and,
  name,
  given as ownValue,
  type Parameter,
  parameter,
  type Sql,
  type SqlPart,
  type SqlValue,
  type Statement,
  slot,
  sql,
  statement,
} from '#sql/sql.ts'
import {
  type DeferredValue,
  type Job,
  type JobStatement,
  type Status,
  type Step,
  type Together,
  withValues,
} from '#write/job.ts'

/** The context of a command: the model, the database's dialect, the viewer, and the guards before its own steps. */
export type Writing = {
  readonly model: Model
  readonly dialect: Dialect
  readonly viewer: Viewer
  /** The moment of the write, milliseconds since 1970. */
  readonly now: number
  readonly before?: readonly GuardedStep[]
  /** The guards after its own steps. */
  readonly after?: readonly GuardedStep[]
}

/** A command: a write by its name, with its steps and the errors for those that fail. */
export type Command = {
  /** For logs and messages: `create` and the entity. */
  readonly name: string
  readonly steps: readonly Step[]
  /** Its own values, where its steps are those of its form. */
  readonly own?: Job['own']
  readonly together?: Job['together']
  /** The step that returns the id of the row that was written, as its first column; null: there is none. */
  readonly makes: number | null
  /** The status of its answer. */
  readonly status: Status
  /** The text of its answer if nothing is read. */
  readonly text?: Job['text']
  /** Whether its steps must all see one state of the store: it is run again if another write came in between. */
  readonly isolated?: boolean | undefined
  readonly viewer: Viewer
  /** The entity that it deletes a row of. */
  readonly deletes?: string | undefined
  /** The guards of its context that come before its own steps. */
  readonly before: Writing['before']
  /** Whether it puts something into the outbox, which is then awake at once. */
  readonly hasEffect: boolean
  /** The error for a step whose expectation failed, from the rows of its `explain`. */
  readonly refused: (step: number, rows: Rows) => ApiError
}

/** One statement of a command, and the error when its expectation fails. */
export type GuardedStep = Partial<Pick<Step, 'expect' | 'checksViewer' | 'path' | 'slugs'>> & {
  /** Whether it puts something into the outbox. */
  readonly isEffect?: true
  /** The name by which later steps and the answer refer to its row. */
  readonly name?: string
  /** The fields of that row, in the order of its columns; its id alone unless this names others. */
  readonly returns?: readonly string[]
  readonly sql: Sql
  /** Run when the expectation fails, so that `refused` can choose the error. */
  readonly explain?: Sql
  readonly refused?: (rows: Rows, given?: OwnValues) => ApiError | undefined
  /** The statement that does this step for all of its form that come together; undefined if each must come after the one before. */
  readonly many?: () => Sql | undefined
  /** Its own values, where others have the same statements. */
  readonly given?: OwnValues
  /** Where it is one of several parts: what the names of its own steps begin with, and the step that makes the row above. */
  readonly scope?: string
  readonly above?: string | undefined
}

/** The values of a step by the names that its statements have for them. */
export type OwnValues = ReadonlyMap<string, SqlValue>

/** By this name the step of a part refers to that of the row above it, if this is made with it. */
export const above = 'the row above'

type StepNames = Pick<GuardedStep, 'scope' | 'above'>

export type CommandDraft = Pick<Command, 'name' | 'isolated' | 'deletes'> & {
  /** The text of its answer if nothing is read, or the steps whose ids are that. */
  readonly text?: string | { readonly idsOf: readonly string[] } | undefined
  /** Whether the viewer acts as itself, and so must exist. */
  readonly asSelf?: boolean
  readonly steps: readonly GuardedStep[]
  /** The step that returns the id of the row that was written; the last one if it is left out. */
  readonly makes?: string
  readonly status?: number | { readonly step: string; readonly some: number; readonly none: number }
}

/** For a later step: a field of the row that the step of that name made, changed or found; of the first one if there are several. */
export const result = (step: string, field = 'id'): Sql =>
  parameter({ kind: 'result', step, field })

/** For a later step: the ids of all rows that the step of that name made, changed or found, as a query that gives them. */
export const idsOf = ({ dialect }: Pick<Writing, 'dialect'>, step: string): Sql =>
  dialect.valuesIn(parameter({ kind: 'result', step, field: 'id', as: 'list' }))

/** Whether the rule allows it; throws 401 or 403 if it does not. `row`: it depends on whose row it is. */
export const permit = (
  { model, viewer }: Pick<Writing, 'model' | 'viewer'>,
  rule: Rule | undefined,
  what: string,
): 'yes' | 'row' => {
  const verdict = rule === undefined ? 'no' : judge(rule, viewer, model)
  if (verdict === 'no') throw refusal(viewer, what)
  return verdict
}

/** A rule as a condition on the rows of an entity's table: true if it does not depend on the row. */
export const conditionOf = (writing: Writing, entityName: string, rule: Rule | undefined): Sql => {
  const { model, dialect, viewer } = writing
  const { table } = entityOf(model, entityName)
  const verdict = rule === undefined ? 'no' : judge(rule, viewer, model)
  if (verdict !== 'row' || !rule) return verdict === 'yes' ? sql`true` : sql`false`
  const rights = rowRights(model, entityName, rule, viewer).map(({ before }) => before)
  return lockedSql({ dialect, model }, anyOf(rights), columnsOf(table))
}

/** The refusal of a viewer whose own row was deleted, before its command or while it ran, or is not made yet. */
export const goneViewer = ({ model }: Writing): ApiError =>
  new ApiError('FORBIDDEN', `The ${model.viewers.entity} of this token does not exist (any more)`)

/** Whether a predicate looks at one of these names: fields, and tables of lists. */
export const looksAt = (
  predicate: Predicate,
  names: { readonly has: (name: string) => boolean },
): boolean =>
  someOf(predicate, one =>
    one.kind === 'across'
      ? names.has(one.by) || names.has(one.table)
      : 'field' in one && names.has(one.field),
  )

const counting = new WeakMap<Model, ReadonlySet<string>>()

/** The tables whose rows keep counts of others, which a write of those changes. */
const countingTables = (model: Model): ReadonlySet<string> =>
  counting.getOrInsertComputed(model, ({ entities }) => {
    const all = Object.values(entities)
    const counts = all.filter(({ fields }) => Object.values(fields).some(({ kept }) => kept))
    return new Set(counts.map(({ table }) => table))
  })

/** How a write looks at other rows: they stay as they are until the commit. */
export const holding = ({ dialect, model }: Pick<Writing, 'dialect' | 'model'>) =>
  ({ dialect, others: 'locked', counting: countingTables(model) }) as const

/** A predicate as a condition on a row with these columns; the other rows that it looks at stay as they are until the commit. */
export const lockedSql = (
  writing: Pick<Writing, 'dialect' | 'model'>,
  predicate: Predicate,
  columnOf: ColumnOf,
): Sql => predicateSql(predicate, { ...holding(writing), columnOf })

/** Remembers that a subject has a row, for good: once the row is deleted it is not made again. Gives a row if that was new. */
export const rememberSubject = (digest: SqlValue): Sql =>
  sql`insert into viewer_subjects (digest) values (${digest}) on conflict (digest) do nothing
    returning digest`

/**
 * The guard that the viewer may write: it is not blocked, was not deleted and, if it acts as itself, exists. A token with an id
 * that was never given out holds by itself: ids ascend and are never given out again, so the highest one tells. So does one
 * with a subject that never had a row.
 */
const viewerCheck = (writing: Writing, asSelf: boolean): GuardedStep => {
  const { model, dialect, viewer } = writing
  const { entity, blocked, by } = model.viewers
  const { id, subject, service = null } = viewer
  const step = { name: 'viewer', checksViewer: true, given: sessionOf(viewer) }
  const what = entity ?? 'viewer'
  const nameless = () =>
    new ApiError(
      'FORBIDDEN',
      `This token names no ${what}, and only ${withArticle(what)} may do this: use a token of one`,
    )
  if (entity === undefined || (id === null && subject === undefined))
    return { ...step, sql: sql`select 1 where false`, refused: nameless }
  const table = name(entityOf(model, entity).table)
  const isSubjects =
    by === undefined || subject === undefined ? [] : [sql`${name(columnName(by))} = ${subject}`]
  if (id === null) {
    const had = sql`select 1 from viewer_subjects where digest = ${service}`
    // One that came since the viewer was looked up is no reason to refuse what needs none.
    const isFree = sql`not exists (${had}) or exists (select 1 from ${table} where ${and(isSubjects)})`
    return {
      ...step,
      sql: sql`select 1 where ${asSelf ? sql`false` : isFree}`,
      explain: had,
      refused: rows => (rows.length > 0 ? goneViewer(writing) : nameless()),
    }
  }
  const state = blocked ? name(columnName(blocked.field)) : sql`id`
  // A token of a session that was ended writes no more.
  const { session } = viewer
  // By the slot, so that the statement is the same for every viewer.
  const who = subject === undefined ? slot(VIEWER) : id
  const isLive =
    session === undefined
      ? []
      : [
          sql`exists (select 1 from auth_sessions where id = ${ownValue('the session')} and user_id = ${who})`,
        ]
  const own = sql`select ${state} from ${table} where ${and([sql`id = ${who}`, ...isSubjects])}`
  const mayWrite = blocked ? [sql`not exists (${own} and ${state} = ${blocked.value})`] : []
  const neverWas =
    asSelf || subject !== undefined
      ? sql`false`
      : sql`${who} > coalesce(${dialect.highestId(entityOf(model, entity).table)}, 0)`
  return {
    ...step,
    sql: sql`select 1 where ${and([...mayWrite, ...isLive, sql`(exists (${own}) or ${neverWas})`])}`,
    explain: own,
    refused: rows =>
      rows.length === 0
        ? goneViewer(writing)
        : new ApiError(
            'FORBIDDEN',
            session !== undefined && rows[0]?.[0] !== blocked?.value
              ? 'The session of this token was ended: sign in again'
              : `The ${entity} of this token may not write, as its ${blocked?.field} is ${blocked?.value}`,
          ),
  }
}

/** What the guard of a viewer has of its own beside the viewer. */
const sessionOf = ({ session }: Viewer): OwnValues =>
  new Map(session === undefined ? [] : [['the session', session]])

/** A parameter whose value each command has of its own, though others have the same statements: of its viewer, its moment or its step. */
type LateParameter = Extract<Parameter, { kind: 'slot' | 'now' | 'given' }>

/** The value of such a parameter in a command. */
const lateValue = (
  { viewer, now }: Pick<Writing, 'viewer' | 'now'>,
  from: LateParameter,
  given: OwnValues | undefined,
): SqlValue => {
  if (from.kind === 'slot') return viewer.subject ?? viewer.id
  return from.kind === 'now' ? now : ownValueIn(given, from.key)
}

const ownValueIn = (own: OwnValues | undefined, key: string): SqlValue => {
  const value = own?.get(key)
  if (value === undefined) throw new Error(`the write has no value of its own called ${key}`)
  return value
}

/** The command of these steps, after a guard of the viewer if there is one. */
export const commandOf = (writing: Writing, draft: CommandDraft): Command => {
  const { refusals, ...command } = composed(writing, draft, (from, given) =>
    lateValue(writing, from, given),
  )
  return {
    ...command,
    viewer: writing.viewer,
    before: writing.before,
    refused: (index, rows) =>
      refusals[index]?.refused?.(rows, refusals[index]?.given) ??
      new ApiError('CONFLICT', `Cannot ${draft.name}: its conditions do not hold`),
  }
}

/** The forms of a model that were used of late. */
const forms = new WeakMap<Model, ReturnType<typeof lru<CommandForm>>>()
const mostForms = 500

/** What is of no viewer and no moment in a command. */
type CommandFacts = Omit<Command, 'own' | 'viewer' | 'before' | 'refused'>

/** A command without the values that each of its form has of its own: what gives them, in their order. */
type CommandForm = { readonly facts: CommandFacts; readonly late: readonly LateParameter[] }

/**
 * The command of a form, which is all of a write but its own values, its viewer and its moment: the statements of a form are made once, as
 * to make them anew took a fifth of a small write's processor time. `draftOf` makes the form of what stands for each value by its name;
 * and of the values themselves, to tell why a step is refused. Two drafts of one form differ in these alone: what is of one caller or one
 * moment goes into a draft by its name, or all callers of that form would share it.
 */
export const preparedCommand = (
  writing: Writing,
  form: string,
  own: OwnValues,
  draftOf: (ownValueOf: (key: string) => SqlPart) => CommandDraft,
): Command => {
  const { model, dialect, viewer, before = [], after = [] } = writing
  const itself = (key: string) => ownValueIn(own, key)
  const whole = () => commandOf(writing, draftOf(itself))
  // A subject is looked up by what its token says, and the guards around the steps are of one request.
  if (viewer.subject !== undefined || before.length + after.length > 0) return whole()
  const known = forms.getOrInsertComputed(model, () => lru(mostForms))
  // What a rule says of a caller depends on its role; the guard of a viewer on how it is named.
  const named = `${viewer.id === null} ${viewer.session === undefined}`
  const key = `${dialect.name} ${viewer.role} ${named} ${form}`
  const { facts, late } = known.get(key) ?? known.set(key, formFrom(writing, draftOf(ownValue)))
  const given = viewer.session === undefined ? own : new Map([...own, ...sessionOf(viewer)])
  const values: SqlValue[] = []
  for (const one of late) values.push(lateValue(writing, one, given))
  return {
    ...facts,
    own: values,
    viewer,
    before: writing.before,
    refused: (index, rows) => whole().refused(index, rows),
  }
}

const formFrom = (writing: Writing, draft: CommandDraft): CommandForm => {
  const late: LateParameter[] = []
  const { refusals: _, ...facts } = composed(writing, draft, from => ({ own: late.push(from) - 1 }))
  return { facts, late }
}

/** So many rows of one form are written by one statement: to make it for fewer takes longer than it saves. */
const fewest = 5

/** The steps of a command as data, and what tells of their refusals; `late` is what stands in them for each value of its own. */
const composed = (
  writing: Writing,
  draft: CommandDraft,
  late: (from: LateParameter, given: OwnValues | undefined) => DeferredValue,
) => {
  const { name, asSelf = false, makes, status = 200, text, isolated, deletes } = draft
  const { dialect, viewer, before = [], after = [] } = writing
  // Nobody is guarded without a token, nor with one that names no id and acts for itself alone.
  const isNamed = viewer.id !== null || viewer.subject !== undefined
  const isChecked = viewer.role !== 'anonymous' && (isNamed || asSelf)
  const checks = isChecked ? [viewerCheck(writing, asSelf), ...before] : before
  const own = [...checks, ...draft.steps]
  const steps: readonly GuardedStep[] = [...own, ...after]
  const numbers = new Map<string, number>()
  const numberOf = (wanted: string, { scope, above: rowAbove }: StepNames = {}): number => {
    const named = wanted === above && rowAbove !== undefined ? rowAbove : wanted
    const found = numbers.get(`${scope} ${named}`) ?? numbers.get(named)
    if (found === undefined) throw new Error(`the command has no step ${wanted}`)
    return found
  }
  // The viewer's id stands in its slot, and results are named by the numbers of their steps.
  const texts = new Map<Sql, Statement>()
  const statementOf = (piece: Sql, of: GuardedStep, all = [of]): JobStatement => {
    const known = texts.getOrInsertComputed(piece, () => statement(piece, dialect.placeholder))
    return withValues(known, parameter => {
      if (parameter.kind === 'given' && parameter.as === 'list')
        return JSON.stringify(all.map(({ given }) => ownValueIn(given, parameter.key)))
      if (parameter.kind === 'slot' && parameter.slot === VIEWER) return late(parameter, of.given)
      if (parameter.kind === 'now' || parameter.kind === 'given') return late(parameter, of.given)
      if (parameter.kind === 'result') {
        const step = numberOf(parameter.step, of)
        const column = (steps[step]?.returns ?? ['id']).indexOf(parameter.field)
        if (column < 0) throw new Error(`the step ${parameter.step} returns no ${parameter.field}`)
        return parameter.as === undefined ? { step, column } : { step, column, as: parameter.as }
      }
      throw new Error(`a step has no ${parameter.kind}`)
    })
  }
  const made: Step[] = []
  const together = new Map<number, Together>()
  let hasEffect = false
  let next = 0
  for (const one of steps) {
    if (made.length === next) {
      while (steps[++next]?.sql === one.sql && steps[next]?.above === one.above);
      const rows = next - made.length
      const piece = rows >= fewest ? one.many?.() : undefined
      if (piece) {
        const all = steps.slice(made.length, next)
        together.set(made.length, { rows, statement: statementOf(piece, one, all) })
      }
    }
    const {
      name,
      sql,
      expect = 'row',
      explain,
      checksViewer = false,
      isEffect,
      path,
      slugs = [],
    } = one
    made.push({
      statement: statementOf(sql, one),
      expect,
      ...(explain && { explain: statementOf(explain, one) }),
      checksViewer,
      ...(path !== undefined && { path }),
      ...(slugs.length > 0 && { slugs }),
    })
    // A step comes after those that it refers to; of two of one name the first is meant.
    if (name !== undefined && !numbers.has(name)) numbers.set(name, made.length - 1)
    hasEffect ||= isEffect === true
  }
  return {
    name,
    steps: made,
    ...(together.size > 0 && { together }),
    makes: makes === undefined ? own.length - 1 : numberOf(makes),
    status: typeof status === 'number' ? status : { ...status, step: numberOf(status.step) },
    text: typeof text === 'object' ? { idsOf: text.idsOf.map(one => numberOf(one)) } : text,
    isolated,
    deletes,
    hasEffect,
    refusals: steps,
  } satisfies CommandFacts & { readonly refusals: readonly GuardedStep[] }
}
