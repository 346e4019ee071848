/** Flat rows to nested JSON text, from the deepest level up: each distinct row becomes its text once. */
import { ApiError } from '#errors.ts'
import { sumBase } from '#model/aggregate.ts'
import { meanDigits } from '#model/computed.ts'
import { digitsOf, formatMinor } from '#model/money.ts'
import { type FileForm, fileJson } from '#model/stored-file.ts'
import type { Scalar } from '#model/values.ts'
import type { Form } from '#model/version.ts'
import {
  type ChildLevel,
  indexOf,
  keyOf,
  levelsBelow,
  type ReadField,
  type ReadPlan,
  type Results,
  type RowLevel,
  type RowPart,
} from '#read/plan.ts'
import type { Encoding, Keyset, PageFact } from '#read/selection.ts'
import type { Row, Rows } from '#sql/engine.ts'
import type { SqlValue } from '#sql/sql.ts'

/** How large one response may be, and how many rows a read may pass that counts as quick. */
export type Limits = {
  readonly objects: number
  readonly bytes: number
  readonly quickRows?: number
}

/** A text with the number of objects in it, and of a page with cursors what else there is to tell. */
export type Text = {
  readonly text: string
  readonly objects: number
  readonly page?: { readonly more: boolean; readonly rows: Rows; readonly cursorOf: CursorOf }
}

type CursorOf = (row: Row) => string

/** How the pages of a list with cursors are cut and sealed. */
export type Paging = { readonly limit: number; readonly cursorOf: CursorOf }

type Pages = ReadonlyMap<RowLevel, Paging> | undefined

/** The texts of a level, by the key in the rows above. */
type TextsByKey = ReadonlyMap<SqlValue, Text>

/** A part of a row's text, with the places of its values in the row. */
type Piece =
  | string
  | { readonly kind: 'value'; readonly index: number; readonly encode: Encoder }
  | { readonly kind: 'file'; readonly index: number; readonly form: FileForm }
  | {
      readonly kind: 'case'
      readonly index: number
      readonly cases: ReadonlyMap<string, readonly Piece[]>
    }
  | {
      readonly kind: 'present'
      readonly indexes: readonly number[]
      readonly pieces: readonly Piece[]
    }
  /** The text of the level below at this place, by its key in the row. */
  | {
      readonly kind: 'child'
      readonly index: number
      readonly place: number
      readonly absent: Text
    }
  /** A fact of the page of that level. */
  | {
      readonly kind: 'page'
      readonly index: number
      readonly place: number
      readonly keyset: Keyset
      readonly of: PageFact
    }

type LevelWriter = {
  readonly level: RowLevel
  readonly pieces: readonly Piece[]
  readonly below: readonly LevelWriter[]
}

const nothing: Text = { text: 'null', objects: 0 }
/** The text of a level below a row that has no rows there. */
const absent: Readonly<Record<ChildLevel['kind'], Text>> = {
  'by ids': nothing,
  'children of': { text: '[]', objects: 0 },
  'counts of': { text: '0', objects: 0 },
}

/** A fact of a page, given whether there are more rows in its direction, and the cursors at its ends. */
export const pageFact = (
  of: PageFact,
  { after, before, backwards }: Keyset,
  more: boolean,
  endOf: (end: 'first' | 'last') => string | null,
): boolean | string | null => {
  if (of === 'startCursor') return endOf('first')
  if (of === 'endCursor') return endOf('last')
  if ((of === 'hasPreviousPage') === backwards) return more
  return (backwards ? before : after) !== undefined
}

type EncoderOf = ReturnType<typeof encoders>

const inPath: Encoder = value => encodeURIComponent(String(value))

const pieceOf = (level: RowLevel, part: RowPart, encoderOf: EncoderOf): Piece => {
  const piecesOf = (parts: readonly RowPart[]) => parts.map(one => pieceOf(level, one, encoderOf))
  switch (part.kind) {
    case 'text':
      return part.text
    case 'field': {
      const index = indexOf(level, part.field)
      const field = level.fields[index] as RowLevel['fields'][number]
      if (part.as === 'path')
        return { kind: 'value', index, encode: field.scalar === 'text' ? inPath : String }
      if (part.file) return { kind: 'file', index, form: part.file }
      const plain = encoderOf(field)
      return { kind: 'value', index, encode: part.form ? inForm(plain, part.form) : plain }
    }
    case 'case': {
      const cases = Object.entries(part.cases).map(
        ([value, parts]) => [value, piecesOf(parts)] as const,
      )
      return { kind: 'case', index: indexOf(level, part.field), cases: new Map(cases) }
    }
    case 'present': {
      const indexes = part.fields.map(field => indexOf(level, field))
      return { kind: 'present', indexes, pieces: piecesOf(part.parts) }
    }
    case 'child': {
      const index = indexOf(level, keyOf(part.level))
      const place = levelsBelow(level).indexOf(part.level)
      return { kind: 'child', index, place, absent: absent[part.level.kind] }
    }
    case 'page': {
      const { level: below, of } = part
      const place = levelsBelow(level).indexOf(below)
      return { kind: 'page', index: indexOf(level, 'id'), place, keyset: below.keyset, of }
    }
    // Those of a list with cursors follow the texts of the levels below it, each by the id of its row.
    case 'cursor':
      return { kind: 'child', index: 0, place: levelsBelow(level).length, absent: nothing }
    default:
      return part satisfies never
  }
}

const writerOf = (level: RowLevel, encoderOf: EncoderOf): LevelWriter => ({
  level,
  pieces: level.parts.map(part => pieceOf(level, part, encoderOf)),
  below: levelsBelow(level).map(child => writerOf(child, encoderOf)),
})

/** Writes the pieces of a row one after another, given the texts of the levels below, and counts the objects in them. */
const write = (
  pieces: readonly Piece[],
  row: Row,
  children: readonly TextsByKey[],
  count: { objects: number },
): string => {
  let text = ''
  for (const piece of pieces) {
    if (typeof piece === 'string') text += piece
    else if (piece.kind === 'value') {
      const value = row[piece.index] as SqlValue
      text += value === null ? 'null' : piece.encode(value)
    } else if (piece.kind === 'file') {
      const value = row[piece.index] as SqlValue
      text += value === null ? 'null' : fileJson(String(value), row[0], piece.form)
    } else if (piece.kind === 'child') {
      const found = children[piece.place]?.get(row[piece.index] as SqlValue) ?? piece.absent
      count.objects += found.objects
      text += found.text
    } else if (piece.kind === 'case') {
      const chosen = piece.cases.get(String(row[piece.index]))
      text += chosen ? write(chosen, row, children, count) : '{}'
    } else if (piece.kind === 'page') {
      const page = children[piece.place]?.get(row[piece.index] as SqlValue)?.page
      const { rows = [], cursorOf, more = false } = page ?? {}
      const endOf = (end: 'first' | 'last') => {
        const at = rows.at(end === 'first' ? 0 : -1)
        return cursorOf && at ? cursorOf(at) : null
      }
      text += JSON.stringify(pageFact(piece.of, piece.keyset, more, endOf))
    } else if (!piece.indexes.some(index => row[index] === null))
      text += write(piece.pieces, row, children, count)
  }
  return text
}

const tooLarge = (limits: Limits) =>
  new ApiError(
    'RESPONSE_TOO_LARGE',
    `The answer would hold more than ${limits.objects} objects or ${limits.bytes} bytes; use \`limit\` on the lists in it`,
  )

const objectText = (
  pieces: readonly Piece[],
  row: Row,
  children: readonly TextsByKey[],
  limits: Limits,
): Text => {
  const count = { objects: 1 }
  const text = write(pieces, row, children, count)
  if (count.objects > limits.objects || text.length > limits.bytes) throw tooLarge(limits)
  return { text, objects: count.objects }
}

const listText = (
  pieces: readonly Piece[],
  rows: Rows,
  children: readonly TextsByKey[],
  limits: Limits,
): Text => {
  const count = { objects: 0 }
  let text = ''
  for (const row of rows) {
    count.objects++
    const object = write(pieces, row, children, count)
    text += text === '' ? object : `,${object}`
    if (count.objects > limits.objects || text.length > limits.bytes) throw tooLarge(limits)
  }
  return { text: `[${text}]`, objects: count.objects }
}

/** The texts below the rows of a list, followed by their cursors if it shows them. */
const withCursors = (
  level: RowLevel,
  children: readonly TextsByKey[],
  rows: Rows,
  cursorOf: CursorOf,
): readonly TextsByKey[] => {
  if (!level.parts.some(({ kind }) => kind === 'cursor')) return children
  const cursors = rows.map(row => {
    const text = `"${cursorOf(row)}"`
    return [row[0] as SqlValue, { text, objects: 0 }] as const
  })
  return [...children, new Map(cursors)]
}

const newestFirst = (a: Row, b: Row): number => Number(b[0]) - Number(a[0])
const upBy =
  (column: number) =>
  (a: Row, b: Row): number =>
    Number(a[column]) - Number(b[column])
const oldestFirst = upBy(0)

/** The texts of the levels below one, each by its key in the rows above. */
const textsBelow = (
  { below }: LevelWriter,
  results: Results,
  limits: Limits,
  pages: Pages,
): readonly TextsByKey[] => {
  const all: TextsByKey[] = []
  for (const writer of below) {
    const { level, pieces } = writer
    const rows = results.get(level) ?? []
    let children = textsBelow(writer, results, limits, pages)
    const texts = new Map<SqlValue, Text>()
    all.push(texts)
    if (level.kind !== 'children of') {
      for (const row of rows)
        texts.set(row[0] as SqlValue, objectText(pieces, row, children, limits))
      continue
    }
    const groups = new Map<SqlValue, Row[]>()
    for (const row of rows) {
      const parent = row[1] as SqlValue
      const group = groups.get(parent)
      if (group) group.push(row)
      else groups.set(parent, [row])
    }
    // The database returns the rows in the order that is cheapest for it; a list has the relation's order.
    let order = level.oldestFirst ? oldestFirst : newestFirst
    if (level.order) order = upBy(indexOf(level, 'in order'))
    const paging = level.keyset && pages?.get(level)
    if (!paging) {
      for (const [parent, group] of groups)
        texts.set(parent, listText(pieces, group.sort(order), children, limits))
      continue
    }
    const { limit, cursorOf } = paging
    const kept = new Map<SqlValue, Rows>()
    for (const [parent, group] of groups) {
      const page = group.sort(order).slice(0, limit)
      kept.set(parent, level.keyset?.backwards ? page.reverse() : page)
    }
    children = withCursors(level, children, [...kept.values()].flat(), cursorOf)
    for (const [parent, rows] of kept) {
      const more = (groups.get(parent)?.length ?? 0) > limit
      const list = listText(pieces, rows, children, limits)
      texts.set(parent, { ...list, page: { more, rows, cursorOf } })
    }
  }
  return all
}

/**
 * The function that makes the texts of a plan's roots from the rows of its levels.
 * It throws `RESPONSE_TOO_LARGE` as soon as a text passes the limits, before it grows further.
 */
export const stitcher = (plan: ReadPlan, digits: number, limits: Limits) => {
  const encode = encoders(plan.encoding, digits)
  const roots = plan.roots.map(({ rows }) => ({ level: rows, writer: writerOf(rows, encode) }))
  return (results: Results, pages?: Pages): readonly Text[] => {
    const texts: Text[] = []
    let objects = 0
    let characters = 0
    for (const { level, writer } of roots) {
      const { pieces } = writer
      const rows = results.get(level) ?? []
      const paging = pages?.get(level)
      let children = textsBelow(writer, results, limits, pages)
      if (paging) children = withCursors(level, children, rows, paging.cursorOf)
      const [row] = rows
      let made = nothing
      if (level.many) made = listText(pieces, rows, children, limits)
      else if (row) made = objectText(pieces, row, children, limits)
      texts.push(made)
      objects += made.objects
      characters += made.text.length
      if (objects > limits.objects || characters > limits.bytes) throw tooLarge(limits)
    }
    return texts
  }
}

/** Writes a value; a whole number comes as a number, or as decimal text out of an aggregate. */
export type Encoder = (value: SqlValue) => string

// A letter that JSON.stringify would change: control characters, quote, backslash, surrogates (which may be lone).
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON escapes just these.
const special = /["\\\u0000-\u001f\ud800-\udfff]/

/** A text as a JSON string. Most need no escape, and a test for that is cheaper than JSON.stringify. */
export const quote = (text: string): string =>
  special.test(text) ? JSON.stringify(text) : `"${text}"`

const day = 86_400_000

/** The dates of days since 1970: the rows of a page share few of them. */
const dates = new Map<number, string>()

const twoDigits = Array.from({ length: 100 }, (_, number) => String(number).padStart(2, '0'))

/**
 * A stored moment as ISO 8601 in UTC with milliseconds.
 * Date.prototype.toISOString took 0.7 µs, a tenth of a page of a list; this takes 0.1.
 */
export const isoTime = (milliseconds: number): string => {
  const number = Math.floor(milliseconds / day)
  let date = dates.get(number)
  if (date === undefined) {
    date = new Date(number * day).toISOString().slice(0, -'00:00:00.000Z'.length)
    if (dates.size >= 10_000) dates.clear()
    dates.set(number, date)
  }
  const rest = milliseconds - number * day
  const seconds = Math.floor(rest / 1000)
  const clock = `${twoDigits[Math.floor(seconds / 3600)]}:${twoDigits[Math.floor(seconds / 60) % 60]}:${twoDigits[seconds % 60]}`
  const fraction = rest % 1000
  return `${date}${clock}.${Math.floor(fraction / 100)}${twoDigits[fraction % 100]}Z`
}

const number: Encoder = value => String(value)
const string: Encoder = value => `"${value}"`

const plainEncoders = {
  id: number,
  text: quote as Encoder,
  int: number,
  date: string,
  time: value => `"${isoTime(Number(value))}"`,
  flag: value => (Number(value) === 1 ? 'true' : 'false'),
  json: number,
  list: number,
  file: number,
  bytes: () => 'null',
} satisfies Record<Exclude<Scalar, 'money' | 'decimal'>, Encoder>

const mostExact = BigInt(Number.MAX_SAFE_INTEGER)

/** Writes the two numbers of a sum or a mean as one: as a text if its digits are too many for the numbers of most programs. */
const exactly = (exact: NonNullable<ReadField['exact']>, digits: number): Encoder => {
  const decimals = exact === 'sum' ? digits : digits + meanDigits
  return value => {
    const [high = '0', low = '0'] = String(value).split(':')
    const whole = BigInt(high) * BigInt(sumBase(exact)) + BigInt(low)
    const text = formatMinor(whole, decimals)
    return whole > mostExact || whole < -mostExact ? `"${text}"` : text
  }
}

/** Gives the encoder of a field in an API, for a currency with this many decimals. */
export const encoders =
  (encoding: Encoding, digits: number) =>
  (field: Pick<ReadField, 'scalar' | 'scale' | 'exact'>): Encoder => {
    const { scalar, exact } = field
    if (exact) return exactly(exact, digitsOf(field, digits))
    if (scalar === 'id' && encoding === 'graphql') return string
    if (scalar !== 'money' && scalar !== 'decimal') return plainEncoders[scalar]
    const decimals = digitsOf(field, digits)
    return value => formatMinor(Number(value), decimals)
  }

/** The encoder of a value that is written in another form. */
export const inForm = (encode: Encoder, form: Form): Encoder => {
  if (form === 'as text') return value => `"${encode(value)}"`
  if (form === 'as seconds') return value => String(Math.floor(Number(value) / 1000))
  const words = new Map(Object.entries(form.values).map(([word, other]) => [word, quote(other)]))
  return value => words.get(String(value)) ?? encode(value)
}

/** The encoder of a column that may be null. */
export const orNull =
  (encode: Encoder): Encoder =>
  value =>
    value === null ? 'null' : encode(value)
