/** Texts that callers compare fields with, as stored values. */
import type { Scalar } from '#model/field.ts'
import { parseId } from '#model/id.ts'
import { parseMinor } from '#model/money.ts'
import { isStorable } from '#model/text.ts'
import { isMoment } from '#model/time.ts'

/** A stored value, or the fault of the text. */
export type Compared = { readonly value: string | number | null } | { readonly fault: string }

const whole = /^-?\d{1,16}$/

const compared = {
  // Stores compare a text with a number in different ways, so a text that is no id stands for 0, which no row has.
  id: text => ({ value: parseId(text) ?? 0 }),
  // No row has a text that cannot be stored, and PostgreSQL refuses to compare it.
  text: text => ({ value: isStorable(text) ? text : null }),
  int: text => (whole.test(text) ? { value: Number(text) } : { fault: 'must be a whole number' }),
  money: (text, digits) => {
    const parsed = parseMinor(text, digits)
    if (!parsed) return { fault: 'must be a number' }
    const minor = Number(parsed.minor)
    // No row has an amount with more decimals than the currency.
    return { value: parsed.rest || !Number.isSafeInteger(minor) ? null : minor }
  },
  time: text =>
    isMoment(text)
      ? { value: Date.parse(text) }
      : { fault: 'must be an ISO 8601 time in UTC, such as 2026-01-31T09:30:00.000Z' },
  flag: text =>
    text === 'true' || text === 'false'
      ? { value: text === 'true' ? 1 : 0 }
      : { fault: 'must be true or false' },
  bytes: () => ({ fault: 'cannot be compared' }),
} satisfies Record<Scalar, (text: string, digits: number) => Compared>

/** The stored value that a text stands for in a comparison with a field of that kind; `digits` are the currency's decimals. */
export const comparedWith = (scalar: Scalar, text: string, digits: number): Compared =>
  compared[scalar](text, digits)
