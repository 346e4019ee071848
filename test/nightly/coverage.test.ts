/** The branches of the code that the tests take. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { plain } from '../duet.ts'

const script = fileURLToPath(new URL('../../scripts/test.mjs', import.meta.url))

/** Per cent of all branches. */
const least = 95

/** Runs all tests but the nightly ones and counts what they take; gives what it printed. */
const counted = () =>
  new Promise<{ readonly code: number | null; readonly stdout: string }>(resolve => {
    const { DUET_TEST_PATIENCE = 1, DUET_TEST_POSTGRES_URL, DUET_TEST_NO_POSTGRES } = process.env
    const database = { DUET_TEST_POSTGRES_URL, DUET_TEST_NO_POSTGRES }
    // Slow, as all is counted and as others, which measure, have the processor before it.
    const env = {
      ...plain,
      ...database,
      DUET_TEST_PATIENCE: String(10 * Number(DUET_TEST_PATIENCE)),
    }
    const command = ['-n', '19', process.execPath, script, '--all', '--experimental-test-coverage']
    const child = spawn('nice', command, {
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    process.once('exit', () => child.kill())
    let stdout = ''
    child.stdout.setEncoding('utf8').on('data', text => {
      stdout += text
    })
    child.once('close', code => resolve({ code, stdout }))
  })

test('the usual tests take nearly all branches of src and content [I2]', async t => {
  const { code, stdout } = await counted()
  assert.equal(code, 0, stdout.slice(-20_000))
  const [, lines, branches] = /all files +\| +([\d.]+) \| +([\d.]+) \|/.exec(stdout) ?? []
  t.diagnostic(`${branches} % of branches, ${lines} % of lines`)
  assert.ok(Number(branches) >= least, `${branches} % of branches`)
})
