/** What each caller reads, through both APIs, judged by the reference: each row, each plain list, and routes by hand that show rows. */

import { isDeepStrictEqual } from 'node:util'
import { restPath, versionPath } from '#base/paths.ts'
import { rotated } from '#base/random.ts'
import { named, pathOf } from '#kit/check/callers.ts'
import {
  entityAt,
  outcomeOf,
  type RequestOutcome,
  refusalOf,
  type Sent,
} from '#kit/check/offers.ts'
import {
  linkRules,
  memberName,
  nobodysRow,
  type ReferenceRow,
  type RowsReference,
  verdict,
} from '#kit/check/reference.ts'
import { brief, type CheckService, faultOf, restore } from '#kit/check/service.ts'
import { columnName, entityOf } from '#model/model.ts'
import { isByRow, type Viewer } from '#model/policy.ts'
import { fileFields, fileMembers } from '#model/stored-file.ts'
import { isIn } from '#model/version.ts'
import { routesOf } from '#rest/routes.ts'
import { comma, join, name, sql } from '#sql/sql.ts'

export const sameOrFault = (told: unknown, right: unknown, about: string): void => {
  if (isDeepStrictEqual(told, right)) return
  const [is = '', was = ''] = [told, right].map(one => brief(JSON.stringify(one) ?? 'nothing'))
  throw faultOf(about, was, is)
}

/** Throws a Fault for a request of which became what is not among what is right. */
export const outcomeOrFault = (
  { answer, is }: Sent,
  right: readonly RequestOutcome[],
  about: string,
  remedy?: string,
): void => {
  if (right.includes(is)) return
  const expected = `${[...new Set(right)].join(' or ')}, as its rule says`
  throw faultOf(about, expected, `${is} ${brief(answer.text)}`.trim(), remedy)
}

/** The fields of an entity that a caller may read in some rows at least. */
const readable = ({ model }: CheckService, entity: string, viewer: Viewer) =>
  Object.entries(entityOf(model, entity).fields).filter(
    ([, { readableBy }]) => verdict(readableBy, viewer, model) !== 'no',
  )

/** An object of REST, or of the reference, without the members that the caller may not read in any row. */
export const comparable = (
  service: CheckService,
  entity: string,
  viewer: Viewer,
  object: object,
  isAnswer = true,
) => {
  const { version } = service.view
  const open = new Set(readable(service, entity, viewer).map(([key]) => key))
  const closed = Object.entries(entityOf(service.model, entity).fields).flatMap(([key, field]) =>
    open.has(key) ? [] : [memberName(key, field, version)],
  )
  const members = Object.entries(object)
  const shown = members.find(([member, value]) => closed.includes(member) && value !== null)
  if (shown && isAnswer)
    throw faultOf(
      `${entity} for ${named(viewer)}`,
      `no ${shown[0]}, which it may read in no row`,
      brief(JSON.stringify(shown[1])),
    )
  return Object.fromEntries(members.filter(([member]) => !closed.includes(member)))
}

/** A row as the reference owes it to the caller in the newest version of REST, to be compared with an answer. */
export const owed = (
  service: CheckService,
  reference: RowsReference,
  entity: string,
  row: ReferenceRow,
  viewer: Viewer,
) => {
  const object = reference.objectOf(entity, row, service.view, viewer)
  return comparable(service, entity, viewer, object, false)
}

/** A row as the GraphQL API shows the fields that the caller may read. */
const graphqlObject = (
  service: CheckService,
  reference: RowsReference,
  entityName: string,
  row: ReferenceRow,
  viewer: Viewer,
) => {
  const entity = entityOf(service.model, entityName)
  const { all, newest } = service.model.versions
  const prefix = all.length > 1 ? versionPath(newest) : restPath
  const members = readable(service, entityName, viewer).flatMap(([key, field]) => {
    if (field.graphql !== 'shown') return []
    const { readableBy } = field
    const isOpen = !isByRow(readableBy) || reference.may(entityName, row, readableBy, viewer)
    const at = { id: row.id, prefix }
    const value = isOpen ? reference.shown(entity, key, row[key] ?? null, at) : null
    return [[key, field.scalar === 'id' && value !== null ? String(value) : value]]
  })
  return Object.fromEntries(members)
}

/** Some of the rows from a random one on, and one that is not there. */
const someOf = (rows: readonly ReferenceRow[], random: () => number, most: number) => [
  ...rotated(rows, random).slice(0, most),
  nobodysRow,
]

const readsOfRest = async (
  service: CheckService,
  reference: RowsReference,
  random: () => number,
  most: number,
) => {
  const { model, view, callers, ask } = service
  for (const route of routesOf(model)) {
    const { entity, below, kind } = route
    if ((kind !== 'one' && kind !== 'list') || !isIn(route.lifetime, view.version)) continue
    const { policy, pageSize } = entityOf(model, entity)
    const rule = policy.enter ?? policy.read
    const isList = kind === 'list'
    const some = someOf(reference.rowsIn(below && isList ? below.entity : entity), random, most)
    const asked = isList && !below ? some.slice(0, 1) : some
    for (const [viewer, row] of callers.flatMap(viewer =>
      asked.map(row => [viewer, row] as const),
    )) {
      const parent = isList ? row : below && reference.byId(below.entity, row[below.field])
      if (below && !parent) continue
      const line = `GET ${pathOf(route, view.prefix, { id: row.id, parentId: parent?.id })}`
      const answer = await ask(line, viewer)
      const about = `${line} by ${named(viewer)}`
      // One row is there by its own rule; a list, where its parent is.
      const [of, by] =
        isList && below ? [below.entity, entityOf(model, below.entity).policy.read] : [entity, rule]
      const rules = [rule, by, ...linkRules(model, route)]
      const isOpen = rules.every(one => verdict(one, viewer, model) !== 'no')
      const isThere =
        (isList && !below) ||
        (reference.byId(of, row.id) !== undefined && reference.may(of, row, by, viewer))
      const right = !isOpen ? refusalOf(viewer) : isThere ? 'done' : 'absent'
      outcomeOrFault({ answer, is: outcomeOf(answer) }, [right], about)
      if (right !== 'done') continue
      const object = (one: ReferenceRow) => owed(service, reference, entity, one, viewer)
      const told = (one: object) => comparable(service, entity, viewer, one)
      if (!isList) sameOrFault(told(answer.json), object(row), about)
      else {
        const rows = reference.listed(route, below && parent?.id, viewer).slice(0, pageSize)
        sameOrFault(answer.json.data.map(told), rows.map(object), about)
      }
    }
  }
}

const readsOfGraphql = async (
  service: CheckService,
  reference: RowsReference,
  random: () => number,
  most: number,
) => {
  const { model, callers, gql } = service
  for (const [entity, { graphql, plural, policy }] of Object.entries(model.entities)) {
    if (!graphql.type || !graphql.roots) continue
    const rule = policy.enter ?? policy.read
    for (const viewer of callers) {
      const [row, ...others] = someOf(reference.rowsIn(entity), random, most)
      if (!row || others.length === 0) continue
      const object = (one: ReferenceRow) => graphqlObject(service, reference, entity, one, viewer)
      const { fields } = entityOf(model, entity)
      const keys = Object.keys(object(row)).map(key =>
        fields[key]?.file ? `${key} { ${fileMembers.join(' ')} }` : key,
      )
      if (keys.length === 0) continue
      const byId = (one: { id?: unknown }, other: { id?: unknown }) =>
        Number(one.id) - Number(other.id)
      const about = `by ${named(viewer)} through GraphQL`
      const query = `query ($id: ID!) { it: ${entity}(id: $id) { ${keys.join(' ')} } }`
      const isOpen = verdict(rule, viewer, model) !== 'no'
      for (const one of [row, ...others]) {
        const answer = await gql(query, viewer, { id: one.id })
        const isThere =
          isOpen && reference.byId(entity, one.id) && reference.may(entity, one, rule, viewer)
        const right: RequestOutcome = !isOpen ? refusalOf(viewer) : isThere ? 'done' : 'absent'
        const told = `${entity} ${one.id} ${about}`
        outcomeOrFault({ answer, is: outcomeOf(answer, true) }, [right], told)
        if (right === 'done') sameOrFault(answer.json.data.it, object(one), told)
      }
      const rows = reference.seen(entity, rule, viewer)
      if (!isOpen || rows.length > 100) continue
      const list = await gql(`{ it: ${plural}(limit: 100) { ${keys.join(' ')} } }`, viewer)
      sameOrFault(
        list.json.data?.it?.toSorted(byId) ?? list.json.errors,
        rows.map(object).toSorted(byId),
        `${plural} ${about}`,
      )
    }
  }
}

/** The files of rows, as each caller reads them at their addresses: by the rules of row and field, and none of a row that has none. */
const readsOfFiles = async (
  { model, view, callers, ask }: CheckService,
  reference: RowsReference,
  random: () => number,
  most: number,
) => {
  for (const { entityName, entity, key, field } of fileFields(model.entities)) {
    if (!field.rest || !isIn(field, view.version)) continue
    const { enter, read } = entity.policy
    for (const viewer of callers)
      for (const row of someOf(reference.rowsIn(entityName), random, most)) {
        const line = `GET ${view.prefix}/${entity.plural}/${row.id}/${key}`
        const answer = await ask(line, viewer)
        const rules = [enter ?? read, field.readableBy]
        const isOpen = rules.every(rule => verdict(rule, viewer, model) !== 'no')
        const isThere =
          reference.byId(entityName, row.id) !== undefined &&
          row[key] !== null &&
          [...rules, read].every(rule => reference.may(entityName, row, rule, viewer))
        const right = !isOpen ? refusalOf(viewer) : isThere ? 'done' : 'absent'
        const about = `${line} by ${named(viewer)}`
        outcomeOrFault({ answer, is: outcomeOf(answer) }, [right], about)
      }
  }
}

/** Each list, and `most` rows of each entity, as each caller reads them through both APIs. */
export const checkReads = async (
  service: CheckService,
  random: () => number,
  most = 1,
): Promise<void> => {
  const reference = await service.reference()
  await readsOfRest(service, reference, random, most)
  await readsOfGraphql(service, reference, random, most)
  await readsOfFiles(service, reference, random, most)
}

/** What marks the text of a field of a row, so that an answer which shows it is found out. */
const markOf = (entity: string, key: string, id: number) => `hidden ${entity} ${key} ${id}.`

/** Routes by hand that read, called by each caller while the texts of all rows that its rules hide are marked: no answer may have a mark, nor be given where the rule of the route says no. Gives how many routes there were. */
export const checkHandReads = async (service: CheckService): Promise<number> => {
  const { content, model, view, callers, ask } = service
  const { routes } = await content.served()
  const reading = routes.filter(route => route.method === 'GET' && isIn(route, view.version))
  if (reading.length === 0) return 0
  const before = await service.rows()
  for (const viewer of callers) {
    const reference = await service.reference()
    const marks: { entity: string; key: string; row: ReferenceRow; mark: string }[] = []
    for (const [entity, { table, fields, policy, view }] of Object.entries(model.entities)) {
      if (!isByRow(policy.read) || view) continue
      const keys = Object.keys(fields).filter(key => {
        const { scalar, values, foldedFrom, computed, range } = fields[key] ?? {}
        const isPlain = scalar === 'text' && !values && foldedFrom === undefined && !computed
        return isPlain && (range?.max ?? 0) >= markOf(entity, key, 9999).length
      })
      for (const row of reference.rowsIn(entity)) {
        if (keys.length === 0 || !reference.isHidden(entity, row, viewer)) continue
        const all = keys.map(key => ({ entity, key, row, mark: markOf(entity, key, row.id) }))
        const set = all.map(({ key, mark }) => sql`${name(columnName(key))} = ${mark}`)
        const piece = sql`update ${name(table)} set ${join(set, comma)} where id = ${row.id}`
        // A row that takes no other texts has none that could be marked.
        if (await service.change(piece).then(Boolean, () => false)) marks.push(...all)
      }
    }
    const now = await service.reference()
    for (const { path, described } of reading) {
      const about = entityAt(model, path)
      const ids = about === null ? [1, 2] : reference.rowsIn(about).map(({ id }) => id)
      for (const id of path.includes(':') ? ids : ids.slice(0, 1)) {
        const line = `GET ${view.prefix}${path.replace(/:\w+/g, String(id))}`
        const { text, status } = await ask(line, viewer)
        const row = about === null ? undefined : now.byId(about, id)
        const isOpen = !row || about === null || now.may(about, row, described.rule, viewer)
        if (!isOpen && status < 300)
          throw faultOf(
            `the route GET ${path}: ${line} by ${named(viewer)}`,
            'refused, as its rule says of this row',
            `${status} ${brief(text)}`,
            'ask for the rule in the handler, since the machine cannot know which row it is about; or say anyone, if it is open on purpose',
          )
        const shown = marks.find(
          ({ entity, row, mark }) =>
            text.includes(mark) && now.isHidden(entity, now.byId(entity, row.id) ?? row, viewer),
        )
        if (shown)
          throw faultOf(
            `the route GET ${path}: ${line} by ${named(viewer)}`,
            `nothing of ${shown.entity} ${shown.row.id}, which its rule to read hides`,
            `its ${shown.key}`,
            'let the route read as its caller, or ask for the rule itself',
          )
      }
    }
    await restore(service, before)
  }
  return reading.length
}
