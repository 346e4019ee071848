// What a whole run may cost, in a unit that a busy or slower machine changes little: how often a loop could have run instead.
import { once } from 'node:events'
import { threadCpuUsage } from 'node:process'
import { isMainThread, parentPort, Worker } from 'node:worker_threads'

/** What `npm test` may take the processor for, in loops: a line for whatever raises it, with its reason. */
const budget = [
  97_000, // 0.18 of what all tests took before they were parted, 540,000
  3_200, // people who sign in
  3_200, // the admin screen
  1_600, // each of its screens for one content, in a browser
  3_200, // inputs of strangers: composed letters, patterns, conditions that hold for all rows
  3_200, // the order of checks as one table for both APIs
  3_200, // files
  3_200, // the first pages of a service, and the mail of contents
].reduce((sum, some) => sum + some)

/** Objects, texts and sorting, as the service has them; takes one to ten thousandths of a second. */
const loop = () => {
  const rows = Array.from({ length: 2000 }, (_, n) => ({ id: n, name: `row ${(n * 7919) % 2003}` }))
  rows.sort((one, other) => (one.name < other.name ? -1 : 1))
  const byName = new Map(JSON.parse(JSON.stringify(rows)).map(row => [row.name.toUpperCase(), row]))
  return [...byName.keys()].join(',').split(',').length
}

const still = new Int32Array(new SharedArrayBuffer(4))

/** What this thread has used; a kernel counts that at each of its ticks, which are longer than a loop, and whenever the thread stops. */
const seconds = () => {
  Atomics.wait(still, 0, 0, 1)
  const { user, system } = threadCpuUsage()
  return (user + system) / 1e6
}

/** In a thread of its own, whose memory is its own: times loops now and then; asked, tells the mean of one, and what all this took itself. */
const sampling = () => {
  for (let n = 0; n < 100; n++) loop() // compiled now
  const sum = { loops: 0, took: 0 }
  const sample = () => {
    loop() // what others had in the caches is gone now
    const begun = seconds()
    for (let n = 0; n < 10; n++) loop()
    sum.took += seconds() - begun
    sum.loops += 10
  }
  const timer = setInterval(sample, 2000)
  parentPort.once('message', () => {
    clearInterval(timer)
    for (let n = 0; n < 5; n++) sample()
    parentPort.postMessage({ loopTook: sum.took / sum.loops, calibrationTook: seconds() })
  })
}
if (!isMainThread) sampling()

/** Times the loop beside a test run; gives the function that ends this and gives the seconds of processor that the loop takes, and those that were spent for it. */
export const calibrate = () => {
  const worker = new Worker(new URL(import.meta.url), { execArgv: [] })
  worker.unref()
  return async () => {
    worker.ref()
    worker.postMessage('')
    const [told] = await once(worker, 'message')
    await worker.terminate()
    return told
  }
}

const loopsOf = ({ sqlite, postgres }, secondsPerLoop) => (sqlite + postgres) / secondsPerLoop

/** Each folder's loops in a run that is kept. */
const foldersOf = ({ processor, loops, folders }) =>
  Object.entries(folders).map(([folder, sums]) => [folder, loopsOf(sums, processor / loops)])

/** What is to be said of a whole run that took more loops than it may, with the folder that grew most since a run was kept, or took most if none was; an empty list if it kept within. */
export const overBudget = (run, last) => {
  if (run.loops <= budget) return []
  const before = new Map(last ? foldersOf(last) : [])
  const [[folder, more]] = foldersOf(run)
    .map(([folder, loops]) => [folder, loops - (before.get(folder) ?? 0)])
    .sort(([, one], [, other]) => other - one)
  const most = last
    ? `Since test/times.json was written ${folder} grew most`
    : `${folder} took most`
  return [
    `The run took the processor for ${thousands(run.loops)} loops, and may for ${thousands(budget)}. ${most}, by ${thousands(more)}. Make its tests cheaper, leave some to test:all (scripts/test-files.mjs), or raise the budget in scripts/test-budget.mjs with its reason.`,
  ]
}

const thousands = loops => `${(loops / 1000).toFixed(1)} thousand`

/** What a whole run took, in words. */
export const inLoops = run =>
  `${run.processor} s of the processor, or ${thousands(run.loops)} loops${run.command === 'test' ? ` of ${thousands(budget)}` : ''}`
