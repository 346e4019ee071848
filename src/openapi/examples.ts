/** Examples: the rows of the demo, as the API itself would show and take them. */
import { versionPath } from '#base/paths.ts'
import type { Links } from '#model/entity.ts'
import { entityOf, fieldOf } from '#model/model.ts'
import { roundedTo } from '#model/money.ts'
import { anonymous, isForAll } from '#model/policy.ts'
import { type Member, type Resource, resourceOf } from '#model/resource.ts'
import type { DocumentParts } from '#openapi/parts.ts'
import { inputFields } from '#openapi/schemas.ts'
import { sealCursor, sealOf } from '#read/cursor.ts'
import type { Answer } from '#read/read.ts'
import { encoders, inForm, orNull } from '#read/stitch.ts'
import { cursorEnvelope, numberedEnvelope } from '#rest/paging.ts'
import type { Route } from '#rest/routes.ts'
import { type InputContext, inputValues, type Values } from '#write/input.ts'

/** A moment for rows that do not say when they were made. */
const moment = Date.UTC(2026, 0, 5, 9)

/** A row as it would be stored, with its id. */
const storedRow = (
  { model, rows }: DocumentParts,
  name: string,
  index: number,
  row = rows[name]?.[index],
): Values | undefined => {
  if (!row) return undefined
  const entity = entityOf(model, name)
  const inCurrency = roundedTo(model.settings.currency.digits, entity.fields, row)
  const common = { mode: 'import', viewer: anonymous, model } as const
  const context: InputContext = { ...common, now: moment, what: name, also: Object.keys(row) }
  return new Map([['id', index + 1], ...inputValues(entity, inCurrency, context)])
}

const shownAs = (
  { model }: DocumentParts,
  { entity, formOf }: Resource,
  key: string,
  values: Values,
) => {
  const encode = encoders('rest', model.settings.currency.digits)(fieldOf(entity, key))
  const form = formOf(key)
  return JSON.parse(orNull(form ? inForm(encode, form) : encode)(values.get(key) ?? null))
}

/** The links of a row; a link is left out if the row lacks a value for its path. */
const linksIn = ({ by, cases }: Links, values: Values, prefix: string) => {
  const named = cases[by === null ? 'all' : String(values.get(by))] ?? {}
  return Object.fromEntries(
    Object.entries(named).flatMap(([name, { href, method }]) => {
      const path = href.replace(/\{(\w+)\}/g, (_, field) => String(values.get(field)))
      if (path.includes('null')) return []
      return [[name, { href: `${prefix}${path}`, ...(method && { method }) }]]
    }),
  )
}

/** An entity's object, from a row; undefined if there is none. */
export const exampleOf = (
  parts: DocumentParts,
  name: string,
  index = 0,
): Readonly<Record<string, unknown>> | undefined => {
  const { model, version, rows } = parts
  const values = storedRow(parts, name, index)
  if (!values) return undefined
  const resource = resourceOf(model, name, version)
  const shown = (member: Member): unknown => {
    if (member.kind === 'field') return shownAs(parts, resource, member.field, values)
    if (member.kind === 'links') return linksIn(member.links, values, versionPath(version))
    const { to = '', by = '' } = resource.entity.relations[member.name] ?? {}
    return (rows[to] ?? []).flatMap((row, other) =>
      row[by] === index + 1 ? [exampleOf(parts, to, other)] : [],
    )
  }
  return Object.fromEntries(resource.members.map(member => [member.name, shown(member)]))
}

/** An input that would make a row, or change the first: then it has one member. */
export const inputExample = (parts: DocumentParts, route: Route): unknown => {
  const name = route.entity
  const row = parts.inputs[name] ?? parts.rows[name]?.[0]
  const values = storedRow(parts, name, 0, row)
  if (!row || !values) return undefined
  const resource = resourceOf(parts.model, name, parts.version)
  const members = inputFields(resource, route)
    .filter(([key, field]) => Object.hasOwn(row, key) && isForAll(field.settableBy))
    .map(([key]) => [resource.nameOf(key), shownAs(parts, resource, key, values)] as const)
  return Object.fromEntries(route.kind === 'update' ? members.slice(0, 1) : members)
}

/** The ids of rows of the demo for the parameters of a path, the parent first and then what is below it; none where the demo has no such row. */
export const pathExamples = (
  { stored }: DocumentParts,
  { entity, below }: Pick<Route, 'entity' | 'below'>,
): readonly (number | undefined)[] => {
  const idOf = (name: string) => (stored[name]?.length ? 1 : undefined)
  if (!below) return [idOf(entity)]
  const { field, through } = below
  const rows = stored[through?.entity ?? entity] ?? []
  const index = rows.findIndex(row => typeof row[field] === 'number')
  const row = rows[index]
  if (!row) return [idOf(below.entity)]
  return [row[field], through ? row[through.of] : index + 1].map(id =>
    typeof id === 'number' ? id : undefined,
  )
}

/** The first page of an entity's list with one row to a page, at its path below the version's prefix. */
export const listExample = (parts: DocumentParts, name: string): unknown => {
  const { model, style, rows } = parts
  const { plural, rest } = entityOf(model, name)
  const path = `/${plural}`
  const first = exampleOf(parts, name)
  const total = rows[name]?.length ?? 0
  if (!first) return undefined
  const seal = sealOf(new Uint8Array(32), path)
  const answer: Answer = {
    text: JSON.stringify([first]),
    objects: 1,
    total,
    last: 1,
    more: total > 1,
    revision: undefined,
    missing: undefined,
    ends: { first: '', last: sealCursor(seal, [1]) },
  }
  const address = { path, others: '' }
  const { body } =
    rest.listing.paging === 'cursor'
      ? cursorEnvelope({ ...answer, total: undefined }, { seal }, 1, address, style)
      : numberedEnvelope(answer, { limit: 1, offset: 0, page: 1, byOffset: false }, address, style)
  return JSON.parse(body)
}
