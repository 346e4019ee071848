/** `duet seed`: fills an empty store with any number of generated rows, the same rows for the same numbers. */

import { mapped } from '#base/object.ts'
import { readArgs, UsageError, wholeOption } from '#cli/arguments.ts'
import { progress } from '#cli/terminal.ts'
import type { Content, PutMany, Seed } from '#content.ts'
import { entityOf } from '#model/model.ts'
import { isEmpty, manyInserter } from '#serve/insert.ts'
import { withStore } from '#serve/store.ts'
import type { SqlValue } from '#sql/sql.ts'

/** The time of the first generated row; each is made a minute after the one before. */
const epoch = Date.UTC(2024, 0, 1)
const minute = 60_000

/** How many rows are generated before they are put in. */
const batchSize = 500

const seedOf = async ({ seed }: Content): Promise<Seed> => {
  if (!seed) throw new UsageError('this content makes nothing up: use duet import')
  return seed()
}

export const help = async (content: Content): Promise<string> => {
  const { sizes, about } = await seedOf(content)
  const options = Object.keys(sizes).map(name => `[--${name} N]`)
  const usual = Object.entries(sizes).map(([name, count]) => `${count} ${name}`)
  return `Usage: duet seed ${options.join(' ')}

Fills an empty store with made-up content: the same numbers give the same content.
${about}
Without numbers: ${usual.join(', ')}.`
}

export const run = async (args: readonly string[], content: Content): Promise<void> => {
  const seed = await seedOf(content)
  const options = mapped(seed.sizes, () => ({ type: 'string' }) as const)
  const values: Readonly<Record<string, string | undefined>> = readArgs(args, options, 0).values
  const isPlain = Object.keys(values).length === 0
  const sizes = Object.fromEntries(
    Object.entries(seed.sizes).map(([name, usual]) => [
      name,
      wholeOption(name, values[name], isPlain ? usual : 0),
    ]),
  )
  const fault = seed.check(sizes)
  if (fault !== undefined) throw new UsageError(fault)
  await withStore(content, 'filling', async (store, label) => {
    const { session } = store
    const seeded = new Set<string>()
    // Rows name each other by these ids; those that a table gives by itself may begin above 1 if it had rows before.
    const put: PutMany = async (name, count, rowAt) => {
      const entity = entityOf(store.model, name)
      seeded.add(entity.table)
      if (count === 0) return
      const insert = manyInserter(store, entity)
      const times = Object.keys(entity.fields).filter(key => entity.fields[key]?.initial === 'now')
      const shown = progress(entity.plural, count)
      for (let from = 0; from < count; from += batchSize) {
        const length = Math.min(batchSize, count - from)
        const rows = Array.from({ length }, (_, offset) => {
          const index = from + offset
          const made = times.map((key): [string, SqlValue] => [key, epoch + index * minute])
          return new Map([['id', index + 1], ...made, ...Object.entries(rowAt(index))])
        })
        await insert(rows)
        shown.step(length)
      }
      shown.done()
    }
    await session.transaction(async () => {
      if (!(await isEmpty(store)))
        throw new Error(`${label} has content already; seed fills an empty store only`)
      await seed.fill(put, sizes)
      await session.settleIds([...seeded])
    })
    await session.analyze()
  })
}
