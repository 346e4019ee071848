/** `duet upgrade --check`: run by a new version in the folder of a project that has an older one, it says what it would change there. */
import { execFile } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire, registerHooks } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { readArgs, UsageError } from '#cli/arguments.ts'
import { documentsOf } from '#cli/documents.ts'
import { draftings } from '#cli/migrate.ts'
import { loadConfig, version } from '#config.ts'
import type { Content } from '#content.ts'
import { counts, diffFiles, fileAdded, report } from '#contract/contract.ts'
import type { Differences } from '#contract/difference.ts'
import { draftMigrations } from '#engines/shared/draft.ts'
import { machineMigrations } from '#engines/shared/migrations.ts'
import { storeOf } from '#serve/store.ts'
import { settings } from '#settings.ts'

export const help = `Usage: npx --package=./duet-NEW.tgz duet upgrade --check

Run by the new version in the folder of a project that has an older one. Says what the new
one would change there, and changes nothing: the signatures that the content is written
with, the contract of both APIs, the migrations that the store and the model need, and the
settings. Exit code 0 if nothing breaks, 1 if something must be done first or the new version refuses
the content, in a sentence that says why.`

/** Has a content import this version, whichever one its project has installed. */
export const importThisDuet = (): void => {
  registerHooks({
    resolve: (name, context, next) => {
      const [match, entry = 'duet'] = /^duet(?:\/(\w+))?$/.exec(name) ?? []
      return next(match ? import.meta.resolve(`#entry/${entry}.ts`) : name, context)
    },
  })
}

/** The folder of a package. */
type Installed = { readonly root: string; readonly version: string }

const thisDuet: Installed = { root: fileURLToPath(new URL('../../', import.meta.url)), version }

const installedIn = (folder: string): Installed => {
  try {
    const file = createRequire(join(folder, 'package.json')).resolve('duet/package.json')
    return { root: dirname(file), version: JSON.parse(readFileSync(file, 'utf8')).version }
  } catch {
    throw new UsageError(`${folder} has no duet installed: run this in the folder of a project`)
  }
}

/** What the installed program prints for a command about the same content; throws a plain error with what it says instead. */
const printedBy = async (
  { root, version }: Installed,
  ...args: readonly string[]
): Promise<string> => {
  // `--config` beside them, if it was given.
  const given = process.argv.slice(2).filter(word => word !== 'upgrade' && word !== '--check')
  const all = [join(root, 'bin/duet'), ...args, ...given]
  try {
    return (await promisify(execFile)(process.execPath, all, { maxBuffer: 2 ** 28 })).stdout
  } catch (cause) {
    const { stderr } = cause as { readonly stderr?: string }
    throw new Error(
      `the installed duet ${version} prints no ${args[0]} to compare with: ${stderr?.trim()}`,
      { cause },
    )
  }
}

const compared = (name: string, was: string | undefined, is: string): Differences => {
  const today = new Date().toISOString().slice(0, 10)
  const after = { name, text: is }
  return was === undefined ? fileAdded(after, today) : diffFiles({ name, text: was }, after, today)
}

/** The documents of both APIs, by this version and by the one that is installed. */
const contractChanges = async (old: Installed, content: Content): Promise<Differences> => {
  const all: Differences[] = []
  for (const { name, command, text } of await documentsOf(content, process.env))
    all.push(compared(name, await printedBy(old, ...command), text))
  return all.flat()
}

/** The files that a draft would write for what this version derives from the model, tried on a copy of the migrations. */
const draftFor = async ({ entities, migrations }: Content): Promise<readonly string[]> => {
  const folder = mkdtempSync(join(tmpdir(), 'duet-upgrade-'))
  try {
    cpSync(migrations, folder, { recursive: true })
    const copy = pathToFileURL(`${folder}/`)
    return draftMigrations(await draftings(), entities, 'upgrade', copy)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** The settings that a version's document lists, each with its default. */
const settingsOf = ({ root }: Installed): ReadonlyMap<string, string> => {
  const file = join(root, 'docs/settings.md')
  const text = existsSync(file) ? readFileSync(file, 'utf8') : ''
  const rows = text.matchAll(/^\| `(DUET_\w+)` \| (?:`([^`]*)`)? *\|/gm)
  return new Map([...rows].map(([, name = '', usual = '']) => [name, usual]))
}

const settingChanges = (old: Installed): readonly string[] => {
  const was = settingsOf(old)
  if (was.size === 0) return []
  const is = new Map(Object.entries(settings).map(([name, { usual }]) => [name, usual as string]))
  const added = [...is].filter(([name]) => !was.has(name)).map(([name]) => `${name} is new`)
  const changed = [...is].flatMap(([name, usual]) => {
    const before = was.get(name)
    if (before === undefined || before === usual || process.env[name]) return []
    return [`${name} is ${usual || 'unset'} unless it is set, ${before || 'unset'} before`]
  })
  return [...added, ...changed]
}

const print = (title: string, lines: readonly string[]): void =>
  void process.stdout.write(`${[title, ...lines.map(line => `  ${line}`)].join('\n')}\n\n`)

const printDifferences = (what: string, differences: Differences): boolean => {
  const told = differences.filter(({ class: name }) => name !== 'compatible')
  print(`${what}: ${counts(differences)}`, report(told).split('\n').slice(0, -1))
  return differences.every(({ class: name }) => name !== 'breaking')
}

export const run = async (args: readonly string[], content: Content): Promise<void> => {
  const { values } = readArgs(args, { check: { type: 'boolean' } }, 0)
  if (values.check !== true)
    throw new UsageError('npm installs a version: duet upgrade --check says what it would change')
  const old = installedIn(process.cwd())
  if (old.root === thisDuet.root.replace(/[\\/]$/, ''))
    throw new UsageError(
      `this is the duet ${version} that the project has: run the new one, as npx --package=./duet-NEW.tgz duet upgrade --check does`,
    )
  print(`duet ${old.version} → ${version}`, [])

  const signatures = ({ root }: Installed) => {
    const file = join(root, 'contract/package.d.ts')
    return existsSync(file) ? readFileSync(file, 'utf8') : undefined
  }
  const [was, own = ''] = [signatures(old), signatures(thisDuet)]
  const numberOf = (text = '') => /^\/\/ Signatures (\d+)/.exec(text)?.[1] ?? 'none'
  const isWritable = printDifferences(
    `signatures ${numberOf(was)} → ${numberOf(own)}`,
    compared('package.d.ts', was, own),
  )

  // Wrong settings are the first fault of the new version that its start would tell.
  const config = loadConfig(process.env, content.settings)
  const changes = settingChanges(old)
  print(`settings: ${changes.length} ${changes.length === 1 ? 'change' : 'changes'}`, changes)

  const isKept = printDifferences('contract', await contractChanges(old, content))

  const drafted = await draftFor(content)
  const store = await storeOf(config, content.migrations)
  const pending = await store.pending().catch(error => [`unknown: ${error.message}`])
  print(`store: ${machineMigrations(config.store.kind).at(-1)?.name}`, [
    pending.length === 0
      ? 'has all migrations of this version'
      : `lacks ${pending.join(', ')}: duet migrate applies them; make a backup first`,
    drafted.length === 0
      ? 'the migrations of the content make all that this version derives from the model'
      : `the content needs ${drafted.length === 1 ? 'a migration' : 'migrations'}: run duet migrate --draft upgrade with this version`,
  ])
  if (!isWritable || !isKept) process.exitCode = 1
}
