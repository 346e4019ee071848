/** Faults of single fields: their names, options that do not fit their kinds, and initial values. */
import { own } from '#base/object.ts'
import { isGraphqlType, isReserved } from '#model/check/names.ts'
import type { CheckedEntity, Faults } from '#model/check/relations.ts'
import { isStricter } from '#model/check/routes.ts'
import { computedFault, fieldsIn } from '#model/computed.ts'
import type { Entity } from '#model/entity.ts'
import { type Field, isDerived, mostCharacters } from '#model/field.ts'
import { columnName } from '#model/names.ts'
import { isByRow, isForAll, isSameRule } from '#model/policy.ts'
import { isEnumValue, isStorable } from '#model/values.ts'

type CheckedField = CheckedEntity & { readonly key: string; readonly field: Field }
/** The rest of a sentence that begins with `thing.title`; undefined if nothing is wrong. */
type FieldCheck = (of: CheckedField) => string | undefined | false

/** Whether the field's own rule accepts an initial value unchanged, in the form that the APIs have. */
const isTaken = (field: Field, value: string | number): boolean => {
  const { scalar, rule, scale } = field
  if (scalar === 'id' || scalar === 'bytes' || field.foldedFrom !== undefined) return false
  if (scalar === 'money') return Number.isSafeInteger(value) && Number(value) >= 0
  if (scalar === 'decimal')
    return Number.isSafeInteger(value) && 'value' in rule(Number(value) / 10 ** scale)
  let given: unknown = value
  try {
    if (scalar === 'json' || scalar === 'list') given = JSON.parse(String(value))
    if (scalar === 'flag') given = value === 1 ? true : value === 0 ? false : undefined
    // Throws for what is no time.
    if (scalar === 'time')
      given = new Date(typeof value === 'number' ? value : Number.NaN).toISOString()
  } catch {
    return false
  }
  const checked = rule(given)
  return 'value' in checked && JSON.stringify(checked.value) === JSON.stringify(given)
}

/** The largest amount with an exact number of minor units in a currency of three decimals. */
const largestAmount = Math.floor(Number.MAX_SAFE_INTEGER / 1000)

/** A JSON number holds this many decimal digits exactly. */
const mostDigits = 15

/** Whether a field that is made of another tells its values to some who may not read them. */
const tells = ({ readableBy }: Field, source: Field | undefined): boolean =>
  source !== undefined && !isForAll(source.readableBy) && !isSameRule(source.readableBy, readableBy)

/** What is checked of each field, in this order. */
const checks: Readonly<Record<string, FieldCheck>> = {
  name: ({ key }) => {
    if (!/^[a-z][a-zA-Z0-9]*$/.test(key))
      return 'is not named like createdAt: begin with a small letter and use only letters and digits'
    if (isReserved(key)) return 'has a name that databases reserve: give it another one'
    return undefined
  },

  id: ({ key, field: { scalar, references, nullable, unique, settableBy } }) => {
    if (key !== 'id')
      return (
        scalar === 'id' &&
        !references &&
        'is made with id(), which is for the id of the row itself: use reference()'
      )
    const isOwn = scalar === 'id' && !references && !nullable && settableBy.kind === 'nobody'
    return !(isOwn && unique === undefined) && 'must be made with id() and without other options'
  },

  revision: ({ key, field }) => {
    if (key !== 'revision') return undefined
    const { scalar, settableBy, initial, nullable, unique, resetBy } = field
    const isRaised = scalar === 'int' && !nullable && initial !== undefined
    const isPlain = unique === undefined && resetBy === undefined && settableBy.kind === 'nobody'
    return !(isRaised && isPlain) && 'must be made with revision(), since each write raises it'
  },

  reference: ({ entities, name, field: { references, nullable } }) => {
    if (!references) return undefined
    if (!own(entities, references.entity))
      return `refers to ${references.entity}, which is not an entity: name one of ${Object.keys(entities).join(', ')}`
    if (references.entity === name && !nullable)
      return `refers to its own entity and may not be null, so that no first ${name} can be made: make it nullable`
    return (
      references.onDelete === 'set null' &&
      !nullable &&
      "is set to null when its row is deleted and may not be null: make it nullable or choose onDelete: 'cascade'"
    )
  },

  folded: ({ self, field: { foldedFrom, nullable } }) => {
    if (foldedFrom === undefined) return undefined
    const source = own(self.fields, foldedFrom)
    if (!source) return `is folded from ${foldedFrom}, which is not a field: name one of text`
    if (source.scalar !== 'text' || isDerived(source))
      return `is folded from ${foldedFrom}, which is not a text of its own: name one that is`
    return (
      source.nullable &&
      !nullable &&
      `is folded from ${foldedFrom}, which may be null: make both nullable`
    )
  },

  reset: ({ self, key, field: { resetBy, initial } }) => {
    if (resetBy === undefined) return undefined
    if (resetBy === key || !own(self.fields, resetBy))
      return `is reset by ${resetBy}, which is not another field: name one whose change takes it back`
    const by = own(self.fields, resetBy)
    if (by?.computed || by?.kept)
      return `is reset by ${resetBy}, which the store computes: name a field that is given`
    if (by?.resetBy !== undefined)
      return `is reset by ${resetBy}, which is reset itself: name ${self.fields[resetBy]?.resetBy}, or another field`
    return (
      (typeof initial !== 'object' || 'slugOf' in initial) &&
      `is reset by ${resetBy} to nothing: give it an initial value`
    )
  },

  initial: ({ self, field }) => {
    const { initial, nullable, scalar, references } = field
    if (initial === undefined) return undefined
    if (initial === 'now')
      return scalar !== 'time' && "is not a time, so it cannot be 'now' at first"
    if (initial === 'subject')
      return (
        (!field.unique || field.settableBy.kind !== 'nobody') &&
        'is the subject of a token at first, and not made by subject(): make it so'
      )
    if (initial === 'viewer') {
      if (!references) return "is not a reference, so it cannot be 'viewer' at first"
      const isOpen = ['anyone', 'while'].includes(self.policy.create?.kind ?? '')
      return (
        isOpen &&
        !nullable &&
        'is the viewer at first, and anonymous callers may create it: let only callers with a token create it, or make the field nullable'
      )
    }
    if ('slugOf' in initial) {
      const source = own(self.fields, initial.slugOf)
      if (source?.scalar !== 'text' || isDerived(source) || source === field)
        return `is made of ${initial.slugOf}, which is not another text: name one of its fields that is`
      if (tells(field, source))
        return `is made of ${initial.slugOf}, which fewer may read: give what it is the same readableBy`
      return (
        (source.nullable &&
          !nullable &&
          `is made of ${initial.slugOf}, which may be null: make both nullable`) ||
        ((field.range?.max ?? 0) < 20 &&
          'is too short for the suffix of a second one: let its max be 20 or more')
      )
    }
    if (initial.value === null)
      return !nullable && 'is null at first and may not be null: give it another initial value'
    return (
      !isTaken(field, initial.value) &&
      `has the initial value ${JSON.stringify(initial.value)}, which its own rule refuses: give one that it takes, as it is stored${scalar === 'flag' ? ', 1 or 0' : ''}`
    )
  },

  computed: ({ self, key, field }) => {
    if (!field.computed) return undefined
    const { initial, resetBy, foldedFrom, references, touched } = field
    // A field that may be null is null at first, which is nothing beside a formula.
    const hasInitial =
      initial !== undefined &&
      !(typeof initial === 'object' && 'value' in initial && initial.value === null)
    if (hasInitial || resetBy !== undefined || foldedFrom !== undefined || references || touched)
      return 'is computed, and comes of something else too: leave its other options out'
    if (field.settableBy.kind !== 'nobody')
      return 'is computed, and somebody may set it: make it with computed()'
    const secret = fieldsIn(field.computed).find(name => tells(field, own(self.fields, name)))
    return secret === undefined
      ? computedFault(self.fields, key, field)
      : `is computed of ${secret}, which fewer may read: give what it is the same readableBy`
  },

  kept: ({ entities, self, key, field }) => {
    const { kept, computed, unique, resetBy, settableBy, readableBy } = field
    if (!kept) return undefined
    const { relation: name, of, as } = kept
    const what =
      as === 'count' && of === undefined ? `counts ${name}` : `is the mean of ${name}.${of}`
    const relation = own(self.relations, name)
    const child = relation && own(entities, relation.to)
    if (relation?.kind !== 'many' || relation.through !== undefined || !child)
      return `${what}, and ${name} is no relation to many rows: name one of its entity`
    const source = own(child.fields, of ?? '')
    if (
      of !== undefined &&
      (!source || !['int', 'decimal'].includes(source.scalar) || isDerived(source))
    )
      return `${what}, which is no number of its own: name an int() or a decimal()`
    const by = own(child.fields, relation.by)
    const { read } = self.policy
    const fewer = [child.policy.read, source?.readableBy, by?.readableBy].find(
      rule =>
        rule &&
        (isByRow(rule) || (isStricter(rule, readableBy) && (!read || isStricter(rule, read)))),
    )
    if (fewer && isByRow(fewer))
      return `${what}, whose rows not everybody sees: let them be read by all who may read them at all, or leave it out`
    if (fewer) return `${what}, which fewer may read: give what it keeps the same readableBy`
    if (`${self.table}_${columnName(key)}_kept_insert`.length > 63)
      return 'is kept by triggers whose names would have more than 63 letters: use shorter names'
    if (self.appendOnly)
      return `${what}, and its rows are never changed: leave it out, or appendOnly`
    if (unique !== undefined || resetBy !== undefined || settableBy.kind !== 'nobody')
      return 'is kept by the store: leave its other options out'
    return (
      as === 'mean' &&
      !computed &&
      `${what}, and its entity is not in a model: make it with defineModel`
    )
  },

  touched: ({ field: { touched, scalar, settableBy } }) =>
    touched &&
    (scalar !== 'time' || settableBy.kind !== 'nobody') &&
    'must be made with updatedAt(), since each change of a row sets it',

  unique: ({ field: { unique } }) =>
    unique !== undefined &&
    unique !== 'CONFLICT' &&
    typeof unique.code !== 'string' &&
    `is unique: ${JSON.stringify(unique)}, which is no error for a second row: make it unique: 'CONFLICT', or one of the content's own errors`,

  rule: ({ field }) => {
    const isSelf = field.settableBy.kind === 'self'
    return (
      isSelf &&
      'has a self rule as settableBy, and whose a row is decides about rows only: use anyone, signedIn, withRole() or nobody'
    )
  },

  bytes: ({ field: { scalar, graphql, rest, settableBy } }) =>
    scalar === 'bytes' &&
    (graphql !== 'hidden' || rest || settableBy.kind !== 'nobody') &&
    'is bytes, which no API shows or takes: leave its options as bytes() has them',

  pattern: ({ field: { pattern } }) =>
    pattern !== undefined &&
    !/^[uv]?$/.test(pattern.flags) &&
    `has a pattern with the flags ${pattern.flags}, which documents of the API cannot tell: use none but u or v`,

  items: ({ field: { items } }) =>
    items !== undefined &&
    (['id', 'money', 'json', 'list', 'bytes'].includes(items.scalar) ||
      isDerived(items) ||
      items.nullable ||
      items.initial !== undefined) &&
    'is a list of what no list can have: let its items be texts, numbers, days, times or flags, without nulls and initial values',

  values: ({ field: { values } }) => {
    if (!values) return undefined
    if (values.length === 0) return 'is a choice of nothing: give it values'
    const twice = values.find((value, index) => values.indexOf(value) < index)
    if (twice !== undefined) return `has the value ${twice} twice: leave one out`
    const unstorable = values.find(value => !isStorable(value))
    return (
      unstorable !== undefined &&
      `has the value ${JSON.stringify(unstorable)}, and not every database stores NUL or a lone surrogate: give another value`
    )
  },

  range: ({ field: { scalar, scale, range, settableBy } }) => {
    if (!range) return undefined
    const { min, max } = range
    if (scalar === 'decimal') {
      const most = 10 ** (mostDigits - scale)
      if (!Number.isInteger(scale) || scale < 0 || scale > mostDigits)
        return `has the scale ${scale}: give the number of its decimals, at most ${mostDigits}`
      if (!(Math.max(-min, max) < most))
        return `goes from ${min} to ${max} with ${scale} decimals, more than the ${mostDigits} digits that are exact: give a smaller range or scale`
    }
    const isWhole = ['money', 'decimal'].includes(scalar) || [min, max].every(Number.isSafeInteger)
    if (!isWhole || !(min <= max) || (['text', 'json', 'list'].includes(scalar) && min < 0))
      return `goes from ${min} to ${max}: give whole numbers, the least first`
    return (
      scalar === 'money' &&
      settableBy.kind !== 'nobody' &&
      max > largestAmount &&
      `goes up to ${max}, and amounts are exact up to ${largestAmount}: give a smaller max`
    )
  },

  input: ({ field: { graphql, settableBy } }) =>
    graphql === 'input' &&
    settableBy.kind === 'nobody' &&
    "is in the GraphQL API as input only, and nobody may set it: make it graphql: 'hidden'",

  enum: ({ field: { enum: shown, values = [] } }) => {
    if (!shown) return undefined
    if (!/^[A-Z][A-Za-z0-9]*$/.test(shown.name) || isGraphqlType(shown.name))
      return `is the GraphQL enum ${shown.name}: begin with a capital letter, use only letters and digits, and no type of GraphQL's own`
    const wrong = values.find(word => !isEnumValue(word))
    if (wrong !== undefined)
      return `is a GraphQL enum with the value ${wrong}, which GraphQL cannot name: use letters, digits and _, or leave enum out`
    for (const [word, reason = ''] of Object.entries(shown.deprecated ?? {})) {
      if (!values.includes(word))
        return `has the deprecated value ${word}, which it never is: name some of ${values.join(', ')}`
      if (reason.trim() === '')
        return `has no reason why ${word} is deprecated: say what to use in its place`
    }
    return undefined
  },
}

/** SQLite is opened with this limit for a row. */
const mostRowBytes = 2_000_000

/** The most bytes that the texts of a row may have in UTF-8. */
const textBytes = (fields: Readonly<Record<string, Field>>): number =>
  Object.values(fields).reduce((sum, field) => sum + 4 * mostCharacters(field), 0)

/** What an entity on a view has that only a table can have; its rows are only read. */
const beyondView = ({ fields, rest, graphql, policy, ...self }: Entity): readonly string[] => {
  const has = {
    counted: self.counted !== null,
    sets: self.sets.length > 0,
    indexes: self.indexes.length > 0,
    appendOnly: self.appendOnly,
    'unique fields': Object.values(fields).some(({ unique }) => unique !== undefined),
    'rest.writes': rest.writes.length > 0,
    'writes in rest.nested': rest.nested.some(kind => kind !== 'one'),
    'graphql.mutations': graphql.mutations.length > 0,
    'rules for writes': Boolean(policy.create || policy.update || policy.delete),
  }
  return Object.entries(has).flatMap(([what, isThere]) => (isThere ? [what] : []))
}

/** The faults of an entity's fields. */
export const fieldFaults = function* (checked: CheckedEntity): Faults {
  const { name, self } = checked
  if (!own(self.fields, 'id')) yield `${name} has no id: add id: id() to its fields`
  const beyond = self.view ? beyondView(self) : []
  if (beyond.length > 0)
    yield `${name} is on a view, whose rows are only read: leave out ${beyond.join(', ')}`
  if (textBytes(self.fields) > mostRowBytes)
    yield `${name} has texts of up to ${textBytes(self.fields)} bytes together, more than the ${mostRowBytes} of a row: let them be shorter`
  for (const [key, field] of Object.entries(self.fields))
    for (const check of Object.values(checks)) {
      const fault = check({ ...checked, key, field })
      if (fault) yield `${name}.${key} ${fault}`
    }
}
