/** The files that are written for the service, and tests that no fault is in them. */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { File } from './source.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** The files of these patterns, with their texts. */
export const filesOf = (...patterns: readonly string[]): readonly File[] =>
  globSync(patterns, { cwd: root, exclude: ['**/node_modules/**'] })
    .map(path => path.replaceAll('\\', '/'))
    .sort()
    .map(path => ({ path, text: readFileSync(`${root}${path}`, 'utf8') }))

/** The files of the service and of its tests beside them; those of the content below `content/test/` apart, and what is made of `admin/`. */
export const all = filesOf('{src,kit}/**/*.{ts,js,sql}', 'content/**/*.{ts,js}').filter(
  ({ path }) => !path.startsWith('content/test/') && !path.startsWith('src/pages/assets/admin.'),
)

/** Whether it is a test. */
export const isTest = ({ path }: File) => path.endsWith('.test.ts')

/** The code of the service. */
export const written = all.filter(file => file.path.endsWith('.ts') && !isTest(file))

/** A test that there is none of these faults. */
export const holds = (name: string, faults: readonly string[]) =>
  test(name, () => assert.ok(faults.length === 0, `\n  ${faults.join('\n  ')}`))
