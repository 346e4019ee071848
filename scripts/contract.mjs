// Compares the contract of the last release with what the code says now; `npm run contract`. Fails on what
// breaks callers, and on what may trip them if the changelog does not name it. With --write it writes the files.
// A commit may be named to compare with that one: `npm run contract -- v0.1.0`.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import content from '../content/duet.config.ts'
import {
  counts,
  diffFiles,
  fileAdded,
  fileRemoved,
  isNamed,
  report,
} from '../kit/contract/contract.ts'
import { corrected, correctionsIn, newIn } from '../kit/contract/corrections.ts'
import { printed } from '../src/cli/documents.ts'
import { loadConfig } from '../src/config.ts'
import { deriveSchema, schemaText } from '../src/graphql/schema.ts'
import { openApiOf } from '../src/openapi/openapi.ts'
import { authDocument, authFile } from '../src/openapi/people.ts'
import { modelFor } from '../src/serve/store.ts'
import { signatures } from './signatures.mjs'

const folder = 'contract'

/** Names the differences that are passed although they are breaking, as only the document was wrong. */
const corrections = 'corrections.json'

/** The files of the contract that a content has, by name. */
export async function documentsOf(content) {
  const model = modelFor(loadConfig({}, content.settings), content)
  const documents = {}
  for (const version of content.versions.all)
    documents[`v${version}.openapi.json`] = `${printed(await openApiOf(content, version, model))}\n`
  if (content.people) documents[authFile] = `${printed(authDocument(content))}\n`
  return { ...documents, 'schema.graphql': schemaText(deriveSchema(model, content.actions)) }
}

/** What git prints for a command in a folder; undefined where there is no git or it refuses. */
function git(root, ...args) {
  const { status, stdout } = spawnSync('git', ['-C', root, ...args], {
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  })
  return status === 0 ? stdout : undefined
}

const linesOf = text => text?.split('\n').filter(line => line !== '') ?? []

/** The newest release that HEAD contains, as a tag; undefined where there is none. */
const lastRelease = root =>
  linesOf(git(root, 'tag', '--list', 'v*', '--merged', 'HEAD', '--sort=-version:refname')).find(
    tag => /^v\d+\.\d+\.\d+$/.test(tag),
  )

/** The files of the contract in a commit, by name. */
const committed = (root, commit) =>
  Object.fromEntries(
    linesOf(git(root, 'ls-tree', '--name-only', commit, `./${folder}/`)).map(path => {
      const name = path.slice(path.lastIndexOf('/') + 1)
      return [name, git(root, 'show', `${commit}:./${folder}/${name}`)]
    }),
  )

function onDisk(root) {
  const path = join(root, folder)
  const names = existsSync(path) ? readdirSync(path) : []
  return Object.fromEntries(names.map(name => [name, readFileSync(join(path, name), 'utf8')]))
}

const onDiskName = 'the files on disk'

/** The contract of a commit or of the disk without its corrections, and these. */
function parted({ [corrections]: text, ...files }) {
  const name = `${folder}/${corrections}`
  return { files, corrected: text === undefined ? [] : correctionsIn({ name, text }) }
}

/** What callers have: the contract of a commit that is named, else of the last release, else of the last commit, else on disk. */
function promised(root, commit) {
  if (commit !== undefined) {
    const files = committed(root, commit)
    if (Object.keys(files).length === 0)
      throw new Error(
        `${commit} has no contract: name a commit or a tag that has the folder ${folder}`,
      )
    return { since: commit, isPast: true, ...parted(files) }
  }
  const release = lastRelease(root)
  const candidates = [
    ...(release ? [[release, committed(root, release)]] : []),
    ['the last commit', committed(root, 'HEAD')],
    [onDiskName, onDisk(root)],
  ]
  const [since, files] = candidates.find(([, files]) => Object.keys(files).length > 0) ?? [
    'nothing',
    {},
  ]
  // Those on disk are of no release: they pass what they name, and may name what is done.
  return { since, isPast: since !== onDiskName, ...parted(files) }
}

function differencesOf(before, after, today) {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort()
  return names.map(name => {
    const [was, is] = [before[name], after[name]]
    if (was === undefined) return [name, fileAdded({ name, text: is }, today)]
    if (is === undefined) return [name, fileRemoved({ name, text: was }, today)]
    return [name, diffFiles({ name, text: was }, { name, text: is }, today)]
  })
}

function write(root, files) {
  const path = join(root, folder)
  mkdirSync(path, { recursive: true })
  for (const name of readdirSync(path))
    if (!Object.hasOwn(files, name) && name !== corrections) rmSync(join(path, name))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(path, name), text)
}

/** The files on disk that are not what the code says. */
function staleFiles(root, files) {
  const { files: disk } = parted(onDisk(root))
  return [...new Set([...Object.keys(files), ...Object.keys(disk)])].filter(
    name => files[name] !== disk[name],
  )
}

/** What must be done before this may be merged, a line each. */
function remedies({ root, files, all, missed }) {
  const changelog = readFileSync(join(root, 'CHANGELOG.md'), 'utf8')
  const breaking = all.filter(difference => difference.class === 'breaking').length
  const unnamed = all.filter(
    difference => difference.class === 'risky' && !isNamed(changelog, difference),
  )
  const missing = new Set(unnamed.map(({ names }) => names.map(name => `\`${name}\``).join(', ')))
  return [
    ...(breaking > 0
      ? [
          `${breaking} breaking: leave them to a new version, or announce them first (docs/changing-an-api.md, "Add a version" and "Announce, wait, remove")`,
        ]
      : []),
    ...missed.map(line => `${folder}/${corrections}: ${line}`),
    ...[...missing].map(names => `risky: CHANGELOG.md, Unreleased, needs an item with ${names}`),
    ...staleFiles(root, files).map(
      name => `${folder}/${name} is not what the code says: run npm run contract -- --write`,
    ),
  ]
}

/** Compares the contract of a commit, or of the last release, with the files that a checkout's code makes now: what to print, and whether all is well. */
export function compareContract({ root, files, today, writes, commit }) {
  const { since, isPast, files: before, corrected: known } = promised(root, commit)
  const { corrected: now } = parted(onDisk(root))
  const named = isPast ? newIn(now, known) : now
  if (writes) write(root, files)
  const found = differencesOf(before, files, today)
  const judged = found.map(([name, some]) => [name, corrected(name, some, named)])
  const differences = judged.map(([name, { left }]) => [name, left])
  const all = differences.flatMap(([, some]) => some)
  const missed = isPast
    ? [
        ...judged.flatMap(([, { missed }]) => missed),
        ...[...new Set(named.map(({ file }) => file))]
          .filter(file => !found.some(([name]) => name === file))
          .map(file => `there is no ${file}`),
      ]
    : []
  const todo = remedies({ root, files, all, missed })
  const passed = judged.flatMap(([, { named }]) => named).length
  const parts = differences
    .filter(([, some]) => some.length > 0)
    .map(([name, some]) => `── ${folder}/${name}\n${report(some)}`)
  const text = [
    ...parts,
    ...todo.map(line => `contract: ${line}\n`),
    ...(passed > 0 ? [`contract: ${passed} passed, as ${folder}/${corrections} names them\n`] : []),
    `contract: ${counts(all)}, compared with ${since}\n`,
  ]
  return { text: text.join(''), isWell: todo.length === 0 }
}

if (import.meta.main)
  try {
    const { text, isWell } = compareContract({
      root: fileURLToPath(new URL('..', import.meta.url)),
      files: { ...(await documentsOf(content)), 'package.d.ts': signatures() },
      today: new Date().toISOString().slice(0, 10),
      writes: process.argv.includes('--write'),
      commit: process.argv.slice(2).find(argument => !argument.startsWith('--')),
    })
    process.stdout.write(text)
    process.exitCode = isWell ? 0 : 1
  } catch (error) {
    if (error.constructor !== Error) throw error
    console.error(`contract: ${error.message}`)
    process.exitCode = 2
  }
