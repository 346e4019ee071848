/** Rows as the text of a file, NDJSON or CSV by RFC 4180: written by `export`, and read by `import`, each with the line it begins on. */

import { createReadStream } from 'node:fs'
import { Readable } from 'node:stream'
import { CsvError, parse as parseCsv } from 'csv-parse'
import { exactDigits, isReadBack, notReadBack } from '#base/number.ts'
import { isObject, own } from '#base/object.ts'
import type { Format } from '#cli/transfer/kinds.ts'
import type { InputRow, TransferKind } from '#content.ts'
import { ApiError } from '#errors.ts'
import { parseJson } from '#http/body.ts'
import { ValueFault } from '#model/condition.ts'
import type { Entity } from '#model/entity.ts'
import { isDerived } from '#model/field.ts'
import { fieldNamedEver } from '#model/resource.ts'
import type { Scalar } from '#model/values.ts'

export type RowWriter = {
  /** The text above the rows. */
  readonly head: (members: readonly string[]) => string
  /** The text of a row, whose members are in the order of the head. */
  readonly row: (row: InputRow) => string
}

/** A list is one cell of JSON, null an empty cell, an empty text one of two quotes. A number has no exponent, which import does not read: spreadsheets write one where they leave digits out. */
const cell = (value: unknown): string => {
  if (value === null) return ''
  if (value === '') return '""'
  const isTiny = typeof value === 'number' && String(value).includes('e-')
  if (isTiny) return value.toFixed(exactDigits).replace(/0+$/, '')
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

const line = (cells: readonly unknown[]) => `${cells.map(cell).join(',')}\r\n`

/** A text that a spreadsheet would run as a formula, also behind the marks that guard one; some take full-width signs too. */
const formula = /^'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/

/** The value of a cell that no spreadsheet runs: such a text begins with `'`, which one does not show. */
const guarded = (value: unknown): unknown =>
  typeof value === 'string' && formula.test(value) ? `'${value}` : value

/** CSV whose texts are as they are, whatever a spreadsheet makes of them. */
export const rawCsv: RowWriter = { head: line, row: row => line(Object.values(row)) }

export const writers: Readonly<Record<Format, RowWriter>> = {
  ndjson: { head: () => '', row: row => `${JSON.stringify(row)}\n` },
  csv: { head: line, row: row => line(Object.values(row).map(guarded)) },
}

/** One row of a file with the line it begins on, or its fault; of a file of CSV that has no rows its header. */
type FileRow = {
  readonly line: number
  readonly row?: InputRow
  readonly fault?: string
  readonly header?: readonly string[]
}

/** The encoding of a file by its first two bytes, a byte order mark or a letter of ASCII; any other file is UTF-8. */
const encodingOf = ([first, second]: Uint8Array): string => {
  if (second === 0 || (first === 0xff && second === 0xfe)) return 'utf-16le'
  return first === 0 || (first === 0xfe && second === 0xff) ? 'utf-16be' : 'utf-8'
}

/** The text of a file in pieces, a byte order mark left out; throws if it is neither UTF-8 nor UTF-16. */
const textOf = async function* (file: string): AsyncGenerator<string> {
  let decoder: TextDecoder | undefined
  try {
    for await (const chunk of createReadStream(file)) {
      decoder ??= new TextDecoder(encodingOf(chunk), { fatal: true })
      yield decoder.decode(chunk, { stream: true })
    }
    yield decoder?.decode() ?? ''
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause
    throw new Error(
      `${file} is not UTF-8; nothing was imported: save it as UTF-8, which spreadsheets may call CSV UTF-8`,
      { cause },
    )
  }
}

/** The lines of a file, each ended by LF, CR or both. A long one is put together once, not with each piece anew. */
const linesOf = async function* (file: string): AsyncGenerator<string> {
  let pieces: string[] = []
  for await (const text of textOf(file)) {
    // The other half of a CRLF may come with the next piece.
    const before = pieces.at(-1)?.endsWith('\r') ? pieces.pop() : ''
    const whole = before + text
    const ended = /[\s\S]*?(?:\r\n|\n|\r(?=[\s\S]))/gy
    let last = 0
    for (const [found] of whole.matchAll(ended)) {
      last += found.length
      yield pieces.join('') + found.replace(/\r?\n?$/, '')
      pieces = []
    }
    pieces.push(whole.slice(last))
  }
  yield pieces.join('').replace(/\r$/, '')
}

const fromNdjson = async function* (file: string): AsyncGenerator<FileRow> {
  let line = 0
  let isFirst = true
  for await (const text of linesOf(file)) {
    line++
    const trimmed = text.trim()
    if (trimmed === '') continue
    if (isFirst && trimmed.startsWith('['))
      throw new Error(
        `${file} is a JSON array, and an import reads one object per line: write its elements to a file of their own lines, as jq -c '.[]' does`,
      )
    isFirst = false
    try {
      const row = parseJson(text, 'the row')
      yield isObject(row) ? { line, row } : { line, fault: 'is not a JSON object' }
    } catch (error) {
      yield { line, fault: (error as Error).message }
    }
  }
}

const number = (text: string): unknown => {
  if (!/^-?\d+(\.\d+)?$/.test(text)) return text
  return isReadBack(text) ? Number(text) : new ValueFault(notReadBack(text))
}

/** A list or an object is one cell of JSON; other text stays as it is, and the row's check refuses it. */
const jsonIn = (text: string): unknown => {
  try {
    return parseJson(text, 'it')
  } catch (error) {
    const isJson = error instanceof ApiError && error.code === 'VALIDATION_ERROR'
    return isJson ? new ValueFault(`has a value: ${error.message}`) : text
  }
}

const typedBy = {
  id: number,
  int: number,
  money: number,
  decimal: number,
  text: (text: string) => text,
  date: (text: string) => text,
  time: (text: string) => text,
  // Spreadsheets write them in capitals.
  flag: (text: string) => (/^(true|false)$/i.test(text) ? text.toLowerCase() === 'true' : text),
  json: jsonIn,
  list: jsonIn,
  // A path alone may look like a number.
  file: (text: string) => (text.startsWith('{') ? jsonIn(text) : text),
  bytes: (text: string) => text,
} satisfies Record<Scalar, (text: string) => unknown>

/** How a column's cells become values; undefined: the member is left out. */
type Column = {
  readonly value: (text: string) => unknown
  /** The value of an empty cell, and of one of two quotes. */
  readonly empty: unknown
  readonly emptyQuoted: unknown
}

const plainColumn: Column = { value: text => text, empty: undefined, emptyQuoted: undefined }

/** A cell of two quotes is an empty text if the field takes one, as CSV of databases has it; programs that put all in quotes mean an empty cell. */
const columnOf = (kind: TransferKind, entity: Entity, header: string): Column => {
  const name = own(kind.foreign, header) ?? header
  if (Object.hasOwn(entity.rest.embedded, name)) return { ...plainColumn, value: jsonIn }
  const field = entity.fields[fieldNamedEver(entity, name) ?? '']
  if (!field || isDerived(field)) return plainColumn
  const none = field.nullable ? null : undefined
  const isText = field.scalar === 'text' && 'value' in field.rule('')
  return {
    value: typedBy[field.scalar],
    empty: isText && !field.nullable ? '' : none,
    emptyQuoted: isText ? '' : none,
  }
}

/** A cell of two quotes, which csv-parse gives as an empty text too. */
const quotedEmpty = null
type Cell = string | typeof quotedEmpty

type CsvRecord = { readonly record: readonly Cell[]; readonly info: { readonly lines: number } }

const separatedBy = (file: string, mark: string): string =>
  `${file}: the values of the header have ${mark === '\t' ? 'tabs' : mark} between them; save the file with commas between the values, and run the import again`

const recordsOf = async function* (file: string): AsyncGenerator<CsvRecord> {
  const parser = parseCsv({
    info: true,
    cast: (text, { quoting }) => (quoting && text === '' ? quotedEmpty : text),
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
    skip_empty_lines: true,
  })
  try {
    yield* Readable.from(textOf(file)).compose(parser) as AsyncIterable<CsvRecord>
  } catch (cause) {
    if (!(cause instanceof CsvError)) throw cause
    const { message, lines } = cause
    const [, mark] = /^Invalid Closing Quote: got "([;\t|])" at line 1 /.exec(message) ?? []
    if (mark !== undefined) throw new Error(separatedBy(file, mark), { cause })
    // After a wrong quote, the next row may begin anywhere.
    const rest = `is not CSV, so the rest cannot be read: ${message}`
    throw new Error(`${file}:${lines}: ${rest}`, { cause })
  }
}

const checkHeader = (file: string, header: readonly string[]): void => {
  const [only = '', ...others] = header
  const separator = [';', '\t', '|'].find(mark => only.includes(mark))
  if (others.length === 0 && separator !== undefined) throw new Error(separatedBy(file, separator))
  const spaced = header.find(name => name !== name.trim())
  if (spaced !== undefined)
    throw new Error(
      `${file}: the header has a space or another hidden sign beside ${spaced.trim()}: take it out`,
    )
  const twice = header.find((name, index) => name !== '' && header.indexOf(name) < index)
  if (twice !== undefined) throw new Error(`${file}: the header names ${twice} twice`)
}

const fromCsv = async function* (
  file: string,
  kind: TransferKind,
  entity: Entity,
  isRaw: boolean,
): AsyncGenerator<FileRow> {
  let header: readonly string[] | undefined
  let columns: readonly (Column & { readonly name: string })[] = []
  let counted = 0
  let rows = 0
  const readCell = ({ value, empty, emptyQuoted }: Column, cell: Cell): unknown => {
    if (cell === quotedEmpty) return emptyQuoted
    // The mark of `guarded` is taken off.
    const isGuarded = !isRaw && cell.startsWith("'") && formula.test(cell)
    return cell === '' ? empty : value(isGuarded ? cell.slice(1) : cell)
  }
  for await (const { record, info } of recordsOf(file)) {
    if (!header) {
      header = record.map(name => name ?? '')
      checkHeader(file, header)
      columns = header.map(name => ({ name, ...columnOf(kind, entity, name) }))
      continue
    }
    // Spreadsheets save rows below the last one, and columns beside it, where something was once.
    if (record.every(cell => cell === '')) continue
    rows++
    const text = record.join('\0')
    // csv-parse counts a CRLF inside quotes as two lines, and a row's last line as its own.
    counted += text.split('\r\n').length - 1
    const line = info.lines - counted - (text.split(/\r\n|\r|\n/).length - 1)
    if (record.length === header.length) {
      const members = columns.map((column, index): [string, unknown] => [
        column.name,
        readCell(column, record[index] ?? quotedEmpty),
      ])
      const faults = members.flatMap(([name, value], index) => {
        if (name === '' && value !== undefined)
          return [`has a value in column ${index + 1}, which the header does not name`]
        return value instanceof ValueFault ? [`${name} ${value.message}`] : []
      })
      const row = Object.fromEntries(members.filter(([, value]) => value !== undefined))
      yield faults.length > 0 ? { line, fault: faults.join('; ') } : { line, row }
    } else yield { line, fault: `has ${record.length} values, the header names ${header.length}` }
  }
  if (!header) throw new Error(`${file} has no header: name the members in its first line`)
  if (rows === 0) yield { line: 1, header: header.filter(name => name !== '') }
}

/** The rows of a file of that format; `isRaw`: no mark is taken off the texts of CSV. */
export const rowsIn = (
  file: string,
  format: Format,
  kind: TransferKind,
  entity: Entity,
  isRaw: boolean,
): AsyncGenerator<FileRow> =>
  format === 'csv' ? fromCsv(file, kind, entity, isRaw) : fromNdjson(file)
