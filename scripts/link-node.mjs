// After an install: puts node_modules/.bin/node back, which npm before 11.6.2 removes again. With it
// npm's scripts run the pinned Node.
import { existsSync, mkdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { pinnedNode, recentEnough, startFault } from './pinned-node.mjs'

const link = fileURLToPath(new URL('../node_modules/.bin/node', import.meta.url))

try {
  const node = pinnedNode()
  if (node !== undefined && !isLinked(node)) put(node)
  const fault = node && startFault(node)
  if (fault) {
    console.error(`duet: ${fault}`)
    // Nothing would start, and a start could not say why.
    if (!recentEnough()) process.exitCode = 1
    else rmSync(link, { force: true })
  }
} catch (error) {
  // The entry points find the pinned Node without the link: no reason to fail an install.
  console.error(`duet: node_modules/.bin/node could not be linked: ${error.message}`)
}

function isLinked(node) {
  if (process.platform === 'win32') return existsSync(`${link}.cmd`)
  return existsSync(link) && realpathSync(link) === realpathSync(node)
}

function put(node) {
  mkdirSync(dirname(link), { recursive: true })
  rmSync(link, { force: true })
  const target = relative(realpathSync(dirname(link)), node)
  if (process.platform === 'win32') writeFileSync(`${link}.cmd`, `@"%~dp0\\${target}" %*\r\n`)
  else symlinkSync(target, link)
}
