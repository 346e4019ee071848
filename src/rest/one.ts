/** GET of one thing, as a Selection and its values. */
import { after } from '#base/after.ts'
import { signedAddress } from '#files/serve.ts'
import { bodyOf } from '#http/encode-body.ts'
import type { Reply } from '#http/reply.ts'
import { queryString, readOptionsOf } from '#http/request.ts'
import { type Model, notFound } from '#model/model.ts'
import type { Role } from '#model/policy.ts'
import { type Member, type Resource, resourceOf } from '#model/resource.ts'
import { fileFormOf, withSigned } from '#model/stored-file.ts'
import type { ReadPlan } from '#read/plan.ts'
import { plan } from '#read/planner.ts'
import { type Answer, type Renderer, readCached } from '#read/read.ts'
import { comparing, type Item, oneRow, type ParameterValue, type Root } from '#read/selection.ts'
import { fieldsOf, memberNames, parseQuery, queryParameters, signsIn } from '#rest/query.ts'
import {
  isPublic,
  type Mount,
  objectTag,
  pathId,
  preparedReads,
  represent,
} from '#rest/represent.ts'
import type { Route } from '#rest/routes.ts'
import type { RestHandler } from '#versions/negotiation.ts'

/** What to read for the members of a resource, all or the chosen ones, in the object's own order; links stand below `prefix`. */
export const itemsOf = (
  model: Model,
  { entity, version, members }: Resource,
  prefix: string,
  chosen: readonly string[] | null,
  isSigned = false,
): readonly Item[] => {
  const itemOf = (member: Member): Item => {
    const key = member.name
    if (member.kind === 'field') {
      const { field, form } = member
      return { kind: 'field', key, field, form, file: fileFormOf(entity, field, prefix, isSigned) }
    }
    if (member.kind === 'links') return { kind: 'links', key, prefix, links: member.links }
    const target = resourceOf(model, entity.relations[key]?.to ?? '', version)
    const items = itemsOf(model, target, prefix, null, isSigned)
    return { kind: 'relation', key, relation: key, page: null, items }
  }
  return members.filter(({ name }) => chosen === null || chosen.includes(name)).map(itemOf)
}

/** The members of one thing. Slots: the viewer, its id, and its parent's if the path names one. */
const rootOf = (
  { core, prefix, version }: Mount,
  { entity, below }: Pick<Route, 'entity' | 'below'>,
  fields: readonly string[] | null,
  isSigned = false,
): Root => {
  const resource = resourceOf(core.model, entity, version)
  const root = oneRow(entity, itemsOf(core.model, resource, prefix, fields, isSigned))
  if (!below) return root
  return { ...root, where: [...root.where, comparing(below.field, 'eq', 2)] }
}

/** The plan that reads one thing of an entity whole, as writes answer with it. */
export const wholeOne = (
  mount: Mount,
  entity: string,
  role: Role,
  written: 'created' | 'changed',
): ReadPlan => {
  const root = { ...rootOf(mount, { entity }, null), written }
  return plan({ encoding: 'rest', roots: [root] }, mount.core.model, role)
}

/** Serves one thing by its id. */
export const serveOne = (mount: Mount, route: Route): RestHandler => {
  const { core, edge, version, style } = mount
  const resource = resourceOf(core.model, route.entity, version)
  const { entity } = resource
  const { selectable } = entity.rest
  const { isStrict } = style
  const names = memberNames(resource)
  const parameters = [...queryParameters(resource, route.kind, style), 'version']
  const open = isPublic(core.model, entity, route)
  const hasFiles = parameters.includes('signed')

  type Shown = { readonly fields: readonly string[] | null; readonly isSigned: boolean }
  const reads = preparedReads(core, 200, ({ fields, isSigned }: Shown) =>
    rootOf(mount, route, fields, isSigned),
  )
  const readFor = (role: Role, fields: readonly string[] | null, isSigned = false) => {
    const key = `${isSigned ? 'signed' : ''}${fields === null ? '' : ` ${fields.join()}`}`
    return reads(role, key, { fields, isSigned })
  }

  /** The body with its ETag; null if there is no such thing. */
  const shown: Renderer<{ readonly body: Reply['body']; readonly tag: string } | null> = {
    by: '',
    make: ([answer]) =>
      !answer || answer.text === 'null'
        ? null
        : { body: bodyOf(answer.text), tag: objectTag(entity, answer, mount) },
  }

  /** The same with the addresses of its files, which are signed anew for each request. */
  const signed: Renderer<Answer | undefined> = { by: 'signed', make: ([answer]) => answer }
  const sign = (path: string, digest: string) =>
    signedAddress(core.cursorKey, path, digest, core.now())

  return (c, viewer, named) => {
    const text = queryString(c)
    // The right comes before the thing's existence, and both before the parameters; chosen members have rules of their own.
    let prepared = readFor(viewer.role, text === '' ? null : [])
    const id = pathId(c, 'id', route.entity)
    const values: ParameterValue[] = [viewer.subject ?? viewer.id, id]
    if (route.below) values.push(pathId(c, 'parentId', route.below.entity))
    const query = text === '' ? undefined : parseQuery(text)
    if (query) {
      if (isStrict) query.only(parameters)
      const fields = selectable ? fieldsOf(query, names) : null
      const isSigned = hasFiles && signsIn(query)
      if (isSigned && query.isSound()) {
        const known = readFor(viewer.role, fields, true)
        const read = readCached(core.reader, known, values, signed, readOptionsOf(edge, c, viewer))
        return after(read, answer => {
          if (!answer || answer.text === 'null') throw notFound(route.entity, id)
          query.done()
          const body = withSigned(answer.text, sign)
          const tag = objectTag(entity, { ...answer, text: body }, mount)
          return represent(c, edge, body, { named, isPublic: false, tag })
        })
      }
      if (query.isSound()) prepared = readFor(viewer.role, fields)
    }
    const found = readCached(core.reader, prepared, values, shown, readOptionsOf(edge, c, viewer))
    return after(found, made => {
      if (made === null) throw notFound(route.entity, id)
      query?.done()
      return represent(c, edge, made.body, { named, isPublic: open, tag: made.tag })
    })
  }
}
