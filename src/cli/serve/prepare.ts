/** What is done once before a store is served, by however many processes. */
import { demoContent } from '#cli/demo.ts'
import { authOf } from '#cli/serve/auth.ts'
import { checkCurrent, modelOf, storeOf } from '#cli/store.ts'
import type { Config } from '#config.ts'

/**
 * Takes the store, brings it up to date, and puts demo content into an empty one in development; gives what lets go of
 * it. A database that others may be serving is migrated only where the operator says so.
 */
export const prepare = async (config: Config, migrates: boolean): Promise<() => void> => {
  // What is wrong with the settings is told before the store is touched.
  authOf(config)
  const model = modelOf(config)
  const store = await storeOf(config)
  // The lock first: a store that another process serves is not migrated under its feet.
  const release = store.hold()
  if (migrates || config.store.kind === 'sqlite') await store.migrate()
  else await checkCurrent(store, 'run duet migrate first, or duet serve --migrate')
  if (config.development) await demoContent(store, model)
  return release
}
