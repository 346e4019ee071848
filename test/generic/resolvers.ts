/** Plain resolvers over the rows of any model, for graphql-js: what a GraphQL API owes. */
import { GraphQLError } from 'graphql'
import { entityOf, type Model, typeName } from '#model/model.ts'
import type { Viewer } from '#model/policy.ts'
import { parseId } from '#model/values.ts'
import type { Reference, Row } from './reference.ts'

type Page = { readonly limit?: number | null; readonly offset?: number | null }
type Arguments = Page & Readonly<Record<string, unknown>>

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

/** A root value whose members resolve as the contract says, for a viewer. */
export const rootOver = (model: Model, reference: Reference, viewer: Viewer): object => {
  /** The rows that the viewer may meet, by id, at the root or below something. */
  const met = remembered((name: string, at: 'root' | 'below'): readonly Row[] => {
    const { policy } = entityOf(model, name)
    const rule = at === 'root' ? (policy.enter ?? policy.read) : policy.read
    return reference.seen(name, rule, viewer)
  })

  const byKey = remembered((name: string, by: string) =>
    Map.groupBy(met(name, 'below'), row => row[by] ?? null),
  )

  const object = (name: string, row: Row | undefined): object | undefined => {
    if (!row) return undefined
    const entity = entityOf(model, name)
    const fields = Object.keys(entity.fields).map(key => [
      key,
      reference.shown(entity, key, row[key] ?? null),
    ])
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
    const { fields, graphql, rest } = entityOf(model, name)
    const given = graphql.filters.filter(key => filters[key] != null)
    const ids = new Map(given.map(key => [key, parseId(String(filters[key]))]))
    for (const key of given) {
      const target = fields[key]?.references?.entity
      if (target !== undefined && !met(target, 'below').some(({ id }) => id === ids.get(key)))
        throw new GraphQLError(`${typeName(target)} ${filters[key]} not found`)
    }
    const rows = met(name, 'root').filter(row => given.every(key => row[key] === ids.get(key)))
    const page = { limit: limit ?? null, offset: offset ?? null }
    const shown = graphql.paged
      ? paged(rows, page, rest.listing.limit)
      : paged(rows.toReversed(), page)
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
