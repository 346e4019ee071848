/** Prepares a store once before it is served, by one process or several. */
import { closing } from '#base/closing.ts'
import { checkCurrency } from '#cli/currency.ts'
import { fillEmpty } from '#cli/fill.ts'
import { fillFolded } from '#cli/folded.ts'
import { checkColumns, checkCurrent, hold, modelFor, storeOf } from '#cli/store.ts'
import type { Config } from '#config.ts'
import type { Content } from '#content.ts'
import { authOf } from '#serve/auth.ts'
import { checkedGraphql } from '#serve/documents.ts'

/** A content with an operator's settings, to be served, on a socket where one was handed over. */
export type Program = {
  readonly config: Config
  readonly content: Content
  readonly socket?: number | undefined
}

const report = (what: 'applied' | 'filled', done: readonly string[]): void => {
  if (done.length > 0) process.stderr.write(`duet: ${what} ${done.join(', ')}\n`)
}

/**
 * Takes the store, brings it up to date, and puts demo content into an empty one in development; gives the function that
 * releases it. A database that others may be serving is migrated only where the operator says so.
 */
export const prepare = async (
  { config, content }: Program,
  migrates: boolean,
): Promise<() => void> => {
  // Wrong settings are reported before the store is touched.
  authOf(config, content.viewers)
  const model = modelFor(config, content)
  await checkedGraphql(config, model)
  const store = await storeOf(config, content.migrations)
  // The lock first: a store that another process serves is not migrated.
  const release = await hold(store, config)
  const isOurs = migrates || config.store.kind === 'sqlite'
  if (isOurs) report('applied', await store.migrate())
  else await checkCurrent(store, 'run duet migrate first, or duet serve --migrate')
  await checkColumns(store, content.entities)
  if (isOurs) report('filled', await fillFolded(store, content.entities))
  await closing(store.session('filling'), async session => {
    const open = { session, dialect: store.dialect, model }
    await checkCurrency(open, true)
    if (config.development && content.demo) await fillEmpty(open, await content.demo())
  })
  return release
}
