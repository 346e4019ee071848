// A test reporter that fails a run in which no test ran, which node:test lets pass: say, a pattern
// that fits no name.

/** The exit code of a run without tests. */
export const noneRan = 5

/** Prints nothing. */
// biome-ignore lint/correctness/useYield: a reporter is a generator.
export default async function* count(events) {
  let ran = 0
  let failed = false
  for await (const { type, data } of events) {
    // Only a file's own summary counts its tests; the last one takes a file without any for one.
    if (type !== 'test:summary') continue
    if (data.file) ran += data.counts.tests - data.counts.skipped
    else failed = !data.success
  }
  if (ran === 0 && !failed) process.exitCode = noneRan
}
