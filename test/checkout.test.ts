/** Checks that a fresh checkout starts under any Node. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { test } from 'node:test'
import { boundSocket } from './support/bound-socket.ts'
import { checkouts, env, pinned, pretend, root, run } from './support/checkouts.ts'
import { installed } from './support/guard.ts'
import { inTime, until } from './support/wait.ts'

const manifest = JSON.parse(fs.readFileSync(join(root, 'package.json'), 'utf8'))

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

const checkout = checkouts()

const whole = checkout({ installed: true })

test('every platform pins the same version of Node', () => {
  const { sharp: _, ...nodes } = manifest.optionalDependencies
  assert.deepEqual(Object.keys(nodes).sort(), Object.values(pinned.packages).sort())
  assert.equal(new Set(Object.values(nodes)).size, 1)
})

test('the pinned Node is the one that package.json names [A12, I4]', t => {
  const node = pinned.pinnedNode()
  if (node === undefined) return t.skip('installed without optional packages')
  const { stdout } = spawnSync(node, ['--version'], { encoding: 'utf8' })
  assert.equal(stdout.trim(), `v${Object.values(manifest.optionalDependencies)[0]}`)
})

test('what callers reach is not older than the mends of its known faults [I4]', () => {
  const mended = {
    hono: '4.13.11',
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

test('an install whose Node lacks a library of the system fails, and says which', {
  skip: process.platform !== 'linux' && 'NOT TESTED: other systems name libraries otherwise',
}, () => {
  const dir = checkout({ installed: true })
  const node = join(dir, `node_modules/${pinned.packages[`linux-${process.arch}`]}/bin/node`)
  const program = fs.readFileSync(node, 'latin1')
  fs.rmSync(node)
  fs.writeFileSync(node, program.replace('libatomic.so.1', 'libabsent.so.1'), {
    encoding: 'latin1',
    mode: 0o755,
  })
  const install = run(dir, '-r', './old.cjs', 'scripts/link-node.mjs')
  assert.equal(install.status, 1)
  assert.match(install.stderr, /does not start here: it lacks libabsent\.so\.1: install that first/)
})

/** How `npm start` begins a service by a shell, in the service's own words. */
const startedBy = async (shell: readonly string[], more: NodeJS.ProcessEnv = {}) => {
  const [program = '', ...args] = shell
  const path = `${join(whole, 'node_modules/.bin')}:${process.env.PATH}`
  const start = spawn(program, [...args, '-c', manifest.scripts.start], {
    cwd: whole,
    env: { ...env, ...more, PATH: path },
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
  const [pid, , set] = JSON.parse(said.split('\n')[1] ?? '')
  return { isItself: pid === start.pid, set }
}

const shells = [['sh'], ['dash'], ['bash'], ['zsh'], ['ksh'], ['busybox', 'sh']]

for (const shell of shells)
  test(`npm start by ${shell.join(' ')} gives the service the settings of memory that the operator left open`, {
    skip: installed(shell[0] ?? '') === undefined && `NOT TESTED: there is no ${shell[0]}`,
  }, async () => {
    run(whole, 'scripts/link-node.mjs')
    const { isItself, set } = await startedBy(shell, { MALLOC_ARENA_MAX: '7' })
    assert.ok(isItself)
    assert.deepEqual([set.MALLOC_ARENA_MAX, set.MALLOC_MMAP_THRESHOLD_], ['7', '131072'])
    assert.match(set.NODE_OPTIONS, /^--max-semi-space-size=16 *$/)
    const own = await startedBy(shell, { NODE_OPTIONS: '--max-semi-space-size=32' })
    // The last one counts.
    assert.match(own.set.NODE_OPTIONS, / --max-semi-space-size=32$/)
  })

test('a socket that systemd handed over to a recent Node is still there', async () => {
  const socket = boundSocket()
  const line = 'LISTEN_PID=$$ LISTEN_FDS=1 exec "$0" bin/duet serve'
  const child = spawn('/bin/sh', ['-c', line, process.execPath], {
    cwd: whole,
    env,
    stdio: ['ignore', 'pipe', 'inherit', ...socket.handles],
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
    stdio: ['ignore', 'pipe', 'inherit', ...socket.handles],
  })
  const [said] = await once(child.stdout as Readable, 'data')
  socket.close()
  assert.equal(String(said), 'true true\n')
})

test('compiled code is stored in the checkout, or where the operator says, and nowhere that others may write', () => {
  const { NODE_COMPILE_CACHE: _, NODE_DISABLE_COMPILE_CACHE: __, ...rest } = env
  const dir = checkout({ installed: false })
  const started = (more: NodeJS.ProcessEnv = {}) => {
    const options = { cwd: dir, env: { ...rest, ...more }, encoding: 'utf8' } as const
    const { status, stderr } = spawnSync(process.execPath, ['bin/duet', 'exit', '7'], options)
    assert.deepEqual([status, stderr], [7, ''])
  }
  const inCheckout = join(dir, 'node_modules/.cache/compiled')
  const hasCode = (folder: string) =>
    fs.readdirSync(folder, { recursive: true, withFileTypes: true }).some(file => file.isFile())
  started()
  assert.ok(hasCode(inCheckout))
  fs.rmSync(inCheckout, { recursive: true })
  const named = join(dir, 'named')
  started({ NODE_COMPILE_CACHE: named })
  assert.deepEqual([hasCode(named), fs.existsSync(inCheckout)], [true, false])
  for (const mode of [0o777, 0o775]) {
    fs.mkdirSync(inCheckout, { recursive: true })
    fs.chmodSync(inCheckout, mode)
    started()
    assert.equal(hasCode(inCheckout), false)
  }
  fs.rmSync(inCheckout, { recursive: true })
  fs.writeFileSync(inCheckout, 'in the way')
  started()
})

/** Runs a line of a shell that may mount what it likes. */
const mounting = (line: string, cwd: string) => {
  const { NODE_COMPILE_CACHE: _, NODE_DISABLE_COMPILE_CACHE: __, ...rest } = env
  const asRoot = process.getuid?.() === 0 ? [] : ['--map-root-user']
  const args = ['--mount', ...asRoot, 'sh', '-c', line, process.execPath]
  return spawnSync('unshare', args, { cwd, env: rest, encoding: 'utf8' })
}

const cannotMount = mounting('mount --bind . .', root).status !== 0 && 'nothing can be mounted here'

test('compiled code that was stored in an image is used from a read-only file system', {
  skip: cannotMount,
}, () => {
  const dir = checkout({ installed: false })
  const ask = '"$0" bin/duet cache'
  const readOnly = 'mount --bind . . && mount -o remount,ro,bind . . && cd "$PWD"'
  const { stdout, stderr } = mounting(`${ask} && ${readOnly} && ${ask}`, dir)
  const folder = join(dir, 'node_modules/.cache/compiled')
  assert.deepEqual([stdout, stderr], [`${folder}\n${folder}\n`, ''])
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
