// What each test file costs of the processor, the programs that it starts included: `npm test -- --slowest` shows it, and keeps it by folder.
import childProcess from 'node:child_process'
import { subscribe } from 'node:diagnostics_channel'
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

const note = process.env.DUET_TEST_PROCESSOR
let noted = 0
let programs = 0
let threads = 0

if (process.env.NODE_TEST_CONTEXT && note !== undefined) {
  subscribe('child_process', () => programs++)
  subscribe('worker_threads', () => threads++)
  // The channel does not tell of programs that are waited for.
  for (const name of ['spawnSync', 'execFileSync', 'execSync']) {
    const run = childProcess[name]
    childProcess[name] = (...args) => {
      programs++
      return run(...args)
    }
  }
  syncBuiltinESMExports()
}

/** The seconds of processor that a process has used, and its children that have ended; 0 where there is no /proc. */
export const usedBy = pid => {
  const name = `/proc/${pid}/stat`
  if (!existsSync(name)) return 0
  const stat = readFileSync(name, 'utf8')
  const ticks = stat.slice(stat.lastIndexOf(')')).split(' ').slice(12, 16)
  return ticks.reduce((sum, some) => sum + Number(some), 0) / 100
}

/** Counts for a file what was used, and how many programs and threads were started, since it was counted last. */
export const countFor = file => {
  if (note === undefined) return
  const now = usedBy(process.pid)
  const seconds = now - noted
  const told = { engine: process.env.DUET_TEST_STORE, file, seconds, programs, threads }
  appendFileSync(note, `${JSON.stringify(told)}\n`)
  noted = now
  programs = 0
  threads = 0
}

/** What was counted in the file of that name: a sum for each engine and test file. */
export const countedIn = name => {
  const lines = readFileSync(name, 'utf8')
    .trim()
    .split('\n')
    .map(line => JSON.parse(line))
  const kinds = Map.groupBy(lines, ({ engine, file }) => `${engine} ${file}`)
  const sumOf = (some, name) => some.reduce((sum, one) => sum + one[name], 0)
  return [...kinds.values()].map(some => ({
    ...some[0],
    seconds: sumOf(some, 'seconds'),
    programs: sumOf(some, 'programs'),
    threads: sumOf(some, 'threads'),
  }))
}

const timesFile = new URL('../test/times.json', import.meta.url)

/** How many runs are kept, to see what grows. */
const mostRuns = 20

const tenths = seconds => Math.round(seconds * 10) / 10

/** `src`, `content`, `test` and the folders of both `test` are told apart; what is no file has its own name. */
const folderOf = file => {
  if (!file.includes('/')) return file
  const [, of = '', folder] = /^((?:content\/)?test)(?:\/([^/]+)\/)?/.exec(file) ?? []
  return folder ? `${of}/${folder}` : of || file.split('/')[0]
}

/** The seconds of processor of a whole run by folder and engine, how long it took, and what a loop took beside it. */
export const timesOf = (command, counted, { took, loop }) => {
  const byFolder = Object.entries(Object.groupBy(counted, ({ file }) => folderOf(file)))
  const folders = byFolder.map(([folder, some]) => {
    const sums = { sqlite: 0, postgres: 0 }
    for (const { engine, seconds } of some) sums[engine] = tenths(sums[engine] + seconds)
    return [folder, sums]
  })
  const processor = counted.reduce((sum, { seconds }) => sum + seconds, 0)
  return {
    date: new Date().toISOString().slice(0, 10),
    command,
    seconds: Math.round(took),
    processor: Math.round(processor),
    loops: Math.round(processor / loop),
    folders: Object.fromEntries(folders.sort(([a], [b]) => (a < b ? -1 : 1))),
  }
}

/** The runs that are kept, the newest first. */
const keptTimes = () => (existsSync(timesFile) ? JSON.parse(readFileSync(timesFile, 'utf8')) : [])

/** The last run of that command that is kept; undefined if there is none. */
export const lastTimes = command => keptTimes().find(run => run.command === command)

/** Keeps a run; of one command and day the last is kept. */
export const keepTimes = run => {
  const others = keptTimes().filter(
    ({ date, command }) => date !== run.date || command !== run.command,
  )
  const text = JSON.stringify([run, ...others].slice(0, mostRuns), null, 2)
  writeFileSync(timesFile, `${text}\n`)
}

/** Gives the seconds that a file of these processes will take, about: an even share of those of its folder when a run was kept last. */
export const sharesBy = (command, processes) => {
  const folders = lastTimes(command)?.folders ?? {}
  const keyOf = (engine, file) => `${engine} ${folderOf(file)}`
  const keys = processes.flatMap(({ engine, files }) => files.map(file => keyOf(engine, file)))
  const counts = new Map(
    [...Map.groupBy(keys, key => key)].map(([key, { length }]) => [key, length]),
  )
  return (engine, file) =>
    0.1 + (folders[folderOf(file)]?.[engine] ?? 0) / counts.get(keyOf(engine, file))
}
