/** What is in all tables of a store, but for what a service has counted or seen. */
import type { Look } from '#test/stores.ts'

type Rows = Awaited<ReturnType<Look>>

const own = /^(sqlite_sequence|counts|replies|version_uses|.*_search.*)$/

/** The rows of each table by its name. */
export const stateOf = async (rows: Look): Promise<ReadonlyMap<string, Rows>> => {
  const names = (await rows("select name from sqlite_master where type = 'table'")).flat()
  const state = new Map<string, Rows>()
  for (const name of names.map(String).filter(name => !own.test(name)))
    state.set(name, await rows(`select * from "${name}"`))
  return state
}
