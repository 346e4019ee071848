/** Actions and routes by hand that are called at once must do what they do one after another. */
import { isDeepStrictEqual } from 'node:util'
import { oneOf, rotated } from '#base/random.ts'
import { type Draft, type Offer, offersOf, sendOffer } from '#kit/check/offers.ts'
import {
  type ReferenceRow,
  type ReferenceRows,
  referenceOver,
  verdict,
} from '#kit/check/reference.ts'
import { brief, type CheckService, faultOf, restore, stateOf } from '#kit/check/service.ts'
import type { Viewer } from '#model/policy.ts'

type Call = Draft & { readonly viewer: Viewer }

/** What calls did: their answers' statuses, whichever gave which, and the rows. */
const effectOf = async (
  service: CheckService,
  before: ReferenceRows,
  calls: readonly Call[],
  isTogether: boolean,
) => {
  await restore(service, before)
  const send = ({ line, body, viewer }: Call) => service.ask(line, viewer, body)
  const statuses: number[] = []
  if (isTogether) statuses.push(...(await Promise.all(calls.map(send))).map(({ status }) => status))
  else for (const call of calls) statuses.push((await send(call)).status)
  return { statuses: statuses.toSorted(), state: stateOf(service, before, await service.rows()) }
}

const ordersOf = <Item>(items: readonly Item[]): readonly (readonly Item[])[] =>
  items.length < 2
    ? [items]
    : items.flatMap((item, index) =>
        ordersOf(items.toSpliced(index, 1)).map(rest => [item, ...rest]),
      )

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
  offer: Offer,
  before: ReferenceRows,
  random: () => number,
): Promise<readonly Call[] | undefined> => {
  const reference = referenceOver(service.model, before)
  const { entity, rule } = offer
  const mayCall = (viewer: Viewer, row: ReferenceRow | undefined) =>
    verdict(rule, viewer, service.model) !== 'no' &&
    (!row || !entity || reference.may(entity, row, rule, viewer))
  const rows = entity === null ? [undefined] : reference.rowsIn(entity)
  const tries = service.callers.flatMap(viewer =>
    rows.flatMap(row => (mayCall(viewer, row) ? [{ viewer, row }] : [])),
  )
  const callOf = (viewer: Viewer, row: ReferenceRow | undefined, n: number): Call[] => {
    const draft = offer.draft({ viewer, row, reference, n })
    return draft ? [{ ...draft, viewer }] : []
  }
  for (const [n, { viewer, row }] of rotated(tries, random).slice(0, 16).entries()) {
    const [call] = callOf(viewer, row, n)
    if (!call) continue
    await restore(service, before)
    if ((await sendOffer(service, offer, call, viewer)).is !== 'done') continue
    const others = service.callers.filter(other => mayCall(other, row))
    const other = oneOf(others, random) ?? viewer
    return [call, ...callOf(other, row, n + 2), call]
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
  for (const offer of await offersOf(service)) {
    if (offer.operation !== 'call' || offer.isGraphql) continue
    const calls = await callsDone(service, offer, before, random)
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
      throw faultOf(
        `${offer.told}: ${calls.length} calls at once of ${calls[0]?.line}`,
        'the rows and answers of one after another, in some order',
        `answers ${together.statuses.join(', ')} and ${near && firstDifference(together.state, near.state)}`,
        'let the write itself say what it depends on: add(…), or a change with where',
      )
    }
  }
  await restore(service, before)
  return rounds
}
