// Loaded into each test file's process: ends one that is alive when its time is up, or a minute after its last test, and says what
// holds it, and one whose run is killed. It ends by exit(), so that it ends what it started.
import { relative } from 'node:path'
import { after } from 'node:test'
import { isMainThread } from 'node:worker_threads'
import { countFor } from './test-processor.mjs'

const isShared = process.argv[1]?.endsWith('.together.mjs') === true
const seconds = Number(process.env.DUET_TEST_FILE_SECONDS) * (isShared ? 5 : 1)

if (process.env.NODE_TEST_CONTEXT && isMainThread && seconds > 0) {
  const endIn = (seconds, since) =>
    setTimeout(() => {
      const held = process.getActiveResourcesInfo().join(', ')
      console.error(
        `${process.argv[1]} is still alive ${seconds} s after ${since}, held by: ${held}`,
      )
      process.exit(1)
    }, seconds * 1000).unref()
  endIn(seconds, 'its start')
  // A test that fails may leave open what it would have closed.
  after(() => void endIn(Math.min(seconds, 60), 'its last test'))
  process.once('exit', () =>
    countFor(isShared ? 'to load and to end' : relative('.', process.argv[1])),
  )
  process.once('SIGTERM', () => process.exit(143))
  const runner = process.ppid
  setInterval(() => {
    if (process.ppid !== runner) process.exit(1)
  }, 1000).unref()
}
