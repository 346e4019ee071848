/**
 * Whether a history has an order: each operation at one moment between its begin and its end, each seeing what those before it left.
 * What must come before what is a graph, of Adya's dependencies and of time, in which a circle is a contradiction.
 */
import { type Deed, nothing, type Operation } from './deeds.ts'
import { createGraph, type Graph, orderByTime } from './graph.ts'

type Of<Kind extends Deed['kind']> = Extract<Deed, { kind: Kind }>

/** The numbers of the operations that did something to a thing. */
const createIndex = () => {
  const found = new Map<string, Map<string, number[]>>()
  return {
    add: (thing: string, value: string, operation: number) =>
      found
        .getOrInsertComputed(thing, () => new Map<string, number[]>())
        .getOrInsertComputed(value, () => [])
        .push(operation),
    of: (thing: string, value = ''): readonly number[] => found.get(thing)?.get(value) ?? [],
    all: (thing: string) => found.get(thing) ?? new Map<string, number[]>(),
    things: () => found.keys(),
  }
}

const indexed = (history: readonly Operation[]) => {
  const [wrote, replaced, added, raised] = Array.from({ length: 4 }, createIndex) as [
    ReturnType<typeof createIndex>,
    ReturnType<typeof createIndex>,
    ReturnType<typeof createIndex>,
    ReturnType<typeof createIndex>,
  ]
  for (const [number, { deeds }] of history.entries())
    for (const deed of deeds) {
      if (deed.kind === 'wrote') {
        wrote.add(deed.register, deed.value, number)
        replaced.add(deed.register, deed.over, number)
      }
      if (deed.kind === 'added') added.add(deed.list, deed.item, number)
      if (deed.kind === 'raised') raised.add(deed.count, '', number)
    }
  return { wrote, replaced, added, raised }
}

/** What is known of a history while it is judged. */
type Case = {
  readonly history: readonly Operation[]
  readonly index: ReturnType<typeof indexed>
  readonly graph: Graph
  readonly fault: (text: string) => void
}

/** What is wrong with a history, a sentence each; none where it has an order. */
export const faultsOf = (history: readonly Operation[]): readonly string[] => {
  const faults: string[] = []
  const graph = createGraph(history.length)
  const fault = (text: string) => void faults.push(text)
  const known = { history, index: indexed(history), graph, fault }
  judgeUpdates(known)
  const judges = [registersIn(known), listsIn(known), countsIn(known)]
  for (const [operation, { deeds }] of history.entries())
    for (const deed of deeds) for (const judge of judges) judge(deed, operation)
  orderByTime(graph, history)
  const circle = graph.circle().filter(node => node < history.length)
  if (circle.length > 0)
    fault(`no order has all of ${circle.map(node => JSON.stringify(history[node])).join(' → ')}`)
  return faults
}

type Judge = (deed: Deed, operation: number) => void

/** A value is replaced once. */
const judgeUpdates = ({ index, fault }: Case): void => {
  for (const register of index.replaced.things())
    for (const [value, { length }] of index.replaced.all(register))
      if (length > 1)
        fault(`lost update: ${length} writes of ${register} each replaced ${value || 'nothing'}`)
}

const registersIn = ({ index, graph, fault }: Case): Judge => {
  const comesAfter = (register: string, value: string, operation: number) => {
    const writers = index.wrote.of(register, value)
    if (writers.length !== 1 && value !== nothing)
      fault(`${writers.length} operations wrote ${value} to ${register}`)
    for (const writer of writers) graph.edge(writer, operation)
  }
  return (deed, operation) => {
    if (deed.kind === 'wrote') comesAfter(deed.register, deed.over, operation)
    if (deed.kind === 'saw') {
      comesAfter(deed.register, deed.value, operation)
      for (const next of index.replaced.of(deed.register, deed.value)) graph.edge(operation, next)
    }
    if (deed.kind === 'was refused') {
      const writers = index.replaced.of(deed.register, deed.over)
      if (writers.length === 0)
        fault(`a write of ${deed.register} was refused, and ${deed.over} was never replaced`)
      for (const writer of writers) graph.edge(writer, operation)
    }
  }
}

const listsIn = ({ history, index, graph, fault }: Case): Judge => {
  const places = lastPlaces(history)
  const judgeItems = ({ list, items }: Of<'listed'>) => {
    if (new Set(items).size < items.length) fault(`an item is in ${list} more than once`)
    const order = items.map(item => places.get(list)?.get(item) ?? -1)
    if (order.some((place, at) => place < (order[at - 1] ?? 0)))
      fault(`items of ${list} have changed their order, or are gone`)
    for (const item of items)
      if (index.added.of(list, item).length !== 1)
        fault(`${item} in ${list} was not added by one operation`)
  }
  return (deed, operation) => {
    if (deed.kind !== 'listed') return
    judgeItems(deed)
    const there = new Set(deed.items)
    for (const [item, [adder = 0]] of index.added.all(deed.list))
      if (there.has(item)) graph.edge(adder, operation)
      else graph.edge(operation, adder)
  }
}

/** The place of each item in the last listing of its list. */
const lastPlaces = (history: readonly Operation[]) => {
  const last = new Map<string, Of<'listed'>>()
  for (const { deeds } of history)
    for (const deed of deeds) if (deed.kind === 'listed') last.set(deed.list, deed)
  return new Map(
    [...last].map(([list, { items }]) => [
      list,
      new Map(items.map((item, place) => [item, place])),
    ]),
  )
}

const countsIn = ({ history, index, graph, fault }: Case): Judge => {
  // Which operation raised a count to which number is not known: a node stands for each number instead.
  const nodes = new Map<string, number[]>()
  const nodeOf = (count: string, as: number): number => {
    const line = nodes.getOrInsertComputed(count, () => [graph.node()])
    while (line.length <= as) {
      const node = graph.node()
      graph.edge(line.at(-1) as number, node)
      line.push(node)
    }
    return line[as] as number
  }
  const raises = raisesIn(history, index.raised)
  return (deed, operation) => {
    if (deed.kind !== 'counted') return
    const { count, as } = deed
    graph.edge(nodeOf(count, as), operation)
    graph.edge(operation, nodeOf(count, as + 1))
    const { begun, ended } = history[operation] as Operation
    const [least, most] = [raises(count, 'ended', begun), raises(count, 'begun', ended)]
    if (as < least || as > most)
      fault(`${count} was ${as}, when ${least} had raised it and ${most} might have`)
  }
}

/** How many operations that raised a count had begun, or ended, before a moment. */
const raisesIn = (history: readonly Operation[], raised: Case['index']['raised']) => {
  const sorted = new Map<string, readonly number[]>()
  return (count: string, which: 'begun' | 'ended', moment: number): number => {
    const moments = sorted.getOrInsertComputed(`${which} ${count}`, () =>
      raised
        .of(count)
        .map(number => (history[number] as Operation)[which])
        .sort((a, b) => a - b),
    )
    let [low, high] = [0, moments.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((moments[middle] as number) < moment) low = middle + 1
      else high = middle
    }
    return low
  }
}
