/** Faults between entities: relations, and the rules of a policy that name their fields. */
import { own } from '#base/object.ts'
import { remedy } from '#base/shape.ts'
import { namesViewer, type Predicate, partsOf, resolveCondition } from '#model/condition.ts'
import type { Entity, Relation } from '#model/entity.ts'
import type { Field } from '#model/field.ts'
import { linkOf, withArticle } from '#model/names.ts'
import { alternativesOf, isByRow, type Rule } from '#model/policy.ts'

/** One entity among all of them. */
export type CheckedEntity = {
  readonly entities: Readonly<Record<string, Entity>>
  readonly name: string
  readonly self: Entity
}

/** Sentences, each about one fault. */
export type Faults = Iterable<string>

/** The lists of an entity that REST has below other entities. */
export const nestedLists = ({
  entities,
  name,
}: CheckedEntity): readonly Entity['relations'][string][] =>
  Object.values(entities)
    .flatMap(({ relations }) => Object.values(relations))
    .filter(({ kind, to, rest, through }) => kind === 'many' && rest && to === name && !through)

const targetFault = (
  { entities, name, self }: CheckedEntity,
  relation: Relation,
): string | undefined => {
  const target = own(entities, relation.to)
  if (!target)
    return `leads to ${relation.to}, which is not an entity: name one of ${Object.keys(entities).join(', ')}`
  if (relation.through !== undefined) {
    const link = own(entities, relation.through)
    if (!link)
      return `leads through ${relation.through}, which is not an entity: ${remedy(relation.through, Object.keys(entities))}`
    const keys = linkOf(entities, name, relation)
    if (!keys)
      return `leads through ${relation.through}, which has no references to ${name} and to ${relation.to} that are never null: name an entity with both`
    if ([keys.by, keys.of].some(key => isByRow(own(link.fields, key)?.readableBy)))
      return `leads through ${link.plural} by a field that callers read in some rows only: change its readableBy`
    if (link.policy.read === undefined)
      return `leads through ${link.plural}, which nobody may read: give them a read rule`
    return undefined
  }
  const [holder, referred] = relation.kind === 'one' ? [self, relation.to] : [target, name]
  const key = own(holder.fields, relation.by)
  if (!key)
    return `keys on ${relation.by}, which is not a field there: name a reference to ${referred}`
  if (key.references && !own(entities, key.references.entity))
    return `keys on ${relation.by}, which refers to ${key.references.entity}, which is not an entity: ${remedy(key.references.entity, Object.keys(entities))}`
  if (key.references?.entity !== referred)
    return `keys on ${relation.by}, which is not a reference to ${referred}: name one that is`
  return undefined
}

/** The fault of showing a relation whose key and target exist. */
const shownFault = (self: Entity, relation: Relation, target: Entity): string | undefined => {
  const shown = relation.graphql && target.graphql.type && self.graphql.type
  if (relation.oldestFirst && relation.rest && target.rest.listing.paging === 'cursor')
    return `is oldest first, and the lists of ${target.plural} go by cursors, newest first: choose paging: 'page' for them, or make it rest: false`
  if ((shown || relation.rest) && target.policy.read === undefined)
    return `leads to ${target.plural}, which nobody may read: give them a read rule, or make it graphql: false and rest: false`
  if (relation.rest && self.policy.read === undefined)
    return `is a list below ${self.plural}, which nobody may read: give them a read rule, or make it rest: false`
  return undefined
}

/** The faults of an entity's relations. */
export const relationFaults = function* (checked: CheckedEntity): Faults {
  const { entities, name, self } = checked
  for (const [key, relation] of Object.entries(self.relations)) {
    const target = own(entities, relation.to)
    const fault = targetFault(checked, relation) ?? (target && shownFault(self, relation, target))
    if (fault) yield `${name}.${key} ${fault}`
    if (!/^[a-z][a-zA-Z0-9]*$/.test(key) || key in {})
      yield `${name}.${key} is not named like lineItems: begin with a small letter and use only letters and digits`
    if (['and', 'or', 'not'].includes(key))
      yield `${name}.${key} is a word of conditions: give the relation another name`
    if (relation.through !== undefined && own(self.rest.embedded, key))
      yield `${name}.${key} is embedded and leads through ${relation.through}: leave it out of rest.embedded`
    if (own(self.fields, key)) yield `${name}.${key} is a relation and a field: rename one of them`
    const connection = `${key}Connection`
    const isTaken =
      own(self.fields, connection)?.graphql === 'shown' || own(self.relations, connection)
    if (relation.kind === 'many' && relation.graphql && isTaken)
      yield `${name}.${connection} has the name of the connection of ${key} in GraphQL: rename one of them`
  }
}

/** The field at the end of a path of to-one relations; undefined if there is none. */
const fieldAt = (
  entities: CheckedEntity['entities'],
  from: Entity | undefined,
  [head = '', ...rest]: readonly string[],
): { readonly entity: Entity; readonly key: string; readonly field: Field } | undefined => {
  if (!from) return undefined
  const field = own(from.fields, head)
  if (rest.length === 0) return field && { entity: from, key: head, field }
  const relation = own(from.relations, head)
  return relation?.kind === 'one' ? fieldAt(entities, own(entities, relation.to), rest) : undefined
}

const selfRules = ({ policy }: Entity) =>
  Object.entries(policy).flatMap(([operation, rule]) =>
    rule.kind === 'self' ? [[operation, rule] as const] : [],
  )

/** The reason why a new row can never be the viewer's by this path; undefined if there is none. */
const createFault = (checked: CheckedEntity, path: string): string | undefined => {
  const field = own(checked.self.fields, path)
  if (!field || path === 'id')
    return 'a new row is judged by its own values: name a field of its own'
  const isSet = field.settableBy.kind !== 'nobody' || field.initial === 'viewer'
  // The path of a nested create gives the key of the list that it is below.
  const isNested = checked.self.rest.nested.includes('create')
  return isSet || (isNested && nestedLists(checked).some(({ by }) => by === path))
    ? undefined
    : "nobody may set that: let it be initial: 'viewer'"
}

/** The rules of an entity that look at rows, each with the beginning of a sentence about it. */
const rulesByRow = ({
  name,
  self,
}: CheckedEntity): readonly (readonly [string, string, Rule])[] => [
  ...Object.entries(self.policy).map(
    ([operation, rule]) => [`the ${operation} rule of ${name}`, operation, rule] as const,
  ),
  ...Object.entries(self.fields).flatMap(([key, { readableBy, settableBy }]) => [
    [`the rule of ${name}.${key}`, 'field', readableBy] as const,
    ...(settableBy === readableBy
      ? []
      : [[`settableBy of ${name}.${key}`, 'field', settableBy] as const]),
  ]),
]

/** What a predicate looks at of its own row that is not known before it is written; a new row has no id either. */
const unknownOf = (predicate: Predicate, self: Entity, isNew: boolean): string | undefined => {
  if (predicate.kind === 'across')
    return isNew && predicate.rows !== 'one' ? 'rows that refer to it' : undefined
  if ('field' in predicate) {
    const { computed, kept } = own(self.fields, predicate.field) ?? {}
    if (computed || (kept && isNew)) return predicate.field
    return isNew && predicate.field === 'id' ? 'an id' : undefined
  }
  const found = partsOf(predicate).map(part => unknownOf(part, self, isNew))
  return found.find(one => one !== undefined)
}

/** The faults of the conditions of rules; `viewers` is the entity of the viewers, if it is known. */
const conditionFaults = function* (checked: CheckedEntity, viewers?: string): Faults {
  const { entities, name, self } = checked
  const context = { entities, digits: 3, ...(viewers !== undefined && { viewers }) }
  for (const [subject, operation, rule] of rulesByRow(checked)) {
    // The paths of a self rule of a policy have sentences of their own.
    const isSelf = rule.kind === 'self' && operation !== 'field'
    for (const { before, after, byViewer = false } of isSelf ? [] : alternativesOf(rule)) {
      if (byViewer !== [before, after].some(namesViewer))
        yield `${subject} has a condition that where() did not give it, which finds out whether it names the viewer: take signedIn.where()`
      for (const condition of [before, after]) {
        if (condition === undefined) continue
        const { predicate, faults } = resolveCondition(context, name, condition)
        for (const { path, message } of faults)
          yield path === ''
            ? `${subject} has a condition that ${message}`
            : `${subject} has ${path}, which ${message}`
        const isWrite = operation === 'create' || operation === 'update'
        const absent = isWrite ? unknownOf(predicate, self, operation === 'create') : undefined
        if (absent !== undefined && faults.length === 0)
          yield `${subject} looks at ${absent}, which is not known before the row is written: name other fields, or relations to one row`
      }
      if (after !== undefined && operation !== 'update')
        yield `${subject} says what a row is becoming, which only an update does: leave it out`
    }
  }
}

/** The faults of an entity's policy. */
export const policyFaults = function* (checked: CheckedEntity): Faults {
  const { entities, name, self } = checked
  for (const [operation, rule] of selfRules(self)) {
    if (rule.fields.length === 0)
      yield `the ${operation} rule of ${name} is self() of no field: name the field that says whose a row is`
    for (const path of rule.fields) {
      const subject = `the ${operation} rule of ${name} names ${path}`
      if (!fieldAt(entities, self, path.split('.')))
        yield `${subject}, which is not a field: name one of its own, or one over relations to one row`
      const never = operation === 'create' ? createFault(checked, path) : undefined
      if (never) yield `${subject} and can never hold: ${never}`
    }
  }
  yield* conditionFaults(checked)
}

/** The faults of rules and values that name a viewer: a path must lead to the id of one, if there are any. */
export const viewerFaults = function* (
  entities: CheckedEntity['entities'],
  viewer: string | undefined,
): Faults {
  const none = 'and the content has no viewers: let its viewers name an entity'
  for (const [name, self] of Object.entries(entities)) {
    if (viewer === undefined) {
      for (const [subject, , rule] of rulesByRow({ entities, name, self }))
        if (alternativesOf(rule).some(({ byViewer }) => byViewer))
          yield `${subject} names the viewer, ${none}, or take another rule`
      for (const [key, { initial }] of Object.entries(self.fields))
        if (initial === 'viewer')
          yield `${name}.${key} is the viewer at first, ${none}, or give it another initial value`
      continue
    }
    for (const [operation, rule] of selfRules(self))
      for (const path of rule.fields) {
        const found = fieldAt(entities, self, path.split('.'))
        const isId = found?.key === 'id' && found.entity === entities[viewer]
        if (!isId && found?.field.references?.entity !== viewer)
          yield `the ${operation} rule of ${name} names ${path}, which is not the id of ${withArticle(viewer)}: name a reference to ${viewer}`
      }
    yield* conditionFaults({ entities, name, self }, viewer)
    for (const [key, { initial, references }] of Object.entries(self.fields))
      if (initial === 'viewer' && references?.entity !== viewer)
        yield `${name}.${key} is the viewer at first and refers to ${references?.entity}: let it refer to ${viewer}`
  }
}
