/** A graph of what comes before what, for some hundred thousand operations and some million edges. */

type Span = { readonly begun: number; readonly ended: number }

/** Numbers in memory of their own, as many as come. */
const createNumbers = () => {
  let room = new Int32Array(1024)
  let length = 0
  const push = (number: number) => {
    if (length === room.length) {
      const larger = new Int32Array(length * 2)
      larger.set(room)
      room = larger
    }
    room[length++] = number
  }
  return { push, all: () => room.subarray(0, length) }
}

export type Graph = {
  readonly node: () => number
  readonly edge: (from: number, to: number) => void
  /** The nodes of a circle, each before the next, the last before the first; none where there is no circle. */
  readonly circle: () => readonly number[]
}

/** A graph that has so many nodes at first. */
export const createGraph = (first: number): Graph => {
  let nodes = first
  const [from, to] = [createNumbers(), createNumbers()]
  return {
    node: () => nodes++,
    edge: (one, next) => {
      from.push(one)
      to.push(next)
    },
    circle: () => circleIn(nodes, from.all(), to.all()),
  }
}

/** What ended before another began comes before it: a line of nodes, one for each end, stands for all these edges. */
export const orderByTime = (graph: Graph, spans: readonly Span[]): void => {
  const moments = spans
    .flatMap(({ begun, ended }, number) => [
      { at: begun, number, isEnd: false },
      { at: ended, number, isEnd: true },
    ])
    .sort((a, b) => a.at - b.at)
  let last = graph.node()
  for (const { number, isEnd } of moments)
    if (isEnd) {
      const next = graph.node()
      graph.edge(last, next)
      graph.edge(number, next)
      last = next
    } else graph.edge(last, number)
}

type Followers = (node: number) => Int32Array

/** The nodes that follow each. */
const followersOf = (nodes: number, from: Int32Array, to: Int32Array): Followers => {
  const ends = new Int32Array(nodes + 1)
  for (const one of from) ends[one + 1] = (ends[one + 1] as number) + 1
  for (let at = 1; at <= nodes; at++) ends[at] = (ends[at] as number) + (ends[at - 1] as number)
  const starts = ends.slice()
  const list = new Int32Array(from.length)
  for (let at = 0; at < from.length; at++) {
    const one = from[at] as number
    list[ends[one] as number] = to[at] as number
    ends[one] = (ends[one] as number) + 1
  }
  return node => list.subarray(starts[node], starts[node + 1])
}

/** Those that are in a circle, or behind one: what remains when nodes that nothing precedes are taken away, again and again. */
const remaining = (nodes: number, to: Int32Array, after: Followers): Uint8Array => {
  const before = new Int32Array(nodes)
  for (const one of to) before[one] = (before[one] as number) + 1
  const free = [...before.keys()].filter(one => before[one] === 0)
  const remains = new Uint8Array(nodes).fill(1)
  for (let one = free.pop(); one !== undefined; one = free.pop()) {
    remains[one] = 0
    for (const next of after(one)) {
      before[next] = (before[next] as number) - 1
      if (before[next] === 0) free.push(next)
    }
  }
  return remains
}

const circleIn = (nodes: number, from: Int32Array, to: Int32Array): readonly number[] => {
  const after = followersOf(nodes, from, to)
  const remains = remaining(nodes, to, after)
  let at = remains.indexOf(1)
  if (at < 0) return []
  const before = new Int32Array(nodes)
  for (let edge = 0; edge < from.length; edge++)
    if (remains[from[edge] as number]) before[to[edge] as number] = from[edge] as number
  // Each that remains has one before it that remains: the way back ends in a circle.
  const passed = new Set<number>()
  for (; !passed.has(at); at = before[at] as number) passed.add(at)
  return shortestCircle(at, after)
}

/** The shortest way from a node back to itself. */
const shortestCircle = (start: number, after: Followers): readonly number[] => {
  const cameFrom = new Map<number, number>()
  let reached = [start]
  while (reached.length > 0) {
    const next: number[] = []
    for (const one of reached)
      for (const other of after(one)) {
        if (other === start) {
          const way = [one]
          for (let at = one; at !== start; way.unshift(at)) at = cameFrom.get(at) as number
          return way
        }
        if (cameFrom.has(other)) continue
        cameFrom.set(other, one)
        next.push(other)
      }
    reached = next
  }
  return []
}
