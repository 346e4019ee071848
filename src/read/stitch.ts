/** Flat rows to nested JSON text, from the deepest level up: each distinct row becomes its text once. */
import { ApiError } from '#errors.ts'
import { encoders, inForm, orNull } from '#read/encode.ts'
import {
  type ChildLevel,
  indexOf,
  keyOf,
  levelsBelow,
  type Part,
  type ReadPlan,
  type Results,
  type RowLevel,
} from '#read/level.ts'
import type { Row, Rows } from '#sql/engine.ts'
import type { SqlValue } from '#sql/sql.ts'

/** How large one response may be, and how many rows a read may pass that counts as quick. */
export type Limits = {
  readonly objects: number
  readonly bytes: number
  readonly quickRows?: number
}

/** A text with the number of objects in it. */
export type Text = { readonly text: string; readonly objects: number }

/** The texts of a level, by the key in the rows above. */
type ByKey = ReadonlyMap<SqlValue, Text>

type Count = { objects: number }

/** Writes a row or a piece of it, given the texts of the levels below, and counts the objects in it. */
type Write = (row: Row, children: readonly ByKey[], count: Count) => string

const tooLarge = (limits: Limits) =>
  new ApiError(
    'RESPONSE_TOO_LARGE',
    `The answer would hold more than ${limits.objects} objects or ${limits.bytes} bytes; use \`limit\` on the lists in it`,
  )

const nothing: Text = { text: 'null', objects: 0 }
const empty: Text = { text: '[]', objects: 0 }

/** The level whose rows are written, those below it, and the encoders. */
type Writing = {
  readonly level: RowLevel
  readonly below: readonly ChildLevel[]
  readonly encode: ReturnType<typeof encoders>
}

const fieldWriter = ({ level, encode }: Writing, part: Part & { kind: 'field' }): Write => {
  const index = indexOf(level, part.field)
  const { scalar, nullable } = level.fields[index] as RowLevel['fields'][number]
  const plain = part.form ? inForm(encode[scalar], part.form) : encode[scalar]
  const value = nullable ? orNull(plain) : plain
  const inPath = scalar === 'text' ? (text: SqlValue) => encodeURIComponent(String(text)) : String
  const write = part.as === 'path' ? inPath : value
  return row => write(row[index] as SqlValue)
}

const caseWriter = (writing: Writing, { field, cases }: Part & { kind: 'case' }): Write => {
  const index = indexOf(writing.level, field)
  const writers = new Map(
    Object.entries(cases).map(([value, parts]) => [value, joined(writing, parts)]),
  )
  return (row, children, count) => writers.get(String(row[index]))?.(row, children, count) ?? '{}'
}

const presentWriter = (writing: Writing, { fields, parts }: Part & { kind: 'present' }): Write => {
  const indexes = fields.map(field => indexOf(writing.level, field))
  const write = joined(writing, parts)
  return (row, held, count) =>
    indexes.some(index => row[index] === null) ? '' : write(row, held, count)
}

const childWriter = ({ level, below }: Writing, part: Part & { kind: 'child' }): Write => {
  const at = below.indexOf(part.level)
  const key = indexOf(level, keyOf(part.level))
  const absent = part.level.kind === 'children of' ? empty : nothing
  return (row, children, count) => {
    const { text, objects } = children[at]?.get(row[key] as SqlValue) ?? absent
    count.objects += objects
    return text
  }
}

const pieceOf = (writing: Writing, part: Part): string | Write => {
  switch (part.kind) {
    case 'text':
      return part.text
    case 'field':
      return fieldWriter(writing, part)
    case 'case':
      return caseWriter(writing, part)
    case 'present':
      return presentWriter(writing, part)
    case 'child':
      return childWriter(writing, part)
    default:
      return part satisfies never
  }
}

/** Writes the parts of a row one after another. */
const joined = (writing: Writing, parts: readonly Part[]): Write => {
  const pieces = parts.map(part => pieceOf(writing, part))
  return (row, children, count) => {
    let text = ''
    for (const piece of pieces)
      text += typeof piece === 'string' ? piece : piece(row, children, count)
    return text
  }
}

/** Writes the rows of a level, with the texts of the levels below it. */
type Writer = {
  readonly write: Write
  readonly children: readonly ByKey[]
  readonly limits: Limits
}

type Encode = Writing['encode']

/** Gives, once the rows of all levels are there, the writer of a level. */
const writerOf = (level: RowLevel, encode: Encode, limits: Limits) => {
  const below = levelsBelow(level)
  const textsOf = below.map(child => textsBelow(child, encode, limits))
  const write = joined({ level, below, encode }, level.parts)
  return (results: Results): Writer => ({
    write,
    children: textsOf.map(texts => texts(results)),
    limits,
  })
}

/** Gives, once the rows of all levels are there, the texts of a level for the level above. */
const textsBelow = (level: ChildLevel, encode: Encode, limits: Limits) => {
  const writer = writerOf(level, encode, limits)
  return (results: Results): ByKey => {
    const rows = results.get(level) ?? []
    return level.kind === 'by ids'
      ? byId(rows, writer(results))
      : byParent(rows, level.oldestFirst, writer(results))
  }
}

const one = (row: Row, { write, children, limits }: Writer): Text => {
  const count = { objects: 1 }
  const text = write(row, children, count)
  if (count.objects > limits.objects || text.length > limits.bytes) throw tooLarge(limits)
  return { text, objects: count.objects }
}

const list = (rows: Rows, { write, children, limits }: Writer): Text => {
  const count = { objects: 0 }
  let text = ''
  for (const row of rows) {
    count.objects++
    const written = write(row, children, count)
    text += text === '' ? written : `,${written}`
    if (count.objects > limits.objects || text.length > limits.bytes) throw tooLarge(limits)
  }
  return { text: `[${text}]`, objects: count.objects }
}

const byId = (rows: Rows, writer: Writer): ByKey =>
  new Map(rows.map(row => [row[0] as SqlValue, one(row, writer)]))

const newestFirst = (a: Row, b: Row): number => Number(b[0]) - Number(a[0])

/** Lists by parent, in the relation's order: the database returns the rows in the order that is cheapest for it. */
const byParent = (rows: Rows, oldestFirst: boolean, writer: Writer): ByKey => {
  const groups = new Map<SqlValue, Row[]>()
  for (const row of rows) {
    const parent = row[1] as SqlValue
    const group = groups.get(parent)
    if (group) group.push(row)
    else groups.set(parent, [row])
  }
  const lists = new Map<SqlValue, Text>()
  const order = oldestFirst ? (a: Row, b: Row) => newestFirst(b, a) : newestFirst
  for (const [parent, group] of groups) lists.set(parent, list(group.sort(order), writer))
  return lists
}

/**
 * The function that makes the texts of a plan's roots from the rows of its levels.
 * It throws `RESPONSE_TOO_LARGE` as soon as a text passes the limits, before it grows further.
 */
export const stitcher = (plan: ReadPlan, digits: number, limits: Limits) => {
  const encode = encoders(plan.encoding, digits)
  const roots = plan.roots.map(({ rows: level }) => {
    const writer = writerOf(level, encode, limits)
    return (results: Results): Text => {
      const rows = results.get(level) ?? []
      if (level.many) return list(rows, writer(results))
      return rows[0] === undefined ? nothing : one(rows[0], writer(results))
    }
  })
  return (results: Results): readonly Text[] => {
    let objects = 0
    let bytes = 0
    return roots.map(write => {
      const written = write(results)
      objects += written.objects
      bytes += written.text.length
      if (objects > limits.objects || bytes > limits.bytes) throw tooLarge(limits)
      return written
    })
  }
}
