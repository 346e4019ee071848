/** The migrations of a store of the content, for tests that apply them themselves. */
import content from '#content/duet.config.ts'
import type { Content } from '#content.ts'
import { type EngineName, historyOf } from '#engines/shared/migrations.ts'

/** The machine's and then the content's, in the order in which they are applied. */
export const historyFor = (engine: EngineName, { migrations }: Content = content) =>
  historyOf(engine, migrations)
