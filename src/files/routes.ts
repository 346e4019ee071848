/** The addresses of files: of each field that is one, to read it, put it and remove it, and that of uploads. */
import { writingFor } from '#core.ts'
import { ApiError } from '#errors.ts'
import { storedFile, storeOf } from '#files/by-hand.ts'
import { isSigned, serveFile } from '#files/serve.ts'
import { sized, takesPictures } from '#files/sizes.ts'
import { isDigest } from '#files/store.ts'
import { givable, receiveUpload, withdraw } from '#files/uploads.ts'
import { allowedTags, excludedTags, mismatchOf, preconditionOf } from '#http/conditional.ts'
import { checkFileRoom } from '#http/memory.ts'
import { type Http, header, queryString, readOptionsOf } from '#http/request.ts'
import { countsFor } from '#http/rows.ts'
import type { FileRules } from '#model/field.ts'
import { columnName, type Entities, notFound } from '#model/model.ts'
import { typeName, withArticle } from '#model/names.ts'
import type { JsonSchema, MediaType } from '#model/operation-docs.ts'
import { isByRow, nobody, refusal, type Viewer } from '#model/policy.ts'
import {
  digestAt,
  type FileField,
  fileFacts,
  fileFields,
  fileFormOf,
  fileJson,
  type StoredFile,
  storedText,
} from '#model/stored-file.ts'
import { lifetimeOf } from '#model/version.ts'
import { readCached } from '#read/read.ts'
import { oneRow } from '#read/selection.ts'
import { refuseParameters } from '#rest/query.ts'
import { isOpen, type Mount, pathId, preparedReads, writtenReply } from '#rest/represent.ts'
import type { ExtraRoute } from '#rest/rest.ts'
import { idempotencyFor } from '#rest/writes.ts'
import { and, comma, join, name, type Sql, sql } from '#sql/sql.ts'
import type { Change } from '#write/change.ts'
import { inBytes } from '#write/claims.ts'
import { commandOf, conditionOf, type GuardedStep, permit, type Writing } from '#write/command.ts'
import { admit, carryOut } from '#write/door.ts'
import { changedSince, seenSql, stillThat, targetSteps } from '#write/guard.ts'
import { invalid } from '#write/input.ts'
import { commit } from '#write/write.ts'

const binary = { type: 'string', format: 'binary' } as const
const json = 'application/json'

const formsOf = ({ accept }: FileRules): Readonly<Record<string, MediaType>> =>
  Object.fromEntries(accept.map(type => [type, { schema: binary }]))

/** What an upload is answered with. */
const uploadSchema: JsonSchema = {
  type: 'object',
  required: ['id', ...Object.keys(fileFacts)],
  properties: { id: { type: 'string' }, ...fileFacts },
}

/** The declared width that a request asks for; throws `VALIDATION_ERROR` for another one. */
const widthIn = (query: URLSearchParams, { sizes }: FileRules): number | undefined => {
  const text = query.get('w')
  if (text === null) return undefined
  const width = sizes.find(size => String(size) === text)
  if (width !== undefined) return width
  const message =
    sizes.length > 0
      ? `must be ${sizes.join(' or ')}`
      : 'is no parameter here, as the file has no sizes'
  throw invalid([{ field: 'w', message }])
}

const readRoute = ({ entityName, entity, key, field, file }: FileField): ExtraRoute => ({
  ...lifetimeOf({ ...entity.rest.lifetimes.all, ...lifetimeOf(field) }),
  method: 'GET',
  path: `/${entity.plural}/:id/${key}`,
  described: {
    rule: entity.policy.enter ?? entity.policy.read,
    operationId: `get${typeName(entityName)}${typeName(key)}`,
    summary: `Get the ${key} of ${withArticle(entityName)}`,
    parameters: {
      v: { schema: { type: 'string' }, description: 'The version, as in its address.' },
      ...(file.sizes.length > 0 && {
        w: {
          schema: { type: 'integer', enum: file.sizes },
          description:
            'The width in pixels, of a picture; in WebP or AVIF where Accept names them.',
        },
      }),
      seal: { schema: { type: 'string' }, description: 'Of a signed address: its seal.' },
    },
    forms: formsOf(file),
    success: { 200: 'The file.', 206: 'A range of it.' },
    errors: ['PRECONDITION_FAILED', 'RANGE_NOT_SATISFIABLE', 'FORBIDDEN', 'NOT_FOUND'],
  },
  isSigned: c => new URLSearchParams(queryString(c)).has('seal'),
  serve: mount => {
    const { core, edge } = mount
    const { reader } = core
    const { enter, read } = entity.policy
    const isPublic = [enter ?? read, read, field.readableBy].every(
      rule => isOpen(core.model, rule) && !isByRow(rule),
    )
    const root = oneRow(entityName, [{ kind: 'field', key, field: key }])
    const readFor = preparedReads(core, 50, () => root)
    /** The file of whoever has a signed address, which was given to one who may read it. */
    const signedFile = async (c: Http, id: number, seal: string) => {
      const stored = await storedFile(core, { entity: entityName, field: key, id })
      if (stored && isSigned(core.cursorKey, c.req.path, stored.digest, seal, core.now()))
        return stored
      throw new ApiError(
        'FORBIDDEN',
        'The signed address is over, or of another file: read the row again for a new one',
      )
    }
    /** The file of whoever may read row and field. */
    const fileOfRow = async (c: Http, id: number, viewer: Viewer): Promise<StoredFile | null> => {
      const text = await readCached(
        reader,
        readFor(viewer.role, '', undefined),
        [viewer.subject ?? viewer.id, id],
        { by: '', make: ([answer]) => answer?.text ?? 'null' },
        readOptionsOf(edge, c, viewer),
      )
      const row = JSON.parse(text)
      if (row === null) throw notFound(entityName, id)
      return row[key]
    }
    return async (c, viewer, named) => {
      const id = pathId(c, 'id', entityName)
      const query = new URLSearchParams(queryString(c))
      const seal = query.get('seal')
      const stored = seal === null ? await fileOfRow(c, id, viewer) : await signedFile(c, id, seal)
      if (stored === null)
        throw new ApiError('NOT_FOUND', `The ${key} of ${entityName} ${id} not found`)
      const caller = () => edge.callerOf(c, viewer)
      checkFileRoom(edge.memory, caller())
      const cache = isPublic ? 'public' : 'private'
      const store = storeOf(core)
      const width = widthIn(query, file)
      const accept = header(c, 'accept') ?? ''
      const size = width === undefined ? {} : await sized(store, stored, width, accept, { caller })
      const reply = await serveFile(c.req.raw, { ...stored, cache, ...size }, store)
      const vary = [
        ...(width === undefined ? [] : ['Accept']),
        ...(isPublic ? [] : ['Authorization']),
      ]
      if (vary.length > 0) reply.headers.Vary = vary.join(', ')
      reply.headers['API-Version'] = String(named.version)
      return reply
    }
  },
})

/** That the file of a row is shown to the caller: to anybody else an answer would tell which file it has. */
const isShown = (writing: Writing, { entityName, entity, field }: FileField): Sql =>
  and([entity.policy.read, field.readableBy].map(rule => conditionOf(writing, entityName, rule)))

/** What the step before a write gives where its row had a file. */
const hadFile = 'it had a file'

/**
 * The steps that compare `If-Match` and `If-None-Match` with a row, and hold it as it is: they may name its revision, or its file by the
 * ETag that a GET of this address has (RFC 9110, section 13.1). A row that is not the caller's passes, as the write itself says so.
 */
const preconditions = (
  writing: Writing,
  c: Http,
  of: FileField,
  id: number,
): readonly GuardedStep[] => {
  const { entityName, entity, key } = of
  const [ifMatch, ifNoneMatch] = [header(c, 'if-match'), header(c, 'if-none-match')]
  const [wanted, unwanted] = [allowedTags(ifMatch), excludedTags(ifNoneMatch)]
  const { table, fields, policy } = entity
  const named = preconditionOf(ifMatch, ifNoneMatch, entityName, { table, id })
  const digest = sql`substr(${name(columnName(key))}, ${digestAt.from}, ${digestAt.length})`
  // To who may not read it, it is neither this file nor none.
  const shown = sql`case when ${isShown(writing, of)} then coalesce(${digest}, '') else 'hidden' end`
  const revision = fields.revision ? sql`revision` : sql`0`
  const found = sql`select ${revision} as revision, ${shown} as digest from ${name(table)}
    where ${and([sql`id = ${id}`, conditionOf(writing, entityName, policy.update), ...seenSql(writing, entityName)])}${writing.dialect.lockClause}`
  const isNamed = (tags: readonly string[] | 'any', revisions: typeof named.revisions): Sql => {
    if (tags === 'any' || revisions === 'any') return sql`digest <> ''`
    const digests = tags.map(tag => tag.slice(1, -1))
    return sql`(revision in (${join([-1, ...(revisions ?? [])], comma)}) or digest in (${join(['-', ...digests], comma)}))`
  }
  const step = (condition: Sql, refused: () => ApiError): GuardedStep => ({
    sql: sql`with found as (${found}) select 1 where not exists (select 1 from found where not (${condition}))`,
    refused,
  })
  const why =
    wanted === 'any'
      ? `If-Match needs a file, and there is no ${key}`
      : named.mismatch && mismatchOf(ifMatch ?? '', entityName, tag => isDigest(tag.slice(1, -1)))
  const matched = wanted && isNamed(wanted, named.revisions)
  const other = unwanted && sql`not ${isNamed(unwanted, named.excluded)}`
  return [
    ...(matched ? [step(matched, () => changedSince(entityName, why))] : []),
    ...(other ? [step(other, () => stillThat(entityName))] : []),
  ]
}

/**
 * Gives a row a file, or none, as the update of one field that it is: once its caller may do that, and its row is there and as
 * `If-Match` says, which is found out before any byte is received.
 */
const change = async <Received extends { readonly id: string }>(
  mount: Mount,
  c: Http,
  caller: Viewer,
  of: FileField,
  receive?: (writing: Writing) => Promise<Received>,
) => {
  const { core, edge, style, version } = mount
  const { entityName: entity, key, field } = of
  refuseParameters(queryString(c), style)
  const counts = () => countsFor(edge, c, caller, core.model.viewers.entity)
  const writing = await admit(core, caller, [{ does: 'update', entity }], counts)
  permit(writing, field.settableBy, `set the ${key} of ${withArticle(entity)}`)
  const id = pathId(c, 'id', entity)
  const target = { entity, id }
  const steps = [...targetSteps(writing, target, 'update'), ...preconditions(writing, c, of, id)]
  await commit(core, commandOf(writing, { name: `precheck ${key}`, steps }), null, { version })
  const sent = await receive?.(writing)
  const read = () => ({ input: { [key]: sent?.id ?? null } })
  // It may have taken a while.
  const now = { ...writing, now: core.now() }
  try {
    const update: Change = { does: 'update', entity, takesParts: false, target, read }
    const look = sql`select case when ${name(columnName(key))} is not null then ${hadFile} end from ${name(of.entity.table)}
      where ${and([sql`id = ${id}`, isShown(now, of)])}${core.dialect.lockClause}`
    const looks = receive ? [{ sql: look, expect: 'any' as const }] : []
    const before = [...looks, ...preconditions(now, c, of, id)]
    const terms = { counts, reading: null, version }
    const done = await carryOut(core, { ...now, before }, update, terms)
    // The step before it makes a command of its own, whose rows come back.
    const isFirst = done.rows.every(([row]) => row?.[0] !== hadFile)
    return { done, sent, id, isFirst }
  } catch (error) {
    if (sent) await withdraw(core, sent.id).catch(() => {})
    throw error
  }
}

const writeRoutes = (of: FileField): readonly ExtraRoute[] => {
  const { entityName, entity, key, field, file } = of
  const { policy, rest } = entity
  const isOffered = rest.writes.some(kind => kind === 'update' || kind === 'replace')
  const rule = policy.update
  if (!isOffered || !rule || field.immutable || field.settableBy.kind === 'nobody') return []
  const common = {
    ...lifetimeOf({ ...rest.lifetimes.all, ...lifetimeOf(field) }),
    path: `/${entity.plural}/:id/${key}`,
  }
  const errors = ['PRECONDITION_FAILED', 'FORBIDDEN', 'NOT_FOUND']
  const put: ExtraRoute = {
    ...common,
    method: 'PUT',
    described: {
      rule,
      operationId: `put${typeName(entityName)}${typeName(key)}`,
      summary: `Put the ${key} of ${withArticle(entityName)}`,
      description: `At most ${inBytes(file.max)}, recognised by its bytes; its name is that of Content-Disposition.`,
      body: formsOf(file),
      forms: { [json]: { schema: { $ref: '#/components/schemas/StoredFile' } } },
      success: { 200: 'The file, in place of another.', 201: 'The file, where none was.' },
      errors: [...errors, 'STORAGE_FULL', 'REQUEST_TIMEOUT'],
    },
    serve: mount => async (c, caller, named) => {
      const taken = { ...file, field: key }
      const receive = (writing: Writing) => receiveUpload(mount, writing, c, taken)
      const { done, sent, id, isFirst } = await change(mount, c, caller, of, receive)
      const form = fileFormOf(entity, key, mount.prefix)
      const body = sent && form ? fileJson(storedText(sent.file), id, form) : null
      // RFC 9110, section 9.3.4.
      return writtenReply(named, { ...done, status: isFirst ? 201 : 200 }, body)
    },
  }
  const remove: ExtraRoute = {
    ...common,
    method: 'DELETE',
    described: {
      rule,
      operationId: `remove${typeName(entityName)}${typeName(key)}`,
      summary: `Remove the ${key} of ${withArticle(entityName)}`,
      errors,
    },
    serve: mount => async (c, caller, named) => {
      const { done } = await change(mount, c, caller, of)
      return writtenReply(named, { ...done, status: 204 }, null)
    },
  }
  return field.nullable ? [put, remove] : [put]
}

/** `POST /files`: a file that waits for its row, in one of these fields. */
const uploadRoute = (fields: readonly FileField[], isKept: boolean): ExtraRoute => {
  const rules = fields.flatMap(({ entity }) => [
    entity.policy.create ?? nobody,
    entity.policy.update ?? nobody,
  ])
  return {
    method: 'POST',
    path: '/files',
    described: {
      rule: { kind: 'any of', rules },
      operationId: 'uploadFile',
      summary: 'Send a file for a row',
      description:
        'The id in the answer is given as the value of a field within 24 hours, once, by the same caller.',
      body: {
        'application/octet-stream': { schema: binary },
        'multipart/form-data': {
          schema: { type: 'object', required: ['file'], properties: { file: binary } },
        },
      },
      forms: { [json]: { schema: uploadSchema } },
      success: { 201: 'The upload.' },
      errors: [
        'STORAGE_FULL',
        'REQUEST_TIMEOUT',
        'IDEMPOTENCY_IN_FLIGHT',
        'IDEMPOTENCY_KEY_REUSED',
      ],
    },
    serve: mount => async (c, viewer, named) => {
      refuseParameters(queryString(c), mount.style)
      const open = givable(mount.core.model, viewer)
      if (open.length === 0) throw refusal(viewer, 'send files')
      const max = Math.max(...open.map(({ file }) => file.max))
      const exif = isKept ? ('kept' as const) : undefined
      const taken = { accept: open.flatMap(({ file }) => file.accept), max, exif }
      const writing = writingFor(mount.core, viewer)
      const keyFor = (file: StoredFile) => idempotencyFor(c, mount, viewer, { ...file })
      const { done } = await receiveUpload(mount, writing, c, taken, keyFor)
      return writtenReply(named, { ...done, status: 201 }, done.answer?.text ?? null)
    },
  }
}

/** The routes of all files of these entities; none where no field is one. */
export const fileRoutes = (entities: Entities): readonly ExtraRoute[] => {
  const fields = fileFields(entities)
  const given = fields.filter(({ field }) => field.settableBy.kind !== 'nobody')
  // An action gives an upload to a field that its sender may not.
  const isKept = fields.every(({ file }) => file.exif === 'kept' || !takesPictures(file))
  return [
    ...fields.flatMap(of => (of.field.rest ? [readRoute(of), ...writeRoutes(of)] : [])),
    ...(given.length > 0 ? [uploadRoute(given, isKept)] : []),
  ]
}
