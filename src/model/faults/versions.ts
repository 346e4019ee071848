/** Faults of the differences between versions: names, forms, first and last versions, and the days on which they end. */
import { isDay, noticeMonths, soonestEnd } from '#base/dates.ts'
import type { Link } from '#model/entity.ts'
import { type CheckedEntity, type Faults, nestedLists } from '#model/faults/relations.ts'
import { type Field, isNeeded } from '#model/field.ts'
import { type Resource, resourceIn } from '#model/resource.ts'
import {
  type Form,
  isIn,
  type Lifetime,
  lifetimeOf,
  otherWord,
  reasonOf,
  type Version,
  type Versions,
  variantOf,
  wordsIn,
} from '#model/version.ts'

const dayFault = (called: string, day: string | undefined): string | undefined =>
  day === undefined || isDay(day)
    ? undefined
    : `has the ${called} ${day}, which is not a day: write it like 2027-08-01`

/** The rest of a sentence about the part that has this lifetime; undefined if nothing is wrong. */
export const lifetimeFault = (
  { since, last, sunset, deprecated }: Lifetime,
  { all, newest }: Versions,
): string | undefined => {
  const wrong = [since, last].find(version => version !== undefined && !all.includes(version))
  if (wrong !== undefined)
    return `names version ${wrong}, which is not one of ${all.join(', ')}: name one of these`
  if (since !== undefined && last !== undefined && since > last)
    return `begins with version ${since} and ends with version ${last}: change one of them`
  if (last === newest)
    return `ends with version ${last}, the newest: leave last out, or name the version before`
  if (last !== undefined && sunset === undefined)
    return `ends with version ${last} and has no sunset: say on which day it goes, like sunset: '2027-08-01'`
  if (reasonOf(deprecated)?.trim() === '')
    return "is deprecated without a reason: say what to use in its place, like 'Use title.'"
  const on = typeof deprecated === 'object' ? deprecated.on : undefined
  const fault = dayFault('sunset', sunset) ?? dayFault('day of deprecation', on)
  if (fault !== undefined || sunset === undefined || on === undefined) return fault
  const soonest = soonestEnd(on)
  return sunset < soonest
    ? `is deprecated on ${on} and goes on ${sunset}, less than ${noticeMonths} months later: choose ${soonest} or a later day`
    : undefined
}

/** The parts of an entity that have lifetimes, each with its name in a sentence. */
const lifetimesOf = ({ name, self }: CheckedEntity): readonly (readonly [string, Lifetime])[] => {
  const { rest, links } = self
  const all = (parts: Readonly<Record<string, Lifetime>>, subject: (key: string) => string) =>
    Object.entries(parts).map(([key, of]) => [subject(key), of] as const)
  return [
    ...all(self.fields, key => `${name}.${key}`),
    ...all(self.relations, key => `the relation ${key} of ${name}`),
    ...all(rest.lifetimes, kind =>
      kind === 'all' ? `the REST API of ${name}` : `the route ${kind} of ${name}`,
    ),
    ...all(rest.embedded, key => `the embedded ${key} of ${name}`),
    ...all(rest.listing.filters ?? {}, key => `the filter ${key} of ${name}`),
    ...all(rest.listing.sort?.lifetimes ?? {}, term => `the sort of ${name} by ${term}`),
    ...Object.values(links?.cases ?? {}).flatMap(named =>
      all(named, key => `the link ${key} of ${name}`),
    ),
  ]
}

/** The rest of a sentence about the versions at which a field differs; undefined if nothing is wrong. */
const variantsFault = (field: Field, { all, newest }: Versions): string | undefined => {
  const last = Math.max(0, ...Object.keys(field.until).map(Number))
  for (const kind of ['until', 'from'] as const)
    for (const [text, { name, form } = {}] of Object.entries(field[kind])) {
      const version = Number(text)
      const isKnown = all.includes(version)
      const when = kind === 'until' ? `until version ${text}` : `from version ${text} on`
      if (kind === 'until' && (!isKnown || version === newest))
        return `differs ${when}, which is not a former version: name one of ${all.slice(0, -1).join(', ')}`
      if (!isKnown)
        return `differs ${when}, which is not one of ${all.join(', ')}: name one of these`
      if (kind === 'from' && version <= last)
        return `differs ${when}, and until version ${last}: name a later version in from, or an earlier one in until`
      if (!isIn(field, version))
        return `differs ${when}, which does not have it: leave that out, or change its since or last`
      if (name === undefined && form === undefined)
        return `differs ${when} in nothing: give it a name or a form there`
      if (name !== undefined && !/^[a-zA-Z][a-zA-Z0-9_]*$/.test(name))
        return `is called ${name} ${when}: use letters, digits and _`
    }
  return undefined
}

/** The kinds of values that a form can write. */
const scalars = { 'as text': ['int', 'money', 'decimal'], 'as seconds': ['time'] } as const

/** Whether values are in the same order before and after the form is written. */
const sortsAlike = (form: Form, { values = [] }: Field): boolean => {
  if (typeof form === 'string') return form === 'as seconds'
  const words = values.toSorted().map(word => otherWord(form, word))
  return words.every((word, index) => index === 0 || (words[index - 1] ?? '') < word)
}

/** The rest of a sentence about a field whose form a version changes; undefined if nothing is wrong. */
const formFault = (
  { filters, sorts }: Resource,
  key: string,
  field: Field,
  form: Form,
  { newest }: Versions,
): string | undefined => {
  const { scalar, values, settableBy } = field
  if (typeof form === 'string') {
    if (!(scalars[form] as readonly string[]).includes(scalar))
      return `is ${form}, which it cannot be since it is ${scalar}: use it for ${scalars[form].join(' or ')}`
  } else {
    if (!values) return 'has other values, and is not a choice: make it one, or leave the form out'
    const unknown = Object.keys(form.values).find(word => !values.includes(word))
    if (unknown !== undefined)
      return `has another word for ${unknown}, which it never is: name some of ${values.join(', ')}`
  }

  // Uses of the field in this version that its form does not allow.
  const isReversible =
    form === 'as text' ||
    (form !== 'as seconds' && wordsIn(form, values)?.length === values?.length)
  const uses = Object.values(filters).filter(filter => filter.field === key)
  const isRanged = uses.some(({ kind }) => kind === 'at least' || kind === 'at most')
  if (settableBy.kind !== 'nobody' && !isReversible)
    return 'is written there in a form that cannot be turned back, and callers may give it: use another form, or let only the service set it'
  if (uses.length > 0 && !isReversible)
    return `is written there in a form that cannot be turned back, and a filter compares it: use another form, or give the filter since: ${newest}`
  if ((isRanged || sorts.some(sort => sort.field === key)) && !sortsAlike(form, field))
    return `is written there in a form of another order, and lists are sorted or ranged by it: use another form, or give the sort or filter since: ${newest}`
  return undefined
}

const faultsIn = function* (checked: CheckedEntity, version: Version, versions: Versions): Faults {
  const { name, self } = checked
  const { writes, nested, lifetimes } = self.rest
  const resource = resourceIn(name, self, version)
  const fields = Object.entries(self.fields)

  // Members of one object with the same name; members that it only takes count as well.
  const names = [
    '_links',
    ...fields.flatMap(([key, field]) => (isIn(field, version) ? [resource.nameOf(key)] : [])),
    ...resource.members.flatMap(member => (member.kind === 'embedded' ? [member.name] : [])),
  ]
  const twice = names.find((member, index, all) => all.indexOf(member) < index)
  if (twice !== undefined)
    yield `${name} has two members called ${twice} in version ${version} of the REST API: rename one of them`

  for (const [key, field] of fields) {
    const { form } = variantOf(field, version)
    const fault = form && formFault(resource, key, field, form, versions)
    if (fault !== undefined) yield `${name}.${key} in version ${version} ${fault}`
  }

  // Fields that a create needs and does not know; the path of a nested one gives a field.
  const offers = (kind: string) => isIn(lifetimes[kind] ?? {}, version)
  const below = nested.includes('create') && offers('nested create') ? nestedLists(checked) : []
  const creates = [
    ...(writes.includes('create') && offers('create') ? [undefined] : []),
    ...below.filter(list => isIn(list, version)).map(({ by }) => by),
  ]
  for (const [key, field] of fields) {
    if (!isIn(field, version) && isNeeded(key, field) && creates.some(given => given !== key))
      yield `${name}.${key} is needed by a create and not in version ${version}, which has one: give ${key} an initial value`
  }
}

/** The faults of an entity in its versions. */
export const versionFaults = function* (checked: CheckedEntity, versions: Versions): Faults {
  const { name, self } = checked
  for (const [part, lifetime] of lifetimesOf(checked)) {
    const fault = lifetimeFault(lifetime, versions)
    if (fault !== undefined) yield `${part} ${fault}`
  }
  for (const [key, field] of Object.entries(self.fields)) {
    const fault = variantsFault(field, versions)
    if (fault !== undefined) yield `${name}.${key} ${fault}`
  }
  // A link that every object has comes first, in every version.
  for (const named of Object.values(self.links?.cases ?? {})) {
    const [[key, { since, last }] = ['', {} as Link]] = Object.entries(named)
    if ((since ?? last) !== undefined)
      yield `the first link of ${name}, ${key}, is not in every version: put one first that is always there, such as self`
  }
  // Routes below a parent that no version has, since the list ends before they begin or they end before it does.
  const { nested, lifetimes } = self.rest
  for (const list of nestedLists(checked))
    for (const kind of nested) {
      const both = { ...lifetimeOf(list), ...lifetimeOf(lifetimes[`nested ${kind}`] ?? {}) }
      if (!versions.all.some(version => isIn(both, version)))
        yield `the route nested ${kind} of ${name} is below a list that no version has with it: change since or last of one of them`
    }
  for (const version of versions.all) yield* faultsIn(checked, version, versions)
}
