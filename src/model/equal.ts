/** Texts that callers compare fields with, as the values that a store keeps. */
import { z } from 'zod'
import type { Scalar } from '#model/field.ts'
import { parseId } from '#model/id.ts'
import { parseMinor } from '#model/money.ts'
import { isStorable } from '#model/text.ts'

/** A stored value, or what the text must be instead. */
export type Compared = { readonly value: string | number | null } | { readonly fault: string }

const whole = /^-?\d{1,16}$/
const moment = z.iso.datetime()

const compared = {
  // Stores read a text beside a number each in its own way: an id that names nothing is 0, which no row has.
  id: text => ({ value: parseId(text) ?? 0 }),
  // No store keeps such a text, and PostgreSQL does not even compare it.
  text: text => ({ value: isStorable(text) ? text : null }),
  int: text => (whole.test(text) ? { value: Number(text) } : { fault: 'must be a whole number' }),
  money: (text, digits) => {
    const parsed = parseMinor(text, digits)
    if (!parsed) return { fault: 'must be a number' }
    const minor = Number(parsed.minor)
    // An amount that the currency does not have is no row's.
    return { value: parsed.rest || !Number.isSafeInteger(minor) ? null : minor }
  },
  time: text =>
    moment.safeParse(text).success
      ? { value: Date.parse(text) }
      : { fault: 'must be an ISO 8601 time in UTC, such as 2026-01-31T09:30:00.000Z' },
  flag: text =>
    text === 'true' || text === 'false'
      ? { value: text === 'true' ? 1 : 0 }
      : { fault: 'must be true or false' },
  bytes: () => ({ fault: 'cannot be compared' }),
} satisfies Record<Scalar, (text: string, digits: number) => Compared>

/** What a text stands for beside a field of that kind; `digits` are the decimals of the currency. */
export const comparedWith = (scalar: Scalar, text: string, digits: number): Compared =>
  compared[scalar](text, digits)
