import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { without } from './trace.ts'

const skip = without('strace')
const writer = fileURLToPath(new URL('group-writer.ts', import.meta.url))

for (const [milliseconds, times, together] of [
  [3, 10, 20],
  [200, 25, 48],
] as const)
  test(`with ${milliseconds} ms more for each sync 64 callers write ${times} times what one does, ${together} or more in a commit [A8]`, {
    skip,
  }, async t => {
    const { stdout } = await promisify(execFile)(
      'strace',
      [
        ...['-f', '--seccomp-bpf', '-qq', '-o', '/dev/null', '-e', 'trace=fsync,fdatasync'],
        ...['-e', `inject=fsync,fdatasync:delay_exit=${milliseconds * 1000}`],
        ...[process.execPath, writer],
      ],
      { timeout: 120_000, killSignal: 'SIGTERM' },
    )
    // After it comes the test runner's own output for a program without tests.
    const { one, many, usual } = JSON.parse(stdout.split('\n', 1)[0] ?? '')
    t.diagnostic(
      `${Math.round(many)} against ${Math.round(one)} writes/s: ${(many / one).toFixed(1)} times; ${usual} in a commit`,
    )
    assert.ok(many >= times * one)
    assert.ok(usual >= together)
  })
