// What each test file costs of the processor, the programs that it starts included: `npm test -- --slowest` shows it.
import { appendFileSync, existsSync, readFileSync } from 'node:fs'

const note = process.env.DUET_TEST_PROCESSOR
let noted = 0

/** The seconds of processor that a process has used, and its children that have ended; 0 where there is no /proc. */
export const usedBy = pid => {
  const name = `/proc/${pid}/stat`
  if (!existsSync(name)) return 0
  const stat = readFileSync(name, 'utf8')
  const ticks = stat.slice(stat.lastIndexOf(')')).split(' ').slice(12, 16)
  return ticks.reduce((sum, some) => sum + Number(some), 0) / 100
}

/** Counts for a file what was used since it was counted last. */
export const countFor = file => {
  if (note === undefined) return
  const now = usedBy(process.pid)
  const told = { engine: process.env.DUET_TEST_STORE, file, seconds: now - noted }
  appendFileSync(note, `${JSON.stringify(told)}\n`)
  noted = now
}

/** What was counted in the file of that name: a sum for each engine and test file. */
export const countedIn = name => {
  const lines = readFileSync(name, 'utf8')
    .trim()
    .split('\n')
    .map(line => JSON.parse(line))
  const kinds = Map.groupBy(lines, ({ engine, file }) => `${engine} ${file}`)
  return [...kinds.values()].map(some => ({
    ...some[0],
    seconds: some.reduce((sum, { seconds }) => sum + seconds, 0),
  }))
}
