/** Rows as the text of a file: NDJSON, or CSV by RFC 4180. */
import type { Format } from './kinds.ts'
import type { Members } from './pages.ts'

export type Writer = {
  /** The text above the rows. */
  readonly head: (header: readonly string[]) => string
  readonly row: (header: readonly string[], members: Members) => string
}

/** A list is one cell of JSON, null an empty cell; no text is empty. */
const cell = (value: unknown): string => {
  if (value === null) return ''
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

const line = (cells: readonly unknown[]) => `${cells.map(cell).join(',')}\r\n`

export const writers = {
  ndjson: {
    head: () => '',
    row: (header, members) =>
      `${JSON.stringify(Object.fromEntries(header.map((key, index) => [key, members[index]])))}\n`,
  },
  csv: { head: line, row: (_, members) => line(members) },
} satisfies Record<Format, Writer> as Readonly<Record<Format, Writer>>
