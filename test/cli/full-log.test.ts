/** A service whose log and standard error are on a full disk. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import { config, folderOf, patient, plain, program } from '#test/market.ts'
import { freePort } from '#test/support/ports.ts'
import { inTime, until } from '#test/support/wait.ts'

const full = '/dev/full'
const { fresh } = folderOf('full-log')

/** More lines than are written together. */
const requests = 200

test('a service whose log cannot be written serves on, and ends well [A7]', {
  skip: !existsSync(full) && `there is no ${full} here`,
}, async t => {
  const port = await freePort()
  const into = [
    '-c',
    `exec "$@" > ${full} 2>&1`,
    'sh',
    process.execPath,
    program,
    'serve',
    ...config,
  ]
  const own = { ...fresh().settings, DUET_PORT: String(port), DUET_LOG: 'info' }
  const env = { ...plain, ...patient, ...own }
  const service = spawn('/bin/sh', into, { env, stdio: 'ignore' })
  const ended = once(service, 'exit')
  t.after(() => service.kill('SIGKILL'))
  const url = `http://127.0.0.1:${port}`
  const answers = async () => {
    const answer = await fetch(`${url}/api/products`)
    await answer.text()
    return answer.status
  }
  await until('it listens', () => answers().then(Boolean, () => service.exitCode !== null))
  for (let round = 0; round < 2; round++) {
    const statuses = await Promise.all(Array.from({ length: requests }, answers))
    assert.deepEqual(new Set(statuses), new Set([200]))
  }
  service.kill('SIGTERM')
  assert.deepEqual(await inTime('it ends', ended), [0, null])
})
