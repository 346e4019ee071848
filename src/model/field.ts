/** Fields, defined once. Each API and engine derives its own view of a field from this. */
import { anyText, type Check, ofType, where } from '#base/check.ts'
import { isDay } from '#base/dates.ts'
import { isObject } from '#base/object.ts'
import { keys, madeWith, must, type Shape, words } from '#base/shape.ts'
import { type ErrorKind, errorShape } from '#errors.ts'
import type { Condition } from '#model/condition.ts'
import { typeName } from '#model/names.ts'
import {
  anyone,
  type DeclaredRule,
  fieldRule,
  nobody,
  type Rule,
  readerShape,
  ruleShape,
} from '#model/policy.ts'
import {
  codePoints,
  isComparable,
  isEmail,
  isEnumValue,
  isStorable,
  longestEmail,
  notATime,
  notStorable,
  parseMoment,
  type Scalar,
  slugOf,
} from '#model/values.ts'
import { type Lifetime, lifetimeShape, type Variants, variantsShape } from '#model/version.ts'

/** The value of a field that a create does not give: a fixed one, one made of a text, the current time, the viewer's id, or the subject of its token. */
type Initial =
  | { readonly value: string | number | null }
  | { readonly slugOf: string }
  | 'now'
  | 'viewer'
  | 'subject'

/** A field; its lifetime is that of its member in the versions of the REST API. */
export type Field = Lifetime & {
  readonly scalar: Scalar
  /** How many decimals a decimal has; 0 for any other kind. */
  readonly scale: number
  readonly nullable: boolean
  readonly description: string
  /** The rule for values from outside; the value that it gives is stored. */
  readonly rule: Check
  /** Who may read it among those who may read its entity; it is null in the rows in which the caller may not. */
  readonly readableBy: Rule
  /** Who may set it among those who may write its entity, of which rows: as they are, a new one as it will be; `nobody`: the service sets it. */
  readonly settableBy: Rule
  /** Undefined: a create must give it. */
  readonly initial: Initial | undefined
  /** Whether the GraphQL API has it everywhere, in inputs only, or not at all. */
  readonly graphql: 'shown' | 'input' | 'hidden'
  /** Whether the REST API shows it. */
  readonly rest: boolean
  /** Its name and form in versions of the REST API up to one, if they differ from the model's. */
  readonly until: Variants
  /** The same from a version on; the column and GraphQL keep the name of the field. */
  readonly from: Variants
  /** The entity whose id it holds, and what happens here when that one is deleted. */
  readonly references:
    | {
        readonly entity: string
        readonly onDelete: 'cascade' | 'set null' | 'restrict'
        /** Whether the declaration leaves it to the model, which then lets go what belongs to the row that it names. */
        readonly isUsual?: true
      }
    | undefined
  /** The field of the same row it is folded from (see `fold`). */
  readonly foldedFrom: string | undefined
  /** Of a folded copy: whether `é` is `e` in it. */
  readonly accents: 'ignored' | undefined
  /** Of a folded copy: whether an index finds the texts that contain some letters. */
  readonly indexed?: boolean | undefined
  /** What a copy has that the machine keeps: the words of the text, for search; or the text composed (NFC), which is then unique. */
  readonly copied: 'words' | 'nfc' | undefined
  /** The formula by which the store computes it of other fields of the row. */
  readonly computed: Formula | undefined
  /** The relation whose rows the store counts in it, or keeps the sum or the mean of a field of. */
  readonly kept:
    | {
        readonly relation: string
        readonly of?: string
        readonly as: 'count' | 'sum' | 'mean'
        /** What holds of the rows that count; all do if it is left out. */
        readonly where?: KeptOptions['where'] | undefined
      }
    | undefined
  /** The field whose change resets this one to its initial value. */
  readonly resetBy: string | undefined
  /** Whether each change of the row sets it to the time of that change. */
  readonly touched: boolean
  /** For a unique field, the error for a second row with the same value. */
  readonly unique: ErrorKind | 'CONFLICT' | undefined
  /** Whether it may be given in a create and not changed afterwards. */
  readonly immutable: boolean
  /** The least and the largest value of a number, length of a text or of JSON in code points, or number of items of a list. */
  readonly range: { readonly min: number; readonly max: number } | undefined
  /** The only values it takes. */
  readonly values: readonly string[] | undefined
  /** The form that its text has, as JSON Schema calls it. */
  readonly format: 'email' | 'uri' | undefined
  /** The regular expression that its text matches. */
  readonly pattern: RegExp | undefined
  /** What each item of a list is. */
  readonly items: Field | undefined
  /** What JSON must fit. */
  readonly schema: StandardSchema | undefined
  /** Which files it takes. */
  readonly file: FileRules | undefined
  /** The name that it had before, whose column a draft renames; false: it is new, whatever columns are left over. */
  readonly renamed: string | false | undefined
  /** The enum of the GraphQL API that a choice is there, and why not to use some of its values; a String without it. */
  readonly enum: Enum | undefined
}

/** Which files a field takes. */
export type FileRules = {
  /** The media types; `image/*` stands for all of a kind. */
  readonly accept: readonly string[]
  /** The most bytes. */
  readonly max: number
  /** The widths in pixels that a picture is given in beside its own. */
  readonly sizes: readonly number[]
  /** Whether a picture keeps what a camera wrote into it, its place too. */
  readonly exif: 'kept' | undefined
  /** The table in which an earlier release kept their bytes, which are moved into the store of files. */
  readonly movedFrom: FormerFiles | undefined
}

/** A table of an earlier release that has the bytes of files, and its columns: the id of the row that a file belongs to, its bytes and its media type. */
export type FormerFiles = {
  readonly table: string
  readonly row: string
  readonly bytes: string
  readonly type: string
}

/** A field by its name, a value, or a formula of terms. */
export type Term = string | { readonly value: number } | { readonly text: string } | Formula

/** How a value is computed from others. It is null if one of them is null; `coalesce` is the first of them that is not. */
export type Formula =
  | { readonly plus: readonly Term[] }
  | { readonly minus: readonly [Term, Term] }
  | { readonly times: readonly Term[] }
  | { readonly concat: readonly Term[] }
  | { readonly coalesce: readonly Term[] }
  /** A sum by a count, with four decimals more, half away from zero; null of none. */
  | { readonly mean: readonly [sum: string, count: string] }

/** How a library of schemas offers one: Standard Schema, version 1, with the JSON Schema that later ones add to it. */
export type StandardSchema<Value = unknown> = {
  readonly '~standard': {
    readonly version: 1
    readonly validate: (value: unknown) => SchemaResult<Value> | Promise<SchemaResult<Value>>
    readonly jsonSchema?: Readonly<
      Record<'input' | 'output', (options: { readonly target: 'draft-2020-12' }) => object>
    >
  }
}

type SchemaResult<Value> =
  | { readonly value: Value; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] }

type SchemaIssue = {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

type Enum = {
  readonly name: string
  readonly deprecated?: Readonly<Record<string, string | undefined>>
}

type OptionsOfKind =
  | 'scalar'
  | 'scale'
  | 'touched'
  | 'rule'
  | 'range'
  | 'values'
  | 'format'
  | 'references'
  | 'foldedFrom'
  | 'accents'
  | 'indexed'
  | 'copied'
  | 'computed'
  | 'kept'
  | 'initial'
  | 'pattern'
  | 'items'
  | 'schema'
  | 'file'
  | 'enum'

/** The options of a field of any kind; `Own` is the type of its initial value, `Value` that of one in a body. */
export type FieldOptions<Own extends Initial = Initial, Value = never> = Partial<
  Omit<Field, OptionsOfKind | 'readableBy' | 'settableBy' | 'unique'>
> & {
  readonly initial?: Own | { readonly value: null }
  /** Rules for each value beside that of its kind, each by the sentence that a caller reads who breaks it: `must be even`. */
  readonly check?: Readonly<Record<string, (value: Value) => boolean>>
  /** A rule, a list of them, or the condition of the rows in which anyone may read it. */
  readonly readableBy?: DeclaredRule | Condition
  /** The same of who may set it: who may read it, unless this says otherwise. */
  readonly settableBy?: DeclaredRule | Condition
  /** The error for a second row with the same value; true: `CONFLICT`. */
  readonly unique?: ErrorKind | 'CONFLICT' | boolean | undefined
}

/** The options of a field that the service fills. */
type FilledOptions = Pick<
  FieldOptions,
  'settableBy' | 'readableBy' | 'description' | 'graphql' | 'rest' | 'until' | 'from' | 'renamed'
> &
  Lifetime

/** Options of a field that the service sets and no caller may. */
export const fixed = { settableBy: nobody } as const
/** Options of an internal field: for searches and comparisons, never shown. */
export const internal = { settableBy: nobody, graphql: 'hidden', rest: false } as const

/** What may be the error for a second row with the same values. */
export const secondShape: Shape = { either: [words<'CONFLICT'>({ CONFLICT: 1 }), errorShape] }

const uniqueShape: Shape = { either: ['flag', secondShape] }

const common = keys<FieldOptions>({
  ...lifetimeShape.keys,
  nullable: 'flag',
  description: 'text',
  readableBy: readerShape,
  settableBy: readerShape,
  initial: {
    either: [
      words<Extract<Initial, string>>({ now: 1, viewer: 1, subject: 1 }),
      keys<Exclude<Initial, string>>({ value: 'anything', slugOf: 'text' }, '{ value: … }'),
    ],
  },
  check: { named: 'function' },
  graphql: words<Field['graphql']>({ shown: 1, input: 1, hidden: 1 }),
  rest: 'flag',
  until: variantsShape,
  from: variantsShape,
  resetBy: 'text',
  renamed: { either: ['text', 'flag'] },
  unique: uniqueShape,
  immutable: 'flag',
})

type MakeField = (...given: never) => Field
type First<Make extends MakeField> = NonNullable<Parameters<Make>[0]>
type Second<Make extends MakeField> = NonNullable<Parameters<Make>[1]>
type Deletion = NonNullable<Field['references']>['onDelete']

const enumShape = keys<Enum>({ name: must('text'), deprecated: { named: 'text' } })
const limits = { min: must('number'), max: must('number') }

/** The options of the functions that make fields, if they have some of their own. */
const shapes = {
  text: keys<First<typeof text>>({
    ...common.keys,
    min: 'number',
    max: must('number'),
    trimmed: 'flag',
    pattern: 'anything',
    message: 'text',
  }),
  slug: keys<First<typeof slug>>({ ...common.keys, from: must('text'), max: 'number' }),
  choice: keys<Second<typeof choice>>({ ...common.keys, enum: enumShape }),
  int: keys<First<typeof int>>({ ...common.keys, ...limits }),
  money: keys<First<typeof money>>({ ...common.keys, max: limits.max }),
  decimal: keys<First<typeof decimal>>({ ...common.keys, ...limits, scale: must('number') }),
  json: keys<Second<typeof json>>({ ...common.keys, max: 'number' }),
  file: keys<First<typeof file>>({
    ...common.keys,
    accept: must({ each: 'text' }),
    max: must({ either: ['text', 'number'] }),
    sizes: { each: 'number' },
    exif: words<'kept'>({ kept: 1 }),
    movedFrom: keys<FormerFiles>({
      table: must('text'),
      row: must('text'),
      bytes: must('text'),
      type: must('text'),
    }),
  }),
  list: keys<Second<typeof list>>({ ...common.keys, min: 'number', max: limits.max }),
  reference: keys<Second<typeof reference>>({
    ...common.keys,
    onDelete: words<Deletion>({ cascade: 1, 'set null': 1, restrict: 1 }),
  }),
  subject: keys<First<typeof subject>>({
    nullable: 'flag',
    description: 'text',
    readableBy: ruleShape,
    graphql: common.keys.graphql,
    rest: 'flag',
  }),
  computed: keys<First<typeof computed>>({ as: must('anything'), from: must('anything') }),
  folded: keys<Second<typeof folded>>({
    nullable: 'flag',
    unique: uniqueShape,
    renamed: common.keys.renamed,
    accents: words<'ignored'>({ ignored: 1 }),
    indexed: 'flag',
  }),
}

/** The shape of a field, for those that are copied from others. */
export const fieldShape = keys<Omit<Field, keyof FieldOptions> & FieldOptions>({
  ...common.keys,
  readableBy: ruleShape,
  settableBy: ruleShape,
  scalar: must('text'),
  scale: must('number'),
  touched: must('flag'),
  rule: must('function'),
  references: 'anything',
  foldedFrom: 'text',
  accents: words<'ignored'>({ ignored: 1 }),
  indexed: 'flag',
  copied: words<'words' | 'nfc'>({ words: 1, nfc: 1 }),
  computed: 'anything',
  kept: 'anything',
  range: 'anything',
  values: { each: 'text' },
  format: 'text',
  pattern: 'anything',
  items: 'anything',
  schema: 'anything',
  file: 'anything',
  enum: enumShape,
})

type FieldDetails = FieldOptions & Partial<Pick<Field, OptionsOfKind>>

/** A field; what it was made with is checked where its name is known. */
const field = (
  scalar: Scalar,
  rule: Check,
  { check = {}, ...details }: FieldDetails,
  ...given: readonly [shape: Shape, options: object]
): Field => {
  const readableBy = fieldRule(details.readableBy ?? anyone)
  return madeWith<Field>(
    {
      scalar,
      rule: Object.entries(check).reduce(
        (rule, [message, isSo]) => where(rule, isSo as (value: unknown) => boolean, message),
        rule,
      ),
      scale: 0,
      nullable: false,
      description: '',
      // A nullable field is null when it is not given.
      initial: details.nullable ? { value: null } : undefined,
      graphql: 'shown',
      rest: true,
      until: {},
      from: {},
      references: undefined,
      foldedFrom: undefined,
      accents: undefined,
      copied: undefined,
      computed: undefined,
      kept: undefined,
      resetBy: undefined,
      touched: false,
      immutable: false,
      range: undefined,
      values: undefined,
      format: undefined,
      pattern: undefined,
      items: undefined,
      schema: undefined,
      file: undefined,
      renamed: undefined,
      enum: undefined,
      ...details,
      unique: details.unique === true ? 'CONFLICT' : details.unique || undefined,
      readableBy,
      // Nobody writes what others take for their own.
      settableBy: details.settableBy === undefined ? readableBy : fieldRule(details.settableBy),
    },
    ...given,
  )
}

type TextOptions = FieldOptions<{ readonly value: string }, string>

const string = anyText('must be a string')

/** The rule for a text of so many code points, which loses its outer white space first if it is trimmed. */
const sized = (min: number, max: number, isTrimmed = false): Check<string> => {
  const fault =
    min === 0 ? `must be at most ${max} characters` : `must be ${min} to ${max} characters`
  return given => {
    if (typeof given !== 'string') return { fault: 'must be a string' }
    if (!isStorable(given)) return { fault: notStorable }
    const value = isTrimmed ? given.trim() : given
    const length = codePoints(value)
    return length >= min && length <= max ? { value } : { fault }
  }
}

/**
 * Text of `min` to `max` code points; `trimmed` loses its outer white space first. One that does not match `pattern` is told
 * `message`.
 */
export const text = (
  options: TextOptions & {
    min?: number
    max: number
    trimmed?: boolean
    pattern?: RegExp
    message?: string
  },
): Field => {
  const { min = 1, max, trimmed = false, pattern, message, ...rest } = options ?? {}
  const rule = sized(min, max, trimmed)
  const matching = pattern
    ? where(rule, text => pattern.test(text), message ?? `must match ${pattern.source}`)
    : rule
  return field(
    'text',
    matching,
    { ...rest, pattern, range: { min, max } },
    shapes.text,
    options ?? {},
  )
}

/** What the id of a row may add to a slug that another row has: `-` and its digits. */
const longestSuffix = 17

/** The slug that is made of a text, with room for a suffix. */
export const madeSlug = (text: string, { range }: Field): string =>
  slugOf(text, (range?.max ?? 0) - longestSuffix)

/** The words of a row's address, unique: made of another text of it in a create that does not give them, and kept from then on. */
export const slug = (
  options: Omit<FieldOptions<never, string>, 'initial'> & { from: string; max?: number },
): Field => {
  const { from, max = 100, ...rest } = options ?? {}
  const message = `must be at most ${max} small letters, without accents, and digits, with - between words`
  const rule = where(anyText(message), text => text !== '' && slugOf(text, max) === text, message)
  const details = {
    unique: 'CONFLICT',
    ...rest,
    initial: { slugOf: from },
    range: { min: 1, max },
    pattern: /^[\p{L}\p{N}\p{M}]+(-[\p{L}\p{N}\p{M}]+)*$/u,
  } as const
  return field('text', rule, details, shapes.slug, options ?? {})
}

/** Throws a plain error where a maker is not given the name that it takes first. */
const named = (maker: string, given: unknown, what: string): void => {
  if (typeof given !== 'string') throw new Error(`${maker}() takes ${what}`)
}

/** The maker of fields of a kind that takes the options of all kinds. */
const plain =
  <Options extends FieldOptions>(scalar: Scalar, rule: Check, own: FieldDetails = {}) =>
  (options?: Options): Field =>
    field(scalar, rule, { ...own, ...options }, common, options ?? {})

/** An email address of valid form, at most 254 characters, stored as it is written. */
export const email = plain<TextOptions>(
  'text',
  where(sized(1, longestEmail, true), isEmail, 'must be an email address'),
  { range: { min: 1, max: longestEmail }, format: 'email' },
)

// A URL parser repairs white space, backslashes and a missing host; readers of the stored text may not.
const webForm = /^https?:\/\/[^\s\p{Cc}/\\@?#]+(?:[/?#][^\s\p{Cc}\\]*)?$/iu

/** An absolute http or https URL without credentials, at most 2,048 characters. */
export const webUrl = plain<TextOptions>(
  'text',
  where(
    sized(1, 2048),
    value => webForm.test(value) && URL.canParse(value),
    'must be an absolute http or https URL',
  ),
  { range: { min: 1, max: 2048 }, format: 'uri' },
)

type ChoiceOptions<Value extends string> = FieldOptions<{ readonly value: Value }, Value> & {
  enum?: { readonly name: string; readonly deprecated?: Readonly<Partial<Record<Value, string>>> }
}

/** One of a few words. */
export const choice = <const Value extends string>(
  values: readonly Value[],
  options: ChoiceOptions<NoInfer<Value>> = {},
): Field => {
  if (!Array.isArray(values) || values.length === 0 || values.some(one => typeof one !== 'string'))
    throw new Error("choice() takes a list of words first, such as choice(['open', 'closed'])")
  const isOne = (given: string) => values.some(value => value === given)
  const rule = where(string, isOne, `must be one of ${values.join(', ')}`)
  const range = { min: 0, max: Math.max(...values.map(codePoints)) }
  return field('text', rule, { ...options, values, range }, shapes.choice, options ?? {})
}

const within =
  (isNumber: (given: unknown) => boolean, min: number, max: number) =>
  (given: unknown): given is number =>
    isNumber(given) && Number(given) >= min && Number(given) <= max

type NumberOptions = FieldOptions<{ readonly value: number }, number> & { max: number }

const numeric = (
  scalar: 'int' | 'money' | 'decimal',
  options: NumberOptions & { min?: number; scale?: number },
): Field => {
  const { min = 0, max, ...rest } = options ?? {}
  const [isNumber, what] =
    scalar === 'int' ? [Number.isSafeInteger, 'whole number'] : [Number.isFinite, 'number']
  const rule = ofType(within(isNumber, min, max), `must be a ${what} from ${min} to ${max}`)
  return field(scalar, rule, { ...rest, range: { min, max } }, shapes[scalar], options ?? {})
}

/** A whole number from `min` to `max`. */
export const int = (options: NumberOptions & { min: number }): Field => numeric('int', options)

/** An amount in the store's currency, which decides the number of decimals (see `write/input.ts`). */
export const money = (options: NumberOptions): Field => numeric('money', options)

/** A number with at most `scale` decimals, exact: of at most 15 digits. */
export const decimal = (options: NumberOptions & { scale: number; min: number }): Field =>
  numeric('decimal', options)

const noDay = 'must be a day, such as 2026-01-31'

/** A day of the calendar, without a time. */
export const date = plain<TextOptions>('date', where(anyText(noDay), isDay, noDay))

/** A moment, given with any offset, and kept and shown in UTC with milliseconds (ISO 8601). */
export const time = plain<FieldOptions<'now' | { readonly value: number }, string>>(
  'time',
  given => {
    const moment = typeof given === 'string' ? parseMoment(given) : undefined
    return moment ? { value: new Date(moment.at).toISOString() } : { fault: notATime }
  },
)

/** True or false. */
export const flag = plain<FieldOptions<{ readonly value: 0 | 1 }>>(
  'flag',
  ofType(given => typeof given === 'boolean', 'must be true or false'),
)

const issuePhrase = ({ path = [], message }: SchemaIssue): string => {
  const at = path.map(part => String(typeof part === 'object' ? part.key : part)).join('.')
  return at === '' ? message : `${at}: ${message}`
}

/** JSON that fits a schema, such as one of zod's, and is kept as that gives it: an object or a list of at most `max` characters. */
export const json = <Value>(
  schema: StandardSchema<Value>,
  options: FieldOptions<{ readonly value: string }, Value> & { max?: number } = {},
): Field => {
  const { max = 10_000, ...rest } = options ?? {}
  if (typeof schema?.['~standard']?.validate !== 'function')
    throw new Error('json() takes a schema first, such as one of zod: json(z.object({ … }))')
  const rule: Check = given => {
    const result = schema['~standard'].validate(given)
    if (result instanceof Promise)
      throw new Error('a schema of json() answers later: checks of values must be done at once')
    if (result.issues)
      return { fault: `does not fit: ${result.issues.slice(0, 3).map(issuePhrase).join(', ')}` }
    return result
  }
  return field(
    'json',
    where(
      rule,
      value => typeof value === 'object' && value !== null,
      'must be an object or a list',
    ),
    { ...rest, schema, range: { min: 0, max } },
    shapes.json,
    options ?? {},
  )
}

/** A list of `min` to `max` values of a kind, in their order. */
export const list = (
  items: Field,
  options: FieldOptions<{ readonly value: string }, readonly never[]> & {
    min?: number
    max: number
  },
): Field => {
  const { min = 0, max, ...rest } = options ?? {}
  if (typeof items?.rule !== 'function')
    throw new Error(
      'list() takes what its items are first, such as list(text({ max: 20 }), { max: 5 })',
    )
  const fault = `must be a list of ${min === 0 ? 'at most' : `${min} to`} ${max}`
  const rule: Check = given => {
    if (!Array.isArray(given) || given.length < min || given.length > max) return { fault }
    const found = given.map(value => items.rule(value))
    const at = found.findIndex(item => 'fault' in item)
    const wrong = found[at]
    return wrong && 'fault' in wrong
      ? { fault: `has an item, number ${at + 1}, that ${wrong.fault}` }
      : { value: found.map(item => ('value' in item ? item.value : null)) }
  }
  return field('list', rule, { ...rest, items, range: { min, max } }, shapes.list, options ?? {})
}

const units = { B: 1, kB: 1e3, MB: 1e6, GB: 1e9 } as const

/** The bytes of a size such as `5 MB`; NaN for any other text. */
const bytesOf = (size: string | number): number => {
  if (typeof size === 'number') return size
  const [, number, unit = 'B'] = /^(\d+(?:\.\d+)?) ?(B|kB|MB|GB)$/.exec(size) ?? []
  return Number(number) * units[unit as keyof typeof units]
}

const uploadForm = /^up_[\w-]{22}$/

/** Whether a value that a caller gave for a file is an upload. */
export const isUpload = (value: unknown): value is string =>
  typeof value === 'string' && uploadForm.test(value)

/** What the address of a file has of its digest. */
const versionForm = /[?&]v=([\da-f]{12})(?:&|$)/

/**
 * A file that belongs to the row: read by the rules of row and field, and gone with it. A caller gives the id of an upload, or puts the
 * bytes at the address of the field. One that is sent back as it was read stays; it stands as `v:` and the beginning of its digest.
 */
export const file = (
  options: FieldOptions<never, string> & {
    accept: readonly string[]
    max: string | number
    sizes?: readonly number[]
    exif?: 'kept'
    movedFrom?: FormerFiles
  },
): Field => {
  const { accept = [], max, sizes = [], exif, movedFrom, ...rest } = options ?? {}
  const rule: Check<string> = given => {
    if (isUpload(given)) return { value: given }
    const [, version] = versionForm.exec(isObject(given) ? String(given.url) : '') ?? []
    return version === undefined
      ? { fault: 'must be the id of an upload, as POST /api/files answers it' }
      : { value: `v:${version}` }
  }
  const rules = { accept, max: bytesOf(max), sizes, exif, movedFrom }
  return field('file', rule, { ...rest, file: rules }, shapes.file, options ?? {})
}

/** Bytes, such as a picture: only for the content's own code, as no API shows them. */
export const bytes = plain<FieldOptions<never>>(
  'bytes',
  ofType(given => given instanceof Uint8Array, 'must be bytes'),
  internal,
)

const isId = within(Number.isSafeInteger, 1, Number.MAX_SAFE_INTEGER)

/** The id of the row itself: given by the store in ascending order, never reused. */
export const id = plain<FilledOptions>(
  'id',
  ofType(isId, `must be a whole number from 1 to ${Number.MAX_SAFE_INTEGER}`),
  { ...fixed, description: 'Unique identifier.' },
)

/** The id of a row of another entity. */
export const reference = (
  entity: string,
  options: FieldOptions<'viewer', number> & { onDelete?: 'cascade' | 'set null' | 'restrict' } = {},
): Field => {
  const { onDelete, ...rest } = options ?? {}
  named('reference', entity, "the name of an entity first, such as reference('post')")
  const rule = ofType(isId, 'must be the id of a thing that exists')
  const references =
    onDelete === undefined
      ? ({ entity, onDelete: 'restrict', isUsual: true } as const)
      : { entity, onDelete }
  const details = { references, immutable: true, ...rest }
  return field('id', rule, details, shapes.reference, options ?? {})
}

/** A copy of another field without case, and without accents if it says so, to find and compare by; an index finds what texts contain if it is `indexed`. */
export const folded = (
  from: string,
  options: Pick<FieldOptions, 'nullable' | 'unique' | 'renamed'> & {
    accents?: 'ignored'
    indexed?: boolean
  } = {},
): Field => {
  named('folded', from, "the name of a text first, such as folded('title')")
  const details = { ...internal, foldedFrom: from, ...options }
  return field('text', string, details, shapes.folded, options ?? {})
}

/** A copy of another field that the machine keeps, with a row's former name of it; rows of before have none until they are filled. */
export const copyFrom = (
  from: string,
  copied: NonNullable<Field['copied']>,
  { renamed = false, unique }: Partial<Pick<Field, 'renamed' | 'unique'>>,
): Field => ({ ...folded(from, { nullable: true, unique }), copied, renamed })

/**
 * A value that the store computes of other fields of the row, to filter and sort by too: `as` says what it is, and `from` how it comes,
 * as `{ times: ['price', 'pieces'] }`. Nobody gives it.
 */
export const computed = (options: { as: Field; from: Formula }): Field => {
  if (typeof options?.as?.rule !== 'function')
    throw new Error(
      "computed() takes what it is and how it comes, such as computed({ as: int({ min: 0, max: 9 }), from: { plus: ['a', 'b'] } })",
    )
  const made = { ...options.as, settableBy: nobody, computed: options.from }
  return madeWith(made, shapes.computed, options ?? {})
}

/** The options of what is kept of the rows below; `where` gives choices and flags that those have which count. */
type KeptOptions = FilledOptions & { readonly where?: Readonly<Record<string, string | boolean>> }

/** How many rows a relation leads to, kept by the store with each change of them. */
export const count = (relation: string, options?: KeptOptions): Field => {
  const { where, ...rest } = options ?? {}
  named('count', relation, "the name of a relation first, such as count('reviews')")
  const most = Number.MAX_SAFE_INTEGER
  return {
    ...int({ ...fixed, ...rest, min: 0, max: most, initial: { value: 0 } }),
    kept: { relation, as: 'count', where },
  }
}

/**
 * The mean of a field of the rows that a relation leads to, as `avg('reviews.rating')`, kept by the store: with four decimals more than
 * that, half away from zero; null without rows.
 */
export const avg = (path: string, options?: KeptOptions): Field => {
  const { where, ...rest } = options ?? {}
  named('avg', path, "a relation and a field of it first, such as avg('reviews.rating')")
  const [relation = '', of = ''] = path.split('.')
  const mean = decimal({ ...fixed, ...rest, nullable: true, scale: 0, min: 0, max: 0 })
  return { ...mean, kept: { relation, of, as: 'mean', where } }
}

/** Whether its value comes of others, so that nobody gives it, not even a file. */
export const isDerived = ({ foldedFrom, computed, kept }: Field): boolean =>
  foldedFrom !== undefined || computed !== undefined || kept !== undefined

/** Whether a create must give it, since nothing else says what a new row has there. */
export const isNeeded = (key: string, field: Field): boolean =>
  key !== 'id' && field.initial === undefined && !isDerived(field)

/** The row's counter for lost updates: raised by each write, part of the ETag. */
export const revision = (): Field =>
  int({ ...internal, min: 1, max: Number.MAX_SAFE_INTEGER, initial: { value: 1 } })

/**
 * The `sub` of the tokens that speak for a row of the viewers, as an identity provider gives it out: set by the token
 * that makes the row, never changed, and compared character by character.
 */
export const subject = (
  options: Pick<FieldOptions, 'nullable' | 'description' | 'readableBy' | 'graphql' | 'rest'> = {},
): Field => {
  const usual = { ...internal, unique: 'CONFLICT', range: { min: 1, max: 255 } } as const
  const details = { ...usual, ...options, initial: 'subject' } as const
  return field('text', sized(1, 255), details, shapes.subject, options ?? {})
}

/** When the row was made. */
export const created = (options: FilledOptions & Pick<FieldOptions, 'nullable'> = {}): Field =>
  time({ ...fixed, initial: 'now', description: 'When it was made, ISO 8601 in UTC.', ...options })

/** When the row was made or last changed, by either API or by what the machine does to it. */
export const updatedAt = (options: FilledOptions & Pick<FieldOptions, 'nullable'> = {}): Field => ({
  ...time({
    ...fixed,
    description: 'When it was last changed, ISO 8601 in UTC.',
    ...options,
    initial: 'now',
  }),
  touched: true,
})

/** The name of the GraphQL enum that a choice is; undefined for any other field, and for words that GraphQL cannot name. */
export const enumName = (
  entity: string,
  key: string,
  { enum: own, values, graphql }: Field,
): string | undefined => {
  if (own || graphql === 'hidden' || !values?.every(isEnumValue)) return own?.name
  return `${typeName(entity)}${typeName(key)}`
}

/** The most characters of an item of a list as JSON that is no text, such as a moment in quotes. */
const longestPlain = 30

/** The most characters of what a row keeps of a file: a name of 255 letters, each escaped, and the rest. */
const mostOfFile = 1000

/** The most characters of what is stored as text; 0 for any other field. */
export const mostCharacters = ({ scalar, range, items }: Field): number => {
  const { max = 0 } = range ?? {}
  if (scalar === 'text' || scalar === 'json') return max
  if (scalar === 'file') return mostOfFile
  if (scalar === 'list')
    return 2 + max * ((items && mostCharacters(items)) || longestPlain) + 3 * max
  return 0
}

/** The most characters of a text that rows are ordered by, since cursors hold it. */
const mostOrdering = 650

/** Whether callers may order rows by a field. */
export const isOrdering = (field: Field): boolean =>
  isComparable(field.scalar) && mostCharacters(field) <= mostOrdering

/** The same of a text that may be long; 0 for any other field. */
export const longest = (field: Field): number => {
  const most = mostCharacters(field)
  return most > 2048 ? most : 0
}
