/** Another commit of this checkout, ready to be run: its files in a folder, with packages as its lock file has them. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ownDuet, UsageError } from './options.mjs'

const root = fileURLToPath(new URL('../../', import.meta.url))
const folders = fileURLToPath(new URL('../.data/commits/', import.meta.url))

/** What the seed and the migrations of a store are made of. */
const ofStores = ['content/migrations', 'content/seed', ':(glob)src/engines/*/migrations/**']

const run = (command, args, options = {}) => {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd: root, ...options })
  if (error) throw error
  if (status === 0) return String(stdout)
  throw new Error(`${command} ${args.join(' ')} ended with ${status}\n${stderr}${stdout}`)
}

const git = (...args) => run('git', args, { maxBuffer: 2 ** 30 })

/** What is measured as this checkout: its commit, marked where files differ from it. */
export const ownCommit = () =>
  `${git('rev-parse', '--short=12', 'HEAD').trim()}${git('status', '--porcelain', '-uno') ? ' with changes' : ''}`

/** The same for what is served by another program's file, which may be no checkout at all. */
export const commitOf = bin =>
  bin === ownDuet && existsSync(join(root, '.git')) ? ownCommit() : bin

/** The id of a commit and its `bin/duet`, and whether its stores are as this checkout makes them; throws a UsageError for what is no commit. */
export function checkOut(name) {
  const id = idOf(name)
  const folder = join(folders, id)
  if (!existsSync(folder)) unpack(id, folder)
  const differs = spawnSync('git', ['diff', '--quiet', id, '--', ...ofStores], { cwd: root }).status
  return { id, bin: join(folder, 'bin/duet'), hasSameStores: differs === 0 }
}

function idOf(name) {
  try {
    return git('rev-parse', '--short=12', '--verify', '--end-of-options', `${name}^{commit}`).trim()
  } catch {
    throw new UsageError(`${name} is not a commit of this checkout`)
  }
}

// Made aside and renamed when whole, so that an interrupted run leaves no half folder behind.
function unpack(id, folder) {
  const unfinished = `${folder}.unfinished`
  rmSync(unfinished, { recursive: true, force: true })
  mkdirSync(unfinished, { recursive: true })
  const archive = spawnSync('git', ['archive', id], { cwd: root, maxBuffer: 2 ** 30 }).stdout
  // The linter takes a configuration in a folder below its own for a mistake.
  run('tar', ['-x', '-C', unfinished, '--exclude=biome.json'], { input: archive })
  const lock = 'package-lock.json'
  const isSame = readFileSync(join(root, lock)).equals(readFileSync(join(unfinished, lock)))
  if (isSame) symlinkSync(join(root, 'node_modules'), join(unfinished, 'node_modules'))
  else {
    console.error(`bench: installing the packages of ${id} (npm ci)`)
    run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: unfinished })
  }
  renameSync(unfinished, folder)
}
