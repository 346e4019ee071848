/** The migrations of a store of the content, for tests that apply them themselves. */
import { createHash } from 'node:crypto'
import content from '#content/duet.config.ts'
import type { Content } from '#content.ts'
import { type EngineName, historyOf } from '#engines/shared/migrations.ts'

/** The machine's and then the content's, in the order in which they are applied. */
export const historyFor = (engine: EngineName, of: Content = content) => historyOf(engine, of)

/** What a store of a content is kept under: two contents may name their entities alike. */
export const digestOf = (content?: Content): string => {
  const hash = createHash('sha256')
  for (const { text } of historyFor('postgres', content)) hash.update(text)
  return hash.digest('hex').slice(0, 12)
}
