/** Statements of the engines' own, made with the SQL template. */
import type { Dialect } from '#sql/dialect.ts'
import type { Query } from '#sql/engine.ts'
import { type Sql, type SqlValue, statement } from '#sql/sql.ts'

/** The query of a piece whose values are all known now. */
export const queryOf = (piece: Sql, { placeholder }: Pick<Dialect, 'placeholder'>): Query => {
  const { text, parameters } = statement(piece, placeholder)
  const values = parameters.map((parameter): SqlValue => {
    if (parameter.kind === 'value') return parameter.value
    throw new Error(`a query takes no ${parameter.kind}`)
  })
  return { text, values }
}
