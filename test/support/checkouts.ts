/** Copies of a checkout, with a stand-in for the service. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { fileURLToPath } from 'node:url'
import { longest } from './wait.ts'

/** This checkout. */
export const root = fileURLToPath(new URL('../..', import.meta.url))

/** The pinned Node. */
export const pinned: { packages: Record<string, string>; pinnedNode: () => string | undefined } =
  await import(new URL('../../scripts/pinned-node.mjs', import.meta.url).href)

/** A stand-in for the service that does what its arguments say. */
const stub = `
import { fstatSync } from 'node:fs'
const [what, value] = process.argv.slice(2)
const pid: number = process.pid
if (what === 'exit') process.exit(Number(value))
if (what === 'cache') console.log(process.env.NODE_COMPILE_CACHE ?? 'none')
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
export const pretend = `
if (!process.env.DUET_HANDED_OVER_BY)
  Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.0.0' } })
`

const copied = [
  ...['bin', 'scripts', '.ci', 'package.json', 'package-lock.json'],
  'src/base/resolve-imports.ts',
]

/** What makes copies of a checkout, which are there as long as the tests of the file run. */
export const checkouts = () => {
  const temporary = fs.mkdtempSync(join(tmpdir(), 'duet-checkout-'))
  after(() => fs.rmSync(temporary, { recursive: true, force: true }))

  /** A copy of what a start and the scripts need, with this very Node as the pinned one. */
  const checkout = ({ installed }: { installed: boolean }): string => {
    const dir = fs.mkdtempSync(join(temporary, 'copy-'))
    for (const name of copied) fs.cpSync(join(root, name), join(dir, name), { recursive: true })
    fs.mkdirSync(join(dir, 'src/cli'))
    fs.writeFileSync(join(dir, 'src/cli/program.ts'), stub)
    fs.writeFileSync(join(dir, 'old.cjs'), pretend)
    if (installed) install(dir)
    return dir
  }
  return checkout
}

function install(dir: string) {
  const name = pinned.packages[`${process.platform}-${process.arch}`] ?? assert.fail('no package')
  const bin = join(dir, 'node_modules', name, 'bin')
  fs.mkdirSync(bin, { recursive: true })
  fs.writeFileSync(join(bin, '../package.json'), '{}')
  fs.symlinkSync(process.execPath, join(bin, 'node'))
}

// Without it a test run inside a test run does nothing.
const { NODE_TEST_CONTEXT: _, DUET_HANDED_OVER_BY: __, ...outer } = process.env

/** The environment of what runs in a copy. */
export const env = outer

/** Runs Node in a copy. */
export function run(dir: string, ...args: string[]) {
  return spawnSync(process.execPath, args, { cwd: dir, env, encoding: 'utf8', timeout: longest })
}
