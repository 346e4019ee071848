/** Rows as the text of a CSV file, and back. */
import Papa from 'papaparse'
import { type Entity, type Field, isNumber, type Row } from './model.ts'
import { numbers, numbersOf, t } from './words.ts'

/** A text that a spreadsheet would run as a formula, also behind the marks that guard one: the same as for `duet export`. */
const formula = /^'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/

/** Rows as CSV; a file is told by its address. */
export const csvOf = (fields: readonly Field[], rows: readonly Row[]): string => {
  const cell = ({ kind }: Field, value: unknown) => {
    if (typeof value !== 'object' || value === null) return value
    return kind === 'file' ? (value as { url?: string }).url : JSON.stringify(value)
  }
  const data = rows.map(row => fields.map(field => cell(field, row[field.name])))
  return Papa.unparse({ fields: fields.map(({ name }) => name), data }, { escapeFormulae: formula })
}

/** The encodings of files by their first bytes. */
const begun: Record<string, string> = {
  '239,187': 'utf-8',
  '254,255': 'utf-16be',
  '255,254': 'utf-16le',
}

/** The text of a file; what does not say its encoding and is no UTF-8 is taken for what spreadsheets write on Windows, and `isGuessed`. */
export const textOf = (bytes: ArrayBuffer): { text: string; isGuessed: boolean } => {
  const encoding = begun[String(new Uint8Array(bytes.slice(0, 2)))]
  try {
    const decoder = new TextDecoder(encoding ?? 'utf-8', { fatal: true })
    return { text: decoder.decode(bytes), isGuessed: false }
  } catch (error) {
    if (encoding) throw error
    return { text: new TextDecoder('windows-1252').decode(bytes), isGuessed: true }
  }
}

type ReadNumber = (text: string) => number | undefined

/** A number as programs write it; undefined for what is none, or would be sent as another one. */
const plain: ReadNumber = text => {
  const value = Number(text)
  const isOther = Number.isInteger(value) && !Number.isSafeInteger(value)
  const isRead = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) && Number.isFinite(value)
  return isRead && !isOther ? value : undefined
}

/** A number of a spreadsheet that has a comma where this one may have a point. */
const withComma = numbersOf('de').read

/** A cell without the mark of a guarded text. */
const unguarded = (cell = '') => (cell.startsWith("'") && formula.test(cell) ? cell.slice(1) : cell)

/** A value of a cell; what is none of its kind stays as it is, for the service to refuse. */
const typed = ({ kind, nullable }: Field, text: string, read?: ReadNumber): unknown => {
  if ((read ? text.trim() : text) === '') return nullable ? null : undefined
  if (read) return read(text.trim()) ?? text
  if (kind === 'flag')
    return /^(true|yes|1)$/i.test(text) || (/^(false|no|0)$/i.test(text) ? false : text)
  if (kind === 'list' || kind === 'json') {
    try {
      return JSON.parse(text)
    } catch {
      return kind === 'list' ? text.split(',') : text
    }
  }
  return text
}

/** The fields that a file may name. */
export const importedOf = ({ fields }: Pick<Entity, 'fields'>): Field[] =>
  fields.filter(({ set, kind }) => set !== 'never' && kind !== 'file')

/** The rows in a text of CSV, the columns that are of no field, and the faults for which none of it can be sent. Numbers are read as `own` does where a spreadsheet of a language wrote them. */
export const rowsOf = (fields: readonly Field[], text: string, own: ReadNumber = numbers.read) => {
  const { data, errors, meta } = Papa.parse<string[]>(text, { skipEmptyLines: 'greedy' })
  const [header = [], ...lines] = data
  // Spreadsheets put semicolons where commas are in numbers, and tabs into "Unicode text".
  const isSheet = [';', '\t'].includes(meta.delimiter)
  const readers = isSheet ? [own, ...(own('0.5') ? [withComma] : []), plain] : [plain]
  const columns = header.map((text, at) => {
    const name = text.trim()
    const known = (one: Field) =>
      one.name === name || one.label.toLowerCase() === name.toLowerCase()
    const field = name === '' ? undefined : fields.find(known)
    if (!field || !(isNumber(field) || field.kind === 'reference')) return { name, field }
    // A column is read in one way, lest 9.50 and 9.500 be 9.5 and 9500.
    const cells = lines.map(line => unguarded(line[at]).trim()).filter(Boolean)
    const isBroken = field.kind === 'decimal' || field.kind === 'money'
    const isFor = (read: ReadNumber) =>
      cells.map(read).every(one => one !== undefined && (isBroken || Number.isInteger(one)))
    const [read = plain, other] = [...readers.filter(isFor), readers[0]]
    const open = other === withComma && cells.find(cell => read(cell) !== other(cell))
    return { name, field, read, open }
  })
  const named = columns.filter(({ name }) => name !== '').length
  const last = columns.findLastIndex(({ name }) => name !== '')
  const fault = (at: number, message: string) => {
    return { line: t('Line {number}', { number: at + 1 }), message }
  }
  const isTwice = ({ field }: (typeof columns)[number], at: number) =>
    field && columns.findIndex(one => one.field === field) < at
  // What is beyond the header or below no name would be lost.
  const isOther = (line: string[]) =>
    line.length <= last || line.some((cell, at) => cell.trim() !== '' && !columns[at]?.name)
  const faults = [
    ...errors
      .filter(({ type }) => type === 'Quotes')
      .map(({ row = 0 }) => fault(row, t('This is not CSV: a quote is missing or too many.'))),
    ...columns
      .filter(isTwice)
      .map(({ name }) => fault(0, t('The header names {name} twice.', { name }))),
    // 1,234 may be either number there.
    ...columns.flatMap(({ name, read, open }) => {
      const [one, other] = [read, withComma].map(by => String(by?.(open || '')))
      const said = t('{name} {open} may be {one} or {other}: write it with a point alone.', {
        ...{ name, open: open || '', one: one ?? '', other: other ?? '' },
      })
      return open
        ? [fault(lines.findIndex(line => line.some(cell => cell.includes(open))) + 1, said)]
        : []
    }),
    ...lines.flatMap((line, at) => {
      const counts = { count: line.length, named }
      const told = t('has {count} values, the header names {named}', counts)
      return isOther(line) ? fault(at + 1, told) : []
    }),
  ]
  return {
    rows: lines.map(line =>
      Object.fromEntries(
        columns.flatMap(({ field, read }, at) => {
          const value = field && typed(field, unguarded(line[at]), read)
          return field && value !== undefined ? [[field.name, value] as const] : []
        }),
      ),
    ),
    unknown: columns.flatMap(({ name, field }) => (field || name === '' ? [] : [name])),
    faults,
  }
}
