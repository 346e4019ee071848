/** What a service should answer, in plain code over rows in memory. Slow, and right by being simple. */
import { hash } from 'node:crypto'
import { buildSchema, type GraphQLSchema, printSchema } from 'graphql'
import { deriveSchema } from '#graphql/schema.ts'
import { taken } from '#kit/check/values.ts'
import { partsOf } from '#model/computed.ts'
import { type Entity, type Filter, type Link, pathFields } from '#model/entity.ts'
import { type Field, madeSlug, type Term } from '#model/field.ts'
import { entityOf, type Model } from '#model/model.ts'
import { isByRow, type Rule } from '#model/policy.ts'
import { rowFits } from './row-conditions.ts'
import { now, type Viewer, viewerIds } from './serve.ts'

export type Value =
  | string
  | number
  | boolean
  | null
  | readonly string[]
  | Readonly<Record<string, number>>
/** Values as the REST API gives them, by field. */
export type Row = { readonly id: number; readonly [field: string]: Value }
type Table = Map<number, Row>

export type Reference = {
  readonly model: Model
  readonly schema: GraphQLSchema
  readonly tables: ReadonlyMap<string, Table>
  /** The last id that each entity gave. */
  readonly last: Map<string, number>
}

export const newReference = (model: Model): Reference => ({
  model,
  schema: buildSchema(printSchema(deriveSchema(model).schema)),
  tables: new Map(Object.keys(model.entities).map(name => [name, new Map()])),
  last: new Map(),
})

// ---- What the store computes.

const amountOf = (value: Value): number => Math.round(Number(value) * 1e6)

/** A formula over a row in plain numbers, a mean apart. */
const formulaOf = (row: Row, term: Term): Value => {
  if (typeof term === 'string') return row[term] ?? null
  if ('value' in term) return term.value
  if ('text' in term) return term.text
  if ('mean' in term) return null
  const [by, terms] = partsOf(term)
  const values = terms.map(term => formulaOf(row, term))
  if (by === 'coalesce') return values.find(value => value !== null) ?? null
  if (values.includes(null)) return null
  if (by === 'concat') return values.join('')
  const numbers = values.map(amountOf)
  const total = numbers.reduce((a, b) =>
    by === 'plus' ? a + b : by === 'minus' ? a - b : (a * b) / 1e6,
  )
  return Math.round(total) / 1e6
}

/** The row with the values that come of its others. */
export const withComputed = ({ fields }: Entity, row: Row): Row => {
  const made = Object.entries(fields).flatMap(([key, { computed }]) =>
    computed && !('mean' in computed) ? [[key, formulaOf(row, computed)]] : [],
  )
  return { ...row, ...Object.fromEntries(made) }
}

/** Half away from zero. */
const rounded = (value: number): number => Math.sign(value) * Math.round(Math.abs(value))

/** The counts and means of the rows below each row, made anew. */
const keep = (reference: Reference): void => {
  for (const [name, { fields, relations }] of Object.entries(reference.model.entities))
    for (const [key, { kept, scale }] of Object.entries(fields)) {
      const { to = '', by = '' } = relations[kept?.relation ?? ''] ?? {}
      if (!kept) continue
      for (const row of rowsOf(reference, name).values()) {
        const below = [...rowsOf(reference, to).values()].filter(child => child[by] === row.id)
        const { of = 'id' } = kept
        const values = below.flatMap(child => (child[of] === null ? [] : [Number(child[of])]))
        const units = values.reduce((sum, value) => sum + Math.round(value * 10 ** (scale - 4)), 0)
        const mean =
          values.length === 0 ? null : rounded((units * 10_000) / values.length) / 10 ** scale
        rowsOf(reference, name).set(row.id, {
          ...row,
          [key]: kept.as === 'mean' ? mean : values.length,
        })
      }
    }
}

export const rowsOf = ({ tables }: Reference, name: string): Table => tables.get(name) as Table

// ---- Who may see and change what.

/** The value at the end of a path of relations to one row; null where one of them is to none. */
const valueAt = (reference: Reference, name: string, row: Row, path: string): Value => {
  const [head = '', ...rest] = path.split('.')
  if (rest.length === 0) return row[head] ?? null
  const { to = '', by = '' } = entityOf(reference.model, name).relations[head] ?? {}
  const next = rowsOf(reference, to).get(Number(row[by]))
  return next ? valueAt(reference, to, next, rest.join('.')) : null
}

/** The rules of which one must let a caller through. */
const rulesIn = (rule: Rule): readonly Exclude<Rule, { kind: 'any of' }>[] =>
  rule.kind === 'any of' ? rule.rules.flatMap(rulesIn) : [rule]

/** Whether one rule of those lets the caller through, for a row as it is and, if it is changed, as it becomes. */
const passes = (
  reference: Reference,
  name: string,
  rule: Rule,
  as: Viewer,
  row: Row,
  becoming?: Row,
): boolean => {
  const viewer = viewerIds[as]
  const among = { ...reference, viewer, now }
  const isOwn = (row: Row, fields: readonly string[]) =>
    viewer !== null && fields.some(path => valueAt(reference, name, row, path) === viewer)
  return rulesIn(rule).some(one => {
    if (one.kind === 'self')
      return isOwn(row, one.fields) && (becoming === undefined || isOwn(becoming, one.fields))
    if (one.kind !== 'anyone' && (one.kind !== 'signed in' || as === 'anonymous')) return false
    if (one.byViewer && viewer === null) return false
    const { before = {}, after = before } = one
    return (
      rowFits(among, name, row, before) &&
      (becoming === undefined || rowFits(among, name, becoming, after))
    )
  })
}

const holds = (
  reference: Reference,
  name: string,
  rule: Rule | undefined,
  row: Row,
  as: Viewer,
): boolean => {
  if (as === 'admin' || !rule) return rule !== undefined
  return passes(reference, name, rule, as, row)
}

export const mayEnter = (rule: Rule | undefined, as: Viewer): boolean =>
  as !== 'anonymous' ||
  (rule !== undefined && rulesIn(rule).some(one => one.kind === 'anyone' && !one.byViewer))

/** A row as a caller may read it: its fields are null that it may not read in it. */
export const masked = (reference: Reference, name: string, row: Row, as: Viewer): Row => {
  const { fields } = entityOf(reference.model, name)
  const read = Object.entries(row).map(([key, value]) => {
    const rule = fields[key]?.readableBy
    return [key, !rule || holds(reference, name, rule, row, as) ? value : null]
  })
  return Object.fromEntries(read)
}

export const seen = (reference: Reference, name: string, as: Viewer): readonly Row[] => {
  const { policy } = entityOf(reference.model, name)
  return [...rowsOf(reference, name).values()]
    .filter(row => holds(reference, name, policy.read, row, as))
    .map(row => masked(reference, name, row, as))
}

/** Whether the caller may see a row, or no rule hides rows of its entity. */
const isMet = (reference: Reference, name: string, row: Row, as: Viewer): boolean => {
  const { read } = entityOf(reference.model, name).policy
  return !isByRow(read) || holds(reference, name, read, row, as)
}

export const mayChange = (
  reference: Reference,
  name: string,
  operation: 'update' | 'delete',
  id: number,
  as: Viewer,
): boolean | undefined => {
  const row = rowsOf(reference, name).get(id)
  // What is hidden does not exist.
  if (!row || !isMet(reference, name, row, as)) return undefined
  return holds(reference, name, entityOf(reference.model, name).policy[operation], row, as)
}

/** Whether the caller may make a row so: a new one, or one that was another before. */
const mayMake = (reference: Reference, name: string, row: Row, as: Viewer, old?: Row): boolean => {
  const { create, update } = entityOf(reference.model, name).policy
  const rule = old ? update : create
  if (as === 'admin' || !rule) return rule !== undefined
  return old ? passes(reference, name, rule, as, old, row) : holds(reference, name, rule, row, as)
}

// ---- Writes.

const initialOf = (field: Field, as: Viewer): Value => {
  const { initial, scalar, scale } = field
  if (initial === 'now') return new Date(now).toISOString()
  if (initial === 'viewer') return viewerIds[as]
  const value = typeof initial === 'object' && 'value' in initial ? initial.value : null
  if (value === null) return null
  if (scalar === 'json' || scalar === 'list') return JSON.parse(String(value))
  if (scalar === 'money' || scalar === 'decimal')
    return Number(value) / 10 ** (scalar === 'money' ? 2 : scale)
  return scalar === 'flag' ? value === 1 : value
}

const given = (field: Field, value: Value): Value => {
  if (value === null || typeof value !== 'string') return value
  const parsed = taken(field.rule, value) as string
  return field.scalar === 'time' ? new Date(parsed).toISOString() : parsed
}

/** The row that a create makes of a body that is right. */
export const rowFor = (
  entity: Entity,
  id: number,
  body: Readonly<Record<string, Value>>,
  as: Viewer,
): Row => {
  const row: Record<string, Value> = { id }
  for (const [key, field] of Object.entries(entity.fields))
    if (key !== 'id' && field.foldedFrom === undefined)
      row[key] = Object.hasOwn(body, key) ? given(field, body[key] ?? null) : initialOf(field, as)
  return row as Row
}

/** The row that is made with its slugs: those that no body gives come of other texts; undefined if one has no word. */
export const slugged = (
  reference: Reference,
  name: string,
  row: Row,
  body: Readonly<Record<string, Value>>,
): Row | undefined => {
  const others = [...rowsOf(reference, name).values()]
  const next = Math.max(0, ...others.map(({ id }) => id)) + 1
  const made: Record<string, Value> = {}
  for (const [key, field] of Object.entries(entityOf(reference.model, name).fields)) {
    const { initial, nullable } = field
    if (typeof initial !== 'object' || !('slugOf' in initial)) continue
    const source = row[initial.slugOf] ?? null
    const own = typeof source === 'string' ? madeSlug(source, field) : ''
    const value = Object.hasOwn(body, key) ? row[key] : own || null
    if (value === null && !nullable) return undefined
    const isTaken = value === own && others.some(other => other[key] === own)
    made[key] = isTaken ? `${own}-${next}` : (value ?? null)
  }
  return withComputed(entityOf(reference.model, name), { ...row, ...made })
}

/** Whether another row has what no two may share, or what the row refers to is not there. */
export const conflicts = (
  reference: Reference,
  name: string,
  row: Row,
  as: Viewer,
  old?: Row,
  given: readonly string[] = Object.keys(row),
): 'unique' | 'absent' | 'refused' | null => {
  const { fields } = entityOf(reference.model, name)
  for (const [key, { references }] of Object.entries(fields)) {
    if (!references || row[key] === null || !given.includes(key)) continue
    const target = rowsOf(reference, references.entity).get(Number(row[key]))
    // What it names already may be hidden by now.
    const isSame = old !== undefined && old[key] === row[key]
    if (!target || !(isSame || isMet(reference, references.entity, target, as))) return 'absent'
  }
  if (!mayMake(reference, name, row, as, old)) return 'refused'
  const entity = entityOf(reference.model, name)
  const unique = Object.keys(fields).filter(key => fields[key]?.unique)
  const others = [...rowsOf(reference, name).values()].filter(({ id }) => id !== row.id)
  for (const keys of [...unique.map(key => [key]), ...entity.sets.map(({ fields }) => fields)]) {
    const values = keys.map(key => fieldValue(entity, row, key))
    const isTaken = others.some(other =>
      keys.every((key, index) => fieldValue(entity, other, key) === values[index]),
    )
    if (!values.includes(null) && isTaken) return 'unique'
  }
  return null
}

export const put = (reference: Reference, name: string, row: Row): void => {
  rowsOf(reference, name).set(row.id, row)
  keep(reference)
  reference.last.set(name, Math.max(row.id, reference.last.get(name) ?? 0))
}

/** Rows by entity that go with one that is deleted, and those whose reference becomes null; undefined where one stays. */
const consequences = (reference: Reference, name: string, id: number) => {
  const gone = new Map<string, Set<number>>([[name, new Set([id])]])
  const changed: (() => void)[] = []
  const visit = (of: string, id: number): void => {
    for (const [other, { fields }] of Object.entries(reference.model.entities))
      for (const [key, { references }] of Object.entries(fields)) {
        if (references?.entity !== of) continue
        for (const row of rowsOf(reference, other).values()) {
          if (row[key] !== id) continue
          const known = gone.get(other) ?? new Set()
          gone.set(other, known)
          if (references.onDelete === 'set null')
            changed.push(() => {
              const now = rowsOf(reference, other).get(row.id)
              if (!now) return
              put(
                reference,
                other,
                withComputed(entityOf(reference.model, other), { ...now, [key]: null }),
              )
            })
          else if (references.onDelete === 'cascade' && !known.has(row.id)) {
            known.add(row.id)
            visit(other, row.id)
          }
        }
      }
  }
  visit(name, id)
  return { gone, changed }
}

/** Whether the engines could differ: a row that restricts and is deleted by another way at the same time. */
const restricts = (
  reference: Reference,
  gone: ReadonlyMap<string, ReadonlySet<number>>,
): 'yes' | 'no' | 'unsure' => {
  let found: 'yes' | 'no' | 'unsure' = 'no'
  for (const [other, { fields }] of Object.entries(reference.model.entities))
    for (const [key, { references }] of Object.entries(fields)) {
      if (references?.onDelete !== 'restrict') continue
      for (const row of rowsOf(reference, other).values())
        if (gone.get(references.entity)?.has(Number(row[key])))
          found = gone.get(other)?.has(row.id) ? 'unsure' : found === 'unsure' ? found : 'yes'
    }
  return found
}

/** What deleting a row comes to; it is done in the reference where it is allowed. */
export const remove = (
  reference: Reference,
  name: string,
  id: number,
): 'done' | 'restricted' | 'unsure' => {
  const { gone, changed } = consequences(reference, name, id)
  const verdict = restricts(reference, gone)
  if (verdict !== 'no') return verdict === 'yes' ? 'restricted' : 'unsure'
  for (const change of changed) change()
  for (const [of, ids] of gone) for (const id of ids) rowsOf(reference, of).delete(id)
  keep(reference)
  return 'done'
}

// ---- Files.

/** The headers of each upload. */
export const paperHeaders = {
  'Content-Type': 'application/pdf',
  'Content-Disposition': 'attachment; filename="paper.pdf"',
} as const

/** The bytes of the uploads that are drawn. */
export const paperOf = (upload: number): string => `%PDF-1.7\n${upload}\n%%EOF\n`

/** A field's value as callers see it: of a file, which a row has as the number of its upload, what is told of it. */
export const fileShown = (
  { plural, fields }: Entity,
  key: string,
  row: Row,
  prefix = '/api/v2',
) => {
  const value = row[key] ?? null
  if (!fields[key]?.file || value === null) return value
  const paper = paperOf((value as { upload: number }).upload)
  return {
    ...{ name: 'paper.pdf', type: 'application/pdf', bytes: paper.length },
    ...{ width: null, height: null },
    url: `${prefix}/${plural}/${row.id}/${key}?v=${hash('sha256', paper).slice(0, 12)}`,
  }
}

// ---- REST.

const linkOf = ({ href: template }: Link, row: Row): { href: string } | undefined => {
  const keys = [...template.matchAll(/\{(\w+)\}/g)].map(([, key = '']) => key)
  if (keys.some(key => row[key] === null)) return undefined
  return { href: `/api${template.replace(/\{(\w+)\}/g, (_, key) => String(row[key]))}` }
}

const linksOf = (reference: Reference, entity: Entity, row: Row, as: Viewer) =>
  Object.fromEntries(
    Object.entries(entity.links?.cases.all ?? {}).flatMap(([name, link]) => {
      const found = linkOf(link, row)
      // One that leads to a hidden row is left out.
      const isHidden = pathFields(link).some(key => {
        const to = entity.fields[key]?.references?.entity
        const target = to && rowsOf(reference, to).get(Number(row[key]))
        return to && target && !isMet(reference, to, target, as)
      })
      return found && !isHidden ? [[name, found]] : []
    }),
  )

/** A row as the REST API shows it. */
export const shown = (reference: Reference, entity: Entity, row: Row, as: Viewer): object => ({
  ...Object.fromEntries(
    Object.entries(entity.fields).flatMap(([key, { rest }]) =>
      rest ? [[key, fileShown(entity, key, row, '/api')]] : [],
    ),
  ),
  ...(entity.links?.by === null && { _links: linksOf(reference, entity, row, as) }),
})

const comparable = (value: Value): number | Buffer =>
  typeof value === 'string' ? Buffer.from(value) : Number(value)

/** Null is above every value; texts go by their bytes. */
const compare = (a: Value, b: Value): number => {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1
  const [left, right] = [comparable(a), comparable(b)]
  if (typeof left === 'number') return left - Number(right)
  return Buffer.compare(left, right as Buffer)
}

/** A text as its copy has it: composed; or each letter without case, and without accents where these are ignored. */
const folded = ({ accents, copied }: Field, text: string): string => {
  if (copied === 'nfc') return text.normalize('NFC')
  const letters = accents
    ? text
        .normalize('NFD')
        .replace(/[\u0300-\u036f]/g, '')
        .normalize('NFC')
    : text
  return [...letters.normalize('NFD')]
    .map(one => one.toLowerCase().toUpperCase().toLowerCase())
    .join('')
    .normalize('NFC')
}

/** A field's value; a folded one's is made of its source. */
const fieldValue = ({ fields }: Entity, row: Row, key: string): Value => {
  const from = fields[key]?.foldedFrom
  if (from === undefined) return row[key] ?? null
  const source = row[from] ?? null
  return typeof source === 'string' ? folded(fields[key] as Field, source) : null
}

export type Sort = { readonly field: string; readonly descending: boolean }

export const sorted = (
  entity: Entity,
  rows: readonly Row[],
  sorts: readonly Sort[],
): readonly Row[] =>
  rows.toSorted((a, b) => {
    for (const { field, descending } of sorts) {
      const order = compare(fieldValue(entity, a, field), fieldValue(entity, b, field))
      if (order !== 0) return descending ? -order : order
    }
    return a.id - b.id
  })

/** Whether a filter keeps a row, by a value that is right. */
export const keeps =
  (entity: Entity, { kind, field }: Filter, wanted: Value) =>
  (row: Row): boolean => {
    const value = fieldValue(entity, row, field)
    if (value === null) return false
    switch (kind) {
      case 'equals':
        return value === wanted
      case 'at least':
        return compare(value, wanted) >= 0
      case 'at most':
        return compare(value, wanted) <= 0
      case 'above zero':
        return Number(value) > 0
      case 'contains':
        return String(value).includes(folded(entity.fields[field] as Field, String(wanted)))
      default:
        return kind satisfies never
    }
  }
