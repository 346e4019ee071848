/** Flat rows to nested JSON text, from the deepest level up: each distinct row becomes its text once. */
import { ApiError } from '#errors.ts'
import { encoders, orNull } from '#read/encode.ts'
import type { Part } from '#read/parts.ts'
import type { Level, ReadPlan } from '#read/plan.ts'
import type { Row, Rows } from '#sql/engine.ts'
import type { SqlValue } from '#sql/sql.ts'

/** How large one response may be. */
export type Limits = { readonly objects: number; readonly bytes: number }

/** A text with the number of objects in it. */
type Text = { readonly text: string; readonly objects: number }

/** What a level holds for the rows above it, by the key they know it by. */
type Held = ReadonlyMap<SqlValue, Text>

/** How many objects were written so far. */
type Tally = { objects: number }

/** Writes one row, given what the levels below hold, and counts the objects in it. */
type WriteRow = (row: Row, held: readonly (Held | undefined)[], tally: Tally) => string

export type Stitch = (results: readonly Rows[]) => readonly Text[]

const tooLarge = (limits: Limits) =>
  new ApiError(
    'RESPONSE_TOO_LARGE',
    `The answer would hold more than ${limits.objects} objects or ${limits.bytes} bytes; use \`limit\` on the lists in it`,
  )

const nothing: Text = { text: 'null', objects: 0 }
const empty: Text = { text: '[]', objects: 0 }

type Piece = (row: Row, held: readonly (Held | undefined)[], tally: Tally) => string

const pieceOf = (level: Level, part: Part, encode: ReturnType<typeof encoders>): string | Piece => {
  switch (part.kind) {
    case 'text':
      return part.text
    case 'column': {
      const index = part.column
      const { scalar, nullable } = level.columns[index] as Level['columns'][number]
      // A path holds ids and words, never quoted.
      const value = nullable ? orNull(encode[scalar]) : encode[scalar]
      const write = part.as === 'path' ? String : value
      return row => write(row[index] as SqlValue)
    }
    case 'case': {
      const cases = new Map(
        Object.entries(part.cases).map(([value, parts]) => [
          value,
          parts.map(part => pieceOf(level, part, encode)),
        ]),
      )
      return (row, held, tally) => {
        const pieces = cases.get(String(row[part.column])) ?? []
        let text = ''
        for (const piece of pieces)
          text += typeof piece === 'string' ? piece : piece(row, held, tally)
        return text === '' ? '{}' : text
      }
    }
    case 'child': {
      const { level: below, key, many } = part
      const absent = many ? empty : nothing
      return (row, held, tally) => {
        const { text, objects } = held[below]?.get(row[key] as SqlValue) ?? absent
        tally.objects += objects
        return text
      }
    }
    default:
      return part satisfies never
  }
}

const rowWriter = (level: Level, plan: ReadPlan, digits: number, limits: Limits): WriteRow => {
  const encode = encoders(plan.encoding, digits)
  const pieces = level.parts.map(part => pieceOf(level, part, encode))
  return (row, held, tally) => {
    let text = ''
    tally.objects++
    for (const piece of pieces) text += typeof piece === 'string' ? piece : piece(row, held, tally)
    if (text.length > limits.bytes) throw tooLarge(limits)
    return text
  }
}

/** One level at work: its rows are written with what the levels below it hold. */
type Writing = {
  readonly write: WriteRow
  readonly held: readonly (Held | undefined)[]
  readonly limits: Limits
}

const one = (row: Row, { write, held, limits }: Writing): Text => {
  const tally = { objects: 0 }
  const text = write(row, held, tally)
  if (tally.objects > limits.objects) throw tooLarge(limits)
  return { text, objects: tally.objects }
}

const list = (rows: Rows, { write, held, limits }: Writing): Text => {
  const tally = { objects: 0 }
  let text = ''
  for (const row of rows) {
    text += text === '' ? write(row, held, tally) : `,${write(row, held, tally)}`
    if (tally.objects > limits.objects || text.length > limits.bytes) throw tooLarge(limits)
  }
  return { text: `[${text}]`, objects: tally.objects }
}

const byId = (rows: Rows, writing: Writing): Held =>
  new Map(rows.map(row => [row[0] as SqlValue, one(row, writing)]))

const newestFirst = (a: Row, b: Row): number => Number(b[0]) - Number(a[0])

/** Lists by parent, in the relation's order: the database gives the rows in whatever order is cheapest for it. */
const byParent = (rows: Rows, oldestFirst: boolean, writing: Writing): Held => {
  const groups = new Map<SqlValue, Row[]>()
  for (const row of rows) {
    const parent = row[1] as SqlValue
    const group = groups.get(parent)
    if (group) group.push(row)
    else groups.set(parent, [row])
  }
  const lists = new Map<SqlValue, Text>()
  const order = oldestFirst ? (a: Row, b: Row) => newestFirst(b, a) : newestFirst
  for (const [parent, group] of groups) lists.set(parent, list(group.sort(order), writing))
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
    const at = (level: number): Writing => ({ write: writers[level] as WriteRow, held, limits })
    for (let index = plan.levels.length - 1; index >= 0; index--) {
      const { source } = plan.levels[index] as Level
      const rows = results[index] as Rows
      if (source.kind === 'one') held[index] = byId(rows, at(index))
      else if (source.kind === 'many') held[index] = byParent(rows, source.oldestFirst, at(index))
    }
    let objects = 0
    let bytes = 0
    return plan.roots.map(root => {
      const rows = results[root.level] as Rows
      const [first] = rows
      const written = root.many
        ? list(rows, at(root.level))
        : first === undefined
          ? nothing
          : one(first, at(root.level))
      objects += written.objects
      bytes += written.text.length
      if (objects > limits.objects || bytes > limits.bytes) throw tooLarge(limits)
      return written
    })
  }
}
