/** Queries from pieces of SQL whose values are all known. */
import type { Dialect } from '#sql/dialect.ts'
import type { Query } from '#sql/engine.ts'
import { type Sql, type SqlValue, statement } from '#sql/sql.ts'

/** The query of a piece; throws where a value is not known yet. */
export const queryOf = (piece: Sql, { placeholder }: Pick<Dialect, 'placeholder'>): Query => {
  const { text, parameters } = statement(piece, placeholder)
  const values = parameters.map((parameter): SqlValue => {
    if (parameter.kind === 'value') return parameter.value
    throw new Error(`a query takes no ${parameter.kind}`)
  })
  return { text, values }
}
