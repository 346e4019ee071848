/** Measures Duet beside its peers: `npm run bench -- --help`. Finds the pinned Node and installs the peers first. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { ableNode, handOver } from '../scripts/hand-over.mjs'
import { recentEnough } from '../scripts/pinned-node.mjs'

const here = fileURLToPath(new URL('.', import.meta.url))

if (recentEnough()) await run()
else handOver(ableNode(), process.argv.slice(1))

async function run() {
  // The one before this was killed outright: end as on a signal, children first.
  process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'))
  process.channel?.unref()
  // These compare Duet with itself, and no peer takes part.
  const needsNone = ['compare', 'project', 'files', 'admin'].includes(process.argv[2])
  if (!needsNone && !arePeersInstalled()) installPeers()
  const { main } = await import('./lib/main.mjs')
  process.exitCode = await main(process.argv.slice(2))
}

function arePeersInstalled() {
  const read = file => JSON.parse(readFileSync(`${here}${file}`, 'utf8'))
  const wanted = Object.entries(read('package.json').dependencies)
  try {
    return wanted.every(
      ([name, version]) => read(`node_modules/${name}/package.json`).version === version,
    )
  } catch {
    return false
  }
}

function installPeers() {
  console.error('bench: installing the peers (npm ci in bench/)')
  const { status } = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: here,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  })
  if (status === 0) return
  console.error('bench: npm ci failed in bench/')
  process.exit(1)
}
