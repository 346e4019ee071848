/** Values for the fields of any model: valid ones, each found by the field's own rule. */

import { hash } from 'node:crypto'
import type { Check } from '#base/check.ts'
import { dayNumbered } from '#base/dates.ts'
import type { RowsByEntity } from '#content.ts'
import type { Field, FileRules } from '#model/field.ts'
import type { Model } from '#model/model.ts'
import { digitsOf } from '#model/money.ts'
import { type StoredFile, storedText } from '#model/stored-file.ts'
import type { Scalar } from '#model/values.ts'

const beginning = Date.UTC(2026, 0, 1)
const hour = 3_600_000

/** Texts that are hard to compare, to search and to write. */
const hard = ['Éclair', 'éclair', '100%', 'a_b', '"\\', '日本', '😀', '<b>', 'zoo', 'Zoo']

/** Three letters: what is told by them, such as a currency, is well-formed. */
const letters = (n: number): string =>
  [676, 26, 1].map(place => String.fromCharCode(65 + (Math.floor(n / place) % 26))).join('')

/** How many decimals amounts of the content that is tried have. */
let moneyDigits = 2

const candidates = {
  id: n => [n + 1],
  text: n => [
    `${hard[n % hard.length]} ${n}`,
    `text ${n}`,
    `text-${n}`,
    `name.${n}@example.org`,
    `https://example.org/${n}`,
    `97801402${10_000 + n}`,
    letters(n),
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
  file: () => [],
  bytes: n => [new Uint8Array([n])],
} satisfies Record<Scalar, (n: number) => readonly unknown[]>

/** The value as a check takes it; undefined where it refuses it. */
export const taken = (rule: Check, value: unknown): unknown => {
  const checked = rule(value)
  return 'value' in checked ? checked.value : undefined
}

/** The bytes of all files of a check. */
export const fileBytes = Buffer.from('of a check')
const digest = hash('sha256', fileBytes)

/** Uploads that bodies name, by their ids, with the files that rows then have. */
const uploads = new Map<string, StoredFile>()

const uploadOf = ({ accept }: FileRules, n: number) => {
  const type = (accept[n % accept.length] ?? '').replace('*', 'png')
  const id = `up_${hash('sha256', `${type} ${n}`, 'base64url').slice(0, 22)}`
  const bytes = fileBytes.length
  uploads.set(id, { digest, name: `${n}.bin`, type, bytes, width: null, height: null })
  return { id }
}

/** The uploads that a text names, each with its file. */
export const uploadsIn = (text: string) =>
  (text.match(/up_[\w-]{22}/g) ?? []).flatMap(id => {
    const file = uploads.get(id)
    return file ? [[id, file] as const] : []
  })

/** What a row keeps of the file that an upload becomes. */
export const fileOf = (upload: string): string => {
  const file = uploads.get(upload)
  if (!file) throw new Error(`${upload} is no upload of a check`)
  return storedText(file)
}

/** By the rule, which a field has also where it is taken for one that may not be null. */
const shown = new WeakMap<Check, readonly unknown[]>()

/** Remembers the values of rows that somebody wrote, such as a demo: for fields whose own rule no other value fits. */
export const learnFrom = ({ entities, settings }: Model, rows: RowsByEntity): void => {
  moneyDigits = settings.currency.digits
  for (const [name, { fields }] of Object.entries(entities))
    for (const [key, field] of Object.entries(fields)) {
      const values = (rows[name] ?? []).flatMap(row => row[key] ?? [])
      if (values.length > 0) shown.set(field.rule, values)
    }
}

/** Values of a field that its own limits give, and those of a demo. */
const otherValues = (field: Field, n: number): readonly unknown[] => {
  const { scalar, initial, range: { min, max } = { min: 0, max: 0 } } = field
  const learnt = shown.get(field.rule) ?? []
  const own = learnt.map((_, index) => learnt[(n + index) % learnt.length])
  // As many more as their digits have, of which each may be there once.
  const numbered = own.map(value =>
    `${value}`.replace(/\d+/g, run => `${n}`.slice(-run.length).padStart(run.length, '0')),
  )
  const usual = typeof initial === 'object' && 'value' in initial ? [initial.value] : []
  if (scalar === 'text')
    return [`${n}`.padStart(min, 'x'), `${n}`.slice(-max), ...numbered, ...own, ...usual]
  const isNumber = scalar === 'int' || scalar === 'money' || scalar === 'decimal'
  return isNumber ? [min + (n % (max - min + 1)), min, ...own] : own
}

/** The n-th value that the field takes, as a body gives it. Throws where none is known that its rule lets pass. */
export const validValue = (name: string, field: Field, n: number): unknown => {
  const { items, values, scalar, nullable, rule, range, file, unique } = field
  if (nullable && n % 3 === 2) return null
  if (items)
    return Array.from({ length: Math.max(range?.min ?? 0, 1) }, (_, index) =>
      validValue(name, items, n + index),
    )
  if (values) return values[n % values.length]
  if (file) return uploadOf(file, n).id
  const tried = unique !== undefined && scalar === 'int' ? [n + 1] : candidates[scalar](n)
  const digits = scalar === 'money' || scalar === 'decimal' ? digitsOf(field, moneyDigits) : 100
  const found = [...tried, ...otherValues(field, n)].find(
    value =>
      (typeof value !== 'number' || Number(value.toFixed(digits)) === value) &&
      taken(rule, value) !== undefined,
  )
  if (found === undefined)
    throw new Error(`no value is known for ${name}: give a row of the demo one that its rule takes`)
  return found
}
