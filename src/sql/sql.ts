/** SQL as a value: only the template of this file makes it, so a bare string never reaches a database. */

const brand: unique symbol = Symbol('sql')

/** A value for or from a database. Times are milliseconds since 1970, money is minor units, flags are 0 and 1. */
export type SqlValue = string | number | bigint | Uint8Array | null

/** A parameter of a statement, by the source of its value. */
export type Parameter =
  /** The value itself. */
  | { readonly kind: 'value'; readonly value: SqlValue }
  /** The value of a read's parameter, which comes with each run of a cached statement. */
  | { readonly kind: 'slot'; readonly slot: number }
  /** The distinct ids that lead from the rows of the level above to this one, as a list. */
  | { readonly kind: 'keys' }
  /** How many rows may still come before the response is too large. */
  | { readonly kind: 'budget' }
  /** The value of a slot, or the budget if that is less. */
  | { readonly kind: 'capped'; readonly slot: number }
  /** The time of the read or write, milliseconds since 1970. */
  | { readonly kind: 'now' }
  /** A value of a step by its name: steps of one form differ in these alone. Or those of several such steps, as a JSON list. */
  | { readonly kind: 'given'; readonly key: string; readonly as?: 'list' }
  /** A field of the row that an earlier step of the same command returned, by the step's name; or of all its rows, as a JSON list. */
  | {
      readonly kind: 'result'
      readonly step: string
      readonly field: string
      readonly as?: 'list'
    }

export type Sql = {
  readonly [brand]: true
  readonly texts: readonly string[]
  readonly parameters: readonly Parameter[]
}

/** A statement for one database: its text and its parameters, in order. */
export type Statement = { readonly text: string; readonly parameters: readonly Parameter[] }

const make = (texts: readonly string[], parameters: readonly Parameter[]): Sql => ({
  [brand]: true,
  texts,
  parameters,
})

/** An identifier, quoted. */
export const name = (identifier: string): Sql => make([`"${identifier.replaceAll('"', '""')}"`], [])

/** A column of an aliased table. */
export const column = (alias: string, identifier: string): Sql =>
  sql`${name(alias)}.${name(identifier)}`

/** A piece that is one parameter. */
export const parameter = (from: Parameter): Sql => make(['', ''], [from])

/** The same piece with another in the place of each of its parameters. */
export const filled = ({ texts, parameters }: Sql, by: (parameter: Parameter) => Sql): Sql =>
  texts
    .map(trusted)
    .reduce((all, next, at) => sql`${all}${by(parameters[at - 1] as Parameter)}${next}`)

/** Whether a piece names one of these tables or columns, a table otherwise than as that of a column. */
export const namesIn = ({ texts }: Sql, names: readonly string[]): boolean =>
  new RegExp(`"(?:${names.join('|')})"(?!\\.)`).test(texts.join(''))

/** A value that comes with each run. */
export const slot = (index: number): Sql => parameter({ kind: 'slot', slot: index })

/** A value that each step of one form has of its own. */
export const given = (key: string): Sql => parameter({ kind: 'given', key })

/** The time of a read or of a write, which is told when it is done. */
export const moment: Sql = parameter({ kind: 'now' })

/** A whole number in the text itself. */
export const number = (value: number): Sql => make([String(Math.trunc(value))], [])
/** Words of the model in the text itself, such as those of a choice; undefined for a text that has other characters. */
export const literal = (text: string): Sql | undefined =>
  /^[a-zA-Z0-9 _-]*$/.test(text) ? make([`'${text}'`], []) : undefined
/** Text that a dialect's own file vouches for: keywords, functions and types, never a caller's words. */
export const trusted = (text: string): Sql => make([text], [])

/** A part of a template: another piece, which goes in whole, or a value, which is bound. */
export type SqlPart = Sql | SqlValue

/** Whether a value is a piece of SQL. */
export const isSql = (value: unknown): value is Sql =>
  typeof value === 'object' && value !== null && brand in value

/** The name of the value that a piece stands for, if each step of its form has one of its own. */
export const givenKey = (piece: SqlPart): string | undefined => {
  const [one] = isSql(piece) ? piece.parameters : []
  return one?.kind === 'given' ? one.key : undefined
}

const isValue = (part: SqlPart): part is SqlValue =>
  part === null || part instanceof Uint8Array || /^(string|number|bigint)$/.test(typeof part)

const pieceOf = (part: SqlPart): Sql => {
  if (isValue(part)) return parameter({ kind: 'value', value: part })
  // Types are gone by now: an object that only looks like a piece must not get its text in.
  if (part?.[brand] !== true) throw new TypeError('not a piece of SQL')
  return part
}

/**
 * The only way to write SQL: pieces go in with their parameters, values become parameters.
 * Known names stand in the template's text; a name that comes from the model goes in through `name()`.
 */
export const sql = (strings: TemplateStringsArray, ...parts: readonly SqlPart[]): Sql => {
  const texts: string[] = [strings[0] as string]
  const parameters: Parameter[] = []
  for (const [index, part] of parts.entries()) {
    const piece = pieceOf(part)
    texts[texts.length - 1] += piece.texts[0] as string
    texts.push(...piece.texts.slice(1))
    parameters.push(...piece.parameters)
    texts[texts.length - 1] += strings[index + 1] as string
  }
  return make(texts, parameters)
}

/** The parts one after another, with `separator` between them; an empty list is an empty piece. */
export const join = (parts: readonly SqlPart[], separator: Sql): Sql =>
  parts.length === 0
    ? make([''], [])
    : parts.map(pieceOf).reduce((all, next) => sql`${all}${separator}${next}`)

export const comma = make([', '], [])

/** All the conditions, or a condition that always holds. */
export const and = (conditions: readonly Sql[]): Sql =>
  conditions.length === 0 ? make(['true'], []) : join(conditions, make([' and '], []))

/** The statement for a database that writes its n-th parameter (from 1) as `placeholder(n)`. */
export const statement = (piece: Sql, placeholder: (n: number) => string): Statement => ({
  text: piece.texts.reduce((text, next, n) => text + placeholder(n) + next),
  parameters: piece.parameters,
})
