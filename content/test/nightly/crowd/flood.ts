/** The generator of the bench in a process of its own: it sends at its rate whether or not what was sent before is answered. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { plain } from '#test/duet.ts'

const script = fileURLToPath(new URL('../../../../bench/lib/flood.mjs', import.meta.url))

export type Asked = {
  readonly method: string
  readonly path: string
  readonly body?: string
  readonly headers?: readonly string[]
}

export type Group = {
  readonly name: string
  /** Requests in a second; without it each connection sends its next one when the last is answered. */
  readonly rate?: number
  readonly connections: number
  readonly requests: readonly Asked[]
  /** How often a request that is refused is sent again, at once. */
  readonly retries?: number
  /** Milliseconds after which a client does not wait any longer. */
  readonly patience?: number
}

/** Somebody who asks whether the service lives. */
export const probes = {
  name: 'probes',
  rate: 10,
  connections: 10,
  requests: [{ method: 'GET', path: '/healthz' }],
} as const

export type Told = {
  readonly name: string
  /** How many had which status; 0 is a connection that was closed without an answer. */
  readonly statuses: Readonly<Record<string, number>>
  /** For these no connection was free any more. */
  readonly unsent: number
  readonly withoutRetryAfter: number
  readonly late: number
  /** What had no answer 10 s after the end. */
  readonly unanswered: number
  readonly ok: number
  readonly goodput: number
  readonly p50: number
  readonly p99: number
  readonly refusedP99: number
}

/** Lets all groups send for so many seconds; gives what became of it by their names. */
export const flood = async <Name extends string>(
  url: string,
  seconds: number,
  groups: readonly (Group & { readonly name: Name })[],
): Promise<Record<Name, Told>> => {
  const child = spawn(process.execPath, [script], {
    env: plain,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  const end = () => child.kill('SIGKILL')
  process.once('exit', end)
  try {
    child.stdin.end(JSON.stringify({ url, seconds, groups }))
    const told = await text(child.stdout)
    assert.deepEqual(await ended, [0, null], 'the generator came to its end')
    const all: readonly Told[] = JSON.parse(told).groups
    return Object.fromEntries(all.map(one => [one.name, one])) as Record<Name, Told>
  } finally {
    process.off('exit', end)
  }
}

/** How many requests of a group were sent. */
export const sent = ({ statuses, unanswered }: Told): number =>
  Object.values(statuses).reduce((sum, count) => sum + count, unanswered)

/** What clients waited for in vain: no answer, or none while they waited. */
export const inVain = ({ statuses, unanswered, unsent, late }: Told): number =>
  (statuses[0] ?? 0) + unanswered + unsent + late

export const line = ({ name, statuses, ok, p50, p99, refusedP99, ...rest }: Told): string => {
  const { late, unsent, unanswered } = rest
  const counts = Object.entries(statuses).map(([status, count]) => `${status}: ${count}`)
  const times = `p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms, refused in ${refusedP99.toFixed(0)} ms`
  return `${name}: ${counts.join(', ')}; ${ok} good, ${late} late, ${unsent} without a connection, ${unanswered} unanswered; ${times}`
}
