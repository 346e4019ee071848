/** What a service owes for any model, worked out over plain rows in memory: rules, lists, objects. */

import { mapped } from '#base/object.ts'
import type { Content } from '#content.ts'
import { type RowMemory, type StoredRow, satisfies } from '#kit/check/conditions.ts'
import { stored, subjectFor } from '#kit/check/rows.ts'
import { type Entity, type Link, pathFields } from '#model/entity.ts'
import type { Field } from '#model/field.ts'
import { columnName, entityOf, type Model } from '#model/model.ts'
import { alternativesOf, isByRow, type Rule, type Viewer } from '#model/policy.ts'
import { isIn, type Version, type VersionStyle } from '#model/version.ts'
import { keptWords, searchedWords } from '#model/words.ts'
import type { Route } from '#rest/routes.ts'
import type { SqlValue } from '#sql/sql.ts'

/** A stored row, by field. */
export type ReferenceRow = Readonly<Record<string, SqlValue>> & { readonly id: number }

/** A row that is not there. */
export const nobodysRow: ReferenceRow = { id: 999_999 }

export type ReferenceRows = ReadonlyMap<string, readonly ReferenceRow[]>

const plainValue = (scalar: string, value: SqlValue): SqlValue =>
  value === null || ['text', 'bytes', 'date', 'json', 'list', 'file'].includes(scalar)
    ? value
    : Number(value)

type Stored = {
  readonly core: { readonly model: Model }
  readonly rows: (text: string) => Promise<readonly (readonly SqlValue[])[]>
}

/** All rows of a store, by id, read directly from the database. */
export const rowsOf = async ({ core, rows }: Stored): Promise<ReferenceRows> => {
  const all = new Map<string, readonly ReferenceRow[]>()
  for (const [name, { table, fields }] of Object.entries(core.model.entities)) {
    const keys = Object.entries(fields)
    const columns = keys.map(([key]) => `"${columnName(key)}"`).join()
    const found = await rows(`select ${columns} from ${table} order by id`)
    const row = (values: readonly SqlValue[]) =>
      Object.fromEntries(
        keys.map(([key, { scalar }], index) => [key, plainValue(scalar, values[index] ?? null)]),
      ) as ReferenceRow
    all.set(name, found.map(row))
  }
  return all
}

type Verdict = 'yes' | 'no' | 'row'

/** What a rule says to a viewer before any row is looked at. */
export const verdict = (rule: Rule | undefined, viewer: Viewer, model: Model): Verdict => {
  const { roles } = model.viewers
  const { role } = viewer
  const open = rule ? alternativesOf(rule).filter(({ kind }) => kind !== 'nobody') : []
  if (open.length === 0) return 'no'
  if (role === roles.superuser) return 'yes'
  const said = open.map((one): Verdict => {
    const isNamed =
      one.kind === 'anyone' ||
      (one.kind === 'role' && one.role === role) ||
      (one.kind === 'while' && model.settings.switches[one.setting] === true) ||
      (one.kind === 'signed in' && role !== 'anonymous')
    if (!isNamed || (one.byViewer && role === 'anonymous')) return 'no'
    return one.before ? 'row' : 'yes'
  })
  return said.includes('yes') ? 'yes' : said.includes('row') ? 'row' : 'no'
}

/** A version of the REST API, where its paths begin, and its forms. */
export type View = {
  readonly version: Version
  readonly prefix: string
  readonly style: VersionStyle
}

/** The views that the REST API is asked through: each version, as most callers name it. */
export const viewsOf = ({ versions }: Content): readonly View[] =>
  versions.all.map(version => ({
    version,
    prefix: version === versions.oldest ? '/api' : `/api/v${version}`,
    style: versions.styleOf(version),
  }))

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
  return form.values[String(value)] ?? value
}

/** The rows with what is counted of those below them, and means of these with four decimals more, half away from zero. */
const withKept = ({ entities }: Model, all: ReferenceRows): ReferenceRows =>
  new Map(
    [...all].map(([name, rows]) => {
      const { fields = {}, relations = {} } = entities[name] ?? {}
      const kept = Object.entries(fields).flatMap(([key, { kept }]) =>
        kept ? [{ key, kept }] : [],
      )
      const valueFor = (
        row: ReferenceRow,
        { relation, of = 'id', as, where = {} }: (typeof kept)[number]['kept'],
      ) => {
        const { to = '', by = '' } = relations[relation] ?? {}
        const wanted = Object.entries({ [by]: row.id, ...where })
        const below = (all.get(to) ?? []).filter(child =>
          wanted.every(
            ([key, value]) => child[key] === (typeof value === 'boolean' ? Number(value) : value),
          ),
        )
        const values = below.flatMap(child => (child[of] === null ? [] : [Number(child[of])]))
        const sum = values.reduce((total, value) => total + value, 0)
        if (as === 'mean')
          return values.length === 0
            ? null
            : Math.sign(sum) * Math.round((Math.abs(sum) * 10_000) / values.length)
        return as === 'sum' ? sum : values.length
      }
      const whole = (row: ReferenceRow): ReferenceRow => ({
        ...row,
        ...Object.fromEntries(kept.map(({ key, kept }) => [key, valueFor(row, kept)])),
      })
      return [name, kept.length > 0 ? rows.map(whole) : rows]
    }),
  )

/** The rules of the links by which a route leads to its rows, as it may, and of their fields. */
export const linkRules = (model: Model, { below }: Route): readonly (Rule | undefined)[] => {
  if (!below?.through) return []
  const { policy, fields } = entityOf(model, below.through.entity)
  return [policy.read, fields[below.field]?.readableBy, fields[below.through.of]?.readableBy]
}

/** Who may do what to which of the rows, and which of them a caller sees. */
const rightsOver = (model: Model, all: ReferenceRows) => {
  const { entities } = model
  const rows = Object.fromEntries(all) as Readonly<Record<string, readonly StoredRow[]>>
  const rowsIn = (name: string) => all.get(name) ?? []
  const byId = (name: string, id: SqlValue | undefined) => rowsIn(name).find(row => row.id === id)

  /** Whether a rule that looks at rows lets the viewer through for this one, as the row's own viewer may. */
  const isMine = (name: string, row: ReferenceRow, rule: Rule | undefined, viewer: Viewer) => {
    const { digits } = model.settings.currency
    const memory = { entities, rows, viewer: viewer.id, now: Date.now(), digits }
    const isSo = (one: Rule) =>
      'before' in one &&
      one.before !== undefined &&
      verdict(one, viewer, model) !== 'no' &&
      satisfies(memory, name, row as StoredRow, one.before)
    return rule !== undefined && alternativesOf(rule).some(isSo)
  }

  /** Whether the viewer may do it to that row. */
  const may = (name: string, row: ReferenceRow, rule: Rule | undefined, viewer: Viewer) => {
    const said = verdict(rule, viewer, model)
    return said === 'row' ? isMine(name, row, rule, viewer) : said === 'yes'
  }

  /** Whether a rule hides the row from the viewer: for it the row does not exist. */
  const isHidden = (name: string, row: ReferenceRow, viewer: Viewer): boolean => {
    const { read } = entityOf(model, name).policy
    return isByRow(read) && !may(name, row, read, viewer)
  }

  const seen = (name: string, rule: Rule | undefined, viewer: Viewer): readonly ReferenceRow[] =>
    rowsIn(name).filter(row => may(name, row, rule, viewer))

  /** The rows of a list route for a viewer who may read it, before filters, in its usual order. */
  const listed = (
    route: Route,
    parent: number | undefined,
    viewer: Viewer,
  ): readonly ReferenceRow[] => {
    const { policy, rest } = entityOf(model, route.entity)
    const rows = seen(route.entity, policy.enter ?? policy.read, viewer)
    const { field = '', through } = route.below ?? {}
    const links = through
      ? seen(through.entity, entityOf(model, through.entity).policy.read, viewer)
      : []
    const linked = links.flatMap(link => (link[field] === parent ? [link[through?.of ?? '']] : []))
    const kept = rows.filter(row =>
      through ? linked.includes(row.id) : !route.below || row[field] === parent,
    )
    return rest.listing.paging === 'cursor' ? kept.toReversed() : kept
  }

  /** The rows that a caller may read, as conditions of its own see them. */
  const memoryOf = (viewer: Viewer): RowMemory => ({
    ...{ entities, viewer: viewer.id, now: Date.now(), digits: model.settings.currency.digits },
    rows: Object.fromEntries(
      Object.entries(entities).map(([name, { policy }]) => [name, seen(name, policy.read, viewer)]),
    ) as RowMemory['rows'],
  })

  return { rowsIn, byId, memoryOf, may, isHidden, isMine, seen, listed }
}

/** The objects of rows, as versions of the REST API show them. */
const objectsOver = (
  model: Model,
  { rowsIn, byId, may, isHidden }: ReturnType<typeof rightsOver>,
) => {
  /** A value as an API shows it; a file with its address below a prefix, of the row of that id. */
  const shown = (
    entity: Entity,
    key: string,
    value: SqlValue,
    { id, prefix }: { readonly id: number; readonly prefix: string } = { id: 0, prefix: '' },
  ): unknown => {
    const scalar = entity.fields[key]?.scalar
    if (value === null) return null
    if (scalar === 'file') {
      const { digest, ...file } = JSON.parse(String(value))
      return { ...file, url: `${prefix}/${entity.plural}/${id}/${key}?v=${digest.slice(0, 12)}` }
    }
    if (scalar === 'money') return Number(value) / 10 ** model.settings.currency.digits
    if (scalar === 'decimal') return Number(value) / 10 ** (entity.fields[key]?.scale ?? 0)
    if (scalar === 'time') return new Date(Number(value)).toISOString()
    if (scalar === 'json' || scalar === 'list') return JSON.parse(String(value))
    return scalar === 'flag' ? value === 1 : value
  }

  const linkOf = (row: ReferenceRow, { href, method }: Link, prefix: string) => {
    const path = href.replace(/\{(\w+)\}/g, (_, key) => String(row[key]))
    return { href: prefix + path, ...(method !== undefined && { method }) }
  }

  const linksOf = ({ links, fields }: Entity, row: ReferenceRow, view: View, viewer: Viewer) => {
    const { version, prefix } = view
    const chosen = links?.cases[links.by === null ? 'all' : String(row[links.by])]
    /** Whether it leads to nothing, or to a row that the viewer may not see. */
    const isAway = (link: Link) =>
      pathFields(link).some(key => {
        const to = fields[key]?.references?.entity
        const target = to === undefined ? undefined : byId(to, row[key])
        return row[key] === null || (to && target && isHidden(to, target, viewer))
      })
    const offered = Object.entries(chosen ?? {}).filter(
      ([, link]) => isIn(link, version) && !isAway(link),
    )
    const printed = offered.map(([key, link]) => [key, linkOf(row, link, prefix)] as const)
    return chosen && { _links: Object.fromEntries(printed) }
  }

  /** The object of a row as a version of the REST API shows it to a viewer who may see it. */
  const objectOf = (
    name: string,
    row: ReferenceRow,
    view: View,
    viewer: Viewer,
  ): Record<string, unknown> => {
    const entity = entityOf(model, name)
    const { fields, relations, rest } = entity
    const { version } = view
    const object: Record<string, unknown> = {}
    for (const [key, field] of Object.entries(fields)) {
      const member = field.rest ? memberName(key, field, version) : undefined
      const isOpen = !isByRow(field.readableBy) || may(name, row, field.readableBy, viewer)
      const at = { id: row.id, prefix: view.prefix }
      const value = isOpen ? shown(entity, key, row[key] ?? null, at) : null
      if (member !== undefined) object[member] = written(field, value, version)
      for (const [embedded, { after, ...lifetime }] of Object.entries(rest.embedded))
        if (after === key && isIn(lifetime, version))
          object[embedded] = below(relations[embedded], row, view, viewer)
    }
    return { ...object, ...linksOf(entity, row, view, viewer) }
  }

  const below = (
    relation: Entity['relations'][string] | undefined,
    row: ReferenceRow,
    view: View,
    viewer: Viewer,
  ) => {
    if (!relation) throw new Error('an embedded relation is one of the entity')
    const rows = rowsIn(relation.to).filter(
      child => child[relation.by] === row.id && !isHidden(relation.to, child, viewer),
    )
    const ordered = relation.oldestFirst ? rows : rows.toReversed()
    return ordered.map(child => objectOf(relation.to, child, view, viewer))
  }

  return { shown, objectOf }
}

/** The reference over some rows. */
export const referenceOver = (model: Model, given: ReferenceRows) => {
  const all = withKept(model, given)
  const rights = rightsOver(model, all)
  const { rowsIn, byId, isHidden } = rights

  /** Values of a body as they are stored, by field. */
  const storedValues = (name: string, values: Readonly<Record<string, unknown>>) => {
    const { fields } = entityOf(model, name)
    return Object.fromEntries(
      Object.entries(values).flatMap(([key, value]) =>
        fields[key] ? [[key, stored(fields[key], value, model.settings.currency.digits)]] : [],
      ),
    )
  }

  /** The row that the viewer makes with values. */
  const made = (
    name: string,
    values: Readonly<Record<string, unknown>>,
    viewer: Viewer,
    id = 0,
  ): ReferenceRow => {
    const initial = mapped(entityOf(model, name).fields, ({ initial }) => {
      if (initial === 'viewer') return viewer.id
      if (initial === 'subject') return subjectFor(viewer.id ?? 0)
      return typeof initial === 'object' && 'value' in initial ? initial.value : null
    })
    return { ...initial, ...storedValues(name, values), id } as ReferenceRow
  }

  /** Whether one of these fields of a row refers to what is not there, or hidden from the viewer. */
  const refersToNone = (
    name: string,
    row: ReferenceRow,
    keys: readonly string[],
    viewer: Viewer,
  ): boolean =>
    keys.some(key => {
      const to = entityOf(model, name).fields[key]?.references?.entity
      if (to === undefined || row[key] === null) return false
      const target = byId(to, row[key])
      return !target || isHidden(to, target, viewer)
    })

  /** Whether another row has what only one may have, alone or together. */
  const isTaken = (name: string, row: ReferenceRow): boolean => {
    const { fields, sets } = entityOf(model, name)
    const alone = Object.keys(fields).filter(key => fields[key]?.unique)
    return [...alone.map(key => [key]), ...sets.map(({ fields }) => fields)].some(
      keys =>
        keys.every(key => row[key] !== null) &&
        rowsIn(name).some(one => one.id !== row.id && keys.every(key => one[key] === row[key])),
    )
  }

  return {
    all,
    ...rights,
    ...objectsOver(model, rights),
    storedValues,
    made,
    refersToNone,
    isTaken,
  }
}

export type RowsReference = ReturnType<typeof referenceOver>

/** Null after every value, texts by their bytes. */
export const compare = (a: SqlValue, b: SqlValue): number => {
  if (a === b) return 0
  // Null comes after every value.
  if (a === null || b === null) return a === null ? 1 : -1
  if (typeof a === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(String(b)))
  return Number(a) - Number(b)
}

/** The same where null comes last in both directions. */
export const compareNullsLast = (a: SqlValue, b: SqlValue, isDown: boolean): number =>
  a === null || b === null || !isDown ? compare(a, b) : compare(b, a)

type SearchedRow = { readonly id: number; readonly [field: string]: unknown }

/** The words of rows, each with what it counts for in their searches. */
const kept = new WeakMap<
  SearchedRow,
  readonly { readonly word: string; readonly weight: number }[]
>()

/** The ids of the rows that a search finds in fields with weights, the most relevant first. */
export const searchedIn = (
  weights: Entity['search'],
  rows: readonly SearchedRow[],
  query: string,
): readonly number[] => {
  const asked = searchedWords(query)
  const wanted = 'value' in asked && asked.value !== '' ? asked.value.split(' ') : []
  const fits = (kept: string, word: string, at: number) =>
    kept === word || (at === wanted.length - 1 && kept.startsWith(word))
  return rows
    .flatMap(row => {
      const words = kept.getOrInsertComputed(row, () =>
        Object.entries(weights).flatMap(([key, weight]) =>
          keptWords(String(row[key] ?? ''))
            .split(' ')
            .map(word => ({ word, weight })),
        ),
      )
      const scores = wanted.map((word, at) =>
        Math.max(0, ...words.filter(one => fits(one.word, word, at)).map(({ weight }) => weight)),
      )
      const score = scores.reduce((sum, one) => sum + one, 0)
      return scores.includes(0) ? [] : [{ id: row.id, score }]
    })
    .sort((a, b) => b.score - a.score || a.id - b.id)
    .map(({ id }) => id)
}
