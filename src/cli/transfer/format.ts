/** Rows as the text of a file: NDJSON, or CSV by RFC 4180. */
import type { InputRow } from '#cli/row-sources.ts'
import type { Format } from './kinds.ts'

export type Writer = {
  /** The text above the rows. */
  readonly head: (members: readonly string[]) => string
  /** The text of a row, whose members are in the order of the head. */
  readonly row: (row: InputRow) => string
}

/** A list is one cell of JSON, null an empty cell, an empty text one of two quotes. */
const cell = (value: unknown): string => {
  if (value === null) return ''
  if (value === '') return '""'
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

const line = (cells: readonly unknown[]) => `${cells.map(cell).join(',')}\r\n`

/** A text that a spreadsheet would run as a formula, also behind the marks that guard one. */
const formula = /^'*[=+\-@\t\r]/

/** The value of a cell that no spreadsheet runs: such a text begins with `'`, which one does not show. */
const guarded = (value: unknown): unknown =>
  typeof value === 'string' && formula.test(value) ? `'${value}` : value

/** The text of a cell as it was before `guarded`. */
export const unguarded = (text: string): string =>
  text.startsWith("'") && formula.test(text) ? text.slice(1) : text

/** CSV whose texts are as they are, whatever a spreadsheet makes of them. */
export const rawCsv: Writer = { head: line, row: row => line(Object.values(row)) }

export const writers: Readonly<Record<Format, Writer>> = {
  ndjson: { head: () => '', row: row => `${JSON.stringify(row)}\n` },
  csv: { head: line, row: row => line(Object.values(row).map(guarded)) },
}
