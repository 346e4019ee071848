/** The package as somebody installs it: built, packed, and unpacked into an empty folder, with this checkout's packages beside it. */
import { execFileSync } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after } from 'node:test'
import { root } from './checkouts.ts'

const { build }: { build: (dist: string) => void } = await import(
  new URL('../../scripts/build.mjs', import.meta.url).href
)

/** A folder that is gone when the tests of the file are done. */
const temporaryFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'duet-package-'))
  after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** The tarball of the package; it takes some seconds to make. */
export const packed = async (): Promise<string> => {
  const temporary = temporaryFolder()
  symlinkSync(join(root, 'node_modules'), join(temporary, 'node_modules'))
  const dist = join(temporary, 'dist')
  await build(dist)
  const options = { cwd: temporary, encoding: 'utf8' } as const
  return join(temporary, execFileSync('npm', ['pack', '--silent', dist], options).trim())
}

/** A folder with the package of that tarball in its node_modules, and no content yet. */
export const projectWith = (tarball: string): string => {
  const folder = temporaryFolder()
  const packages = join(folder, 'node_modules')
  mkdirSync(packages)
  execFileSync('tar', ['-xzf', tarball, '-C', packages])
  cpSync(join(packages, 'package'), join(packages, 'duet'), { recursive: true })
  rmSync(join(packages, 'package'), { recursive: true })
  const { dependencies } = JSON.parse(readFileSync(join(packages, 'duet/package.json'), 'utf8'))
  for (const name of Object.keys(dependencies)) {
    mkdirSync(dirname(join(packages, name)), { recursive: true })
    symlinkSync(join(root, 'node_modules', name), join(packages, name))
  }
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }\n')
  return folder
}
