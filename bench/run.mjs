/** Measures Duet beside its peers: `npm run bench -- --help`. Finds the pinned Node and installs the peers first. */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
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
  if (!existsSync(`${here}node_modules`)) installPeers()
  const { main } = await import('./lib/main.mjs')
  process.exitCode = await main(process.argv.slice(2))
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
