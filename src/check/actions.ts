/** Actions and routes by hand: who may call them, and whether calls at once do what calls one after another do. */
import { isDeepStrictEqual } from 'node:util'
import { mapped } from '#base/object.ts'
import { named } from '#check/callers.ts'
import {
  type ReferenceRow,
  type ReferenceRows,
  type RowsReference,
  verdict,
} from '#check/reference.ts'
import { outcomeOf } from '#check/requests.ts'
import { brief, type CheckService, Fault } from '#check/service.ts'
import { validValue } from '#check/values.ts'
import { type Field, isDerived } from '#model/field.ts'
import { columnName, entityOf } from '#model/model.ts'
import type { Rule, Viewer } from '#model/policy.ts'
import { dependenciesFirst } from '#model/references.ts'
import { isIn } from '#model/version.ts'
import { queryOf } from '#sql/engine.ts'
import { comma, join, name, type Sql, type SqlValue, sql } from '#sql/sql.ts'

/** An action, or a route by hand that writes. */
export type Callable = {
  readonly name: string
  readonly method: string
  readonly path: string
  readonly about: string | null
  readonly rule: Rule | undefined
  readonly input: Readonly<Record<string, Field>> | undefined
}

/** One call: by whom, for which row, with which body. */
type Call = { readonly line: string; readonly viewer: Viewer; readonly body: unknown }

/** What the newest version offers beside plain reads and writes. */
export const callablesOf = async ({
  content,
  model,
  view,
}: CheckService): Promise<readonly Callable[]> => {
  const actions = content.actions
    .filter(action => isIn(action, view.version) && action.bytes === undefined)
    .map(({ name, method, path, about, rule, input }) => ({
      name,
      method,
      path,
      about,
      rule,
      input,
    }))
  const { routes } = await content.served()
  const byHand = routes.flatMap(route => {
    const { method, path, described } = route
    if (method === 'GET' || !isIn(route, view.version)) return []
    const [, plural, id] = path.split('/')
    const found = Object.entries(model.entities).find(([, entity]) => entity.plural === plural)
    const about = id?.startsWith(':') ? (found?.[0] ?? null) : null
    return [
      { name: `${method} ${path}`, method, path, about, rule: described.rule, input: undefined },
    ]
  })
  return [...actions, ...byHand]
}

/** The n-th call of an action by a caller, for a row if it is about one. */
export const callOf = (
  { view }: CheckService,
  { name, method, path, input }: Callable,
  viewer: Viewer,
  row: ReferenceRow | undefined,
  n: number,
): Call => ({
  line: `${method} ${view.prefix}${path.replace(/:\w+/g, String(row?.id ?? 1))}`,
  viewer,
  body: input
    ? mapped(input, (field, key) =>
        field.references ? 1 + (n % 4) : validValue(`${key} of ${name}`, field, n),
      )
    : method === 'DELETE'
      ? undefined
      : {},
})

/** Brings the rows back to what they were, past the service. */
export const restore = async (service: CheckService, before: ReferenceRows): Promise<void> => {
  const { model, session, dialect } = service
  const now = await service.rows()
  const entities = dependenciesFirst(model.entities).filter(([, { view }]) => !view)
  const run = (piece: Sql) => session.query(queryOf(piece, dialect))
  const idsIn = (rows: ReferenceRows, entity: string) =>
    new Map((rows.get(entity) ?? []).map(row => [row.id, row]))
  await session.transaction(async () => {
    for (const [entity, { table }] of entities.toReversed()) {
      const kept = idsIn(before, entity)
      for (const id of idsIn(now, entity).keys())
        if (!kept.has(id)) await run(sql`delete from ${name(table)} where id = ${id}`)
    }
    for (const [entity, { table, fields }] of entities) {
      const there = idsIn(now, entity)
      const keys = Object.keys(fields).filter(key => {
        const field = fields[key]
        return field && (!isDerived(field) || field.foldedFrom !== undefined)
      })
      for (const row of before.get(entity) ?? []) {
        const found = there.get(row.id)
        const columns = keys.map(key => name(columnName(key)))
        const values = keys.map((key): SqlValue => row[key] ?? null)
        if (!found)
          await run(
            sql`insert into ${name(table)} (${join(columns, comma)}) values (${join(
              values.map(value => sql`${value}`),
              comma,
            )})`,
          )
        else if (!isDeepStrictEqual(found, row)) {
          const changed = keys.flatMap((key, index) =>
            found[key] === row[key]
              ? []
              : [sql`${columns[index] as Sql} = ${values[index] ?? null}`],
          )
          if (changed.length > 0)
            await run(sql`update ${name(table)} set ${join(changed, comma)} where id = ${row.id}`)
        }
      }
    }
  })
}

/** The rows without what differs from run to run: times, and the ids that new rows get. */
const stateOf = ({ model }: CheckService, before: ReferenceRows, now: ReferenceRows) =>
  [...now].map(([entity, rows]) => {
    const { fields } = entityOf(model, entity)
    const last = (of: string) => Math.max(0, ...(before.get(of) ?? []).map(({ id }) => id))
    const plain = rows.map(row =>
      Object.entries(row).flatMap(([key, value]) => {
        const { scalar, references, initial } = fields[key] ?? {}
        const to = key === 'id' ? entity : references?.entity
        const isMade = typeof initial === 'object' && 'slugOf' in initial
        if (scalar === 'time' || isMade) return []
        return [[key, to !== undefined && Number(value) > last(to) ? 'new' : value]]
      }),
    )
    return [entity, plain.map(one => JSON.stringify(one)).sort()] as const
  })

/** What calls did: their answers' statuses, whichever gave which, and the rows. */
const effectOf = async (
  service: CheckService,
  before: ReferenceRows,
  calls: readonly Call[],
  isTogether: boolean,
) => {
  await restore(service, before)
  const send = ({ line, viewer, body }: Call) => service.ask(line, viewer, body)
  const statuses: number[] = []
  if (isTogether) statuses.push(...(await Promise.all(calls.map(send))).map(({ status }) => status))
  else for (const call of calls) statuses.push((await send(call)).status)
  return { statuses: statuses.toSorted(), state: stateOf(service, before, await service.rows()) }
}

/** Every order of some calls. */
const ordersOf = <Item>(items: readonly Item[]): readonly (readonly Item[])[] =>
  items.length < 2
    ? [items]
    : items.flatMap((item, index) =>
        ordersOf(items.toSpliced(index, 1)).map(rest => [item, ...rest]),
      )

/** The first rows that differ between two states. */
const firstDifference = (one: ReturnType<typeof stateOf>, other: ReturnType<typeof stateOf>) => {
  for (const [index, [entity, rows]] of one.entries()) {
    const others = other[index]?.[1] ?? []
    const row = rows.find(row => !others.includes(row))
    const instead = others.find(row => !rows.includes(row))
    if (row !== undefined || instead !== undefined)
      return `${entity} ${brief(row ?? 'has a row less')}, where one after another make it ${brief(instead ?? 'none')}`
  }
  return 'the answers differ'
}

/** The calls of an action that are done by themselves, up to some. */
const callsDone = async (
  service: CheckService,
  callable: Callable,
  before: ReferenceRows,
  random: () => number,
) => {
  const reference = await service.reference()
  const { about, rule } = callable
  const rows = about === null ? [undefined] : reference.rowsIn(about)
  const tries = service.callers.flatMap(viewer =>
    rows.flatMap(row =>
      verdict(rule, viewer, service.model) === 'no' ||
      (row && about && !reference.may(about, row, rule, viewer))
        ? []
        : [{ viewer, row }],
    ),
  )
  const first = Math.floor(random() * tries.length)
  for (let n = 0; n < Math.min(tries.length, 16); n++) {
    const { viewer, row } = tries[(first + n) % tries.length] as (typeof tries)[number]
    const call = callOf(service, callable, viewer, row, n)
    await restore(service, before)
    if (outcomeOf(await service.ask(call.line, call.viewer, call.body)) !== 'done') continue
    const others = service.callers.filter(
      other =>
        verdict(rule, other, service.model) !== 'no' &&
        (!row || !about || reference.may(about, row, rule, other)),
    )
    const other = others[Math.floor(random() * others.length)] ?? viewer
    return [call, callOf(service, callable, other, row, n + 2), call]
  }
  return undefined
}

/** Calls of each action at once, which must do what they do in one order or another; gives how many rounds there were. */
export const checkTogether = async (
  service: CheckService,
  random: () => number,
  isOver: () => boolean,
): Promise<number> => {
  const before = await service.rows()
  let rounds = 0
  for (const callable of await callablesOf(service)) {
    const calls = await callsDone(service, callable, before, random)
    if (!calls) continue
    const effects: Awaited<ReturnType<typeof effectOf>>[] = []
    for (const order of ordersOf(calls)) effects.push(await effectOf(service, before, order, false))
    // What is not the same twice, such as a word that it draws, tells nothing.
    const again = await effectOf(service, before, calls, false)
    if (!isDeepStrictEqual(again, effects[0])) continue
    for (let round = 0; round < 8 && !(round > 2 && isOver()); round++) {
      const together = await effectOf(service, before, calls, true)
      rounds += 1
      if (effects.some(effect => isDeepStrictEqual(effect, together))) continue
      const near =
        effects.find(({ statuses }) => isDeepStrictEqual(statuses, together.statuses)) ?? effects[0]
      throw new Fault(
        `${callable.name}: ${calls.length} calls at once of ${calls[0]?.line} did what they do in no order, answers ${together.statuses.join(', ')}: ${near && firstDifference(together.state, near.state)}. Let the write itself say what it depends on: add(…), or a change with where`,
      )
    }
  }
  await restore(service, before)
  return rounds
}

/** Calls of each action by each caller, for rows that its rule gives to it and for others. */
export const checkCalls = async (service: CheckService, random: () => number): Promise<void> => {
  const before = await service.rows()
  for (const callable of await callablesOf(service)) {
    const { about, rule } = callable
    for (const viewer of service.callers)
      for (const mine of [true, false]) {
        const reference: RowsReference = await service.reference()
        const rows =
          about === null
            ? []
            : reference
                .rowsIn(about)
                .filter(row => reference.may(about, row, rule, viewer) === mine)
        const row = rows[Math.floor(random() * rows.length)]
        if (about !== null && !row) continue
        const call = callOf(service, callable, viewer, row, Math.floor(random() * 20))
        const answer = await service.ask(call.line, viewer, call.body)
        const is = outcomeOf(answer)
        const may =
          verdict(rule, viewer, service.model) !== 'no' &&
          (!row || !about || (mine && !reference.isHidden(about, row, viewer)))
        const told = `${callable.name}: ${call.line} of ${named(viewer)}`
        if (!may && is !== 'refused' && is !== 'absent')
          throw new Fault(`${told} is ${is}, where its rule refuses it: ${brief(answer.text)}`)
        if (may) {
          await restore(service, before)
          continue
        }
        const kept = stateOf(service, before, before)
        if (!isDeepStrictEqual(stateOf(service, before, await service.rows()), kept))
          throw new Fault(`${told} is ${is}, and changed rows all the same`)
      }
  }
}
