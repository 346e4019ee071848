/** POST, PUT, PATCH and DELETE of plain resources, and the actions: checked, written, answered with what was made. */
import type { JsonObject } from '#base/object.ts'
import { writingFor } from '#core.ts'
import { ApiError } from '#errors.ts'
import { preconditionOf } from '#http/conditional.ts'
import { type Reply, writeHeaders } from '#http/reply.ts'
import { type Http, header, jsonBody, noBody, plainBytes, queryString } from '#http/request.ts'
import { entityOf } from '#model/model.ts'
import type { Role, Viewer } from '#model/policy.ts'
import { resourceOf } from '#model/resource.ts'
import type { ReadPlan } from '#read/plan.ts'
import { type Mount, pathId } from '#rest/mount.ts'
import { wholeOne } from '#rest/one.ts'
import { checkParameters } from '#rest/query.ts'
import { markOf, tagOf } from '#rest/represent.ts'
import type { Route } from '#rest/routes.ts'
import { countingBody } from '#versions/deprecated-use.ts'
import type { RequestedVersion, RestHandler } from '#versions/negotiation.ts'
import { type Action, guardedBy } from '#write/action.ts'
import { create, createPrecheck, precheck, remove, update } from '#write/derived.ts'
import { idempotencyOf, keyedRequest } from '#write/idempotency.ts'
import { type InputContext, inputValues, type Mode } from '#write/input.ts'
import type { Idempotency } from '#write/job.ts'
import { revisionSteps, type Target } from '#write/preconditions.ts'
import { type Command, permit, type Writing } from '#write/steps.ts'
import { commit, type Done, type Reading } from '#write/write.ts'

const bodyTypes = ['application/json']
const patchTypes = ['application/json', 'application/merge-patch+json']

/** Gives the read that answers a write; its plans by role are made when first needed. */
const readings = (mount: Mount, entity: string, written: 'created' | 'changed' = 'changed') => {
  const plans = new Map<Role, ReadPlan>()
  return ({ id, role }: Viewer): Reading => ({
    plan: plans.getOrInsertComputed(role, () => wholeOne(mount, entity, role, written)),
    values: [id],
  })
}

const run = (
  { core, version }: Mount,
  command: Command,
  reading: Reading | null,
  idempotency?: Idempotency,
): Promise<Done> => commit(core, command, reading, { idempotency, version })

/**
 * What is read from the request itself. 403 and 404 come before its faults: where it has some, the check of the row is
 * run first, and throws these.
 */
const readThen = async <Read>(
  mount: Mount,
  check: (() => Command) | undefined,
  readRequest: () => Promise<Read>,
): Promise<Read> => {
  try {
    return await readRequest()
  } catch (error) {
    const isExpired = error instanceof ApiError && error.code === 'UNAUTHENTICATED'
    if (check && !isExpired) await run(mount, check(), null)
    throw error
  }
}

/** How the body of a plain write is checked: by the members of the caller's version. */
const useOf = (
  { core, version }: Mount,
  entity: string,
  mode: Mode,
  viewer: Viewer,
): InputContext => {
  const { model } = core
  const resource = resourceOf(model, entity, version)
  return { mode, viewer, model, now: core.now(), what: entity, resource }
}

/** The key under which the response to a POST is stored, where it has one. */
const idempotencyFor = (
  c: Http,
  { core, version }: Mount,
  viewer: Viewer,
  body: JsonObject,
): Idempotency | undefined => {
  const { method, path } = c.req
  const request = { method, path, version, body }
  const { roles } = core.model.viewers
  const keyed = keyedRequest(header(c, 'idempotency-key'), viewer, request, roles)
  return keyed && idempotencyOf(core.dialect, keyed, core.now())
}

/** The reply with an object that was written. RFC 9110, section 9.3.4: a PUT that changed what it was sent has no ETag. */
const written = (
  mount: Mount,
  entityName: string,
  done: Done,
  named: RequestedVersion,
  withTag = true,
): Reply => {
  const { answer, status } = done
  if (!answer) throw new Error('the write answered nothing')
  const entity = entityOf(mount.core.model, entityName)
  const mark = markOf(entity, answer)
  const created = status === 201 && entity.rest.one
  return {
    status,
    headers: {
      'Content-Type': named.contentType,
      'Cache-Control': 'no-store',
      'API-Version': String(named.version),
      ...(withTag && { ETag: tagOf(answer.text, mark, named.version) }),
      ...writeHeaders(done),
      ...(created && { Location: `${mount.prefix}/${entity.plural}/${answer.last}` }),
    },
    body: answer.text,
  }
}

/** POST of a new thing, below a parent where the path names one. */
export const serveCreate = (mount: Mount, route: Route): RestHandler => {
  const { core, edge } = mount
  const entity = entityOf(core.model, route.entity)
  const readingFor = readings(mount, route.entity, 'created')
  const count = countingBody(mount, route.entity)
  return async (c, viewer, named) => {
    const writing = writingFor(mount.core, viewer)
    permit(writing, entity.policy.create, `create ${entity.plural}`)
    edge.limiter?.countCreation(c, viewer, route.entity)
    const given = route.below && { [route.below.field]: pathId(c, 'parentId', route.below.entity) }
    const use = { ...useOf(mount, route.entity, 'create', viewer), ...(given && { given }) }
    const isChecked = given !== undefined || viewer.id !== null
    const parents = new Map(Object.entries(given ?? {}))
    const check = () => createPrecheck(writing, route.entity, parents)
    const { values, idempotency } = await readThen(
      mount,
      isChecked ? check : undefined,
      async () => {
        const body = await jsonBody(c, edge.bodyLimit, bodyTypes)
        count(body, viewer)
        const idempotency = idempotencyFor(c, mount, viewer, body)
        checkParameters(queryString(c), mount.version)
        return { idempotency, values: inputValues(entity, body, use) }
      },
    )
    const command = create(writing, route.entity, values)
    const done = await run(mount, command, readingFor(viewer), idempotency)
    return written(mount, route.entity, done, named)
  }
}

/** What the headers of a request demand of a row. */
const preconditionFor = (c: Http, { core }: Mount, entity: string, id: number) => {
  const { table } = entityOf(core.model, entity)
  const [ifMatch, ifNoneMatch] = [header(c, 'if-match'), header(c, 'if-none-match')]
  return preconditionOf(ifMatch, ifNoneMatch, entity, { table, id })
}

const targetOf = (c: Http, mount: Mount, route: Route): Target => {
  const entity = entityOf(mount.core.model, route.entity)
  const id = pathId(c, 'id', route.entity)
  const below = route.below && {
    field: route.below.field,
    id: pathId(c, 'parentId', route.below.entity),
  }
  const precondition = entity.fields.revision && preconditionFor(c, mount, route.entity, id)
  return { entity: route.entity, id, ...(below && { below }), ...precondition }
}

/** PUT and PATCH. */
export const serveUpdate = (mount: Mount, route: Route): RestHandler => {
  const { core, edge } = mount
  const mode = route.kind === 'replace' ? 'replace' : 'update'
  const entity = entityOf(core.model, route.entity)
  const readingFor = readings(mount, route.entity)
  const count = countingBody(mount, route.entity)
  return async (c, viewer, named) => {
    const writing = writingFor(mount.core, viewer)
    permit(writing, entity.policy.update, `change ${entity.plural}`)
    const target = targetOf(c, mount, route)
    const check = () => precheck(writing, target, 'update')
    const values = await readThen(mount, check, async () => {
      const body = await jsonBody(c, edge.bodyLimit, mode === 'update' ? patchTypes : bodyTypes)
      count(body, viewer)
      checkParameters(queryString(c), mount.version)
      return inputValues(entity, body, useOf(mount, route.entity, mode, viewer))
    })
    const done = await run(mount, update(writing, target, values), readingFor(viewer))
    return written(mount, route.entity, done, named, mode === 'update')
  }
}

const empty = (named: RequestedVersion, done: Done): Reply => ({
  status: 204,
  headers: { 'API-Version': String(named.version), ...writeHeaders(done) },
  body: null,
})

/** DELETE of one thing. */
export const serveDelete = (mount: Mount, route: Route): RestHandler => {
  const { policy, plural } = entityOf(mount.core.model, route.entity)
  return async (c, viewer, named) => {
    const writing = writingFor(mount.core, viewer)
    permit(writing, policy.delete, `delete ${plural}`)
    const target = targetOf(c, mount, route)
    const check = () => precheck(writing, target, 'delete')
    await readThen(mount, check, async () => checkParameters(queryString(c), mount.version))
    return empty(named, await run(mount, remove(writing, target), null))
  }
}

const noBytes = new Uint8Array()

/** The body of an action, in the form that it takes. */
const bodyOf = async (c: Http, { edge }: Mount, { bytes }: Action) => {
  if (bytes !== undefined) return { body: {}, hasBody: true, bytes: await plainBytes(c, bytes) }
  const body = await jsonBody(c, edge.bodyLimit, bodyTypes, true)
  return { body, hasBody: body !== noBody, bytes: noBytes }
}

/** The steps before an action that compare the revision of what it is about with `If-Match` and `If-None-Match`. */
const stepsBefore = (c: Http, mount: Mount, writing: Writing, action: Action, id: number) => {
  const entity = guardedBy(action, writing.model)
  if (entity === null) return []
  const target = { entity, id, ...preconditionFor(c, mount, entity, id) }
  return revisionSteps(writing, target, action.rule)
}

/** An action on one thing. */
export const serveAction = (mount: Mount, action: Action): RestHandler => {
  const { core } = mount
  const { answers: entity } = action
  const readingFor = entity && readings(mount, entity)
  return async (c, viewer, named) => {
    const writing = writingFor(mount.core, viewer)
    permit(writing, action.rule, action.name)
    const id = action.about === null ? 0 : pathId(c, 'id', action.about)
    const { precheck } = action
    const check = precheck && (() => precheck(writing, id))
    const before = stepsBefore(c, mount, writing, action, id)
    const [ifMatch, ifNoneMatch] = [header(c, 'if-match'), header(c, 'if-none-match')]
    const { command, idempotency } = await readThen(mount, check, async () => {
      const body = await bodyOf(c, mount, action)
      const { now, services } = core
      checkParameters(queryString(c), mount.version)
      const given = { id, ...body, ifMatch, ifNoneMatch, now: now(), services }
      return {
        command: action.command({ ...writing, before }, given),
        idempotency:
          action.method === 'POST' ? idempotencyFor(c, mount, viewer, body.body) : undefined,
      }
    })
    const done = await run(mount, command, readingFor ? readingFor(viewer) : null, idempotency)
    return entity === null ? empty(named, done) : written(mount, entity, done, named)
  }
}
