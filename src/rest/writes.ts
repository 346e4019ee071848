/** POST, PUT, PATCH and DELETE of plain resources, and the actions: checked, written, and answered with the resulting object. */
import { isObject, type JsonObject } from '#base/object.ts'
import { bodyType, jsonBody, noBody, plainBytes } from '#http/body.ts'
import { preconditionOf, presenceOf, refusePreconditions } from '#http/conditional.ts'
import { type Reply, writeHeaders } from '#http/reply.ts'
import { type Http, header, queryString, readOptionsOf } from '#http/request.ts'
import { beginningRows } from '#http/rows.ts'
import { entityOf } from '#model/model.ts'
import { bulkKinds, partRelations } from '#model/parts.ts'
import type { Role, Viewer } from '#model/policy.ts'
import { resourceOf } from '#model/resource.ts'
import type { RequestedVersion } from '#model/version.ts'
import { resolveAsked } from '#read/asking.ts'
import type { ReadPlan } from '#read/plan.ts'
import { wholeOne } from '#rest/one.ts'
import { refuseParameters } from '#rest/query.ts'
import { type Mount, objectTag, pathId } from '#rest/represent.ts'
import { type Route, ruleOfRoute } from '#rest/routes.ts'
import { jsonWords } from '#rest/where.ts'
import { countingBody } from '#versions/deprecated-use.ts'
import type { RestHandler } from '#versions/negotiation.ts'
import { type Action, actionCommand, actionPrecheck, guardedBy } from '#write/action.ts'
import { commandOf, permit } from '#write/command.ts'
import {
  admit,
  type CallerCounts,
  changeOf,
  countMade,
  readThen,
  referencesIn,
} from '#write/door.ts'
import { create, createPrecheck, precheck, remove, update } from '#write/entity-commands.ts'
import { revisionSteps, type Target } from '#write/guard.ts'
import { idempotencyOf, keyedRequest } from '#write/idempotency.ts'
import { inputValues, invalid, noMembers, unknownMembers } from '#write/input.ts'
import type { Idempotency } from '#write/job.ts'
import {
  createMany,
  firstWritten,
  idsIn,
  inputAt,
  inputsWithParts,
  rowsAsked,
  writeMany,
} from '#write/many.ts'
import { mergesIn, merging, storedJson } from '#write/merge-patch.ts'
import { inputWithParts, linkChange, madeBy, rowsIn, rowsOfMany, withParts } from '#write/parts.ts'
import { commit, type Done, type Reading } from '#write/write.ts'

/** What a request's write counts against its caller. */
const countsOf = ({ core, edge: { limiter } }: Mount, c: Http, caller: Viewer): CallerCounts => ({
  signUp: () => limiter?.countSignUp(c, caller, core.model.viewers.entity),
  creation: (viewer, entity) => limiter?.countCreation(c, viewer, entity),
})

const bodyTypes = ['application/json']
const mergePatchType = 'application/merge-patch+json'
/** The types of bodies that a PATCH takes. */
export const patchTypes = [...bodyTypes, mergePatchType]

/** Gives the read that answers a write; its plans by role are made when first needed. */
const readings = (mount: Mount, entity: string, written: 'created' | 'changed' = 'changed') => {
  const plans = new Map<Role, ReadPlan>()
  return ({ id, role, subject }: Viewer): Reading => ({
    plan: plans.getOrInsertComputed(role, () => wholeOne(mount, entity, role, written)),
    values: [subject ?? id],
  })
}

/** The key under which the response to a POST is stored, if it has one. */
const idempotencyFor = (
  c: Http,
  { core, version, style }: Mount,
  viewer: Viewer,
  body: JsonObject,
): Idempotency | undefined => {
  const { method, path } = c.req
  const request = { method, path, body, ...(style.isMarked && { version }) }
  const { roles } = core.model.viewers
  const keyed = keyedRequest(header(c, 'idempotency-key'), viewer, request, roles)
  return keyed && idempotencyOf(core.dialect, keyed, core.now())
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
  return {
    status,
    headers: {
      'Content-Type': named.contentType,
      'Cache-Control': 'no-store',
      'API-Version': String(named.version),
      ...(withTag && { ETag: objectTag(entity, answer, named) }),
      ...writeHeaders(done),
      ...(isPlaced && { Location: `${mount.prefix}/${entity.plural}/${answer.last}` }),
    },
    body: answer.text,
  }
}

/** The reply to a write that answers with nothing. */
const empty = ({ version }: RequestedVersion, done: Done): Reply => ({
  status: 204,
  headers: { 'API-Version': String(version), ...writeHeaders(done) },
  body: null,
})

/** Whether inputs take parts: those of the newest version do, where a relation of the entity says so. */
const mayHaveParts = (
  { core: { model }, version }: Mount,
  entity: string,
  mode: 'create' | 'update',
): boolean => version === model.versions.newest && partRelations(model, entity, mode).length > 0

/** POST of a new thing, below a parent if the path names one. */
export const serveCreate = (mount: Mount, route: Route): RestHandler => {
  const { core, edge, version, style } = mount
  const { model } = core
  const { entity: what } = route
  const resource = resourceOf(model, what, version)
  const { entity, fieldNamed } = resource
  const takesParts = mayHaveParts(mount, what, 'create')
  const readingFor = readings(mount, route.entity, 'created')
  const countMembers = countingBody(mount, route.entity)
  return async (c, caller, named) => {
    const counts = countsOf(mount, c, caller)
    const change = { ...changeOf(entity, 'create'), makes: route.entity }
    const writing = await admit(core, caller, [change], counts)
    const { viewer } = writing
    const begin = beginningRows(edge, c, caller)
    const given = route.below && { [route.below.field]: pathId(c, 'parentId', route.below.entity) }
    let sent: JsonObject = {}
    const check = () => {
      const references = referencesIn(entity, sent, fieldNamed)
      const known = new Map([...references, ...Object.entries(given ?? {})])
      return createPrecheck(writing, route.entity, known)
    }
    const { values, parts, idempotency } = await readThen(
      core,
      check,
      async () => {
        const body = await jsonBody(c, edge.bodyLimit, bodyTypes)
        sent = body
        countMembers?.(body)
        const idempotency = idempotencyFor(c, mount, viewer, body)
        refuseParameters(queryString(c), style)
        const context = { mode: 'create', viewer, model, now: core.now(), what, resource } as const
        const inPlace = given ? { ...context, given } : context
        if (takesParts) {
          await begin(rowsIn(model, what, body, 'create'))
          return { idempotency, ...(await inputWithParts(what, body, inPlace)) }
        }
        return { idempotency, values: inputValues(entity, body, inPlace), parts: [] }
      },
      version,
    )
    const draft = create(writing, route.entity, values)
    await countMade(counts, viewer, madeBy(parts))
    const command = commandOf(writing, await withParts(writing, draft, parts))
    const done = await commit(core, command, readingFor(viewer), { idempotency, version })
    return written(mount, route.entity, done, named)
  }
}

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
  const precondition = fields.revision
    ? preconditionOf(ifMatch, ifNoneMatch, entity, { table, id })
    : presenceOf(ifMatch, ifNoneMatch, entity)
  return { entity, id, ...(parent && { below: parent }), ...precondition }
}

/** PUT and PATCH. */
export const serveUpdate = (mount: Mount, route: Route): RestHandler => {
  const { core, edge, version, style } = mount
  const { model } = core
  const { entity: what } = route
  const mode = route.kind === 'replace' ? 'replace' : 'update'
  const resource = resourceOf(model, what, version)
  const { entity } = resource
  const takesParts = mode === 'update' && mayHaveParts(mount, what, 'update')
  const readingFor = readings(mount, route.entity)
  const countMembers = countingBody(mount, route.entity)
  return async (c, caller, named) => {
    const counts = countsOf(mount, c, caller)
    const writing = await admit(core, caller, [changeOf(entity, 'update')], counts)
    const { viewer } = writing
    const target = targetOf(c, mount, route)
    const begin = beginningRows(edge, c, caller)
    const check = () => precheck(writing, target, 'update')
    const readBody = async () => {
      const body = await jsonBody(c, edge.bodyLimit, mode === 'update' ? patchTypes : bodyTypes)
      countMembers?.(body)
      refuseParameters(queryString(c), style)
      if (takesParts) await begin(rowsIn(model, what, body, 'update'))
      return body
    }
    const body = await readThen(core, check, readBody, version)
    const merges =
      bodyType(c) === mergePatchType ? mergesIn(model, version, what, target.id, body) : []
    let isCounted = false
    const change = async () => {
      const storedOf = merges.length > 0 ? await storedJson(core, merges) : undefined
      const stored = storedOf?.(what, target.id)
      const context = { mode, viewer, model, now: core.now(), what, resource, stored } as const
      const readInput = () =>
        takesParts
          ? inputWithParts(what, body, { ...context, mode: 'update', storedOf })
          : { values: inputValues(entity, body, context), parts: [] }
      const { values, parts } = await readThen(core, check, readInput, version)
      const isRaised = parts.length > 0
      const draft = update(writing, { ...target, unchanged: stored }, values, {
        isReplacement: mode === 'replace',
        isRaised,
      })
      if (!isCounted) await countMade(counts, viewer, madeBy(parts))
      isCounted = true
      const whole = await withParts(writing, draft, parts, target.id)
      return commit(core, commandOf(writing, whole), readingFor(viewer), { version })
    }
    const row = `${what} ${target.id}`
    const done = await (merges.length > 0 ? merging(core, row, change) : change())
    return written(mount, route.entity, done, named, mode === 'update')
  }
}

/** DELETE of one thing. */
export const serveDelete = (mount: Mount, route: Route): RestHandler => {
  const { core, version, style } = mount
  const entity = entityOf(core.model, route.entity)
  return async (c, caller, named) => {
    const counts = countsOf(mount, c, caller)
    const writing = await admit(core, caller, [changeOf(entity, 'delete')], counts)
    const target = targetOf(c, mount, route)
    const check = () => precheck(writing, target, 'delete')
    await readThen(core, check, () => refuseParameters(queryString(c), style), version)
    const command = commandOf(writing, remove(writing, target))
    return empty(named, await commit(core, command, null, { version }))
  }
}

/** POST of many new things, or of a change or a deletion of all that fit a condition; all or none. */
export const serveBulk = (mount: Mount, route: Route): RestHandler => {
  const { core, edge, version, style } = mount
  const { model } = core
  const { entity: what } = route
  const resource = resourceOf(model, what, version)
  const { entity } = resource
  const { plural, policy } = entity
  const kinds = bulkKinds(entity)
  const words = jsonWords(model, version)
  return async (c, caller, named) => {
    const counts = countsOf(mount, c, caller)
    const rule = ruleOfRoute(model, route)
    const change = { rule, what: `write ${plural}`, makes: what, isMany: true }
    const writing = await admit(core, caller, [change], counts)
    const { viewer } = writing
    const begin = beginningRows(edge, c, caller)
    let does: (typeof kinds)[number] | undefined
    const check = () =>
      does === 'create'
        ? createPrecheck(writing, what, new Map())
        : commandOf(writing, { name: `precheck ${plural}`, steps: [] })
    const context = { viewer, model, now: core.now(), what, resource } as const
    const readBody = async () => {
      const body = await jsonBody(c, edge.bodyLimit, bodyTypes)
      const idempotency = idempotencyFor(c, mount, viewer, body)
      refuseParameters(queryString(c), style)
      const [kind, ...second] = kinds.filter(kind => Object.hasOwn(body, kind))
      if (kind === undefined || second.length > 0) {
        const message = `is ${kind ? 'one too many' : 'missing'}: name one of ${kinds.join(', ')}`
        throw invalid([{ field: second[0] ?? kinds[0] ?? '', message }])
      }
      does = kind
      permit(writing, policy[kind], `${kind} ${plural}`)
      const { [kind]: given, where, all = false, dryRun = false } = body
      const known = kind === 'create' ? [kind] : [kind, 'where', 'all', 'dryRun']
      const faults = [...unknownMembers(body, known)]
      if (kind === 'create') {
        if (faults.length > 0) throw invalid(faults)
        await begin(rowsOfMany(model, what, given))
        const inputs = await inputsWithParts(what, given, kind, { ...context, mode: kind })
        return { idempotency, inputs }
      }
      for (const [field, flag] of Object.entries({ all, dryRun }))
        if (typeof flag !== 'boolean') faults.push({ field, message: 'must be true or false' })
      if (kind === 'delete' && given !== true) faults.push({ field: kind, message: 'must be true' })
      if (kind === 'update' && !isObject(given))
        faults.push({ field: kind, message: 'must be an object' })
      const asked =
        where === undefined ? undefined : resolveAsked(model, what, where, words, firstWritten)
      if (asked && 'faults' in asked)
        faults.push(...asked.faults.map(({ path, message }) => ({ field: path, message })))
      if (faults.length > 0 || (asked && 'faults' in asked)) throw invalid(faults)
      const rows = rowsAsked(writing, what, asked, all === true)
      const values = isObject(given)
        ? inputAt(kind, entity, given, { ...context, mode: 'update' })
        : new Map()
      const write = { does: kind, entity: what, rows, given: values, path: kind } as const
      return { idempotency, write, isDry: dryRun === true }
    }
    const { inputs, write, ...more } = await readThen(core, check, readBody, version)
    const remedy = 'leave the header out, or write each row under its own'
    refusePreconditions(c, ['If-Match'], 'a write of many rows', remedy)
    const made = inputs?.flatMap(({ parts }) => [what, ...madeBy(parts)]) ?? []
    await countMade(counts, viewer, made)
    const done = write
      ? await writeMany(core, writing, write, {
          ...more,
          version,
          finding: { ...readOptionsOf(edge, c, viewer), spent: 0, begin },
        })
      : await commit(core, await createMany(writing, what, inputs ?? [], 'create'), null, {
          ...more,
          version,
        })
    const ids = idsIn(done.answer?.text)
    return {
      status: done.status,
      headers: {
        'Content-Type': named.contentType,
        'Cache-Control': 'no-store',
        'API-Version': String(named.version),
        ...writeHeaders(done),
      },
      body: JSON.stringify({ count: ids.length, ids }),
    }
  }
}

/** PUT and DELETE of a link between two rows, which may be done again. */
export const serveLink = (mount: Mount, { kind, entity: other, below }: Route): RestHandler => {
  const { core, edge, version, style } = mount
  const { entity: above = '', field: by = '', through } = below ?? {}
  const { entity = '', of = '' } = through ?? {}
  const linking = entityOf(core.model, entity)
  const [does, operation] =
    kind === 'link' ? (['add', 'create'] as const) : (['remove', 'delete'] as const)
  return async (c, caller, named) => {
    const change = { ...changeOf(linking, operation), makes: does === 'add' ? entity : undefined }
    const writing = await admit(core, caller, [change], countsOf(mount, c, caller))
    const target = { entity: above, id: pathId(c, 'parentId', above) }
    const to = pathId(c, 'id', other)
    if (does === 'add') noMembers(await jsonBody(c, edge.bodyLimit, bodyTypes, true))
    refuseParameters(queryString(c), style)
    refusePreconditions(c, ['If-Match', 'If-None-Match'], 'a link')
    const draft = await linkChange(writing, target, { entity, by, of }, to, does)
    return empty(named, await commit(core, commandOf(writing, draft), null, { version }))
  }
}

const noBytes = new Uint8Array()

/** An action, on one thing or on none. */
export const serveAction = (mount: Mount, action: Action): RestHandler => {
  const { core, edge, version, style } = mount
  const { answers: entity, bytes: byteLimit } = action
  const guarded = guardedBy(action, core.model)
  const readingFor = entity && readings(mount, entity)
  return async (c, caller, named) => {
    const { rule, name: what } = action
    const writing = await admit(core, caller, [{ rule, what }], countsOf(mount, c, caller))
    const { viewer } = writing
    const id = action.about === null ? 0 : pathId(c, 'id', action.about)
    const check = actionPrecheck(action, writing, id)
    // The steps that compare the row's revision with If-Match and If-None-Match come first.
    const before =
      guarded === null
        ? []
        : revisionSteps(writing, targetOf(c, mount, { entity: guarded }), action.rule)
    const readBody = async () => {
      const bytes = byteLimit === undefined ? noBytes : await plainBytes(c, byteLimit)
      const body = byteLimit === undefined ? await jsonBody(c, edge.bodyLimit, bodyTypes, true) : {}
      refuseParameters(queryString(c), style)
      const given = {
        id,
        body,
        hasBody: body !== noBody,
        bytes,
        ifMatch: header(c, 'if-match'),
        ifNoneMatch: header(c, 'if-none-match'),
        now: core.now(),
        services: core.services,
      }
      return {
        command: actionCommand(action, { ...writing, before }, given),
        idempotency: action.method === 'POST' ? idempotencyFor(c, mount, viewer, body) : undefined,
      }
    }
    const { command, idempotency } = await readThen(core, check, readBody, version)
    const reading = readingFor ? readingFor(viewer) : null
    const done = await commit(core, command, reading, { idempotency, version })
    return entity === null ? empty(named, done) : written(mount, entity, done, named)
  }
}
