/** The contents that the generic suite is run on: a new one needs one line. */
import content from '#content/duet.config.ts'
import type { Content } from '#content.ts'
import blog from '../../examples/blog/duet.config.ts'
import empty from '../../examples/empty/duet.config.ts'
import recipes from '../../examples/recipes/duet.config.ts'
import shop from '../../examples/shop/duet.config.ts'
import { library } from '../support/library/index.ts'
import { isShort } from '../support/short.ts'

/** A content, the name it has in its file, and how the program is run with it: by a file of its own, or with these options. */
export type Subject = {
  readonly name: string
  readonly content: Content
  readonly named: readonly [name: string, file: string]
  readonly program?: string
  readonly options?: readonly string[]
}

const all: readonly Subject[] = [
  {
    name: 'the content service',
    content,
    named: ['default', 'content/duet.config.ts'],
  },
  {
    name: 'the library',
    content: library,
    named: ['library', 'test/support/library/index.ts'],
    program: 'test/support/library/main.ts',
  },
  ...Object.entries({ blog, empty, recipes, shop }).map(([example, content]): Subject => {
    const file = `examples/${example}/duet.config.ts`
    return {
      name: `the example ${example}`,
      content,
      named: ['default', file],
      options: ['--config', file],
    }
  }),
]

/** All of them; in the short run the first two. */
export const subjects: readonly Subject[] = isShort ? all.slice(0, 2) : all
