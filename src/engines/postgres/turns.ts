/** Lines of writes within the process: those with one key and those of one row wait for each other without a connection. */
import { lru } from '#base/cache.ts'
import { endsWithin } from '#base/retry.ts'
import { filledIn, isResult, type Job } from '#write/job.ts'

/** A row that a statement changes: its table, and the index of the value that is its id. */
type ChangedRow = { readonly table: string; readonly value: number }

const changedRows = lru<ChangedRow | null>(1000)

/** The row that a statement changes or locks by its id; null for any other statement. */
const changedRow = (text: string): ChangedRow | null => {
  // What stands in brackets, such as another select, has conditions of its own.
  let outer = text
  for (let before = ''; outer !== before; ) {
    before = outer
    outer = outer.replace(/\([^()]*\)/g, '')
  }
  const [head = '', condition = ''] = outer.split(/\swhere\s/i)
  const [, changed, locked] =
    /^\s*(?:(?:update|delete from)\s+"?(\w+)|select\s[\s\S]*\sfrom\s+"?(\w+))/i.exec(head) ?? []
  const table = changed ?? (/\sfor (?:no key )?update\s*$/i.test(condition) ? locked : undefined)
  const [, of = table, number] =
    /(?<![\w".])(?:"?(\w+)"?\.)?"?id"? = \$(\d+)/i.exec(condition) ?? []
  return table === undefined || number === undefined || of !== table
    ? null
    : { table, value: Number(number) - 1 }
}

/**
 * The rows that a job is known to change before it has begun, and the slugs that it makes. Any other costs no more than a connection while the
 * job waits for it in the database.
 */
export const rowsOf = ({ steps, own }: Pick<Job, 'steps' | 'own'>): readonly string[] => {
  const rows = new Set<string>()
  for (const { statement, slugs = [] } of steps) {
    // Jobs that make one slug would all make the same one, and each but the first would have to run again.
    for (const { target, text } of slugs) rows.add(`${target} ${text}`)
    const { text, values } = statement
    const known = changedRows.get(text)
    const row = known === undefined ? changedRows.set(text, changedRow(text)) : known
    const id = row === null ? null : filledIn(values[row.value] ?? null, own)
    if (row !== null && id !== null && !isResult(id)) rows.add(`${row.table} ${id}`)
  }
  return [...rows]
}

/** Lines by name. Work joins those of all its names at once, so no two wait for each other. */
export const createTurns = () => {
  const last = new Map<string, Promise<unknown>>()
  let waiting = 0
  return {
    /** Runs work when all that came before it under one of its names is over; throws what `late` gives after waiting so many milliseconds. */
    run: async <Result>(
      names: readonly string[],
      longest: number,
      late: () => Error,
      work: () => Promise<Result>,
    ): Promise<Result> => {
      if (names.length === 0) return work()
      const { promise: over, resolve: end } = Promise.withResolvers<void>()
      const before: Promise<unknown>[] = []
      for (const name of names) {
        const ahead = last.get(name)
        if (ahead) before.push(ahead)
        // If this one does not wait to the end, those behind it still do.
        const tail = ahead ? Promise.all([ahead, over]) : over
        last.set(name, tail)
        tail.then(() => last.get(name) === tail && last.delete(name))
      }
      try {
        if (before.length > 0) {
          waiting++
          const isTurn = await endsWithin(longest, Promise.all(before)).finally(() => waiting--)
          if (!isTurn) throw late()
        }
        return await work()
      } finally {
        end()
      }
    },
    /** How many wait for their turn. */
    waiting: () => waiting,
  }
}
