/** The common parts of both ways to fetch the rows of a plan's levels. */
import { ApiError } from '#errors.ts'
import type { Results } from '#read/level.ts'
import type { Limits } from '#read/stitch.ts'
import type { Query, QueryScript, Rows } from '#sql/engine.ts'
import type { Parameter, SqlValue, Statement } from '#sql/sql.ts'

/** A compiled plan: its statements, and how their rows are fetched, given the values of its slots. */
export type Fetch = {
  readonly statements: readonly Statement[]
  /** For a plan of one statement: its query, which is a snapshot by itself, and the results from its rows; else null. */
  readonly single: {
    readonly query: (slots: readonly SqlValue[]) => Query
    readonly results: (rows: Rows) => Results
  } | null
  readonly work: (slots: readonly SqlValue[]) => QueryScript<Results>
}

/** The values of a run, from which the parameters of its statements are filled. */
export type Run = {
  readonly slots: readonly SqlValue[]
  readonly budget: number
  /** The ids that lead to the level, as a list. */
  readonly keys: string | null
}

const valueFor = (parameter: Parameter, { slots, budget, keys }: Run): SqlValue => {
  switch (parameter.kind) {
    case 'value':
      return parameter.value
    case 'slot':
      return slots[parameter.slot] as SqlValue
    case 'keys':
      return keys
    case 'budget':
      return budget
    case 'capped':
      return Math.min(Number(slots[parameter.slot]), budget)
    case 'result':
      throw new Error('a read has no earlier steps')
    default:
      return parameter satisfies never
  }
}

/** The values of a statement's parameters, in order. */
export const valuesOf = ({ parameters }: Statement, run: Run): readonly SqlValue[] =>
  parameters.map(parameter => valueFor(parameter, run))

/** The error for an answer with more objects than the limits allow. */
export const tooMany = (limits: Limits) =>
  new ApiError(
    'RESPONSE_TOO_LARGE',
    `The answer would hold more than ${limits.objects} objects; use \`limit\` on the lists in it`,
  )
