/** Projects of `duet init`, as somebody has them who installed this checkout. */
import assert from 'node:assert/strict'
import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { duet } from '../duet.ts'

export const root = fileURLToPath(new URL('../../', import.meta.url))

/** Puts what `npm install` would into a project: the checkout in the place of the package. */
export const installed = (project: string): void => {
  mkdirSync(join(project, 'node_modules/.bin'), { recursive: true })
  symlinkSync(root, join(project, 'node_modules/duet'))
  symlinkSync(join(root, 'bin/duet'), join(project, 'node_modules/.bin/duet'))
  symlinkSync(join(root, 'node_modules/@types'), join(project, 'node_modules/@types'))
}

/** Makes a project from an example, with what it needs installed; gives its folder and the option that names its content. */
export const projectIn = async (folder: string, example: string, name = example) => {
  const project = join(folder, name)
  const { code, stderr } = await duet(['init', project, '--example', example])
  assert.equal(code, 0, stderr)
  installed(project)
  return { project, config: ['--config', join(project, 'duet.config.ts')] as const }
}
