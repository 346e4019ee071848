/** GET of one thing, as a Selection and its values. */
import { after } from '#base/after.ts'
import { lru } from '#base/lru.ts'
import { prepareFor } from '#core.ts'
import { askedBy } from '#http/asked.ts'
import { bodyOf, type Reply } from '#http/reply.ts'
import { queryString } from '#http/request.ts'
import { notFound } from '#model/model.ts'
import type { Role, Viewer } from '#model/policy.ts'
import { type Resource, resourceOf } from '#model/resource.ts'
import { plan, type ReadPlan } from '#read/plan.ts'
import { type Prepared, type Renderer, readCached } from '#read/read.ts'
import { oneRow, type Root, type Value } from '#read/selection.ts'
import { itemsOf, memberNames } from '#rest/members.ts'
import { type Mount, pathId } from '#rest/mount.ts'
import { fieldsOf, oneParameters } from '#rest/paging.ts'
import { parseQuery } from '#rest/query.ts'
import { isPublic, markOf, representAs, tagOf } from '#rest/represent.ts'
import type { Route } from '#rest/routes.ts'
import { styleOf } from '#versions/differences.ts'
import type { RestHandler } from '#versions/negotiation.ts'

/** The members of one thing. Slots: the viewer, its id, and its parent's where the path names one. */
const rootOf = (
  { core, prefix, version }: Mount,
  { entity, below }: Pick<Route, 'entity' | 'below'>,
  fields: readonly string[] | null,
): Root => {
  const items = itemsOf(core.model, resourceOf(core.model, entity, version), prefix, fields)
  const root = oneRow(entity, items)
  if (!below) return root
  return { ...root, where: [...root.where, { field: below.field, is: 'equals', slot: 2 }] }
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

/** The plans of one thing by the chosen members and the role; made when first needed. */
const plansOf = (mount: Mount, route: Route) => {
  const plans = lru<Prepared>(200)
  return (fields: readonly string[] | null, { role }: Viewer): Prepared => {
    const key = fields === null ? role : `${role} ${fields.join()}`
    const known = plans.get(key)
    if (known) return known
    const roots = [rootOf(mount, route, fields)]
    return plans.set(key, prepareFor(mount.core, { encoding: 'rest', roots }, role))
  }
}

/** The members that a query string chooses; null: all. Throws `VALIDATION_ERROR`. */
const chosenMembers = (resource: Resource) => {
  const { isStrict } = styleOf(resource.version)
  const { selectable } = resource.entity.rest
  const names = memberNames(resource)
  const parameters = [...oneParameters(resource), 'version']
  return (text: string): readonly string[] | null => {
    if (text === '' || !(selectable || isStrict)) return null
    const query = parseQuery(text)
    if (isStrict) query.only(parameters)
    const fields = selectable ? fieldsOf(query, names) : null
    query.done()
    return fields
  }
}

/** The body of one thing with its ETag; null where there is no such thing. */
type Shown = { readonly body: Reply['body']; readonly tag: string } | null

/** Serves one thing by its id. */
export const serveOne = (mount: Mount, route: Route): RestHandler => {
  const { core, edge, version } = mount
  const resource = resourceOf(core.model, route.entity, version)
  const { entity } = resource
  const open = isPublic(core.model, entity, route)
  const planFor = plansOf(mount, route)
  const chosen = chosenMembers(resource)
  const shown: Renderer<Shown> = {
    by: '',
    make: ([answer]) => {
      if (!answer || answer.text === 'null') return null
      const { text } = answer
      return { body: bodyOf(text), tag: tagOf(text, markOf(entity, answer), version) }
    },
  }
  return (c, viewer, named) => {
    // The right comes before the thing's existence, and both before the parameters; chosen members have rules of their own.
    const query = queryString(c)
    const entered = planFor(query === '' ? null : [], viewer)
    const id = pathId(c, 'id', route.entity)
    const values: Value[] = [viewer.id, id]
    if (route.below) values.push(pathId(c, 'parentId', route.below.entity))
    const find = (prepared: Prepared) =>
      after(readCached(core.reader, prepared, values, shown, askedBy(edge, c, viewer)), found => {
        if (found === null) throw notFound(route.entity, id)
        return found
      })
    let fields: readonly string[] | null
    try {
      fields = chosen(query)
    } catch (fault) {
      return after(find(entered), () => {
        throw fault
      })
    }
    return after(find(planFor(fields, viewer)), ({ body, tag }) =>
      representAs(c, edge, body, tag, { named, isPublic: open }),
    )
  }
}
