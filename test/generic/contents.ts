/** The contents that the generic suite is run on: a new one needs one line. */
import content from '#content/duet.config.ts'
import type { Content } from '#content.ts'
import { library } from '../support/library/index.ts'
import { recipes } from '../support/recipes/index.ts'

/** A content, the name it has in its file, and the file that runs the program with it. */
export type Subject = {
  readonly name: string
  readonly content: Content
  readonly named: readonly [name: string, file: string]
  readonly program: string
}

export const subjects: readonly Subject[] = [
  {
    name: 'the content service',
    content,
    named: ['default', 'content/duet.config.ts'],
    program: 'bin/duet',
  },
  {
    name: 'the library',
    content: library,
    named: ['library', 'test/support/library/index.ts'],
    program: 'test/support/library/main.ts',
  },
  {
    name: 'the recipes',
    content: recipes,
    named: ['recipes', 'test/support/recipes/index.ts'],
    program: 'test/support/recipes/main.ts',
  },
]
