/** Validates bodies and inputs by the rules of the fields, all faults at once, and turns them into stored values. */
import type { Check } from '#base/check.ts'
import { type JsonObject, mergePatch, own } from '#base/object.ts'
import { clipped, hintFor, nearest } from '#base/text.ts'
import { ApiError, type FieldFault, mostFaults } from '#errors.ts'
import type { Entity } from '#model/entity.ts'
import { type Field, isDerived, isUpload, madeSlug, mostCharacters } from '#model/field.ts'
import { fieldOf, type Model } from '#model/model.ts'
import { digitsOf, parseMinor } from '#model/money.ts'
import { withArticle } from '#model/names.ts'
import { holders, inWords, isByRow, isForAll, judge, refusal, type Viewer } from '#model/policy.ts'
import { fieldNamedEver, type Resource } from '#model/resource.ts'
import { isStoredFile } from '#model/stored-file.ts'
import type { Scalar } from '#model/values.ts'
import { decoded } from '#model/version.ts'
import { foldedAs } from '#model/words.ts'
import { encoders } from '#read/stitch.ts'
import type { SqlValue } from '#sql/sql.ts'

/**
 * The purpose of an input. `create` and `replace` need all fields without an initial value, `update` takes those that
 * are given, `import` is a creation that may also give fields that the service would set: ids and times.
 */
export type Mode = 'create' | 'replace' | 'update' | 'import'

/** Values by field, as they are stored; `ruled`: those of them that a caller gave and may set in some rows only. */
export type Values = ReadonlyMap<string, SqlValue> & { readonly ruled?: readonly string[] }

/** The fields among values of an input that its caller may set in some rows only. */
export const ruledIn = (values: ReadonlyMap<string, unknown>): readonly string[] =>
  (values as { readonly ruled?: readonly string[] }).ruled ?? []

/** Values that are made of those of an input, and so are ruled as these are. */
export const ruledAs = <Made extends ReadonlyMap<string, unknown>>(
  of: ReadonlyMap<string, unknown>,
  values: Made,
): Made & { readonly ruled: readonly string[] } =>
  Object.assign(values, { ruled: ruledIn(of).filter(key => values.has(key)) })

/** A value that steps and hooks are given, and give: as callers write it, but times as a Date. */
export type InputValue =
  | string
  | number
  | boolean
  | null
  | Date
  | JsonObject
  | readonly unknown[]
  | Uint8Array

/** What an input is validated for, and by which names. */
export type InputContext = {
  readonly mode: Mode
  readonly viewer: Viewer
  readonly model: Pick<Model, 'settings' | 'viewers'>
  /** The moment of the write, milliseconds since 1970. */
  readonly now: number
  /** The name of the entity in a fault. */
  readonly what: string
  /** Values that come from the path, not from the body. */
  readonly given?: Readonly<Record<string, SqlValue>>
  /** The entity as the caller's version of the REST API has it; without it, members are called as the fields are. */
  readonly resource?: Resource
  /** Fields that no API shows and that an import may give nevertheless. */
  readonly also?: readonly string[]
  /** Whether the service itself gives the values, of any field. */
  readonly isService?: boolean
  /** The JSON values that the row has now, into which objects are merged. */
  readonly stored?: Values | undefined
}

/** The highest id that a row may bring: the table's later ones are above it, and below 2^53. */
const highestBrought = 2 ** 52

type StoredValue = { readonly value: SqlValue } | { readonly fault: string }

/**
 * A number in its smallest units. An import also takes one as a program in single precision writes it, in full or to some digit: 21.35
 * as 21.3500004. From some 130,000 on single precision has one number for several amounts in cents, so none of them is meant.
 */
const minorUnits = (value: number, { model, mode }: InputContext, field: Field): StoredValue => {
  const { currency } = model.settings
  const digits = digitsOf(field, currency.digits)
  const parsed = parseMinor(String(value), digits)
  if (parsed && !parsed.rest) return { value: Number(parsed.minor) }
  const minor = Math.round(value * 10 ** digits)
  const [below, single = 0, above] = [-1, 0, 1].map(step =>
    Math.fround((minor + step) / 10 ** digits),
  )
  const [, decimals = ''] = String(value).split('.')
  const isOneAmount = single !== below && single !== above
  if (mode === 'import' && isOneAmount && value === Number(single.toFixed(decimals.length)))
    return { value: minor }
  const why = field.scalar === 'money' ? `, as ${currency.code} has` : ''
  return { fault: `must have at most ${digits} decimals${why}` }
}

/** JSON as it is stored; quotes and escapes count. */
const asJson = (text: string, field: Field): StoredValue => {
  const most = mostCharacters(field)
  return text.length <= most
    ? { value: text }
    : { fault: `must be at most ${most} characters as JSON` }
}

/** Turns a validated JSON value into a stored one. */
const storing: Readonly<
  Record<Scalar, (value: unknown, context: InputContext, field: Field) => StoredValue>
> = {
  id: value => ({ value: value as number }),
  text: value => ({ value: value as string }),
  int: value => ({ value: value as number }),
  money: (value, context, field) => minorUnits(value as number, context, field),
  decimal: (value, context, field) => minorUnits(value as number, context, field),
  date: value => ({ value: value as string }),
  time: value => ({ value: Date.parse(value as string) }),
  flag: value => ({ value: value === true ? 1 : 0 }),
  json: (value, _, field) => asJson(JSON.stringify(value), field),
  list: (value, context, field) => {
    const items = field.items as Field
    const encode = encoders('rest', 0)(items)
    const texts: string[] = []
    for (const item of value as readonly unknown[]) {
      const stored = storing[items.scalar](item, context, items)
      if ('fault' in stored) return { fault: `has an item that ${stored.fault}` }
      texts.push(encode(stored.value))
    }
    return asJson(`[${texts.join()}]`, field)
  },
  file: (value, { mode }) =>
    mode === 'create' && !isUpload(value)
      ? { fault: 'must be the id of an upload of its own, as POST /api/files answers it' }
      : { value: value as string },
  bytes: () => ({ fault: 'cannot be given as JSON' }),
}

/** A stored JSON value with an object merged into it; another value replaces it. */
const merged = (stored: SqlValue, patch: unknown): unknown =>
  mergePatch(stored === null ? null : JSON.parse(String(stored)), patch)

/** The stored value of a member, which may be written in the form of the caller's version. */
const storedValue = (
  field: Field,
  key: string,
  given: unknown,
  context: InputContext,
): StoredValue => {
  const form = context.resource?.formOf(key)
  // Nobody may give a moment that is written in seconds.
  const isOwn = form === undefined || form === 'as seconds' || given === null
  const read = isOwn ? { value: given } : decoded(form, given, field.values)
  if ('fault' in read) return read
  if (read.value === null) return field.nullable ? { value: null } : { fault: 'must not be null' }
  // A file that came with the rows was put into the store before them.
  if (context.mode === 'import' && field.file && isStoredFile(read.value))
    return { value: read.value }
  const before = context.stored?.get(key)
  const value = before === undefined ? read.value : merged(before, read.value)
  const checked = field.rule(value)
  if ('fault' in checked) return checked
  const isOwnId = field.scalar === 'id' && !field.references
  if (context.mode === 'import' && isOwnId && Number(checked.value) > highestBrought)
    return {
      fault: `must be at most ${highestBrought}, so that ids are left for later rows; take a lower one, or leave it out`,
    }
  return storing[field.scalar](checked.value, context, field)
}

/** Whether callers may know of a field. */
const isMember = (
  field: Field | undefined,
  key: string,
  { also = [], mode, isService = false }: InputContext,
): field is Field =>
  field !== undefined &&
  field.foldedFrom === undefined &&
  (isService ||
    field.rest ||
    field.graphql !== 'hidden' ||
    also.includes(key) ||
    // Without it the row of a file would be another person's.
    (mode === 'import' && field.initial === 'subject'))

/** Why the caller may not give this member; undefined if the caller may. */
const closed = (
  field: Field | undefined,
  key: string,
  context: InputContext,
): string | undefined => {
  const { mode, viewer, model, given = {}, what } = context
  if (!isMember(field, key, context)) return `is not a member of ${withArticle(what)}`
  if (mode === 'import' || context.isService)
    return isDerived(field) ? 'comes of other values and may not be given: leave it out' : undefined
  if (key in given) return 'is given by the path and may not be given here'
  if (field.immutable && mode !== 'create') return 'cannot be changed'
  if (field.settableBy.kind === 'nobody') return 'is set by the service and may not be given'
  if (judge(field.settableBy, viewer, model) === 'no')
    return isByRow(field.settableBy)
      ? `may be given by ${inWords(field.settableBy, model.viewers.roles)} only`
      : `may be given by ${holders(field.settableBy, model.viewers.roles)} only`
  return undefined
}

/** The field of a member: of the caller's version, or in a file of any version. */
const fieldFor = (
  entity: Entity,
  member: string,
  { resource, mode }: InputContext,
): string | undefined => {
  if (resource) return resource.fieldNamed(member)
  return mode === 'import' ? fieldNamedEver(entity, member) : member
}

/** The member that an unknown one was probably meant for, of those that the caller may give in its version. */
const meant = (entity: Entity, member: string, context: InputContext): string => {
  const open = Object.entries(entity.fields).flatMap(([key, field]) => {
    const name = context.resource?.nameOf(key) ?? key
    return closed(field, key, context) || fieldFor(entity, name, context) !== key ? [] : [name]
  })
  const near = nearest(member, open)
  return near === undefined ? '' : `, but ${near} is`
}

/** The stored value for a member that the input does not give; undefined: nothing is set. */
const absent = (field: Field, key: string, context: InputContext): StoredValue | undefined => {
  const { mode, given = {}, now, resource, viewer } = context
  const { initial, nullable } = field
  if (key in given) return { value: given[key] as SqlValue }
  // A replacement leaves fields as they are that are immutable, unknown in its version or not its caller's to set.
  const isUnknown = resource !== undefined && resource.fieldNamed(resource.nameOf(key)) !== key
  const isOwn =
    field.settableBy === field.readableBy
      ? judge(field.settableBy, viewer, context.model) === 'yes'
      : isForAll(field.settableBy)
  if (mode === 'replace' && (!isOwn || field.immutable || isUnknown)) return undefined
  if (key === 'id') return undefined
  // A field that the caller may not read is left as it is too.
  if (mode === 'replace' && initial === undefined && isByRow(field.readableBy)) return undefined
  if (initial === undefined) return { fault: 'is required' }
  if (initial === 'now') return { value: now }
  if (typeof initial === 'object') return 'value' in initial ? initial : undefined
  if (initial === 'subject') {
    if (viewer.subject !== undefined) return storedValue(field, key, viewer.subject, context)
    if (nullable) return { value: null }
    // Whatever else is wrong: without a token there is nobody whose row it would be.
    if (mode === 'create') throw refusal(viewer, `create ${withArticle(context.what)}`)
    return { fault: 'is required' }
  }
  // Who creates a row and is nobody is refused later, as one without a token is.
  return viewer.id === null && !nullable && mode !== 'create'
    ? { fault: 'is required' }
    : { value: viewer.id }
}

/** Adds the folded copies of the texts among the values. */
const addFolded = ({ fields }: Entity, values: Map<string, SqlValue>): void => {
  for (const [key, field] of Object.entries(fields)) {
    const source = field.foldedFrom === undefined ? undefined : values.get(field.foldedFrom)
    if (typeof source === 'string') values.set(key, foldedAs(field, source))
    else if (source === null) values.set(key, null)
  }
}

/** Adds the slugs that a creation does not give, made of the texts among the values; gives the faults of those that have no word. */
const addSlugs = (
  { fields }: Entity,
  named: ReadonlyMap<string, string>,
  values: Map<string, SqlValue>,
): readonly FieldFault[] =>
  Object.entries(fields).flatMap(([key, field]) => {
    const { initial } = field
    if (typeof initial !== 'object' || !('slugOf' in initial) || named.has(key)) return []
    const source = values.get(initial.slugOf)
    const made = typeof source === 'string' ? madeSlug(source, field) : null
    const isMissing = made === '' || (made === null && !field.nullable && source !== undefined)
    if (source !== undefined) values.set(key, made || null)
    return isMissing && !field.nullable
      ? [
          {
            field: key,
            message: `is required, as ${initial.slugOf} has neither letters nor digits`,
          },
        ]
      : []
  })

/** A stored value as callers write it, but times as a Date: what steps and hooks are given. */
export const authorValue = (field: Field, stored: SqlValue, digits: number): InputValue => {
  if (stored === null) return null
  switch (field.scalar) {
    case 'id':
    case 'int':
      return Number(stored)
    case 'money':
    case 'decimal':
      return Number(stored) / 10 ** digitsOf(field, digits)
    case 'time':
      return new Date(Number(stored))
    case 'flag':
      return Boolean(Number(stored))
    case 'json':
    case 'list':
      return JSON.parse(String(stored))
    case 'file':
      return isStoredFile(stored) ? JSON.parse(stored) : String(stored)
    case 'text':
    case 'date':
    case 'bytes':
      return stored as string | Uint8Array
    default:
      return field.scalar satisfies never
  }
}

/**
 * The faults of an input and the values it gives, by field.
 * Every fault of the input is in the list, by the member's own name; `unwanted` are the members that it may not have.
 */
export const checkInput = (
  entity: Entity,
  input: Readonly<Record<string, unknown>>,
  context: InputContext,
): {
  readonly values: Values
  readonly faults: readonly FieldFault[]
  readonly unwanted: readonly string[]
} => {
  const values = new Map<string, SqlValue>()
  const faults: FieldFault[] = []
  const unwanted: string[] = []
  const named = new Map<string, string>()
  const ruled: string[] = []
  const isCallers = context.mode !== 'import' && !context.isService
  for (const [member, value] of Object.entries(input)) {
    const key = fieldFor(entity, member, context) ?? ''
    const field = own(entity.fields, key)
    // A file may call a field as one version does and again as another.
    const other = named.get(key)
    const twice = other === undefined ? undefined : `is the same as ${other}, which is given too`
    const refusal = closed(field, key, context) ?? twice
    named.set(key, member)
    // A caller who reads null in its place sends it back.
    const isUnread = context.mode === 'replace' && value === null && isByRow(field?.readableBy)
    if (refusal === undefined && isUnread && !field?.nullable) continue
    if (refusal === undefined && field) {
      const stored = storedValue(field, key, value, context)
      if ('fault' in stored) {
        faults.push({ field: member, message: stored.fault })
        continue
      }
      values.set(key, stored.value)
      const { initial } = field
      const isInitial =
        context.mode === 'create' &&
        typeof initial === 'object' &&
        'value' in initial &&
        initial.value === stored.value
      const isWished = isCallers && !isUnread && !isInitial
      if (isWished && judge(field.settableBy, context.viewer, context.model) === 'row')
        ruled.push(key)
    } else {
      const isUnknown = !isMember(field, key, context) && faults.length < mostFaults
      const hint = isUnknown ? meant(entity, member, context) : ''
      faults.push({ field: member, message: refusal + hint })
      unwanted.push(member)
    }
  }
  // An update leaves as they are what it does not give, but for what its path gives.
  const others = context.mode === 'update' ? (context.given ?? {}) : entity.fields
  for (const key of Object.keys(others)) {
    const field = fieldOf(entity, key)
    if (named.has(key) || isDerived(field)) continue
    const stored = absent(field, key, context)
    if (stored === undefined) continue
    if ('value' in stored) values.set(key, stored.value)
    else faults.push({ field: context.resource?.nameOf(key) ?? key, message: stored.fault })
  }
  if (context.mode === 'create' || context.mode === 'import')
    faults.push(...addSlugs(entity, named, values))
  addFolded(entity, values)
  return { values: Object.assign(values, { ruled }), faults, unwanted }
}

/** The values of an input; throws `VALIDATION_ERROR` with all its faults. */
export const inputValues = (
  entity: Entity,
  input: Readonly<Record<string, unknown>>,
  context: InputContext,
): Values => {
  const { values, faults, unwanted } = checkInput(entity, input, context)
  if (faults.length === 0) return values
  // A row that is sent back whole has many such members, and nothing else is wrong with it.
  const isWhole =
    context.mode === 'replace' && unwanted.length > 1 && unwanted.length === faults.length
  if (!isWhole) throw invalid(faults)
  const details = reportOf(faults)
  const names = details.map(({ field }) => field).filter(field => field !== '')
  const more = faults.length > names.length ? ' and more' : ''
  throw new ApiError(
    'VALIDATION_ERROR',
    `Leave out ${names.join(', ')}${more}: a row that is sent back is taken without them`,
    { details },
  )
}

/** The faults as callers see them: the first ones, with their texts cut. */
export const reportOf = (faults: readonly FieldFault[]): readonly FieldFault[] => {
  const reported = faults.slice(0, mostFaults).map(({ field, message }) => ({
    field: clipped(field, 100),
    message: clipped(message, 200),
  }))
  const rest = faults.length - reported.length
  if (rest === 0) return reported
  return [
    ...reported,
    { field: '', message: `and ${rest} more ${rest === 1 ? 'fault' : 'faults'}` },
  ]
}

/** The error for single fields at fault; its message names the first of them. */
export const invalid = (faults: readonly FieldFault[]): ApiError => {
  const details = reportOf(faults)
  const sentences = details.map(({ field, message }) => `${field} ${message}`.trim())
  return new ApiError('VALIDATION_ERROR', sentences.join('; '), { details })
}

/** The initial value of a field, to which a change may reset it. */
export const initialValue = (entity: Entity, key: string): SqlValue => {
  const { initial } = fieldOf(entity, key)
  return typeof initial === 'object' && 'value' in initial ? initial.value : null
}

/** Throws `VALIDATION_ERROR` for a body with members if none are allowed. */
export const noMembers = (body: Readonly<Record<string, unknown>>): void => {
  const faults = Object.keys(body).map(field => ({
    field,
    message: 'is not a member here, where none are taken',
  }))
  if (faults.length > 0) throw invalid(faults)
}

/** The faults of the members of a body that are not among these. */
export const unknownMembers = (
  body: Readonly<Record<string, unknown>>,
  known: readonly string[],
): readonly FieldFault[] =>
  Object.keys(body)
    .filter(field => !known.includes(field))
    .map(field => {
      const hint = hintFor(field, known, `there are ${known.join(', ')}`)
      return { field, message: `is not a member here; ${hint}` }
    })

/** The fields that a change of this one takes back, with the values that they then have; a folded copy follows its field. */
export const fieldsToReset = (entity: Entity, by: string): Values => {
  const values = new Map<string, SqlValue>()
  for (const [key, { resetBy }] of Object.entries(entity.fields))
    if (resetBy === by) values.set(key, initialValue(entity, key))
  if (values.size > 0) addFolded(entity, values)
  return values
}

type Made<Of> = Of extends Check<infer Value> ? Value : never

/** The values of the members that are right, and a fault for each other one and for each unknown one; `at` is the path of the object. */
export const checkMembers = <Checks extends Readonly<Record<string, Check>>>(
  object: JsonObject,
  checks: Checks,
  at = '',
) => {
  const faults: FieldFault[] = Object.keys(object)
    .filter(key => !Object.hasOwn(checks, key))
    .map(key => ({ field: `${at}${key}`, message: 'is not a member here' }))
  const values: { [Key in keyof Checks]?: Made<Checks[Key]> } = {}
  for (const key of Object.keys(checks) as (keyof Checks & string)[]) {
    const checked = checks[key]?.(object[key])
    if (checked && 'fault' in checked) faults.push({ field: `${at}${key}`, message: checked.fault })
    else values[key] = checked?.value as Made<Checks[typeof key]>
  }
  return { values, faults }
}
