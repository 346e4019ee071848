/** The currency of a store: amounts are stored in its minor units, so under one with other decimals all would be other amounts. */
import { ask, hasRows } from '#cli/ask.ts'
import type { ContentStore } from '#cli/row-sources.ts'
import type { Currency } from '#model/money.ts'
import { sql } from '#sql/sql.ts'

/** Where the store remembers it: beside its keys, which a backup and a move take along. */
const key = 'currency'

/** How amounts were counted before stores remembered it: as `Intl` does. */
const formerDigits = (currency: string): number =>
  new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions()
    .maximumFractionDigits ?? 2

/** What a store remembers of its currency, such as `USD 2`. */
const rememberedIn = async (store: ContentStore): Promise<string | undefined> => {
  const [row] = await ask(store, sql`select value from secrets where name = ${key}`)
  return row?.[0] instanceof Uint8Array ? new TextDecoder().decode(row[0]) : undefined
}

const remember = (store: ContentStore, text: string) =>
  ask(
    store,
    sql`insert into secrets (name, value) values (${key}, ${new TextEncoder().encode(text)})
      on conflict (name) do update set value = excluded.value`,
  )

/** The currency that was remembered; with amounts of which nothing is remembered, `code`. */
const currencyIn = (remembered: string | undefined, code: string): Currency => {
  const [known = '', digits] = (remembered ?? code).split(' ')
  return { code: known, digits: digits === undefined ? formerDigits(known) : Number(digits) }
}

/**
 * Throws with the remedy where a store has amounts with other decimals than the currency of the model; `remembers` says whether
 * one that fits is remembered for the next time.
 */
export const checkCurrency = async (store: ContentStore, remembers: boolean): Promise<void> => {
  const { entities, settings } = store.model
  const tables = Object.values(entities).flatMap(({ table, fields }) =>
    Object.values(fields).some(({ scalar }) => scalar === 'money') ? [table] : [],
  )
  if (tables.length === 0) return
  const { code, digits } = settings.currency
  const remembered = await rememberedIn(store)
  const now = `${code} ${digits}`
  if (remembered === now) return
  const before = currencyIn(remembered, code)
  if (before.digits !== digits && (await hasRows(store, tables))) {
    if (before.code === code)
      throw new Error(
        `the store has amounts in ${code} with ${before.digits} decimals, and this release counts ${digits}: each would be another amount; export them with the release that made the store, and import them into a new one`,
      )
    throw new Error(
      `the store has amounts in ${before.code}, with ${before.digits} decimals, and ${code} has ${digits}: each would be another amount; set the currency back to ${before.code}, or name another store`,
    )
  }
  // A store that takes no writes now is served for reading all the same; the next start remembers.
  if (remembers) await remember(store, now).catch(() => {})
}
