/** What a service owes for any model, worked out over plain rows in memory: rules, lists, objects. */
import type { Entity, Filter, Link, Listing } from '#model/entity.ts'
import type { Field } from '#model/field.ts'
import { columnName, entityOf, type Model } from '#model/model.ts'
import { isByRow, type Rule, type Viewer } from '#model/policy.ts'
import { fold } from '#model/values.ts'
import { isIn, type Version } from '#model/version.ts'
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

/** A version of the REST API, and where its paths begin. */
export type View = { readonly version: Version; readonly prefix: string }

/** The views that the REST API is asked through: each version, as most callers name it. */
export const views: readonly View[] = [
  { version: 1, prefix: '/api' },
  { version: 2, prefix: '/api/v2' },
]

/** What a version calls a field; undefined where it does not have it. */
export const memberName = (
  key: string,
  field: Field | undefined,
  version: Version,
): string | undefined =>
  field && isIn(field, version)
    ? (field.until[version]?.name ?? field.from[version]?.name ?? key)
    : undefined

/** A JSON value as a version writes it. */
export const written = (field: Field | undefined, value: unknown, version: Version): unknown => {
  const form = field?.until[version]?.form ?? field?.from[version]?.form
  if (form === undefined || value === null) return value
  if (form === 'as text') return String(value)
  if (form === 'as seconds') return Math.floor(Date.parse(String(value)) / 1000)
  return form.words[String(value)] ?? value
}

/** Whether the text of a filter is none of the words that it has, where it has words. */
export const isNoWord = (
  field: Field | undefined,
  { kind }: Filter,
  text: string,
  version: Version,
): boolean => {
  if (kind === 'above zero') return !['', 'true', 'false'].includes(text)
  const { values } = field ?? {}
  if (kind !== 'equals' || !values || text === '') return false
  return !values.some(value => written(field, value, version) === text)
}

/** The filters that a version has, by their parameters. */
export const filtersIn = (
  { fields, rest }: Entity,
  version: Version,
): readonly (readonly [string, Filter])[] =>
  Object.entries(rest.listing.filters ?? {}).filter(([, filter]) => {
    const field = fields[filter.field]
    return isIn(filter, version) && field !== undefined && isIn(field, version)
  })

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

  /** Whether a rule hides the row from the viewer: for it the row does not exist. */
  const isHidden = (name: string, row: Row, viewer: Viewer): boolean => {
    const { read } = entityOf(model, name).policy
    return isByRow(read) && !may(name, row, read, viewer)
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

  const linkOf = (row: Row, { href, method }: Link, prefix: string) => {
    const path = href.replace(/\{(\w+)\}/g, (_, key) => String(row[key]))
    return { href: prefix + path, ...(method !== undefined && { method }) }
  }

  const linksOf = ({ links }: Entity, row: Row, { version, prefix }: View) => {
    const chosen = links?.cases[links.by === null ? 'all' : String(row[links.by])]
    const offered = Object.entries(chosen ?? {}).filter(([, link]) => isIn(link, version))
    const printed = offered.map(([key, link]) => [key, linkOf(row, link, prefix)] as const)
    return chosen && { _links: Object.fromEntries(printed) }
  }

  /** The object of a row as a version of the REST API shows it. */
  const objectOf = (name: string, row: Row, view: View): Record<string, unknown> => {
    const entity = entityOf(model, name)
    const { fields, relations, rest } = entity
    const { version } = view
    const object: Record<string, unknown> = {}
    for (const [key, field] of Object.entries(fields)) {
      const member = field.rest ? memberName(key, field, version) : undefined
      const value = shown(entity, key, row[key] ?? null)
      if (member !== undefined) object[member] = written(field, value, version)
      for (const [embedded, { after, ...lifetime }] of Object.entries(rest.embedded))
        if (after === key && isIn(lifetime, version))
          object[embedded] = below(relations[embedded], row, view)
    }
    return { ...object, ...linksOf(entity, row, view) }
  }

  const below = (relation: Entity['relations'][string] | undefined, row: Row, view: View) => {
    if (!relation) throw new Error('an embedded relation is one of the entity')
    const rows = rowsIn(relation.to).filter(child => child[relation.by] === row.id)
    const ordered = relation.oldestFirst ? rows : rows.toReversed()
    return ordered.map(child => objectOf(relation.to, child, view))
  }

  /** The rows of a list route for a viewer who may read it, before filters, in its usual order. */
  const listed = (route: Route, parent: number | undefined, viewer: Viewer): readonly Row[] => {
    const { policy, rest } = entityOf(model, route.entity)
    const rows = seen(route.entity, policy.enter ?? policy.read, viewer)
    const own = route.below
    const kept = own ? rows.filter(row => row[own.field] === parent) : rows
    return rest.listing.paging === 'cursor' ? kept.toReversed() : kept
  }

  return { rowsIn, byId, may, isHidden, isMine, seen, shown, objectOf, listed }
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

/** Whether a row passes a filter that is given this text; `value` is the row's, as the version writes it. */
export const passes = (
  value: SqlValue | unknown,
  { kind }: Filter,
  text: string,
  scale: number,
): boolean => {
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

/** What a list may be sorted by in a version, each as the query string says it and as signed fields. */
export const sortsOf = ({ fields }: Entity, { sort }: Listing, version: Version) =>
  (sort?.fields ?? [])
    .filter(term => isIn(sort?.lifetimes?.[term] ?? {}, version))
    .flatMap(signed => {
      const field = signed.replace(/^-/, '')
      const member = memberName(field, fields[field], version)
      if (member === undefined) return []
      if (sort?.style === 'signed list')
        return [{ query: `sort=${signed.replace(field, member)}`, signed }]
      return [
        { query: `sort=${member}&order=asc`, signed: field },
        { query: `sort=${member}&order=desc`, signed: `-${field}` },
      ]
    })
