/** Flat rows to nested JSON text, from the deepest level up: each distinct row becomes its text once. */
import { ApiError } from '#errors.ts'
import { encoders, orNull } from '#read/encode.ts'
import type { Level, ReadPlan } from '#read/plan.ts'
import type { Row, Rows } from '#sql/engine.ts'
import type { SqlValue } from '#sql/sql.ts'

/** How large one response may be. */
export type Limits = { readonly objects: number; readonly bytes: number }

/** A text with the number of objects in it. */
type Text = { readonly text: string; readonly objects: number }

/** What a level holds for the rows above it, by the key they know it by. */
type Held = ReadonlyMap<SqlValue, Text>

/** The text of one row, given what the levels below hold. */
type WriteRow = (row: Row, held: readonly (Held | undefined)[]) => Text

export type Stitch = (results: readonly Rows[]) => readonly Text[]

const tooLarge = (limits: Limits) =>
  new ApiError(
    'RESPONSE_TOO_LARGE',
    `The answer would hold more than ${limits.objects} objects or ${limits.bytes} bytes; use \`limit\` on the lists in it`,
  )

const nothing: Text = { text: 'null', objects: 0 }
const empty: Text = { text: '[]', objects: 0 }

type Piece = (row: Row, held: readonly (Held | undefined)[]) => string | Text

const piecesOf = (level: Level, plan: ReadPlan, digits: number): readonly (string | Piece)[] => {
  const encode = encoders(plan.encoding, digits)
  return level.parts.map(part => {
    switch (part.kind) {
      case 'text':
        return part.text
      case 'column': {
        const index = part.column
        const { scalar, nullable } = level.columns[index] as Level['columns'][number]
        // A path holds ids and words, never quoted.
        const write =
          part.as === 'path' ? String : nullable ? orNull(encode[scalar]) : encode[scalar]
        return (row: Row) => write(row[index] as SqlValue)
      }
      case 'child': {
        const { level: below, key, many } = part
        const absent = many ? empty : nothing
        return (row: Row, held: readonly (Held | undefined)[]) =>
          held[below]?.get(row[key] as SqlValue) ?? absent
      }
      default:
        return part satisfies never
    }
  })
}

const rowWriter = (level: Level, plan: ReadPlan, digits: number, limits: Limits): WriteRow => {
  const pieces = piecesOf(level, plan, digits)
  return (row, held) => {
    let text = ''
    let objects = 1
    for (const piece of pieces) {
      if (typeof piece === 'string') text += piece
      else {
        const written = piece(row, held)
        if (typeof written === 'string') text += written
        else {
          text += written.text
          objects += written.objects
        }
      }
    }
    if (objects > limits.objects || text.length > limits.bytes) throw tooLarge(limits)
    return { text, objects }
  }
}

const listOf = (
  rows: Rows,
  write: WriteRow,
  held: readonly (Held | undefined)[],
  limits: Limits,
): Text => {
  let text = '['
  let objects = 0
  for (const row of rows) {
    const written = write(row, held)
    text += text.length === 1 ? written.text : `,${written.text}`
    objects += written.objects
    if (objects > limits.objects || text.length > limits.bytes) throw tooLarge(limits)
  }
  return { text: `${text}]`, objects }
}

const byId = (rows: Rows, write: WriteRow, held: readonly (Held | undefined)[]): Held =>
  new Map(rows.map(row => [row[0] as SqlValue, write(row, held)]))

/** Rows of one parent stand together; their order is the list's. */
const byParent = (
  rows: Rows,
  write: WriteRow,
  held: readonly (Held | undefined)[],
  limits: Limits,
): Held => {
  const lists = new Map<SqlValue, Text>()
  let start = 0
  for (let end = 1; end <= rows.length; end++) {
    const parent = rows[start]?.[1] as SqlValue
    if (end < rows.length && rows[end]?.[1] === parent) continue
    lists.set(parent, listOf(rows.slice(start, end), write, held, limits))
    start = end
  }
  return lists
}

/**
 * The function that makes the texts of a plan's roots from the rows of its levels.
 * It throws `RESPONSE_TOO_LARGE` as soon as a text passes the limits, before it grows further.
 */
export const stitcher = (plan: ReadPlan, digits: number, limits: Limits): Stitch => {
  const writers = plan.levels.map(level => rowWriter(level, plan, digits, limits))
  return results => {
    const held: (Held | undefined)[] = []
    for (let index = plan.levels.length - 1; index >= 0; index--) {
      const { source } = plan.levels[index] as Level
      const write = writers[index] as WriteRow
      const rows = results[index] as Rows
      if (source.kind === 'one') held[index] = byId(rows, write, held)
      else if (source.kind === 'many') held[index] = byParent(rows, write, held, limits)
    }
    let objects = 0
    let bytes = 0
    return plan.roots.map(root => {
      const rows = results[root.level] as Rows
      const write = writers[root.level] as WriteRow
      const [first] = rows
      const written = root.many
        ? listOf(rows, write, held, limits)
        : first === undefined
          ? nothing
          : write(first, held)
      objects += written.objects
      bytes += written.text.length
      if (objects > limits.objects || bytes > limits.bytes) throw tooLarge(limits)
      return written
    })
  }
}
