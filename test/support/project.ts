/** Projects of `duet init`, as somebody has them who installed this checkout. */
import assert from 'node:assert/strict'
import { cpSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { callDuet } from '../commands.ts'
import { ownFolder } from './folders.ts'

export const root = fileURLToPath(new URL('../../', import.meta.url))

/** Puts what `npm install` would into a project: the checkout in the place of the package. */
export const installed = (project: string): void => {
  mkdirSync(join(project, 'node_modules/.bin'), { recursive: true })
  symlinkSync(root, join(project, 'node_modules/duet'))
  symlinkSync(join(root, 'bin/duet'), join(project, 'node_modules/.bin/duet'))
  symlinkSync(join(root, 'node_modules/@types'), join(project, 'node_modules/@types'))
}

const made = new Map<string, Promise<string>>()

/** The folder of what `duet init` makes of an example, made once in a process. */
const madeOf = (example: string): Promise<string> =>
  made.getOrInsertComputed(example, async () => {
    const folder = ownFolder('project')
    const project = join(folder, example)
    const { code, stderr } = await callDuet(['init', project, '--example', example])
    assert.equal(code, 0, stderr)
    return project
  })

/** A new project of an example, with what it needs installed; gives its folder and the option that names its content. */
export const projectIn = async (folder: string, example: string, name = example) => {
  const project = join(folder, name)
  cpSync(await madeOf(example), project, { recursive: true })
  installed(project)
  return { project, config: ['--config', join(project, 'duet.config.ts')] as const }
}
