/** Generated requests with the answers that the reference gives them. */
import { searchedIn } from '#kit/check/reference.ts'
import type { Entity, Filter } from '#model/entity.ts'
import type { Field } from '#model/field.ts'
import { entityOf, typeName } from '#model/model.ts'
import { keptWords } from '#model/words.ts'
import type { Draw } from '../operations.ts'
import {
  conflicts,
  fileShown,
  keeps,
  masked,
  mayChange,
  mayEnter,
  paperHeaders,
  paperOf,
  put,
  type Reference,
  type Row,
  remove,
  rowFor,
  rowsOf,
  type Sort,
  seen,
  shown,
  slugged,
  sorted,
  type Value,
  withComputed,
} from './reference.ts'
import { queried } from './reference-graphql.ts'
import {
  asBy,
  bodyBy,
  isSettable,
  literal,
  objectText,
  scalarsOf,
  selected,
  valueBy,
} from './request-values.ts'
import { now, type Request, type Viewer } from './serve.ts'

/** A request, the entity whose ids it may use up, and what its answer must be. */
export type Expectation = {
  readonly request: Request
  readonly writes?: string
  readonly status: number
  /** The whole text of the answer; undefined where only the status counts. */
  readonly text?: string | ((text: string) => string | undefined)
}

const statusOf = { unique: 409, absent: 404, refused: 403 } as const

/** The answer to a write, with the row as it was written. */
const answered = (reference: Reference, name: string, row: Row, as: Viewer): string => {
  const entity = entityOf(reference.model, name)
  return JSON.stringify(shown(reference, entity, masked(reference, name, row, as), as))
}

export const create = (draw: Draw, reference: Reference, name: string): Expectation => {
  const entity = entityOf(reference.model, name)
  const as = name === 'member' ? 'admin' : draw.chance(5) ? 'anonymous' : asBy(draw)
  const body = bodyBy(draw, reference, entity, false, as)
  const first = rowFor(entity, (reference.last.get(name) ?? 0) + 1, body, as)
  const row = slugged(reference, name, first, body)
  if (!row) {
    const request = { line: `POST /api/${entity.plural}`, as, body }
    return { request, status: as === 'anonymous' ? 401 : 422 }
  }
  const conflict = conflicts(reference, name, row, as)
  const byGraphql =
    entity.graphql.mutations.includes('create') &&
    Object.keys(body).every(key => entity.fields[key]?.graphql !== 'hidden') &&
    draw.chance(40)
  const isDone = as !== 'anonymous' && conflict === null
  if (isDone) put(reference, name, row)
  if (!byGraphql)
    return {
      request: { line: `POST /api/${entity.plural}`, as, body },
      writes: name,
      status: as === 'anonymous' ? 401 : conflict === null ? 201 : statusOf[conflict],
      ...(isDone && { text: answered(reference, name, row, as) }),
    }
  const input = Object.entries(body).map(
    ([key, value]) => `${key}: ${literal(entity.fields[key] as Field, value)}`,
  )
  const field = `create${typeName(name)}`
  const query = `mutation { ${field}(input: { ${input.join(', ')} }) { ${scalarsOf(entity)
    .map(key => selected(entity, key))
    .join(' ')} } }`
  return {
    request: { line: 'POST /graphql', as, body: { query } },
    writes: name,
    status: 200,
    text: isDone
      ? `{"data":{"${field}":${objectText(entity, masked(reference, name, row, as))}}}`
      : text => (text.startsWith('{"errors"') ? text : undefined),
  }
}

const anIdBy = ({ of, chance }: Draw, reference: Reference, name: string): number => {
  const known = [...(reference.tables.get(name)?.keys() ?? [])]
  return known.length === 0 || chance(5) ? 999 : of(...known)
}

/** The times of the last change, after one. */
const touched = ({ fields }: Entity) =>
  Object.keys(fields).flatMap(key =>
    fields[key]?.touched ? [[key, new Date(now).toISOString()] as [string, Value]] : [],
  )

/** The row after a change of some fields: what they reset is as it was at first. */
const updated = (entity: Entity, old: Row, changed: Row, keys: readonly string[]): Row => {
  const initial = rowFor(entity, old.id, {}, 'user')
  const reset = Object.entries(entity.fields).flatMap(([key, { resetBy }]) =>
    resetBy !== undefined && !keys.includes(key) && changed[resetBy] !== old[resetBy]
      ? [[key, initial[key] ?? null]]
      : [],
  )
  const given = keys.map(key => [key, changed[key] ?? null])
  if (keys.length > 0) given.push(['revision', Number(old.revision) + 1], ...touched(entity))
  return withComputed(entity, { ...old, ...Object.fromEntries([...given, ...reset]), id: old.id })
}

export const update = (draw: Draw, reference: Reference, name: string): Expectation => {
  const entity = entityOf(reference.model, name)
  if (!entity.rest.writes.includes('update')) return create(draw, reference, name)
  const as = asBy(draw)
  const id = anIdBy(draw, reference, name)
  const body = bodyBy(draw, reference, entity, true, as)
  const request = { line: `PATCH /api/${entity.plural}/${id}`, as, body }
  const may = mayChange(reference, name, 'update', id, as)
  if (!may) return { request, status: may === undefined ? 404 : 403 }
  const old = reference.tables.get(name)?.get(id) as Row
  const changed = rowFor(entity, id, { ...old, ...body } as typeof body, as)
  const row = updated(entity, old, changed, Object.keys(body))
  const conflict = conflicts(reference, name, row, as, old, Object.keys(body))
  if (conflict !== null) return { request, status: statusOf[conflict] }
  put(reference, name, row)
  // What is counted below it may have changed by its own change.
  const kept = reference.tables.get(name)?.get(id) ?? row
  return { request, status: 200, text: answered(reference, name, kept, as) }
}

export const destroy = (draw: Draw, reference: Reference, name: string): Expectation | null => {
  const entity = entityOf(reference.model, name)
  if (name === 'member') return null
  const as = asBy(draw)
  const id = anIdBy(draw, reference, name)
  const request = { line: `DELETE /api/${entity.plural}/${id}`, as }
  const may = mayChange(reference, name, 'delete', id, as)
  if (!may) return { request, status: may === undefined ? 404 : 403 }
  const came = remove(reference, name, id)
  if (came === 'unsure') return null
  return { request, status: came === 'done' ? 204 : 409 }
}

/** A field of an entity that is a file; undefined if none is. */
const fileBy = (draw: Draw, entity: Entity): string | undefined => {
  const keys = Object.keys(entity.fields).filter(key => entity.fields[key]?.file)
  return keys.length > 0 ? draw.of(...(keys as [string])) : undefined
}

/** Puts the file of a row at its address, or removes it there. */
export const changeFile = (draw: Draw, reference: Reference, name: string): Expectation | null => {
  const entity = entityOf(reference.model, name)
  const key = fileBy(draw, entity)
  if (key === undefined || !entity.rest.writes.includes('update')) return null
  const field = entity.fields[key] as Field
  const as = draw.of<Viewer>('user', 'user', 'admin', 'anonymous')
  const id = anIdBy(draw, reference, name)
  const upload = field.nullable && draw.chance(30) ? null : draw.upTo(2)
  const request: Request = {
    ...{ line: `${upload === null ? 'DELETE' : 'PUT'} /api/${entity.plural}/${id}/${key}`, as },
    ...(upload !== null && {
      text: paperOf(upload),
      headers: paperHeaders,
    }),
  }
  if (as === 'anonymous') return { request, status: 401 }
  if (!isSettable(field, as)) return { request, status: 403 }
  const may = mayChange(reference, name, 'update', id, as)
  if (!may) return { request, status: may === undefined ? 404 : 403 }
  const old = reference.tables.get(name)?.get(id) as Row
  const changed = rowFor(entity, id, { ...old, [key]: upload === null ? null : { upload } }, as)
  const row = updated(entity, old, changed, [key])
  const conflict = conflicts(reference, name, row, as, old, [key])
  if (conflict !== null) return { request, status: statusOf[conflict] }
  const shown = seen(reference, name, as).find(row => row.id === id)?.[key] ?? null
  put(reference, name, row)
  if (upload === null) return { request, status: 204 }
  const status = shown === null ? 201 : 200
  return { request, status, text: JSON.stringify(fileShown(entity, key, row, '/api')) }
}

/** Reads the bytes of the file of a row. */
export const readFile = (draw: Draw, reference: Reference, name: string): Expectation | null => {
  const entity = entityOf(reference.model, name)
  const key = fileBy(draw, entity)
  if (key === undefined) return null
  const as = draw.of<Viewer>('user', 'admin', 'anonymous')
  const id = anIdBy(draw, reference, name)
  const request = { line: `GET /api/${entity.plural}/${id}/${key}`, as }
  if (!mayEnter(entity.policy.read, as)) return { request, status: 401 }
  const file = seen(reference, name, as).find(row => row.id === id)?.[key] ?? null
  if (file === null) return { request, status: 404 }
  return { request, status: 200, text: paperOf((file as { upload: number }).upload) }
}

export const readOne = (draw: Draw, reference: Reference, name: string): Expectation => {
  const entity = entityOf(reference.model, name)
  const as = draw.of<Viewer>('user', 'admin', 'anonymous')
  const id = anIdBy(draw, reference, name)
  const request = { line: `GET /api/${entity.plural}/${id}`, as }
  if (!mayEnter(entity.policy.read, as)) return { request, status: 401 }
  const row = seen(reference, name, as).find(row => row.id === id)
  return row
    ? { request, status: 200, text: JSON.stringify(shown(reference, entity, row, as)) }
    : { request, status: 404 }
}

const filterBy = (draw: Draw, reference: Reference, entity: Entity, filter: Filter) => {
  const field = entity.fields[filter.field] as Field
  const source = field.foldedFrom === undefined ? field : (entity.fields[field.foldedFrom] as Field)
  if (filter.kind === 'above zero') return true
  const value = valueBy(draw, reference, { ...source, nullable: false })
  const points = [...String(value)]
  return filter.kind === 'contains' ? points.slice(draw.upTo(points.length - 1)).join('') : value
}

const sortBy = (draw: Draw, entity: Entity): { text: string; sorts: readonly Sort[] } => {
  const { sort } = entity.rest.listing
  if (!sort || sort.fields.length === 0 || draw.chance(30)) return { text: '', sorts: [] }
  const field = draw.of(...(sort.fields as [string, ...string[]]))
  if (sort.style === 'signed list') {
    const bare = field.replace(/^-/, '')
    return { text: `sort=${field}`, sorts: [{ field: bare, descending: field !== bare }] }
  }
  const order = draw.of('asc', 'desc')
  return { text: `sort=${field}&order=${order}`, sorts: [{ field, descending: order === 'desc' }] }
}

/** A page of rows as the REST API gives it. Cursors are sealed, so only whether there is one is compared. */
const pageText = (
  reference: Reference,
  entity: Entity,
  rows: readonly Row[],
  as: Viewer,
  { limit, page }: { readonly limit: number; readonly page: number },
) => {
  const start = (page - 1) * limit
  const data = rows.slice(start, start + limit).map(row => shown(reference, entity, row, as))
  if (entity.rest.listing.paging === 'cursor') {
    const first = rows.slice(0, limit).map(row => shown(reference, entity, row, as))
    const expected = JSON.stringify({ data: first, nextCursor: rows.length > limit ? '…' : null })
    return (text: string) =>
      text.replace(/"nextCursor":"[^"]*"/, '"nextCursor":"…"') === expected ? text : undefined
  }
  const total = rows.length
  const totalPages = Math.ceil(total / limit)
  const hasNext = page * limit < total
  const pagination = { page, limit, total, totalPages, hasNext, hasPrev: page > 1 }
  return JSON.stringify({ data, pagination })
}

export const readList = (draw: Draw, reference: Reference, name: string): Expectation => {
  const entity = entityOf(reference.model, name)
  const { listing } = entity.rest
  const as = asBy(draw)
  let rows = seen(reference, name, as)
  const parameters: string[] = []
  for (const [parameter, filter] of Object.entries(listing.filters ?? {})) {
    if (!draw.chance(12)) continue
    const value = filterBy(draw, reference, entity, filter)
    if (value === null) continue
    parameters.push(`${parameter}=${encodeURIComponent(String(value))}`)
    rows = rows.filter(keeps(entity, filter, value))
  }
  const { text, sorts } = sortBy(draw, entity)
  if (text !== '') parameters.push(text)
  const byCursor = listing.paging === 'cursor'
  rows = byCursor ? rows.toSorted((a, b) => b.id - a.id) : sorted(entity, rows, sorts)
  const limit = draw.chance(50) ? draw.upTo(7, 1) : entity.pageSize
  const page = !byCursor && draw.chance(40) ? draw.upTo(4, 1) : 1
  if (limit !== entity.pageSize) parameters.push(`limit=${limit}`)
  if (page > 1) parameters.push(`page=${page}`)
  const line = `GET /api/${entity.plural}${parameters.length > 0 ? `?${parameters.join('&')}` : ''}`
  return {
    request: { line, as },
    status: 200,
    text: pageText(reference, entity, rows, as, { limit, page }),
  }
}

/** The rows below another: pages of the target's own kind. */
export const readBelow = (draw: Draw, reference: Reference, name: string): Expectation => {
  const entity = entityOf(reference.model, name)
  const lists = Object.entries(entity.relations).filter(([, { rest }]) => rest)
  const as = asBy(draw)
  if (lists.length === 0) return readList(draw, reference, name)
  const [key, { to, by }] = draw.of(...(lists as [(typeof lists)[number]]))
  const target = entityOf(reference.model, to)
  const id = anIdBy(draw, reference, name)
  const request = { line: `GET /api/${entity.plural}/${id}/${key}`, as }
  if (!seen(reference, name, as).some(row => row.id === id)) return { request, status: 404 }
  const all = seen(reference, to, as).filter(row => row[by] === id)
  const byCursor = target.rest.listing.paging === 'cursor'
  const rows = byCursor ? all.toSorted((a, b) => b.id - a.id) : sorted(target, all, [])
  const text = pageText(reference, target, rows, as, { limit: target.pageSize, page: 1 })
  return { request, status: 200, text }
}

/** A search for words of some row, maybe a hidden one, by either API; of an entity without a search a list. */
export const search = (draw: Draw, reference: Reference, name: string): Expectation => {
  const entity = entityOf(reference.model, name)
  const keys = Object.keys(entity.search)
  if (keys.length === 0) return readList(draw, reference, name)
  const as = asBy(draw)
  const all = [...rowsOf(reference, name).values()]
  const texts = all.flatMap(row => keys.map(key => String(row[key] ?? '')))
  const [word = 'x', ...others] = keptWords(draw.of('', ...texts)).split(' ')
  const beginning = Array.from(word).slice(0, draw.upTo(4, 1)).join('')
  const words = draw.of(word, beginning, `${others[0] ?? ''} ${beginning.toUpperCase()}`)
  const limit = draw.upTo(9, 1)
  const found = searchedIn(entity.search, seen(reference, name, as), words).slice(0, limit)
  if (draw.chance(50)) {
    const order = 'orderBy: [{ relevance: DESC }, { id: ASC }]'
    const query = `{ ${entity.plural}(search: ${JSON.stringify(words)}, ${order}, limit: ${limit}) { id } }`
    const data = { [entity.plural]: found.map(id => ({ id: String(id) })) }
    const request = { line: 'POST /graphql', as, body: { query } }
    return { request, status: 200, text: JSON.stringify({ data }) }
  }
  const parameters = `search=${encodeURIComponent(words)}&sort=-relevance,id&limit=${limit}`
  return {
    request: { line: `GET /api/v2/${entity.plural}?${parameters}`, as },
    status: 200,
    text: text => {
      const ids = JSON.parse(text).data.map((row: { id: number }) => row.id)
      return ids.join() === found.join() ? text : `${found}`
    },
  }
}

const selectionBy = (draw: Draw, reference: Reference, name: string, levels: number): string => {
  const entity = entityOf(reference.model, name)
  const scalars = scalarsOf(entity)
    .filter(() => draw.chance(50))
    .map(key => selected(entity, key))
  const relations = Object.entries(entity.relations).flatMap(([key, { to, kind }]) => {
    if (levels === 0 || draw.chance(40)) return []
    const page =
      kind === 'many' && draw.chance(60)
        ? `(limit: ${draw.upTo(3, 1)}, offset: ${draw.upTo(2)})`
        : ''
    return [`${key}${page} { ${selectionBy(draw, reference, to, levels - 1)} }`]
  })
  return ['__typename', ...scalars, ...relations].join(' ')
}

const argumentsBy = (draw: Draw, reference: Reference, entity: Entity): string => {
  const filters = entity.graphql.filters.flatMap(key => {
    const field = entity.fields[key] as Field
    return draw.chance(15) ? [`${key}: ${literal(field, valueBy(draw, reference, field))}`] : []
  })
  const page = draw.chance(60) ? [`limit: ${draw.upTo(6, 1)}`, `offset: ${draw.upTo(3)}`] : []
  const all = [...filters, ...page]
  return all.length > 0 ? `(${all.join(', ')})` : ''
}

export const query = (draw: Draw, reference: Reference, name: string): Expectation => {
  const entity = entityOf(reference.model, name)
  const as = asBy(draw)
  const root = draw.chance(30)
    ? `${name}(id: "${anIdBy(draw, reference, name)}")`
    : `${entity.plural}${argumentsBy(draw, reference, entity)}`
  const query = `{ ${root} { ${selectionBy(draw, reference, name, 3)} } }`
  const expected = queried(reference, query, as)
  const request = { line: 'POST /graphql', as, body: { query } }
  if (expected.startsWith('{')) return { request, status: 200, text: expected }
  return {
    request,
    status: 200,
    text: text => (/"message":"\w+ \S+ not found"/.test(text) ? text : undefined),
  }
}
