/** Writes with parts: rows that belong to a row, and its links with others, written in one transaction with it. Each is judged as a write of its own. */
import { isObject, type JsonObject } from '#base/object.ts'
import { ApiError, type FieldFault } from '#errors.ts'
import type { Entity } from '#model/entity.ts'
import { columnName, entityOf, type Model, notFound } from '#model/model.ts'
import { type PartRelation, type PartWord, partRelations } from '#model/parts.ts'
import { resourceOf } from '#model/resource.ts'
import { columnsOf } from '#read/predicate.ts'
import type { Rows } from '#sql/engine.ts'
import {
  and,
  column,
  comma,
  filled,
  given,
  join,
  name,
  parameter,
  type Sql,
  type SqlPart,
  sql,
} from '#sql/sql.ts'
import { areApart } from '#write/at-once.ts'
import {
  above,
  type CommandDraft,
  type GuardedStep,
  idsOf,
  result,
  type Writing,
} from '#write/command.ts'
import { createForms, type Forms } from '#write/entity-commands.ts'
import { createGuard, demandsOf, seenSql } from '#write/guard.ts'
import { checkInput, type InputContext, invalid, ruledAs, type Values } from '#write/input.ts'
import type { StoredJson } from '#write/merge-patch.ts'
import { effectSteps } from '#write/outbox.ts'
import { insertInto } from '#write/row-values.ts'
import { deleteSteps } from '#write/set-null.ts'

/** How many rows an input may write below its own, at all depths, and how deep they may be. */
export const mostParts = 1000
const mostDepth = 6

/** The most milliseconds for which the rows of all requests hold the thread at a time. */
const longestTurn = 5

/** How many rows of a request need no turn: for a few it would take longer than they do. */
const fewRows = 20

/** Those who wait for a turn; each turn of the event loop has one of them go on. */
const waiting: (() => void)[] = []
let begun = Number.NEGATIVE_INFINITY
const goOn = () => {
  begun = performance.now()
  waiting.shift()?.()
  if (waiting.length > 0) setImmediate(goOn)
}

/** A function that is called before each row of a request, and gives others a turn of the thread once those of all requests have held it for long enough. */
export const takingTurns = (): Left['turn'] => {
  let rows = 0
  return () => {
    if (++rows <= fewRows || performance.now() - begun < longestTurn) return undefined
    const { promise, resolve } = Promise.withResolvers<void>()
    if (waiting.push(resolve) === 1) setImmediate(goOn)
    return promise
  }
}

/** The two references by which an entity links rows. */
type Link = { readonly entity: string; readonly by: string; readonly of: string }

/** A link of a row with another that is made or ended by itself. */
export type OneLink = {
  readonly does: 'link' | 'unlink'
  readonly link: Link
  readonly row: { readonly entity: string; readonly id: number }
  readonly to: number
}

/** A row below another one, or its links: what is to be done, with the path in the input. */
export type Part = { readonly path: string } & (
  | {
      readonly does: 'create' | 'update'
      readonly entity: string
      readonly by: string
      /** 0 for a new row. */
      readonly id: number
      readonly values: Values
      /** The values that the row must still have. */
      readonly unchanged?: Values | undefined
      readonly parts: readonly Part[]
    }
  | {
      readonly does: 'delete'
      readonly entity: string
      readonly by: string
      readonly id: number
      readonly parts: readonly Part[]
    }
  | {
      readonly does: Extract<PartWord, 'set' | 'add' | 'remove'>
      readonly link: Link
      readonly ids: readonly number[]
      /** The other values of a link that is made. */
      readonly values: Values
    }
)

export type PartsContext = InputContext & {
  readonly model: Model
  readonly mode: 'create' | 'update'
  /** For an update whose objects are merged into JSON values, what those are now. */
  readonly storedOf?: StoredJson | undefined
}

/** An input that was validated, and what is to be done below its row. */
export type WithParts = { readonly values: Values; readonly parts: readonly Part[] }

/** The values of a link beside its two references. */
const linkValues = (
  { model, viewer, now }: Pick<PartsContext, 'model' | 'viewer' | 'now'>,
  { entity, by, of }: Link,
): Values => {
  const given = { [by]: 0, [of]: 0 }
  const context = { mode: 'create', viewer, model, now, what: entity, given } as const
  return checkInput(entityOf(model, entity), {}, context).values
}

const isId = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) > 0

/** What the inputs of one request share: how many rows they may still have, and how others are given a turn meanwhile. */
export type Left = { rows: number; readonly turn: () => Promise<void> | undefined }

/** The values, parts and faults of an input. */
export const checkWithParts = async (
  entityName: string,
  input: JsonObject,
  context: PartsContext,
  left: Left,
  depth = 0,
): Promise<WithParts & { readonly faults: readonly FieldFault[] }> => {
  const { model, mode, resource } = context
  const faults: FieldFault[] = []
  const parts: Part[] = []
  const plain: Record<string, unknown> = { ...input }
  const fault = (field: string, message: string) => void faults.push({ field, message })

  /** The items of a list of an input, as far as there is room for them; `take` validates each. */
  const each = async (
    given: unknown,
    path: string,
    take: (item: unknown, path: string) => Promise<void> | void,
  ) => {
    if (!Array.isArray(given)) return fault(path, 'must be a list')
    for (const [index, item] of given.entries()) {
      await left.turn()
      left.rows--
      if (left.rows < 0) {
        // Told once, however many more there are.
        if (left.rows === -1)
          fault(path, `has too many rows: an input takes ${mostParts} below its own`)
        return
      }
      await take(item, `${path}.${index}`)
    }
  }

  const checkChildren = async (
    { entity, by }: PartRelation,
    word: PartWord,
    list: unknown,
    path: string,
    known: Set<number>,
  ) => {
    const idOf = (id: unknown, at: string): number | undefined => {
      if (!isId(id)) fault(at, 'must be an id')
      else if (known.has(id)) fault(at, 'is there twice')
      else known.add(id)
      return isId(id) ? id : undefined
    }
    await each(list, path, async (item, at) => {
      if (word === 'delete') {
        const id = idOf(item, at)
        if (id !== undefined) parts.push({ does: 'delete', path: at, entity, by, id, parts: [] })
        return
      }
      if (!isObject(item)) return fault(at, 'must be an object')
      const { id: given, ...values } = item
      const isNew = word === 'create'
      const id = isNew ? 0 : idOf(given, `${at}.id`)
      const stored = isNew || id === undefined ? undefined : context.storedOf?.(entity, id)
      const own: PartsContext = {
        ...context,
        stored,
        mode: isNew ? 'create' : 'update',
        what: entity,
        given: { [by]: 0 },
        ...(resource && { resource: resourceOf(model, entity, resource.version) }),
      }
      const checked = await checkWithParts(entity, isNew ? item : values, own, left, depth + 1)
      for (const { field, message } of checked.faults) fault(`${at}.${field}`, message)
      // Whose it is stays as it is.
      const others = ruledAs(
        checked.values,
        new Map([...checked.values].filter(([key]) => key !== by)),
      )
      const does = isNew ? 'create' : 'update'
      if (id !== undefined)
        parts.push({
          ...{ does, path: at, entity, by, id, values: others, parts: checked.parts },
          unchanged: stored,
        })
    })
  }

  const checkLinks = async (link: Link, word: PartWord, list: unknown, path: string) => {
    const ids = new Set<number>()
    await each(
      list,
      path,
      (item, at) => void (isId(item) ? ids.add(item) : fault(at, 'must be an id')),
    )
    const values = linkValues(context, link)
    const does = word as 'set' | 'add' | 'remove'
    parts.push({ does, path, link, ids: [...ids], values })
  }

  for (const relation of partRelations(model, entityName, mode)) {
    const { key, words, entity, by, of } = relation
    if (!Object.hasOwn(input, key)) continue
    delete plain[key]
    const given = input[key]
    if (!isObject(given))
      fault(key, `must be an object of ${words.join(', ')}, such as {"${words[0]}":[]}`)
    else if (depth >= mostDepth) fault(key, `is more than ${mostDepth} levels deep`)
    else {
      for (const word of Object.keys(given))
        if (!words.some(one => one === word))
          fault(`${key}.${word}`, `is not a member here: name ${words.join(', ')}`)
      if (Object.hasOwn(given, 'set') && Object.keys(given).length > 1)
        fault(`${key}.set`, 'says all of them: leave the others out')
      const known = new Set<number>()
      // Rows are removed first, since new ones may take their unique values.
      for (const word of words.toReversed()) {
        if (!Object.hasOwn(given, word)) continue
        const path = `${key}.${word}`
        if (of === undefined) await checkChildren(relation, word, given[word], path, known)
        else await checkLinks({ entity, by, of }, word, given[word], path)
      }
    }
  }
  const checked = checkInput(entityOf(model, entityName), plain, context)
  return { values: checked.values, parts, faults: [...checked.faults, ...faults] }
}

/** The values of an input and its parts; throws `VALIDATION_ERROR` with all its faults. */
export const inputWithParts = async (
  entityName: string,
  input: JsonObject,
  context: PartsContext,
): Promise<WithParts> => {
  const left = { rows: mostParts, turn: takingTurns() }
  const { faults, ...checked } = await checkWithParts(entityName, input, context, left)
  if (faults.length > 0) throw invalid(faults)
  return checked
}

/** How much is written: rows, and the values in them. */
export type RowsToWrite = { readonly rows: number; readonly values: number }

/** How much an input writes, its own row and those below it, as far as its form tells; no more rows than it may. */
export const sizeIn = (
  model: Model,
  entityName: string,
  input: unknown,
  mode: 'create' | 'update',
  depth = 0,
): RowsToWrite => {
  if (!isObject(input) || depth > mostDepth) return { rows: 1, values: 1 }
  let rows = 1
  // A new row has its initial values and nulls too.
  const { fields } = entityOf(model, entityName)
  let values = Object.keys(mode === 'create' ? fields : input).length
  for (const { key, words, entity, of } of partRelations(model, entityName, mode))
    for (const word of words) {
      const list = isObject(input[key]) ? input[key][word] : undefined
      if (!Array.isArray(list)) continue
      if (of !== undefined || word === 'delete') rows += list.length
      else
        for (const item of list) {
          const does = word === 'create' ? 'create' : 'update'
          const below = sizeIn(model, entity, item, does, depth + 1)
          rows += below.rows
          values += below.values
        }
    }
  return { rows: Math.min(rows, mostParts), values }
}

/** The same of a list of inputs for new rows. */
export const sizeOfMany = (model: Model, entityName: string, inputs: unknown): RowsToWrite => {
  const all = Array.isArray(inputs) ? inputs : [{}]
  const sizes = all.map(input => sizeIn(model, entityName, input, 'create'))
  const sum = (of: 'rows' | 'values') => sizes.reduce((total, size) => total + size[of], 0)
  return { rows: Math.min(sum('rows'), mostParts), values: sum('values') }
}

/** The entities of the rows that parts make, each as often as it is made. */
export const madeBy = (parts: readonly Part[]): readonly string[] =>
  parts.flatMap(part => {
    if ('link' in part) return part.does === 'remove' ? [] : part.ids.map(() => part.link.entity)
    return [...(part.does === 'create' ? [part.entity] : []), ...madeBy(part.parts)]
  })

/** Steps for a command that has others of the same names: theirs begin with a path, to which their errors belong. */
export const placedAt = (
  path: string,
  steps: readonly GuardedStep[],
  rowAbove: string | undefined,
): readonly GuardedStep[] =>
  named(path, steps).map(({ above: own, path: within, ...step }) => ({
    ...step,
    above: own === undefined ? rowAbove : `${path} ${own}`,
    path: within === undefined ? path : `${path}.${within}`,
  }))

/** What makes the steps of a part; its errors, such as those of a hook, have the path of the part, as those of its steps have. */
export const madeAt = async <T>(path: string, make: () => T | Promise<T>): Promise<T> => {
  try {
    return await make()
  } catch (error) {
    throw error instanceof ApiError ? error.aboutPart(path) : error
  }
}

/** The same steps, whose names begin so. */
const named = (scope: string, steps: readonly GuardedStep[]): readonly GuardedStep[] =>
  steps.map(step => ({
    ...step,
    ...(step.name !== undefined && { name: `${scope} ${step.name}` }),
    scope: step.scope === undefined ? scope : `${scope} ${step.scope}`,
  }))

export type PartDraft = Pick<CommandDraft, 'steps' | 'asSelf' | 'isolated' | 'deletes'>

/** The links of a row that are removed: all that fit, or none if one of them may not be. */
const unlinking = (
  writing: Writing,
  { entity: entityName, by }: Link,
  parent: SqlPart,
  fits: Sql,
): PartDraft => {
  const { model, dialect } = writing
  const entity: Entity = entityOf(model, entityName)
  const table = name(entity.table)
  const demands = demandsOf(writing, entityName, 'delete')
  const columnOf = columnsOf(entity.table)
  const isBelow = sql`${columnOf(by)} = ${dialect.typed(parent, 'id')}`
  const found = and([isBelow, fits, ...seenSql(writing, entityName)])
  const guards = demands.map(({ holds, error }) => ({
    sql: sql`select 1 where not exists (select 1 from ${table} where ${found} and (${holds}) is not true)`,
    refused: () => error(),
  }))
  const guard = { name: 'unlinked', expect: 'any' } as const
  const steps = deleteSteps(writing, entityName, found, guard, sql`id`, true)
  return { steps: [...guards, ...steps], isolated: steps.length > 1, deletes: entityName }
}

/** Links of a row with others, whose ids are the list `all`; one that is there stays as it is, whoever made it. */
const linking = (
  writing: Writing,
  { entity: entityName, by, of }: Link,
  parent: SqlPart,
  others: Values,
): CommandDraft & { readonly isApart: boolean } => {
  const { model, dialect } = writing
  const { table } = entityOf(model, entityName)
  const values = ruledAs(
    others,
    new Map<string, SqlPart>([...others, [by, parent], [of, given('to')]]),
  )
  const { inserted, where, guard, asSelf } = createGuard(writing, entityName, values, true)
  const columnOf = columnsOf(table)
  const pair = [by, of].map(
    key => sql`${columnOf(key)} = ${dialect.typed(values.get(key) ?? null, 'id')}`,
  )
  const seen = seenSql(writing, entityName)
  const isThere = (more: readonly Sql[] = []) =>
    sql`exists (select 1 from ${name(table)} where ${and([...pair, ...more])})`
  const keys = join(
    [by, of].map(key => name(columnName(key))),
    comma,
  )
  const each = sql`(${dialect.valuesIn(given('all'))}) as "each row"`
  const ofEach = (piece: Sql) =>
    filled(piece, one =>
      one.kind === 'given' && one.key === 'to' ? column('each row', 'value') : parameter(one),
    )
  // Not as a join, which need not keep the order of the ids.
  const isRefused = sql`from ${each} where (${isThere(seen)} or (${where})) is not true`
  const check = {
    sql: ofEach(sql`select 1 where not exists (select 1 ${isRefused})`),
    ...(guard.explain && { explain: ofEach(sql`${guard.explain}, ${given('to')} ${isRefused}`) }),
    // One that is there by now is nobody's fault.
    refused: ([row]: Rows) => row && guard.refused([row], new Map([['to', Number(row.at(-1))]])),
  }
  const link =
    ofEach(sql`${insertInto(table, inserted)} from ${each} where (${isThere()}) is not true
    on conflict (${keys}) do nothing returning id`)
  const isApart = areApart(writing, entityName, { does: 'create', conditions: [where, ...seen] })
  const steps: readonly GuardedStep[] = [
    check,
    { name: 'linked', sql: link, expect: 'any' },
    ...effectSteps(writing, entityName, 'create', idsOf(writing, 'linked'), true),
  ]
  return { name: `create ${entityName}`, steps, asSelf, isApart }
}

/** What several do, one after another. */
export const inTurn = (drafts: readonly PartDraft[]): PartDraft => ({
  steps: drafts.flatMap(({ steps }) => steps),
  asSelf: drafts.some(({ asSelf }) => asSelf),
  isolated: drafts.some(({ isolated }) => isolated),
  deletes: drafts.find(({ deletes }) => deletes !== undefined)?.deletes,
})

/** What does one part below the row of this id. */
const draftOf = async (
  writing: Writing,
  forms: Forms,
  part: Part,
  parent: number | undefined,
  turn: Left['turn'],
): Promise<PartDraft> => {
  const rowAbove = parent ?? result(above)
  if ('link' in part) {
    const { link, ids, does, values } = part
    const { dialect } = writing
    const table = entityOf(writing.model, link.entity).table
    const isNamed = dialect.among(
      columnsOf(table)(link.of),
      dialect.valuesIn(sql`${JSON.stringify(ids)}`),
    )
    const fits = does === 'set' ? sql`not (${isNamed})` : isNamed
    // A new row has no links yet.
    const ends = does !== 'add' && parent !== undefined
    const drafts = ends ? [unlinking(writing, link, rowAbove, fits)] : []
    if (does === 'remove' || ids.length === 0) return inTurn(drafts)
    const linkingOf = (list: readonly number[]) =>
      forms.formed(
        `link ${link.entity} ${link.by} ${parent}`,
        new Map([['all', JSON.stringify(list)]]),
        () => linking(writing, link, rowAbove, values),
      )
    const all = linkingOf(ids)
    if (all.isApart) return inTurn([...drafts, all])
    for (const id of ids) {
      await turn()
      drafts.push({ ...all, steps: named(String(id), linkingOf([id]).steps) })
    }
    return inTurn(drafts)
  }
  const { entity, by, id } = part
  if (part.does === 'create') {
    const values = ruledAs(part.values, new Map<string, SqlPart>([...part.values, [by, rowAbove]]))
    return withParts(writing, forms.create(entity, values), part.parts, undefined, forms, turn)
  }
  const target = { entity, id, below: { field: by, id: Number(parent) } }
  if (part.does === 'delete') return forms.remove(target)
  const { unchanged } = part
  const draft = forms.update({ ...target, unchanged }, part.values, part.parts.length > 0)
  return withParts(writing, draft, part.parts, id, forms, turn)
}

/**
 * The same command with its parts, which come after its own row is written and before its effects: they are judged by it as it will be. `id`
 * is that of its row, unless the command makes it. Others have turns of the thread meanwhile.
 */
export const withParts = async (
  writing: Writing,
  draft: CommandDraft,
  parts: readonly Part[],
  id?: number,
  forms = createForms(writing),
  turn = takingTurns(),
): Promise<CommandDraft> => {
  if (parts.length === 0) return draft
  const drafts: PartDraft[] = []
  for (const part of parts) {
    await turn()
    const done = await madeAt(part.path, () => draftOf(writing, forms, part, id, turn))
    drafts.push({ ...done, steps: placedAt(part.path, done.steps, draft.makes) })
  }
  const end = draft.steps.findLastIndex(({ isEffect }) => !isEffect) + 1
  const all = inTurn([{ ...draft, steps: draft.steps.slice(0, end) }, ...drafts])
  return { ...draft, ...all, steps: [...all.steps, ...draft.steps.slice(end)] }
}

/**
 * Links a row with another, or ends that link; both may be done again. The row must be there for the viewer; who may do it say the rules of
 * the entity that links. `isCheck`: only whether it may be done is found out.
 */
export const linkChange = async (
  writing: Writing,
  { does, link, row, to }: OneLink,
  isCheck = false,
): Promise<CommandDraft> => {
  const { table } = entityOf(writing.model, row.entity)
  const seen = and([sql`${columnsOf(table)('id')} = ${row.id}`, ...seenSql(writing, row.entity)])
  const found: GuardedStep = {
    sql: sql`select id from ${name(table)} where ${seen}${writing.dialect.lockClause}`,
    refused: () => notFound(row.entity, row.id),
  }
  const values = linkValues(writing, link)
  const [word, what] =
    does === 'link' ? (['add', 'create'] as const) : (['remove', 'delete'] as const)
  const part = { does: word, path: link.of, link, ids: [to], values }
  const draft = await draftOf(writing, createForms(writing), part, row.id, takingTurns())
  // The guards of a link have no names, as no step refers to them.
  const guards = draft.steps.findIndex(({ name }) => name !== undefined)
  const steps = [found, ...(isCheck ? draft.steps.slice(0, guards) : draft.steps)]
  return { ...draft, name: `${what} ${link.entity}`, status: 204, text: 'true', steps }
}
