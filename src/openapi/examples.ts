/** Examples: the rows of the demo, as the API itself would show and take them. */
import { versionPath } from '#base/paths.ts'
import type { Entity, Link, Links } from '#model/entity.ts'
import { entityOf, fieldOf, type Model } from '#model/model.ts'
import { anonymous } from '#model/policy.ts'
import { type Member, type Resource, resourceOf } from '#model/resource.ts'
import type { Parts, Rows } from '#openapi/parts.ts'
import { type Input, inputFields } from '#openapi/schemas.ts'
import { encoders, inForm, orNull } from '#read/encode.ts'
import type { Answer } from '#read/read.ts'
import { cursorEnvelope, numberedEnvelope } from '#rest/paging.ts'
import { type InputContext, inputValues, type Values } from '#write/input.ts'

/** A moment for rows that do not say when they were made. */
const moment = Date.UTC(2026, 0, 5, 9)

/** A row whose amounts have no more decimals than the currency of the store, which the demo's may not be. */
const inCurrency = ({ settings }: Model, { fields }: Entity, row: Rows[string][number]) =>
  Object.fromEntries(
    Object.entries(row).map(([key, value]) => [
      key,
      fields[key]?.scalar === 'money' && typeof value === 'number'
        ? Number(value.toFixed(settings.currency.digits))
        : value,
    ]),
  )

/** A row as it would be stored, with its id. */
const storedRow = (
  { model, rows }: Parts,
  name: string,
  index: number,
  row = rows[name]?.[index],
): Values | undefined => {
  if (!row) return undefined
  const also = Object.keys(row)
  const use: InputContext = {
    mode: 'import',
    viewer: anonymous,
    model,
    now: moment,
    what: name,
    also,
  }
  const entity = entityOf(model, name)
  return new Map([['id', index + 1], ...inputValues(entity, inCurrency(model, entity, row), use)])
}

/** A stored value as JSON. */
const shownAs = (parts: Parts, { entity, formOf }: Resource, key: string, values: Values) => {
  const encode = encoders('rest', parts.model.settings.currency.digits)[fieldOf(entity, key).scalar]
  const form = formOf(key)
  return JSON.parse(orNull(form ? inForm(encode, form) : encode)(values.get(key) ?? null))
}

const linkIn = ({ href, method }: Link, values: Values, prefix: string) => {
  const path = href.replace(/\{(\w+)\}/g, (_, field) => String(values.get(field)))
  return path.includes('null') ? [] : [{ href: `${prefix}${path}`, ...(method && { method }) }]
}

const linksIn = ({ by, cases }: Links, values: Values, prefix: string) => {
  const named = cases[by === null ? 'all' : String(values.get(by))] ?? {}
  return Object.fromEntries(
    Object.entries(named).flatMap(([name, link]) =>
      linkIn(link, values, prefix).map(shown => [name, shown]),
    ),
  )
}

/** The rows of a relation that belong to a row, as they are shown. */
const embeddedIn = (parts: Parts, { entity }: Resource, name: string, id: number) => {
  const { to = '', by = '' } = entity.relations[name] ?? {}
  return (parts.rows[to] ?? []).flatMap((row, index) =>
    row[by] === id ? [exampleOf(parts, to, index)] : [],
  )
}

/** An entity's object, from a row; undefined where there is none. */
export const exampleOf = (
  parts: Parts,
  name: string,
  index = 0,
): Readonly<Record<string, unknown>> | undefined => {
  const values = storedRow(parts, name, index)
  if (!values) return undefined
  const resource = resourceOf(parts.model, name, parts.version)
  const shown = (member: Member): unknown => {
    if (member.kind === 'field') return shownAs(parts, resource, member.field, values)
    if (member.kind === 'links') return linksIn(member.links, values, versionPath(parts.version))
    return embeddedIn(parts, resource, member.name, index + 1)
  }
  return Object.fromEntries(resource.members.map(member => [member.name, shown(member)]))
}

/** An input that would make a row, or change the first: then it has one member. */
export const inputExample = (parts: Parts, name: string, input: Input): unknown => {
  const row = parts.inputs[name] ?? parts.rows[name]?.[0]
  const values = storedRow(parts, name, 0, row)
  if (!row || !values) return undefined
  const resource = resourceOf(parts.model, name, parts.version)
  const given = inputFields(resource, input).filter(
    ([key, field]) => Object.hasOwn(row, key) && field.settableBy.kind === 'anyone',
  )
  const members = given.map(
    ([key]) => [resource.nameOf(key), shownAs(parts, resource, key, values)] as const,
  )
  return Object.fromEntries(input.mode === 'update' ? members.slice(0, 1) : members)
}

const noKey = new Uint8Array(32)

/** The first page of a list with one row to a page, at a path below the version's prefix. */
export const listExample = (parts: Parts, name: string, path: string): unknown => {
  const { model, style, rows } = parts
  const first = exampleOf(parts, name)
  const total = rows[name]?.length ?? 0
  if (!first) return undefined
  const answer: Answer = {
    text: JSON.stringify([first]),
    objects: 1,
    total,
    last: 1,
    more: total > 1,
    revision: undefined,
    missing: undefined,
  }
  const address = { path, others: '' }
  const { body } =
    entityOf(model, name).rest.listing.paging === 'cursor'
      ? cursorEnvelope(answer, { key: noKey, list: path, limit: 1 }, address, style)
      : numberedEnvelope(answer, { limit: 1, offset: 0, page: 1, byOffset: false }, address, style)
  return JSON.parse(body)
}
