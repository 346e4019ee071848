/** What GraphQL should answer: graphql-js with plain resolvers over rows in memory. */
import { executeSync, GraphQLError, parse } from 'graphql'
import type { Entity } from '#model/entity.ts'
import { entityOf, type Model, typeName } from '#model/model.ts'
import { parseId } from '#model/values.ts'
import { fileShown, keeps, type Reference, type Row, seen, type Value } from './reference.ts'
import type { Viewer } from './serve.ts'

type Page = { readonly limit?: number | null; readonly offset?: number | null }
type Arguments = Page & Readonly<Record<string, unknown>>
type PlainRow = { readonly id: number; readonly [field: string]: unknown }

/** The contract's reading of `limit` and `offset`; a list is whole where it is not given. */
const paged = <T>(
  rows: readonly T[],
  { limit, offset }: Page,
  usual = rows.length,
): readonly T[] => {
  const from = Math.max(offset ?? 0, 0)
  const count = limit == null ? usual : Math.min(Math.max(limit, 1), 100)
  return rows.slice(from, from + count)
}

/** Works a value out once for each two words. */
const remembered = <A extends string, B extends string, T>(work: (a: A, b: B) => T) => {
  const known = new Map<string, T>()
  return (a: A, b: B): T => {
    const key = `${a} ${b}`
    const value = known.get(key) ?? work(a, b)
    known.set(key, value)
    return value
  }
}

/** The rows that the resolvers read, whoever keeps them. */
type Source<Kept extends PlainRow> = {
  readonly model: Model
  /** The rows that the viewer may meet at the root or below something, by id. */
  readonly met: (name: string, at: 'root' | 'below') => readonly Kept[]
  /** Whether a filter of a list keeps a row. */
  readonly keeps: (entity: Entity, key: string, wanted: unknown) => (row: Kept) => boolean
  /** A field's value as GraphQL shows it. */
  readonly shown: (entity: Entity, key: string, row: Kept) => unknown
}

/** A root value whose members resolve as the contract says. */
export const rootOver = <Kept extends PlainRow>({
  model,
  keeps,
  shown,
  ...source
}: Source<Kept>): object => {
  const met = remembered(source.met)

  const byKey = remembered((name: string, by: string) =>
    Map.groupBy(met(name, 'below'), row => row[by] ?? null),
  )

  const object = (name: string, row: Kept | undefined): object | undefined => {
    if (!row) return undefined
    const entity = entityOf(model, name)
    const fields = Object.keys(entity.fields).map(key => [key, shown(entity, key, row)])
    const relations = Object.entries(entity.relations).map(
      ([key, { kind, to, by, oldestFirst }]) => [
        key,
        (page: Page) => {
          if (kind === 'one') return object(to, byKey(to, 'id').get(row[by] ?? null)?.[0])
          const children = byKey(to, by).get(row.id) ?? []
          const ordered = oldestFirst ? children : children.toReversed()
          return paged(ordered, page).map(child => object(to, child))
        },
      ],
    )
    return Object.fromEntries([...fields, ...relations])
  }

  const list = (name: string, { limit, offset, ...filters }: Arguments) => {
    const entity = entityOf(model, name)
    const { graphql, pageSize } = entity
    let rows = met(name, 'root')
    for (const key of graphql.filters) {
      const wanted = filters[key]
      if (wanted == null) continue
      const target = entity.fields[key]?.references?.entity
      const id = parseId(String(wanted))
      if (target !== undefined && !met(target, 'below').some(row => row.id === id))
        throw new GraphQLError(`${typeName(target)} ${wanted} not found`)
      rows = rows.filter(keeps(entity, key, wanted))
    }
    const page = { limit: limit ?? null, offset: offset ?? null }
    const shown = graphql.paged ? paged(rows, page, pageSize) : paged(rows.toReversed(), page)
    return shown.map(row => object(name, row))
  }

  const roots = Object.entries(model.entities).flatMap(([name, { plural }]) => [
    [
      name,
      ({ id }: { id: string }) =>
        object(
          name,
          met(name, 'root').find(row => row.id === parseId(id)),
        ),
    ],
    [plural, (args: Arguments) => list(name, args)],
  ])
  return Object.fromEntries(roots)
}

/** What graphql-js makes of a query over the rows: the text of the response, or the message of its error. */
export const queried = (reference: Reference, query: string, as: Viewer): string => {
  const { schema, model } = reference
  const rootValue = rootOver<Row>({
    model,
    met: name => seen(reference, name, as),
    keeps: (entity, key, wanted) => {
      const isId = entity.fields[key]?.scalar === 'id'
      const value = isId ? (parseId(String(wanted)) ?? 0) : (wanted as Value)
      return keeps(entity, { kind: 'equals', field: key }, value)
    },
    shown: fileShown,
  })
  const { errors, data } = executeSync({ schema, document: parse(query), rootValue })
  return errors?.[0] ? errors[0].message : JSON.stringify({ data })
}
