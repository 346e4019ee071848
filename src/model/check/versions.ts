/** Faults of what differs between versions: names, forms, first and last versions, and the days on which they end. */
import { isDay, noticeMonths, soonestEnd } from '#base/dates.ts'
import { own } from '#base/object.ts'
import { type CheckedEntity, type Faults, nestedLists } from '#model/check/relations.ts'
import type { Link } from '#model/entity.ts'
import type { Field } from '#model/field.ts'
import { type Form, otherWord, wordsIn } from '#model/form.ts'
import { type Resource, resourceIn } from '#model/resource.ts'
import {
  isIn,
  type Lifetime,
  lifetimeOf,
  newest,
  reasonOf,
  type Variant,
  type Version,
  variantOf,
  versions,
} from '#model/version.ts'

const dayFault = (called: string, day: string | undefined): string | undefined =>
  day === undefined || isDay(day)
    ? undefined
    : `has the ${called} ${day}, which is not a day: write it like 2027-08-01`

/** The rest of a sentence about what has this lifetime; undefined where nothing is wrong. */
export const lifetimeFault = ({
  since,
  last,
  sunset,
  deprecated,
}: Lifetime): string | undefined => {
  const wrong = [since, last].find(version => version !== undefined && !versions.includes(version))
  if (wrong !== undefined)
    return `names version ${wrong}, which is not one of ${versions.join(', ')}: name one of these`
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

/** What is wrong with a variant that holds at a version: `when` is `until version 1` or `from version 2 on`. */
const variantFault = (
  field: Field,
  { name, form }: Variant,
  version: number,
  when: string,
): string | undefined => {
  if (!isIn(field, version as Version))
    return `differs ${when}, which does not have it: leave that out, or change its since or last`
  if (name === undefined && form === undefined)
    return `differs ${when} in nothing: give it a name or a form there`
  return name === undefined || /^[a-zA-Z][a-zA-Z0-9_]*$/.test(name)
    ? undefined
    : `is called ${name} ${when}: use letters, digits and _`
}

const untilFault = (field: Field): string | undefined => {
  for (const [text, variant] of Object.entries(field.until)) {
    const version = Number(text)
    const when = `until version ${text}`
    if (!versions.some(known => known === version) || version === newest)
      return `differs ${when}, which is not a former version: name one of ${versions.slice(0, -1).join(', ')}`
    const fault = variantFault(field, variant ?? {}, version, when)
    if (fault !== undefined) return fault
  }
  return undefined
}

const fromFault = (field: Field): string | undefined => {
  const last = Math.max(0, ...Object.keys(field.until).map(Number))
  for (const [text, variant] of Object.entries(field.from)) {
    const version = Number(text)
    const when = `from version ${text} on`
    if (!versions.some(known => known === version))
      return `differs ${when}, which is not one of ${versions.join(', ')}: name one of these`
    if (version <= last)
      return `differs ${when}, and until version ${last}: name a later version in from, or an earlier one in until`
    const fault = variantFault(field, variant ?? {}, version, when)
    if (fault !== undefined) return fault
  }
  return undefined
}

/** The kinds of values that a form can write. */
const scalars = { 'as text': ['int', 'money'], 'as seconds': ['time'] } as const

const formFault = (form: Form, { scalar, values }: Field): string | undefined => {
  if (typeof form === 'string')
    return (scalars[form] as readonly string[]).includes(scalar)
      ? undefined
      : `is ${form}, which it cannot be since it is ${scalar}: use it for ${scalars[form].join(' or ')}`
  if (!values) return 'has other words, and is not a choice: make it one, or leave the form out'
  const unknown = Object.keys(form.words).find(word => !values.includes(word))
  return unknown === undefined
    ? undefined
    : `has another word for ${unknown}, which it never is: name some of ${values.join(', ')}`
}

/** Whether each value can be told from what the form writes. */
const isReversible = (form: Form, { values = [] }: Field): boolean =>
  form === 'as text' || (form !== 'as seconds' && wordsIn(form, values)?.length === values.length)

/** Whether values are in the same order before and after the form is written. */
const sortsAlike = (form: Form, { values = [] }: Field): boolean => {
  if (typeof form === 'string') return form === 'as seconds'
  const former = (word: string) => otherWord(form, word)
  const sorted = values.toSorted()
  return sorted.every(
    (word, index) => index === 0 || former(sorted[index - 1] ?? '') < former(word),
  )
}

/** What a version does with a field whose form it changes, that it cannot do. */
const formUseFault = (
  { entity, filters, sorts }: Resource,
  key: string,
  form: Form,
): string | undefined => {
  const field = own(entity.fields, key) as Field
  const uses = Object.values(filters).filter(filter => filter.field === key)
  const isRanged = uses.some(({ kind }) => kind === 'at least' || kind === 'at most')
  if (field.settableBy.kind !== 'nobody' && !isReversible(form, field))
    return 'is written there in a form that cannot be turned back, and callers may give it: use another form, or let only the service set it'
  if (uses.length > 0 && !isReversible(form, field))
    return 'is written there in a form that cannot be turned back, and a filter compares it: use another form, or give the filter since: 2'
  if ((isRanged || sorts.some(sort => sort.field === key)) && !sortsAlike(form, field))
    return 'is written there in a form of another order, and lists are sorted or ranged by it: use another form, or give the sort or filter since: 2'
  return undefined
}

const formFaults = function* (checked: CheckedEntity, version: Version): Faults {
  const { name, self } = checked
  const resource = resourceIn(name, self, version)
  for (const [key, field] of Object.entries(self.fields)) {
    const { form } = variantOf(field, version)
    const fault = form && (formFault(form, field) ?? formUseFault(resource, key, form))
    if (fault !== undefined) yield `${name}.${key} in version ${version} ${fault}`
  }
}

/** The faults of members of one object with the same name; those that it only takes count as well. */
const twiceFaults = function* ({ name, self }: CheckedEntity, version: Version): Faults {
  const { members, nameOf } = resourceIn(name, self, version)
  const fields = Object.entries(self.fields).filter(([, field]) => isIn(field, version))
  const names = [
    '_links',
    ...fields.map(([key]) => nameOf(key)),
    ...members.flatMap(member => (member.kind === 'embedded' ? [member.name] : [])),
  ]
  const twice = names.find((member, index, all) => all.indexOf(member) < index)
  if (twice !== undefined)
    yield `${name} has two members called ${twice} in version ${version} of the REST API: rename one of them`
}

/** The creates of a version, each with the fields that its path gives. */
const createsIn = (checked: CheckedEntity, version: Version): readonly (readonly string[])[] => {
  const { writes, nested, lifetimes } = checked.self.rest
  const offers = (kind: string) => isIn(lifetimes[kind] ?? {}, version)
  const below = nested.includes('create') && offers('nested create') ? nestedLists(checked) : []
  return [
    ...(writes.includes('create') && offers('create') ? [[]] : []),
    ...below.filter(list => isIn(list, version)).map(({ by }) => [by]),
  ]
}

const isNeeded = (key: string, { initial, foldedFrom }: Field): boolean =>
  key !== 'id' && initial === undefined && foldedFrom === undefined

/** Fields that a create of a version needs and does not know. */
const requiredFaults = function* (checked: CheckedEntity, version: Version): Faults {
  const { name, self } = checked
  const creates = createsIn(checked, version)
  for (const [key, field] of Object.entries(self.fields))
    if (
      !isIn(field, version) &&
      isNeeded(key, field) &&
      creates.some(given => !given.includes(key))
    )
      yield `${name}.${key} is needed by a create and not in version ${version}, which has one: give ${key} an initial value`
}

/** Routes below a parent that no version has, since the list ends before they begin or they end before it does. */
const nestedFaults = function* (checked: CheckedEntity): Faults {
  const { name, self } = checked
  const { nested, lifetimes } = self.rest
  for (const list of nestedLists(checked))
    for (const kind of nested) {
      const both = { ...lifetimeOf(list), ...lifetimeOf(lifetimes[`nested ${kind}`] ?? {}) }
      if (!versions.some(version => isIn(both, version)))
        yield `the route nested ${kind} of ${name} is below a list that no version has with it: change since or last of one of them`
    }
}

/** A link that every object has comes first, in every version. */
const firstLinkFaults = function* ({ name, self }: CheckedEntity): Faults {
  for (const named of Object.values(self.links?.cases ?? {})) {
    const [[key, { since, last }] = ['', {} as Link]] = Object.entries(named)
    if ((since ?? last) !== undefined)
      yield `the first link of ${name}, ${key}, is not in every version: put one first that is always there, such as self`
  }
}

/** The faults of an entity in its versions. */
export const versionFaults = function* (checked: CheckedEntity): Faults {
  for (const [part, lifetime] of lifetimesOf(checked)) {
    const fault = lifetimeFault(lifetime)
    if (fault !== undefined) yield `${part} ${fault}`
  }
  for (const [key, field] of Object.entries(checked.self.fields)) {
    const fault = untilFault(field) ?? fromFault(field)
    if (fault !== undefined) yield `${checked.name}.${key} ${fault}`
  }
  yield* firstLinkFaults(checked)
  yield* nestedFaults(checked)
  for (const version of versions)
    for (const faultsOf of [twiceFaults, formFaults, requiredFaults])
      yield* faultsOf(checked, version)
}
