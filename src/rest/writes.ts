/** POST, PUT, PATCH and DELETE of plain resources, and the actions: each request translated into a change, which the door does, and answered with the resulting object. */
import { hash } from 'node:crypto'
import { isObject, type JsonObject } from '#base/object.ts'
import { bodyType, jsonBody, noBody, plainBytes } from '#http/body.ts'
import { preconditionOf, presenceOf, refusePreconditions } from '#http/conditional.ts'
import type { Reply } from '#http/reply.ts'
import { type Http, header, queryString, readOptionsOf } from '#http/request.ts'
import { countsFor } from '#http/rows.ts'
import { entityOf } from '#model/model.ts'
import { bulkKinds, partRelations } from '#model/parts.ts'
import type { Role, Viewer } from '#model/policy.ts'
import { resourceOf } from '#model/resource.ts'
import type { RequestedVersion, VersionStyle } from '#model/version.ts'
import { resolveCallerCondition } from '#read/caller-condition.ts'
import type { ReadPlan } from '#read/plan.ts'
import { wholeOne } from '#rest/one.ts'
import { refuseParameters } from '#rest/query.ts'
import { type Mount, objectTag, pathId, writtenReply } from '#rest/represent.ts'
import type { Route } from '#rest/routes.ts'
import { jsonVocabulary } from '#rest/where.ts'
import { countingBody } from '#versions/deprecated-use.ts'
import type { RestHandler } from '#versions/negotiation.ts'
import type { Change, ChangeKind } from '#write/change.ts'
import type { Writing } from '#write/command.ts'
import { admit, carryOut } from '#write/door.ts'
import type { Target } from '#write/guard.ts'
import { idempotencyOf, keyedRequest } from '#write/idempotency.ts'
import { invalid, noMembers, unknownMembers } from '#write/input.ts'
import type { Idempotency } from '#write/job.ts'
import { firstWritten, fittingRows, idsIn, revisionsIn } from '#write/many.ts'
import { guardedBy, type RuledAction, refusesTags } from '#write/steps/action.ts'
import type { Done, Reading } from '#write/write.ts'

const bodyTypes = ['application/json']
const mergePatchType = 'application/merge-patch+json'
/** The types of bodies that a PATCH takes. */
export const patchTypes = [...bodyTypes, mergePatchType]

/** Refuses query parameters in a strict version, once the rest of a request is read. */
const withoutParameters = (c: Http, style: VersionStyle): void => {
  const text = queryString(c)
  if (text !== '') refuseParameters(text, style)
}

/** Gives the read that answers a write; its plans by role are made when first needed. */
const readings = (mount: Mount, entity: string, written: 'created' | 'changed' = 'changed') => {
  const plans = new Map<Role, ReadPlan>()
  return ({ id, role, subject }: Viewer): Reading => ({
    plan: plans.getOrInsertComputed(role, () => wholeOne(mount, entity, role, written)),
    values: [subject ?? id],
  })
}

/** The key under which the response to a POST or a PATCH is stored, if it has one. */
export const idempotencyFor = (
  c: Http,
  { core, version, style }: Mount,
  viewer: Viewer,
  body: JsonObject,
): Idempotency | undefined => {
  const key = header(c, 'idempotency-key')
  if (key === undefined) return undefined
  const { path } = c.req
  // A body of another type means something else.
  const method = bodyType(c) === mergePatchType ? `${c.req.method} ${mergePatchType}` : c.req.method
  const request = { method, path, body, ...(style.isMarked && { version }) }
  const keyed = keyedRequest(key, viewer, request, core.model.viewers.roles)
  return idempotencyOf(core.dialect, keyed, core.now())
}

/** The reply with an object that was written. RFC 9110, section 9.3.4: the answer to a PUT has no ETag, as the stored object is not the one that was sent. */
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
  const isPlaced = status === 201 && entity.rest.one
  return writtenReply(named, done, answer.text, {
    ...(withTag && { ETag: objectTag(entity, answer, named) }),
    ...(isPlaced && { Location: `${mount.prefix}/${entity.plural}/${answer.last}` }),
  })
}

/** The reply to a write that answers with nothing. */
const empty = (named: RequestedVersion, done: Done): Reply =>
  writtenReply(named, { ...done, status: 204 }, null)

/** Whether inputs take parts: those of the newest version do, where a relation of the entity says so. */
const mayHaveParts = (
  { core: { model }, version }: Mount,
  entity: string,
  mode: 'create' | 'update',
): boolean => version === model.versions.newest && partRelations(model, entity, mode).length > 0

/** The row that a request is about, with the preconditions that its headers set. */
const targetOf = (
  c: Http,
  { core }: Mount,
  { entity, below }: Pick<Route, 'entity' | 'below'>,
): Target => {
  const id = pathId(c, 'id', entity)
  const parent = below && { field: below.field, id: pathId(c, 'parentId', below.entity) }
  const { table, fields } = entityOf(core.model, entity)
  const [ifMatch, ifNoneMatch] = [header(c, 'if-match'), header(c, 'if-none-match')]
  const isPlain = ifMatch === undefined && ifNoneMatch === undefined
  if (isPlain) return { entity, id, ...(parent && { below: parent }) }
  const precondition = fields.revision
    ? preconditionOf(ifMatch, ifNoneMatch, entity, { table, id })
    : presenceOf(ifMatch, ifNoneMatch, entity)
  return { entity, id, ...(parent && { below: parent }), ...precondition }
}

type Translated = {
  /** What its caller must have a right to, before more of the request is looked at. */
  readonly kind: ChangeKind
  readonly changeFor: (c: Http, writing: Writing) => Change
  readonly readingFor?: ((viewer: Viewer) => Reading) | undefined
  readonly answer: (done: Done, named: RequestedVersion) => Reply
}

/** The handler of a write: its caller is let in, its change is done, and answered. */
const writing =
  (mount: Mount, { kind, changeFor, readingFor, answer }: Translated): RestHandler =>
  async (c, caller, named) => {
    const { core, edge, version } = mount
    const counts = () => countsFor(edge, c, caller, core.model.viewers.entity)
    const admitted = await admit(core, caller, [kind], counts)
    const reading = readingFor ? readingFor(admitted.viewer) : null
    const finding =
      kind.does === 'many' ? { ...readOptionsOf(edge, c, caller), spent: 0 } : undefined
    const terms = { counts, reading, version, finding }
    return answer(await carryOut(core, admitted, changeFor(c, admitted), terms), named)
  }

/** POST of a new thing, below a parent if the path names one. */
export const serveCreate = (mount: Mount, { entity, below }: Route): RestHandler => {
  const { core, edge, version, style } = mount
  const resource = resourceOf(core.model, entity, version)
  const takesParts = mayHaveParts(mount, entity, 'create')
  const countMembers = countingBody(mount, entity)
  return writing(mount, {
    kind: { does: 'create', entity },
    readingFor: readings(mount, entity, 'created'),
    changeFor: (c, { viewer }) => ({
      does: 'create',
      entity,
      resource,
      takesParts,
      given: below && { [below.field]: pathId(c, 'parentId', below.entity) },
      read: async () => {
        const input = await jsonBody(c, edge.bodyLimit, bodyTypes)
        countMembers?.(input)
        const idempotency = idempotencyFor(c, mount, viewer, input)
        withoutParameters(c, style)
        return { input, idempotency }
      },
    }),
    answer: (done, named) => written(mount, entity, done, named),
  })
}

/** PUT and PATCH. */
export const serveUpdate = (mount: Mount, route: Route): RestHandler => {
  const { core, edge, version, style } = mount
  const { entity } = route
  const does = route.kind === 'replace' ? 'replace' : 'update'
  const resource = resourceOf(core.model, entity, version)
  const takesParts = does === 'update' && mayHaveParts(mount, entity, 'update')
  const countMembers = countingBody(mount, entity)
  return writing(mount, {
    kind: { does, entity },
    readingFor: readings(mount, entity),
    changeFor: (c, { viewer }) => ({
      does,
      entity,
      resource,
      takesParts,
      target: targetOf(c, mount, route),
      merges: bodyType(c) === mergePatchType,
      read: async () => {
        const types = does === 'update' ? patchTypes : bodyTypes
        const input = await jsonBody(c, edge.bodyLimit, types)
        countMembers?.(input)
        // A PUT may be sent again by itself.
        const idempotency = does === 'update' ? idempotencyFor(c, mount, viewer, input) : undefined
        withoutParameters(c, style)
        return { input, idempotency }
      },
    }),
    answer: (done, named) => written(mount, entity, done, named, does === 'update'),
  })
}

/** DELETE of one thing. */
export const serveDelete = (mount: Mount, route: Route): RestHandler => {
  const { entity } = route
  return writing(mount, {
    kind: { does: 'delete', entity },
    changeFor: c => ({
      does: 'delete',
      entity,
      target: targetOf(c, mount, route),
      read: () => {
        withoutParameters(c, mount.style)
        return {}
      },
    }),
    answer: (done, named) => empty(named, done),
  })
}

/** POST of many new things, or of a change or a deletion of all that fit a condition; all or none. */
export const serveBulk = (mount: Mount, { entity }: Route): RestHandler => {
  const { core, edge, version, style } = mount
  const { model } = core
  const resource = resourceOf(model, entity, version)
  const kinds = bulkKinds(resource.entity)
  const vocabulary = jsonVocabulary(model, version)
  /** What the body of a write of this kind says beside it. */
  const restOf = (kind: (typeof kinds)[number], body: JsonObject, writing: Writing) => {
    const { [kind]: given, where, all = false, dryRun = false, revisions = {} } = body
    const isRevised = resource.entity.fields.revision !== undefined
    const ofRows = ['where', 'all', 'dryRun', ...(isRevised ? ['revisions'] : [])]
    const known = [kind, ...(kind === 'create' ? ['dryRun'] : ofRows)]
    const faults = [...unknownMembers(body, known)]
    for (const [field, flag] of Object.entries({ all, dryRun }))
      if (typeof flag !== 'boolean') faults.push({ field, message: 'must be true or false' })
    if (kind === 'create') {
      if (faults.length > 0) throw invalid(faults)
      return { inputs: given, isDry: dryRun === true }
    }
    if (!isObject(revisions)) faults.push({ field: 'revisions', message: 'must be an object' })
    const entries = Object.entries(isObject(revisions) ? revisions : {})
    const revised = revisionsIn(
      'revisions',
      entries.map(([id, revision]) => [id, id, revision]),
    )
    faults.push(...revised.faults)
    if (kind === 'delete' && given !== true) faults.push({ field: kind, message: 'must be true' })
    if (kind === 'update' && !isObject(given))
      faults.push({ field: kind, message: 'must be an object' })
    const condition =
      where === undefined
        ? undefined
        : resolveCallerCondition(model, entity, where, vocabulary, firstWritten)
    if (condition && 'faults' in condition)
      faults.push(...condition.faults.map(({ path, message }) => ({ field: path, message })))
    if (faults.length > 0 || (condition && 'faults' in condition)) throw invalid(faults)
    const rows = fittingRows(writing, entity, condition, all === true)
    return {
      rows,
      revisions: revised.revisions,
      input: isObject(given) ? given : undefined,
      isDry: dryRun === true,
    }
  }
  return writing(mount, {
    kind: { does: 'many', entity, kinds },
    changeFor: (c, writing) => ({
      does: 'many',
      entity,
      kinds,
      resource,
      read: async () => {
        const body = await jsonBody(c, edge.bodyLimit, bodyTypes)
        const idempotency = idempotencyFor(c, mount, writing.viewer, body)
        withoutParameters(c, style)
        const [kind, ...second] = kinds.filter(kind => Object.hasOwn(body, kind))
        if (kind === undefined || second.length > 0) {
          const message = `is ${kind ? 'one too many' : 'missing'}: name one of ${kinds.join(', ')}`
          throw invalid([{ field: second[0] ?? kinds[0] ?? '', message }])
        }
        const rest = () => {
          const sent = restOf(kind, body, writing)
          const remedy = 'leave the header out, or write each row under its own'
          refusePreconditions(c, ['If-Match'], 'a write of many rows', remedy)
          return sent
        }
        return { kind, path: kind, idempotency, rest }
      },
    }),
    answer: (done, named) => {
      const ids = idsIn(done.answer?.text)
      return writtenReply(named, done, JSON.stringify({ count: ids.length, ids }))
    },
  })
}

/** PUT and DELETE of a link between two rows, which may be done again. */
export const serveLink = (mount: Mount, { kind, entity: other, below }: Route): RestHandler => {
  const { entity: above = '', field: by = '', through } = below ?? {}
  const { entity = '', of = '' } = through ?? {}
  const does = kind === 'link' ? 'link' : 'unlink'
  return writing(mount, {
    kind: { does, entity },
    changeFor: c => ({
      does,
      entity,
      link: { entity, by, of },
      row: { entity: above, id: pathId(c, 'parentId', above) },
      to: pathId(c, 'id', other),
      read: async () => {
        if (does === 'link') noMembers(await jsonBody(c, mount.edge.bodyLimit, bodyTypes, true))
        withoutParameters(c, mount.style)
        refusePreconditions(c, ['If-Match', 'If-None-Match'], 'a link')
        return {}
      },
    }),
    answer: (done, named) => empty(named, done),
  })
}

/** An action, on one thing or on none. */
export const serveAction = (mount: Mount, action: RuledAction): RestHandler => {
  const { core, edge, style } = mount
  const { answers: entity, bytes: byteLimit, about, method } = action
  const guarded = guardedBy(action, core.model)
  const isRefusing = refusesTags(action, core.model)
  return writing(mount, {
    kind: { does: 'action', action },
    readingFor: entity === null ? undefined : readings(mount, entity),
    changeFor: (c, { viewer }) => ({
      does: 'action',
      action,
      id: about === null ? 0 : pathId(c, 'id', about),
      target: guarded === null ? undefined : targetOf(c, mount, { entity: guarded }),
      read: async () => {
        const bytes = byteLimit === undefined ? undefined : await plainBytes(c, byteLimit)
        const input = bytes ? {} : await jsonBody(c, edge.bodyLimit, bodyTypes, true)
        withoutParameters(c, style)
        if (isRefusing) refusePreconditions(c, ['If-Match', 'If-None-Match'], 'this action')
        const sent = bytes ? { bytes: hash('sha256', bytes) } : input
        return {
          input,
          hasBody: input !== noBody,
          ...(bytes && { bytes }),
          ifMatch: header(c, 'if-match'),
          ifNoneMatch: header(c, 'if-none-match'),
          idempotency: method === 'POST' ? idempotencyFor(c, mount, viewer, sent) : undefined,
        }
      },
    }),
    answer: (done, named) =>
      entity === null ? empty(named, done) : written(mount, entity, done, named),
  })
}
