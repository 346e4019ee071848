// What a whole run may cost, in a unit that a busy or slower machine changes little: how often a loop could have run instead.
import { threadCpuUsage } from 'node:process'

/** What `npm test` may take the processor for, in loops: a line for whatever raises it, with its reason. */
const budget = [
  100_000, // 0.18 of what all tests of 0.2.0 took
].reduce((sum, some) => sum + some)

/** Objects, texts and sorting, as the service has them; takes about a hundredth of a second. */
const loop = () => {
  const rows = Array.from({ length: 2000 }, (_, n) => ({ id: n, name: `row ${(n * 7919) % 2003}` }))
  rows.sort((one, other) => (one.name < other.name ? -1 : 1))
  const byName = new Map(JSON.parse(JSON.stringify(rows)).map(row => [row.name.toUpperCase(), row]))
  return [...byName.keys()].join(',').split(',').length
}

const seconds = () => {
  const { user, system } = threadCpuUsage()
  return (user + system) / 1e6
}

const timed = () => {
  const begun = seconds()
  loop()
  return seconds() - begun
}

/** Runs the loop beside a test run, once in a while; gives the function that ends this and gives the seconds of processor that it took, in the middle. */
export const calibrate = () => {
  for (let n = 0; n < 50; n++) loop() // compiled now
  const samples = []
  const sample = () => samples.push(...Array.from({ length: 3 }, timed))
  sample()
  const timer = setInterval(sample, 3000)
  return () => {
    clearInterval(timer)
    sample()
    return samples.sort((one, other) => one - other)[Math.floor(samples.length / 2)]
  }
}

const loopsOf = ({ sqlite, postgres }, secondsPerLoop) => (sqlite + postgres) / secondsPerLoop

/** Each folder's loops in a run that is kept. */
const foldersOf = ({ processor, loops, folders }) =>
  Object.entries(folders).map(([folder, sums]) => [folder, loopsOf(sums, processor / loops)])

/** What is to be said of a whole run that took more loops than it may, with the folder that grew most since a run was kept; an empty list if it kept within. */
export const overBudget = (run, last) => {
  if (run.loops <= budget) return []
  const before = new Map(last ? foldersOf(last) : [])
  const grown = foldersOf(run)
    .map(([folder, loops]) => ({ folder, more: loops - (before.get(folder) ?? 0) }))
    .sort((one, other) => other.more - one.more)
  const [{ folder, more }] = grown
  return [
    `The run took the processor for ${thousands(run.loops)} loops, and may for ${thousands(budget)}. Since test/times.json was written ${folder} grew most, by ${thousands(more)}. Make its tests cheaper, leave some to test:all (scripts/test-files.mjs), or raise the budget in scripts/test-budget.mjs with its reason.`,
  ]
}

const thousands = loops => `${(loops / 1000).toFixed(1)} thousand`

/** What a whole run took, in words. */
export const inLoops = run =>
  `${run.processor} s of the processor, or ${thousands(run.loops)} loops${run.command === 'test' ? ` of ${thousands(budget)}` : ''}`
