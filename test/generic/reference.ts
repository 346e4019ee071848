/** What a service owes for any model, worked out over plain rows in memory: rules, lists, objects. */
import type { Entity, Filter, Link, Listing } from '#model/entity.ts'
import { columnName, entityOf, type Model } from '#model/model.ts'
import type { Rule } from '#model/policy.ts'
import { fold } from '#model/text.ts'
import { isIn } from '#model/version.ts'
import type { Viewer } from '#model/viewer.ts'
import type { Route } from '#rest/routes.ts'
import type { SqlValue } from '#sql/sql.ts'
import type { World } from '../world.ts'

/** A stored row, by field. */
export type Row = Readonly<Record<string, SqlValue>> & { readonly id: number }

export type Rows = ReadonlyMap<string, readonly Row[]>

const plainValue = (scalar: string, value: SqlValue): SqlValue =>
  value === null || scalar === 'text' || scalar === 'bytes' ? value : Number(value)

/** All rows of the world's store, by id, read directly from the database. */
export const rowsOf = async ({ core, rows }: World): Promise<Rows> => {
  const all = new Map<string, readonly Row[]>()
  for (const [name, { table, fields }] of Object.entries(core.model.entities)) {
    const keys = Object.entries(fields)
    const columns = keys.map(([key]) => `"${columnName(key)}"`).join()
    const found = await rows(`select ${columns} from ${table} order by id`)
    const row = (values: readonly SqlValue[]) =>
      Object.fromEntries(
        keys.map(([key, { scalar }], index) => [key, plainValue(scalar, values[index] ?? null)]),
      ) as Row
    all.set(name, found.map(row))
  }
  return all
}

/** What a rule says to a viewer before any row is looked at. */
export const verdict = (
  rule: Rule | undefined,
  { role }: Viewer,
  { settings, viewers }: Model,
): 'yes' | 'no' | 'row' => {
  const isSuperuser = role === viewers.roles.superuser
  switch (rule?.kind) {
    case 'anyone':
      return 'yes'
    case 'superuser':
      return isSuperuser ? 'yes' : 'no'
    case 'role':
      return isSuperuser || role === rule.role ? 'yes' : 'no'
    case 'while':
      return isSuperuser || settings.switches[rule.setting] ? 'yes' : 'no'
    case 'self':
      return isSuperuser ? 'yes' : role === 'anonymous' ? 'no' : 'row'
    case 'nobody':
    case undefined:
      return 'no'
    default:
      return role === 'anonymous' ? 'no' : 'yes'
  }
}

/** The reference over some rows. */
export const referenceOver = (model: Model, all: Rows) => {
  const rowsIn = (name: string) => all.get(name) ?? []
  const byId = (name: string, id: SqlValue | undefined) => rowsIn(name).find(row => row.id === id)

  const at = (name: string, row: Row | undefined, path: readonly string[]): SqlValue => {
    const [head = '', ...rest] = path
    if (rest.length === 0) return row?.[head] ?? null
    const relation = entityOf(model, name).relations[head]
    if (!relation) throw new Error(`${name} has no relation ${head}`)
    return at(relation.to, byId(relation.to, row?.[relation.by]), rest)
  }

  /** Whether the row is the viewer's, by the paths of a rule. */
  const isMine = (name: string, row: Row, rule: Rule | undefined, viewer: Viewer): boolean =>
    rule?.kind === 'self' && rule.fields.some(path => at(name, row, path.split('.')) === viewer.id)

  /** Whether the viewer may do it to that row. */
  const may = (name: string, row: Row, rule: Rule | undefined, viewer: Viewer): boolean => {
    const said = verdict(rule, viewer, model)
    return said === 'row' ? isMine(name, row, rule, viewer) : said === 'yes'
  }

  const seen = (name: string, rule: Rule | undefined, viewer: Viewer): readonly Row[] =>
    rowsIn(name).filter(row => may(name, row, rule, viewer))

  const shown = (entity: Entity, key: string, value: SqlValue): unknown => {
    const scalar = entity.fields[key]?.scalar
    if (value === null) return null
    if (scalar === 'money') return Number(value) / 10 ** model.settings.currency.digits
    if (scalar === 'time') return new Date(Number(value)).toISOString()
    return scalar === 'flag' ? value === 1 : value
  }

  const linkOf = (row: Row, link: Link, prefix: string) => {
    const { href, ...rest } = typeof link === 'string' ? { href: link } : link
    return { href: prefix + href.replace(/\{(\w+)\}/g, (_, key) => String(row[key])), ...rest }
  }

  /** The object of a row as the REST API shows it. */
  const objectOf = (name: string, row: Row, prefix = '/api'): Record<string, unknown> => {
    const { fields, relations, links, rest } = entityOf(model, name)
    const object: Record<string, unknown> = {}
    for (const [key, field] of Object.entries(fields)) {
      if (!field.rest) continue
      const member = field.until[1]?.name ?? key
      object[member] = shown(entityOf(model, name), key, row[key] ?? null)
      for (const [embedded, { after }] of Object.entries(rest.embedded))
        if (after === member) object[embedded] = below(relations[embedded], row, prefix)
    }
    const chosen = links?.by === null ? links.all : links?.cases[String(row[links.by])]
    if (chosen)
      object._links = Object.fromEntries(
        Object.entries(chosen).map(([key, link]) => [key, linkOf(row, link, prefix)]),
      )
    return object
  }

  const below = (relation: Entity['relations'][string] | undefined, row: Row, prefix: string) => {
    if (!relation) throw new Error('an embedded relation is one of the entity')
    const rows = rowsIn(relation.to).filter(child => child[relation.by] === row.id)
    const ordered = relation.oldestFirst ? rows : rows.toReversed()
    return ordered.map(child => objectOf(relation.to, child, prefix))
  }

  /** The rows of a list route for a viewer who may read it, before filters, in its usual order. */
  const listed = (route: Route, parent: number | undefined, viewer: Viewer): readonly Row[] => {
    const { policy, rest } = entityOf(model, route.entity)
    const rows = seen(route.entity, policy.enter ?? policy.read, viewer)
    const own = route.below
    const kept = own ? rows.filter(row => row[own.field] === parent) : rows
    return rest.listing.paging === 'cursor' ? kept.toReversed() : kept
  }

  return { rowsIn, byId, may, isMine, seen, shown, objectOf, listed }
}

export type Reference = ReturnType<typeof referenceOver>

const compare = (a: SqlValue, b: SqlValue): number => {
  if (a === b) return 0
  // Null comes after every value.
  if (a === null || b === null) return a === null ? 1 : -1
  if (typeof a === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(String(b)))
  return Number(a) - Number(b)
}

/** The rows in an order by signed fields, ties by id. */
export const sorted = (rows: readonly Row[], signed: readonly string[]): readonly Row[] =>
  rows.toSorted((a, b) => {
    for (const term of signed) {
      const key = term.replace(/^-/, '')
      const order = compare(a[key] ?? null, b[key] ?? null)
      if (order !== 0) return term === key ? order : -order
    }
    return a.id - b.id
  })

/** Whether a row passes a filter that is given this text. */
export const passes = (row: Row, { kind, field }: Filter, text: string, scale: number): boolean => {
  const value = row[field] ?? null
  switch (kind) {
    case 'equals':
      return String(value) === text
    case 'above zero':
      return Number(value) > 0
    case 'contains':
      return String(value).includes(fold(text))
    case 'at least':
      return value !== null && Number(value) >= Number(text) * scale
    case 'at most':
      return value !== null && Number(value) <= Number(text) * scale
    default:
      return kind satisfies never
  }
}

/** What a list may be sorted by, each as the query string says it and as signed fields. */
export const sortsOf = ({ fields }: Entity, { sort }: Listing) =>
  (sort?.fields ?? [])
    .filter(term => isIn(sort?.lifetimes?.[term] ?? {}, 1))
    .flatMap(signed => {
      const field = signed.replace(/^-/, '')
      const member = fields[field]?.until[1]?.name ?? field
      if (sort?.style === 'signed list')
        return [{ query: `sort=${signed.replace(field, member)}`, signed }]
      return [
        { query: `sort=${member}&order=asc`, signed: field },
        { query: `sort=${member}&order=desc`, signed: `-${field}` },
      ]
    })
