/** Faults of single fields: their names, options that do not fit their kinds, and initial values. */
import { isDeepStrictEqual } from 'node:util'
import { isObject, own } from '#base/object.ts'
import { computedFault, fieldsIn } from '#model/computed.ts'
import { viewer } from '#model/condition.ts'
import type { Entity } from '#model/entity.ts'
import { isGraphqlType, isReserved } from '#model/faults/names.ts'
import type { CheckedEntity, Faults } from '#model/faults/relations.ts'
import { callersOf, isStricter } from '#model/faults/routes.ts'
import { type Field, isDerived, mostCharacters } from '#model/field.ts'
import { columnName, longestName, valuesName } from '#model/names.ts'
import {
  alternativesOf,
  anyone,
  isByRow,
  isForAll,
  isSameRule,
  nobody,
  type Policy,
  type Rule,
  ruleOf,
  type SimpleRule,
} from '#model/policy.ts'
import { isEnumValue, isStorable } from '#model/values.ts'

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
    // Throws where it is no time.
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

/** The rest of a sentence about the initial value of a field; undefined, or false, if nothing is wrong. */
const initialFault = (self: Entity, field: Field): string | undefined | false => {
  const { initial, nullable, scalar, references } = field
  if (initial === undefined) return undefined
  if (initial === 'now') return scalar !== 'time' && "is not a time, so it cannot be 'now' at first"
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
}

/** The rule of all who are shown a row: a list's enter rule says it too, and who updates a row has it in the answer. */
const shownBy = ({ read, enter, update }: Policy): Rule => {
  const updated = alternativesOf(update ?? nobody).map(({ before, after = before, ...caller }) => ({
    ...caller,
    ...(after && { before: after }),
  }))
  return ruleOf([read ?? enter ?? nobody, ...(enter && !isByRow(read) ? [enter] : []), ...updated])
}

/** Whether all who may read what is kept of a row may read each row below it that counts, by the form of the rules. */
const isSeenBelow = (
  { policy }: Entity,
  child: Entity,
  by: string,
  { kept, readableBy }: Field,
): boolean => {
  const ups = Object.entries(child.relations).filter(([, to]) => to.kind === 'one' && to.by === by)
  const up = [by, ...ups.map(([key]) => key)]
  const isSaid = (known: readonly object[], [key, said]: readonly [string, unknown]) =>
    known.some(one => isDeepStrictEqual(own({ ...one }, key), said))
  const isSeen = (...callers: readonly SimpleRule[]) =>
    callers.some(({ kind }) => kind === 'nobody') ||
    alternativesOf(child.policy.read ?? nobody).some(one => {
      const above = callers.map(({ before = {} }) => before)
      const follows = ([key, said]: readonly [string, unknown]): boolean => {
        const other = said === viewer ? { id: viewer } : said
        const isAbove =
          up.includes(key) &&
          isObject(other) &&
          Object.entries(other).every(part => isSaid(above, part))
        return isAbove || isSaid([kept?.where ?? {}], [key, said])
      }
      const isOpen = callers.some(rule => !isStricter(callersOf(one), callersOf(rule)))
      // A superuser passes whatever the row.
      const isForEach = callers.some(({ kind }) => kind === 'superuser')
      return isOpen && (isForEach || Object.entries(one.before ?? {}).every(follows))
    })
  return alternativesOf(shownBy(policy)).every(row =>
    alternativesOf(readableBy).every(field => isSeen(row, field)),
  )
}

/** The same of what the store keeps in it. */
const keptFault = (
  entities: CheckedEntity['entities'],
  self: Entity,
  key: string,
  field: Field,
): string | undefined | false => {
  const { kept, computed, unique, resetBy, settableBy, readableBy } = field
  if (!kept) return undefined
  const { relation: name, of, as, where = {} } = kept
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
  if (child.view) return `${what}, rows of a view, of whose changes nothing is told: leave it out`
  for (const [name, value] of isObject(where)
    ? Object.entries(where)
    : ([['it', where]] as const)) {
    const one = own(child.fields, name)
    if (
      !one ||
      (!one.values && one.scalar !== 'flag') ||
      isDerived(one) ||
      'fault' in one.rule(value)
    )
      return `${what} where ${name} is ${JSON.stringify(value)}: name a choice or a flag of ${relation.to} that is not computed, and a value of it`
  }
  const shown = shownBy(self.policy)
  const isLess = (rule: Rule) =>
    isByRow(rule) || (isStricter(rule, readableBy) && isStricter(rule, shown))
  const looked = [relation.by, ...(of === undefined ? [] : [of]), ...Object.keys(where)]
  const isHidden = !isSeenBelow(self, child, relation.by, field)
  if (isHidden && isByRow(child.policy.read))
    return `${what}, some of which are hidden from readers of it, among them those who update its row: let where say what those are that all its readers see, such as where: { state: 'public' }, narrow its readableBy, or count what each caller sees by totalCount and aggregate`
  if (isHidden || looked.some(key => isLess(own(child.fields, key)?.readableBy ?? anyone)))
    return `${what}, which fewer may read: give what it keeps the same readableBy`
  if (`${self.table}_${columnName(key)}_kept_insert`.length > longestName)
    return `is kept by triggers whose names would have more than ${longestName} letters: use shorter names`
  if (self.appendOnly) return `${what}, and its rows are never changed: leave it out, or appendOnly`
  if (unique !== undefined || resetBy !== undefined || settableBy.kind !== 'nobody')
    return 'is kept by the store: leave its other options out'
  return (
    as === 'mean' &&
    !computed &&
    `${what}, and its entity is not in a model: make it with defineModel`
  )
}

/** The most bytes of a file: GraphQL tells them as an Int. */
const largestFile = 2_000_000_000

const [narrowest, widest] = [16, 4096]

/** The same of which files it takes. */
const fileFault = ({ entities }: CheckedEntity, field: Field): string | undefined => {
  const { file, settableBy, unique, initial, until, from } = field
  if (!file) return undefined
  const { accept, max, sizes, movedFrom } = file
  const strange = accept.find(type => !/^[a-z]+\/(?:\*|[a-z\d][a-z\d.+-]*)$/.test(type))
  if (accept.length === 0) return "accepts no file: give it media types, as accept: ['image/png']"
  if (strange !== undefined)
    return `accepts ${JSON.stringify(strange)}, which is no media type: write it as image/png, or image/* for all of a kind`
  if (!Number.isSafeInteger(max) || max < 1 || max > largestFile)
    return "has a max that is no size: give whole bytes, or a text such as '5 MB', up to 2 GB"
  const size = sizes.find(size => !Number.isInteger(size) || size < narrowest || size > widest)
  if (size !== undefined)
    return `has the size ${size}: give widths in whole pixels, ${narrowest} to ${widest}`
  if (new Set(sizes).size < sizes.length) return 'has a size twice: leave one out'
  const pictures = accept.filter(type => type.startsWith('image/'))
  if (sizes.length > 0 && pictures.length < accept.length)
    return 'has sizes, which are of pictures, and accepts other files: let it accept image types only'
  if (file.exif && pictures.length === 0)
    return 'has exif, which is of pictures, and accepts none: leave exif out'
  if (unique !== undefined)
    return 'is a file, which no other row can have the same of: leave unique out'
  if (typeof initial === 'object' && 'value' in initial && initial.value !== null)
    return 'is a file, and no row has one at first: leave initial out, or make it nullable'
  if (Object.keys({ ...until, ...from }).length > 0)
    return 'is a file, which has one address in all versions: leave until and from out'
  if (movedFrom && settableBy.kind !== 'nobody')
    return `is moved from ${movedFrom.table}, and callers set it meanwhile: let an action write it, with settableBy: nobody`
  const kept = Object.entries(entities).find(([, { table }]) => table === movedFrom?.table)
  if (kept)
    return `is moved from ${movedFrom?.table}, the table of ${kept[0]}, which is dropped in the end: leave that entity out`
  const taken = Object.entries(entities).find(([, { plural }]) => plural === 'files')
  if (taken && settableBy.kind !== 'nobody')
    return `is a file, and ${taken[0]} has the path /files, to which files are sent: give ${taken[0]} another plural`
  return undefined
}

/** The same of the GraphQL enum that it is. */
const enumFault = ({ enum: shown, values = [] }: Field): string | undefined => {
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
}

const rangeFault = ({ range, scalar, scale, settableBy }: Field): string | undefined => {
  if (!range) return undefined
  const { min, max } = range
  const isDecimal = scalar === 'decimal'
  const isWhole = scalar === 'money' || isDecimal || [min, max].every(Number.isSafeInteger)
  if (isDecimal && (!Number.isInteger(scale) || scale < 0 || scale > mostDigits))
    return `has the scale ${scale}: give the number of its decimals, at most ${mostDigits}`
  if (isDecimal && !(Math.max(-min, max) < 10 ** (mostDigits - scale)))
    return `goes from ${min} to ${max} with ${scale} decimals, more than the ${mostDigits} digits that are exact: give a smaller range or scale`
  if (!isWhole || !(min <= max) || (['text', 'json', 'list'].includes(scalar) && min < 0))
    return `goes from ${min} to ${max}: give whole numbers, the least first`
  if (scalar === 'money' && settableBy.kind !== 'nobody' && max > largestAmount)
    return `goes up to ${max}, and amounts are exact up to ${largestAmount}: give a smaller max`
  return undefined
}

/** The faults of a field, each the rest of a sentence that begins with `thing.title`. */
const faultsOf = function* (checked: CheckedEntity, key: string, field: Field): Faults {
  const { entities, name, self } = checked
  const { scalar, nullable, settableBy, unique, initial, resetBy, references } = field
  const { computed, foldedFrom, values, pattern, items, touched, graphql } = field
  const isSettable = settableBy.kind !== 'nobody'

  if (!/^[a-z][a-zA-Z0-9]*$/.test(key))
    yield 'is not named like createdAt: begin with a small letter and use only letters and digits'
  else if (isReserved(key)) yield 'has a name that databases reserve: give it another one'
  const named = [columnName(key), ...(values ? [valuesName(columnName(key))] : [])]
  if (named.some(name => name.length > longestName))
    yield `needs names of more than ${longestName} letters in a database: use a shorter one`

  const isId = scalar === 'id' && !references
  if (key === 'id' && (!isId || nullable || isSettable || unique !== undefined))
    yield 'must be made with id() and without other options'
  if (key !== 'id' && isId)
    yield 'is made with id(), which is for the id of the row itself: use reference()'

  if (key === 'revision') {
    const isRaised = scalar === 'int' && !nullable && initial !== undefined
    if (!isRaised || unique !== undefined || resetBy !== undefined || isSettable)
      yield 'must be made with revision(), since each write raises it'
  }

  if (references && !own(entities, references.entity))
    yield `refers to ${references.entity}, which is not an entity: name one of ${Object.keys(entities).join(', ')}`
  else if (references?.entity === name && !nullable)
    yield `refers to its own entity and may not be null, so that no first ${name} can be made: make it nullable`
  else if (references?.onDelete === 'set null' && !nullable)
    yield "is set to null when its row is deleted and may not be null: make it nullable or choose onDelete: 'cascade'"

  if (foldedFrom !== undefined) {
    const source = own(self.fields, foldedFrom)
    if (!source) yield `is folded from ${foldedFrom}, which is not a field: name one of text`
    else if (source.scalar !== 'text' || isDerived(source))
      yield `is folded from ${foldedFrom}, which is not a text of its own: name one that is`
    else if (source.nullable && !nullable)
      yield `is folded from ${foldedFrom}, which may be null: make both nullable`
  }

  if (resetBy !== undefined) {
    const by = own(self.fields, resetBy)
    if (resetBy === key || !by)
      yield `is reset by ${resetBy}, which is not another field: name one whose change takes it back`
    else if (by.computed || by.kept)
      yield `is reset by ${resetBy}, which the store computes: name a field that is given`
    else if (by.resetBy !== undefined)
      yield `is reset by ${resetBy}, which is reset itself: name ${by.resetBy}, or another field`
    else if (typeof initial !== 'object' || 'slugOf' in initial)
      yield `is reset by ${resetBy} to nothing: give it an initial value`
  }

  const badInitial = initialFault(self, field)
  if (badInitial) yield badInitial

  if (computed) {
    // A field that may be null is null at first, which is nothing beside a formula.
    const isNullAtFirst =
      typeof initial === 'object' && 'value' in initial && initial.value === null
    const hasInitial = initial !== undefined && !isNullAtFirst
    if (hasInitial || resetBy !== undefined || foldedFrom !== undefined || references || touched)
      yield 'is computed, and comes of something else too: leave its other options out'
    else if (isSettable) yield 'is computed, and somebody may set it: make it with computed()'
    else {
      const secret = fieldsIn(computed).find(name => tells(field, own(self.fields, name)))
      const fault =
        secret === undefined
          ? computedFault(self.fields, key, field)
          : `is computed of ${secret}, which fewer may read: give its as the same readableBy`
      if (fault !== undefined) yield fault
    }
  }

  const badKept = keptFault(entities, self, key, field)
  if (badKept) yield badKept

  if (touched && (scalar !== 'time' || isSettable))
    yield 'must be made with updatedAt(), since each change of a row sets it'

  if (unique !== undefined && unique !== 'CONFLICT' && typeof unique.code !== 'string')
    yield `is unique: ${JSON.stringify(unique)}, which is no error for a second row: make it unique: 'CONFLICT', or one of the content's own errors`

  if (scalar === 'bytes' && (graphql !== 'hidden' || field.rest || isSettable))
    yield 'is bytes, which no API shows or takes: leave its options as bytes() has them'

  if (pattern !== undefined && !(pattern instanceof RegExp))
    yield `has the pattern ${JSON.stringify(pattern)}: write it as a regular expression, such as /^[a-z]+$/u`
  else if (pattern !== undefined && !/^[uv]?$/.test(pattern.flags))
    yield `has a pattern with the flags ${pattern.flags}, which documents of the API cannot tell: use none but u or v`

  const isUnlisted =
    items !== undefined &&
    (['id', 'money', 'json', 'list', 'file', 'bytes'].includes(items.scalar) ||
      isDerived(items) ||
      items.nullable ||
      items.initial !== undefined)
  if (isUnlisted)
    yield 'is a list of what no list can have: let its items be texts, numbers, days, times or flags, without nulls and initial values'

  const twice = values?.find((value, index) => values.indexOf(value) < index)
  const unstorable = values?.find(value => !isStorable(value))
  if (values?.length === 0) yield 'is a choice of nothing: give it values'
  else if (twice !== undefined) yield `has the value ${twice} twice: leave one out`
  else if (unstorable !== undefined)
    yield `has the value ${JSON.stringify(unstorable)}, and not every database stores NUL or a lone surrogate: give another value`

  const badRange = rangeFault(field)
  if (badRange) yield badRange

  if (graphql === 'input' && !isSettable)
    yield "is in the GraphQL API as input only, and nobody may set it: make it graphql: 'hidden'"

  const badFile = fileFault(checked, field)
  if (badFile) yield badFile

  const badEnum = enumFault(field)
  if (badEnum) yield badEnum
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
    'counts and means': Object.values(fields).some(({ kept }) => kept !== undefined),
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
    for (const fault of faultsOf(checked, key, field)) yield `${name}.${key} ${fault}`
}
