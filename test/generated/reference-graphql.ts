/** What GraphQL should answer, by graphql-js with plain resolvers over the rows of the reference. */
import { executeSync, GraphQLError, parse } from 'graphql'
import type { Field } from '#model/field.ts'
import { entityOf } from '#model/model.ts'
import { keeps, type Reference, type Row, seen, sorted, type Value } from './reference.ts'
import type { Viewer } from './serve.ts'

// ---- GraphQL: plain resolvers, by graphql-js.

type Page = { readonly limit?: number | null; readonly offset?: number | null }

const paged = (rows: readonly Row[], { limit, offset }: Page, usual = rows.length) => {
  const from = Math.max(offset ?? 0, 0)
  const count = limit == null ? usual : Math.min(Math.max(limit, 1), 100)
  return rows.slice(from, from + count)
}

const newestFirst = (rows: readonly Row[]) => rows.toSorted((a, b) => b.id - a.id)

const objectOf = (reference: Reference, name: string, row: Row, as: Viewer): object => {
  const { relations } = entityOf(reference.model, name)
  const related = Object.entries(relations).map(([key, { kind, to, by }]) => {
    const rows = () => seen(reference, to, as)
    if (kind === 'one')
      return [
        key,
        () => {
          const found = rows().find(({ id }) => id === row[by])
          return found ? objectOf(reference, to, found, as) : null
        },
      ] as const
    return [
      key,
      (page: Page) =>
        paged(newestFirst(rows().filter(other => other[by] === row.id)), page).map(found =>
          objectOf(reference, to, found, as),
        ),
    ] as const
  })
  return { ...row, ...Object.fromEntries(related) }
}

const idOf = (text: unknown): number => (/^[1-9]\d{0,15}$/.test(String(text)) ? Number(text) : 0)

const listRoot = (reference: Reference, name: string, as: Viewer) => {
  const entity = entityOf(reference.model, name)
  return ({ limit, offset, ...filters }: Page & Readonly<Record<string, Value>>) => {
    let rows = seen(reference, name, as)
    for (const [key, value] of Object.entries(filters)) {
      const { references, scalar } = entity.fields[key] as Field
      if (value == null) continue
      if (
        references &&
        !seen(reference, references.entity, as).some(({ id }) => id === idOf(value))
      )
        throw new GraphQLError(`${references.entity} not found`)
      const wanted = scalar === 'id' ? idOf(value) : value
      rows = rows.filter(keeps(entity, { kind: 'equals', field: key }, wanted))
    }
    const ordered = entity.graphql.paged ? sorted(entity, rows, []) : newestFirst(rows)
    const usual = entity.graphql.paged ? entity.rest.listing.limit : undefined
    return paged(ordered, { limit: limit ?? null, offset: offset ?? null }, usual).map(row =>
      objectOf(reference, name, row, as),
    )
  }
}

/** What graphql-js makes of a query over the rows: the text of the response, or the message of its error. */
export const queried = (reference: Reference, query: string, as: Viewer): string => {
  const roots = Object.entries(reference.model.entities).flatMap(([name, entity]) => [
    [
      name,
      ({ id }: { id: unknown }) => {
        const row = seen(reference, name, as).find(row => row.id === idOf(id))
        return row ? objectOf(reference, name, row, as) : null
      },
    ] as const,
    [entity.plural, listRoot(reference, name, as)] as const,
  ])
  const { schema } = reference
  const result = executeSync({
    schema,
    document: parse(query),
    rootValue: Object.fromEntries(roots),
  })
  const [error] = result.errors ?? []
  return error ? error.message : JSON.stringify({ data: result.data })
}
