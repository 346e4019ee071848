/** A test reporter that gives what failed, one JSON line each: `["test/a.test.ts", "its name"]`. */
import { relative } from 'node:path'
import type { TestEvent } from 'node:test/reporters'

/** Gives the failures of tests, not those of the suites and files around them. */
export default async function* failures(events: AsyncIterable<TestEvent>) {
  for await (const { type, data } of events) {
    if (type !== 'test:fail' || data.details.type === 'suite' || data.file === undefined) continue
    if ('failureType' in data.details.error && data.details.error.failureType === 'subtestsFailed')
      continue
    yield `${JSON.stringify([relative('.', data.file), data.name])}\n`
  }
}
