/** A reader that is watched: how often it is asked, and with which statements. */
import type { Core } from '#core.ts'
import type { Query, QueryScript } from '#sql/engine.ts'

/** What a store is asked. */
export type Asked = { reads: number; texts: string[] }

/** Has the core's reader record how often it is called and with which statements; gives the function that tells it and begins anew. */
export const watchReader = (core: Pick<Core, 'reader'>): (() => Asked) => {
  let seen: Asked = { reads: 0, texts: [] }
  // The plain one would be asked in its place.
  const { plain: _, ...others } = core.reader
  const { query, snapshot } = others
  const counted = function* <R>(work: QueryScript<R>): QueryScript<R> {
    let step = work.next()
    while (!step.done) {
      const query: Query = step.value
      seen.texts.push(query.text)
      step = work.next(yield query)
    }
    return step.value
  }
  const reader: Core['reader'] = {
    ...others,
    query: (asked, options) => {
      seen.reads++
      seen.texts.push(asked.text)
      return query(asked, options)
    },
    snapshot: (begin, options) => {
      seen.reads++
      return snapshot(() => counted(begin()), options)
    },
  }
  Object.assign(core, { reader })
  return () => {
    const last = seen
    seen = { reads: 0, texts: [] }
    return last
  }
}
