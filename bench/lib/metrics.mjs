/** What metrics and the slow log cost in a point read: processor time in one thread, without HTTP, with and without them in turns. */
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { cores, start } from './processes.mjs'

const script = fileURLToPath(new URL('point-reads.mjs', import.meta.url))

const kinds = {
  without: {},
  'with metrics': { DUET_METRICS_PORT: '0' },
  'with the slow log': { DUET_SLOW: '1h' },
}

const warmUp = 8_000
const reads = 4_000
/** Two processes of one kind differ by a few percent: where their code lies, and when it was compiled. */
const processes = 2

/** A process of a kind; `measure` gives the microseconds of a read. The log goes where it costs a write. */
function subject(kind) {
  const child = start(process.execPath, [script], {
    core: cores.server,
    env: { ...process.env, ...kinds[kind] },
    stdio: ['pipe', 'ignore', 'pipe'],
  })
  const lines = createInterface({ input: child.stderr })
  const measure = async times => {
    child.stdin.write(`${times}\n`)
    const [line] = await once(lines, 'line')
    return Number(line)
  }
  return { kind, measure, end: () => child.stdin.end() }
}

/** The least that a read of each kind took, since whatever else runs can only add to it. */
export async function benchMetrics({ rounds, seconds, json }) {
  const all = Array.from({ length: processes }, () => Object.keys(kinds).map(subject)).flat()
  const least = Object.fromEntries(Object.keys(kinds).map(kind => [kind, Number.POSITIVE_INFINITY]))
  for (const { measure } of all) await measure(warmUp)
  // Rounds are short, so that some of them are not disturbed.
  for (let round = 0; round < rounds * seconds; round++)
    for (const { kind, measure } of all) least[kind] = Math.min(least[kind], await measure(reads))
  for (const { end } of all) end()
  for (const [kind, micros] of Object.entries(least)) {
    const more = (100 * (micros / least.without - 1)).toFixed(1)
    const compared = kind === 'without' ? '' : `, ${more} % more`
    console.log(`${kind.padEnd(20)}${micros.toFixed(2)} µs a read${compared}`)
  }
  if (json) writeFileSync(json, `${JSON.stringify(least, null, 2)}\n`)
}
