/** Turns the steps of actions and hooks into statements, each guarded by its demands on its rows. */
import { ApiError } from '#errors.ts'
import { type Condition, viewer } from '#model/condition.ts'
import type { Entity } from '#model/entity.ts'
import { madeSlug } from '#model/field.ts'
import { columnName, entityOf, fieldOf, notFound } from '#model/model.ts'
import { digitsOf } from '#model/money.ts'
import { judge, type Rule, refusal, rowRights } from '#model/policy.ts'
import { columnsOf, predicateSql } from '#read/predicate.ts'
import { and, column, comma, isSql, join, name, type Sql, type SqlPart, sql } from '#sql/sql.ts'
import { claims } from '#write/claims.ts'
import {
  type CommandDraft,
  conditionOf,
  type GuardedStep,
  holding,
  idsOf,
  lockedSql,
  looksAt,
  result,
  type Writing,
} from '#write/command.ts'
import { type Demand, guardOf, hasValue } from '#write/guard.ts'
import { authorValue, type InputValue, invalid, ruledAs } from '#write/input.ts'
import { effectSteps, type Occasion } from '#write/outbox.ts'
import { assignments, changesOf, insertedValues, insertInto, madeSlugs } from '#write/row-values.ts'
import { deleteSteps } from '#write/set-null.ts'
import {
  Added,
  type DataStep,
  type DeclaredStep,
  isData,
  type Otherwise,
  piecesIn,
  resolvedCondition,
  type StepCondition,
  type StepValues,
  uniqueAmong,
  valuesOf,
} from '#write/steps/steps.ts'

/** The row that an action is about: what its caller may not read is not there, and what the rule does not let through is 403. */
export type StepTarget = {
  readonly entity: string
  readonly id: number
  readonly rule: Rule | undefined
  /** What the row must be like beside it, and the error where it is not. */
  readonly when?: Condition | undefined
  readonly otherwise?: Otherwise | undefined
  /** A verb phrase for the refusal. */
  readonly what: string
  /** Whether what is done to it is no data, so that nothing tells what it touches. */
  readonly isByHand?: boolean
}

/** The names of the steps that others refer to, each with the fields that they want. */
const wantedOf = (steps: readonly DeclaredStep[]): ReadonlyMap<string, ReadonlySet<string>> => {
  const wanted = new Map<string, Set<string>>()
  for (const { parameters } of piecesIn(steps))
    for (const one of parameters)
      if (one.kind === 'result')
        wanted.getOrInsertComputed(one.step, () => new Set()).add(one.field)
  return wanted
}

/** The error of a step whose condition does not hold, and the fields of the row that it is made from. */
const refusedAs = (
  otherwise: Otherwise | undefined,
): {
  readonly find: readonly string[]
  readonly error: (row: Readonly<Record<string, InputValue>>) => ApiError | undefined
} => {
  if (otherwise === undefined) return { find: [], error: () => undefined }
  if (typeof otherwise === 'string' || 'code' in otherwise)
    return { find: [], error: () => new ApiError(otherwise) }
  if ('find' in otherwise) return otherwise
  return { find: [], error: () => new ApiError(otherwise.error, otherwise.message) }
}

/** A step as statements, and what follows for the command that has it. */
type Stated = {
  readonly steps: readonly GuardedStep[]
  /** Whether it names the viewer's row, which must exist then. */
  readonly asSelf?: boolean
  readonly isolated?: boolean
  readonly deletes?: string
  /** How the row that it is about is answered. */
  readonly answer?: Pick<CommandDraft, 'makes' | 'status'>
}

/** A step among others: its name, the fields of its row that later ones want, and the target whose rule guards it, if it is the first. */
type Placed = {
  readonly own: string
  readonly returns: readonly string[]
  readonly ruled: StepTarget | undefined
}

/** What a statement about the rows of a step demands of them, and the errors where it does not hold. */
const guardOfStep = (
  writing: Writing,
  { entity: entityName, id, where, otherwise }: DataStep,
  ruled: StepTarget | undefined,
  ranges: readonly Demand[] = [],
) => {
  const { model, viewer: caller } = writing
  const entity = entityOf(model, entityName)
  const { read } = entity.policy
  const columnOf = columnsOf(entity.table)
  const { find, error } = refusedAs(otherwise)
  const { digits } = model.settings.currency
  const resolved = where && resolvedCondition(writing, entityName, where)
  if (resolved && resolved.faults.length > 0)
    throw invalid(resolved.faults.map(({ path, message }) => ({ field: path, message })))
  const asSelf = resolved?.asSelf === true
  const rows = { ...holding(writing), columnOf, isBound: true }
  const fits = resolved ? [predicateSql(resolved.predicate, rows)] : []
  if (id === undefined) {
    const guard = otherwise === undefined ? anyRows : { refused: () => error({}) }
    return { where: and([...fits, ...ranges.map(({ holds }) => holds)]), guard, asSelf }
  }
  const isHidden =
    !isSql(id) && read && read.kind !== 'nobody' && judge(read, caller, model) !== 'yes'
  const isRuled =
    ruled?.rule && judge(ruled.rule, caller, model) === 'row' && !(isHidden && ruled.rule === read)
  const refused: Demand['error'] = (_, columns = []) =>
    error(
      Object.fromEntries(
        find.map((key, at) => [
          key,
          authorValue(fieldOf(entity, key), columns[at] ?? null, digits),
        ]),
      ),
    ) ??
    new ApiError('CONFLICT', `This ${entityName} is in no state that allows this: read it again`)
  const demands: readonly Demand[] = [
    ...(isRuled
      ? [
          {
            holds: conditionOf(writing, entityName, ruled.rule),
            error: () => refusal(caller, ruled.what),
          },
        ]
      : []),
    ...fits.map(holds => ({ holds, error: refused })),
    // Without a condition of its own a step is refused for a sum alone.
    ...ranges.map(one => (resolved || !otherwise ? one : { ...one, error: refused })),
  ]
  const row = {
    table: entity.table,
    found: [
      sql`${columnOf('id')} = ${id}`,
      ...(isHidden ? [conditionOf(writing, entityName, read)] : []),
    ],
    absent: () => (isSql(id) ? error({}) : notFound(entityName, id)),
    columns: find.map(columnOf),
  }
  return { ...guardOf(demands, row, refused), asSelf }
}

const anyRows = { expect: 'any' } as const

/** Whether one of these values is the row of the caller, which must have one then; those of an entity may refer to it by its id. */
const namesCaller = (
  { viewer: caller, model: { viewers } }: Writing,
  values: object = {},
  fields: Entity['fields'] = {},
): boolean =>
  Object.entries(values).some(
    ([key, value]) =>
      value === viewer ||
      value === caller ||
      // Without an entity of viewers no caller has an id.
      (value !== null && value === caller.id && fields[key]?.references?.entity === viewers.entity),
  )

/** The values of a step, those relative to the row as expressions, and that these stay in the ranges of their fields. */
const piecesOf = (writing: Writing, step: DataStep) => {
  const { model, dialect } = writing
  const entity = entityOf(model, step.entity)
  const ranges: Demand[] = []
  const values = new Map<string, SqlPart>()
  for (const [key, value] of valuesOf(writing, step)) {
    if (!(value instanceof Added)) {
      values.set(key, value)
      continue
    }
    const field = fieldOf(entity, key)
    const unit = 10 ** digitsOf(field, model.settings.currency.digits)
    const by = isSql(value.by) ? value.by : Math.round(value.by * unit)
    const sum = sql`(${column(entity.table, columnName(key))} + ${dialect.typed(by, field.scalar)})`
    values.set(key, sum)
    if (!field.range) continue
    const { min, max } = field.range
    const inUnits = (amount: number) => Math.min(Math.round(amount * unit), Number.MAX_SAFE_INTEGER)
    const message = `The ${key} of this ${step.entity} must stay within ${min} to ${max}`
    ranges.push({
      holds: sql`${sum} between ${inUnits(min)} and ${inUnits(max)}`,
      error: () => new ApiError('CONFLICT', message),
    })
  }
  return { values, ranges, asSelf: namesCaller(writing, step.values, entity.fields) }
}

/** The columns that a step returns. */
const returnedBy = ({ returns }: Pick<Placed, 'returns'>): Sql =>
  join(
    returns.map(key => name(columnName(key))),
    comma,
  )

/** The name of the statement that writes what a step does once, beside the one that finds its row. */
const writingOf = (own: string) => `${own}: put`

const stateRequire = (writing: Writing, step: DataStep, placed: Placed): Stated => {
  const { own, returns, ruled } = placed
  const { where, guard, asSelf } = guardOfStep(writing, step, ruled)
  const table = name(entityOf(writing.model, step.entity).table)
  const found = sql`select ${returnedBy(placed)} from ${table} where ${where} limit 1${writing.dialect.shareClause}`
  return {
    steps: [{ name: own, returns, sql: found, ...guard }],
    asSelf,
    ...(step.id !== undefined && { answer: { makes: own } }),
  }
}

const stateInsert = (writing: Writing, step: DataStep, placed: Placed): Stated => {
  const { entity: entityName, once } = step
  const { own, returns } = placed
  const entity = entityOf(writing.model, entityName)
  const table = name(entity.table)
  const { values, asSelf } = piecesOf(writing, step)
  const isOwn = (key: string) =>
    fieldOf(entity, key).initial === 'viewer' && !fieldOf(entity, key).nullable
  const isSelf =
    asSelf || [...values.keys()].some(key => isOwn(key) && !(key in (step.values ?? {})))
  const into = sql`${insertInto(entity.table, insertedValues(writing, entityName, values))} where true`
  const returned = returnedBy(placed)
  const effects = (made: string) => [
    ...claims(writing, entityName, values),
    ...effectSteps(writing, entityName, step.after ?? 'create', result(made)),
  ]
  if (!once) {
    const slugs = madeSlugs(entity, values)
    const insert = { name: own, returns, sql: sql`${into} returning ${returned}`, slugs }
    return {
      steps: [insert, ...effects(own)],
      asSelf: isSelf,
      answer: { makes: own, status: 201 },
    }
  }
  const put = writingOf(own)
  const keys = uniqueAmong(writing, entityName, values) ?? []
  const isEqual = (key: string) =>
    sql`${name(columnName(key))} = ${writing.dialect.typed(values.get(key) ?? null, fieldOf(entity, key).scalar)}`
  // The row that it meets may have the text composed otherwise, or in other case; one of before may have no copy yet.
  const same = keys.map(key => {
    const copies = Object.entries(entity.fields).flatMap(
      ([copy, { foldedFrom, copied, unique }]) =>
        foldedFrom === key && (unique || copied === 'nfc') && values.has(copy) ? [copy] : [],
    )
    return sql`(${join([key, ...copies].map(isEqual), sql` or `)})`
  })
  const found = sql`select ${returned} from ${table} where ${and(same)} order by id desc limit 1`
  return {
    steps: [
      { name: put, sql: sql`${into} on conflict do nothing returning id`, expect: 'any' },
      { name: own, returns, sql: found },
      ...effects(put),
    ],
    asSelf: isSelf,
    // The row that it meets must not go before it is found. Of one that went while it waited the snapshot still has the row, with a lower id.
    isolated: true,
    answer: { makes: own, status: { step: put, some: 201, none: 200 } },
  }
}

const stateChange = (writing: Writing, step: DataStep, placed: Placed): Stated => {
  const { entity: entityName, id, once } = step
  const { own, returns, ruled } = placed
  const table = name(entityOf(writing.model, entityName).table)
  const { values, ranges, asSelf } = piecesOf(writing, step)
  const guarded = guardOfStep(writing, step, ruled, ranges)
  const { where, guard } = guarded
  const all = assignments(changesOf(writing, entityName, values))
  const returned = returnedBy(placed)
  const follows = {
    asSelf: asSelf || guarded.asSelf,
    ...(id !== undefined && { answer: { makes: own } }),
  }
  const effects = (put: string) => {
    const changed = id === undefined ? idsOf(writing, put) : result(own)
    return [
      ...claims(writing, entityName, values),
      ...effectSteps(writing, entityName, step.after ?? 'update', changed, id === undefined),
    ]
  }
  if (!once) {
    const change = sql`update ${table} set ${all} where ${where} returning ${returned}`
    return {
      steps: [{ name: own, returns, sql: change, ...guard }, ...effects(own)],
      ...follows,
    }
  }
  const put = writingOf(own)
  const timeless = [...values].filter(([, value]) => value !== writing.now)
  const isSo = and(timeless.map(([key, value]) => hasValue(writing, entityName, key, value)))
  const { where: _, ...bare } = step
  const found = sql`select ${returned} from ${table} where ${guardOfStep(writing, bare, ruled).where} and ${isSo}`
  const change = sql`update ${table} set ${all} where ${where} and not (${isSo}) returning id`
  return {
    steps: [
      { name: put, sql: change, expect: 'any' },
      { name: own, returns, ...guard, sql: found },
      ...effects(put),
    ],
    ...follows,
  }
}

const stateRemove = (writing: Writing, step: DataStep, placed: Placed): Stated => {
  const { entity, id } = step
  const { own, returns, ruled } = placed
  const { where, guard, asSelf } = guardOfStep(writing, step, ruled)
  const named = { name: own, returns, ...guard }
  const isMany = id === undefined
  const steps = deleteSteps(writing, entity, where, named, returnedBy(placed), isMany)
  const answer = isMany ? {} : { answer: { makes: own } }
  return { steps, asSelf, isolated: steps.length > 1, deletes: entity, ...answer }
}

const stating = {
  require: stateRequire,
  insert: stateInsert,
  change: stateChange,
  remove: stateRemove,
} as const satisfies Record<DataStep['does'], unknown>

/** The guards of the row that steps are about which none of them makes: that it is there and the caller's, before them, and what it has become, after them. */
const rowChecks = (
  writing: Writing,
  declared: readonly DeclaredStep[],
  target: StepTarget,
): { readonly before: readonly GuardedStep[]; readonly after: readonly GuardedStep[] } => {
  const { model, dialect, viewer: caller } = writing
  const { entity: entityName, id, rule, when, otherwise, what } = target
  const { table } = entityOf(model, entityName)
  const columnOf = columnsOf(table)
  const rights =
    rule && judge(rule, caller, model) === 'row' ? rowRights(model, entityName, rule, caller) : []
  // What the steps touch, as far as data tells: where the rule looks at none of it, the row fits it afterwards too.
  const touched = new Set(
    declared.flatMap(step => {
      if (!isData(step) || step.does === 'require') return []
      return [entityOf(model, step.entity).table, ...Object.keys(step.values ?? {})]
    }),
  )
  const isGone = declared.some(step => isData(step) && step.does === 'remove' && step.id === id)
  // Of SQL nothing tells what it touches; what the row must be becoming is looked at all the same.
  const isByHand = target.isByHand === true || declared.some(step => !isData(step))
  const looksAfter =
    !isGone &&
    rights.some(({ before, after }) => looksAt(after, touched) || (isByHand && after !== before))
  const [first] = declared
  // The first step looks at the row itself if it is about it.
  const isFirst = first && isData(first) && first.entity === entityName && first.id === id
  if (isFirst && !looksAfter && !when) return { before: [], after: [] }
  const demanded = {
    ...(when && { where: when as StepCondition }),
    ...(otherwise !== undefined && { otherwise }),
  }
  const found = { does: 'require', entity: entityName, id, ...demanded } as const
  const { where, guard } = guardOfStep(writing, found, target)
  const held = looksAfter ? rights : []
  const facts = held.map(
    ({ before }) => sql`case when ${lockedSql(writing, before, columnOf)} then 1 else 0 end`,
  )
  const row = {
    name: theRow,
    returns: ['id', ...held.map((_, at) => `right ${at}`)],
    sql: sql`select ${join([columnOf('id'), ...facts], comma)} from ${name(table)}
      where ${where}${rights.length > 0 || when ? dialect.lockClause : sql``}`,
    ...guard,
  }
  if (!looksAfter) return { before: [row], after: [] }
  const either = held.map(({ after }, at) => {
    const was = dialect.typed(result(theRow, `right ${at}`), 'int')
    return sql`(${was} = 1 and ${lockedSql(writing, after, columnOf)})`
  })
  const become = {
    sql: sql`select id from ${name(table)} where ${columnOf('id')} = ${id} and (${join(either, sql` or `)})`,
    refused: () => refusal(caller, what),
  }
  return { before: [row], after: [become] }
}

/** The name of the step that finds the row which others are about. */
const theRow = 'the row'

/** The steps as statements; the row that they are about comes first. `values` are written with them. */
export const statedSteps = (
  writing: Writing,
  declared: readonly DeclaredStep[],
  target?: StepTarget,
  values?: object,
) => {
  const wanted = wantedOf(declared)
  const { before = [], after = [] } = target ? rowChecks(writing, declared, target) : {}
  const stated = declared.map((step, index): Stated & { readonly entity?: string } => {
    if (!isData(step)) return { steps: [step] }
    const { does, entity, id, name: own = `step ${index + 1}` } = step
    const returns = [...new Set(['id', ...(wanted.get(own) ?? [])])]
    const isTarget = index === 0 && before.length === 0
    const ruled =
      isTarget && id !== undefined && id === target?.id && entity === target.entity
        ? target
        : undefined
    return { entity, ...stating[does](writing, step, { own, returns, ruled }) }
  })
  const asSelf = stated.some(step => step.asSelf) || namesCaller(writing, values)
  const { viewer: caller } = writing
  // Others without a row of theirs are refused by the guard of the viewer.
  if (asSelf && caller.role === 'anonymous') throw refusal(caller, target?.what ?? 'do this')
  return {
    steps: [...before, ...stated.flatMap(({ steps }) => steps), ...after],
    asSelf,
    isolated: stated.some(step => step.isolated),
    deletes: stated.findLast(({ deletes }) => deletes !== undefined)?.deletes,
    /** What is answered with the row of the last step about one of this entity. */
    about: (entityName: string): Stated['answer'] =>
      stated.findLast(({ entity, answer }) => answer && entity === entityName)?.answer ??
      (before.length > 0 && entityName === target?.entity ? { makes: theRow } : undefined),
  }
}

/** What the hook before a write gives: the values, with its own, and its steps; undefined if there is no hook. Throws its error. */
export const hookBefore = (
  writing: Writing,
  entityName: string,
  occasion: Occasion,
  id: number,
  values: ReadonlyMap<string, SqlPart>,
) => {
  const { model, viewer: caller } = writing
  const entity = entityOf(model, entityName)
  const hook = entity.before[occasion]
  if (!hook) return undefined
  const digits = model.settings.currency.digits
  const input = [...values].map(([key, value]) => [
    key,
    isSql(value) ? value : authorValue(fieldOf(entity, key), value, digits),
  ])
  const given = { id, input: Object.fromEntries(input), viewer: caller, now: new Date(writing.now) }
  const { values: own, error, message, steps = [] } = hook(given) ?? {}
  if (error) throw new ApiError(error, message)
  // Content types the steps; the model, which may not import them, says objects.
  const stated = statedSteps(writing, steps as readonly DeclaredStep[], undefined, own)
  if (!own) return { values, ...stated }
  const step = { does: 'change', entity: entityName, values: own as StepValues } as const
  const all = new Map([...values, ...valuesOf(writing, step)])
  // A slug that nobody gave follows the text that it is made of.
  for (const { key } of madeSlugs(entity, values)) {
    const field = fieldOf(entity, key)
    const { initial } = field
    const source = typeof initial === 'object' && 'slugOf' in initial && all.get(initial.slugOf)
    if (typeof source === 'string' && !Object.hasOwn(own, key))
      all.set(key, madeSlug(source, field) || (values.get(key) ?? null))
  }
  return { values: ruledAs(values, all as ReadonlyMap<string, SqlPart>), ...stated }
}
