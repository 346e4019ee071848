/** Values for the fields of any model: valid ones, each found by the field's own rule. */
import { dayNumbered } from '#base/dates.ts'
import type { Field } from '#model/field.ts'
import type { Scalar } from '#model/values.ts'
import { taken } from '../support/taken.ts'

const beginning = Date.UTC(2026, 0, 1)
const hour = 3_600_000

/** Texts that are hard to compare, to search and to write. */
const hard = ['Éclair', 'éclair', '100%', 'a_b', '"\\', '日本', '😀', '<b>', 'zoo', 'Zoo']

const candidates = {
  id: n => [n + 1],
  text: n => [
    `${hard[n % hard.length]} ${n}`,
    `text ${n}`,
    `text-${n}`,
    `name.${n}@example.org`,
    `https://example.org/${n}`,
    `97801402${10_000 + n}`,
    String(100 + n),
  ],
  // Twice the same and then another: a sort has ties.
  int: n => [Math.floor(n / 2) * 10, n, 1, 0],
  money: n => [Math.floor(n / 2) * 4.5, n, 1, 0],
  decimal: n => [Math.floor(n / 2) * 0.5, n / 10, n, 1, 0],
  date: n => [dayNumbered(20_000 + Math.floor(n / 2))],
  time: n => [new Date(beginning + Math.floor(n / 2) * hour).toISOString()],
  flag: n => [n % 2 === 0],
  json: n => [{ n }, [n]],
  list: () => [[]],
  bytes: n => [new Uint8Array([n])],
} satisfies Record<Scalar, (n: number) => readonly unknown[]>

const isDistinct = ({ unique }: Field) => unique !== undefined

/** The n-th value that the field takes, as a body gives it. Throws where none is known that its rule lets pass. */
export const validValue = (name: string, field: Field, n: number): unknown => {
  if (field.nullable && n % 3 === 2) return null
  if (field.items) return [validValue(name, field.items, n)]
  if (field.values) return field.values[n % field.values.length]
  const tried = isDistinct(field) && field.scalar === 'int' ? [n + 1] : candidates[field.scalar](n)
  const found = tried.find(value => taken(field.rule, value) !== undefined)
  if (found === undefined)
    throw new Error(
      `no value is known for ${name}: add one to candidates in test/generic/values.ts`,
    )
  return found
}
