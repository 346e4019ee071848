import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { without } from './trace.ts'

const skip = without('strace')
const writer = fileURLToPath(new URL('group-writer.ts', import.meta.url))

test('with 3 ms more for each sync 64 callers write ten times what one does', { skip }, async t => {
  const { stdout } = await promisify(execFile)(
    'strace',
    [
      ...['-f', '--seccomp-bpf', '-qq', '-o', '/dev/null', '-e', 'trace=fsync,fdatasync'],
      ...['-e', 'inject=fsync,fdatasync:delay_exit=3000', process.execPath, writer],
    ],
    { timeout: 120_000, killSignal: 'SIGTERM' },
  )
  // After it comes the test runner's own output for a program without tests.
  const { one, many, idle, busy } = JSON.parse(stdout.split('\n', 1)[0] ?? '')
  t.diagnostic(
    `${Math.round(many)} against ${Math.round(one)} writes/s: ${(many / one).toFixed(1)} times; read p99 ${busy.toFixed(1)} ms against ${idle.toFixed(1)} ms idle: ${(busy / idle).toFixed(1)} times`,
  )
  assert.ok(many >= 10 * one)
})
