/** Faults of routes and of rules: reads that nobody may do, writes that can never succeed, links that lead nowhere, unknown roles. */
import { own } from '#base/object.ts'
import { type Entity, type Links, pathFields } from '#model/entity.ts'
import { type CheckedEntity, type Faults, nestedLists } from '#model/faults/relations.ts'
import { type Field, isNeeded } from '#model/field.ts'
import { typeName, withArticle } from '#model/names.ts'
import {
  alternativesOf,
  anonymous,
  isByRow,
  isForAll,
  type Roles,
  type Rule,
  type SimpleRule,
  type Switches,
  signedIn,
} from '#model/policy.ts'

/** The kinds of rules that let nobody through who is stopped by a rule of this kind. */
const within = {
  anyone: ['anyone', 'while', 'signed in', 'role', 'superuser', 'nobody'],
  'signed in': ['signed in', 'role', 'superuser', 'nobody'],
  role: ['superuser', 'nobody'],
  while: ['superuser', 'nobody'],
  superuser: ['superuser', 'nobody'],
  nobody: ['nobody'],
} satisfies Record<SimpleRule['kind'], readonly SimpleRule['kind'][]>

/** Whether a rule may stop somebody whom another lets through; two that look at rows may look at the same ones. */
export const isStricter = (rule: Rule, than: Rule): boolean => {
  const takes = (own: SimpleRule, one: SimpleRule): boolean => {
    if (one.kind === 'superuser' || one.kind === 'nobody') return own.kind !== 'nobody'
    if (own.before !== undefined && one.before === undefined) return false
    // Without a row nobody passes a rule that names the viewer.
    const kind = one.byViewer && one.kind === 'anyone' ? 'signed in' : one.kind
    if ((within[own.kind] as readonly string[]).includes(kind)) return true
    return own.kind === 'role'
      ? one.kind === 'role' && own.role === one.role
      : own.kind === 'while' && one.kind === 'while' && own.setting === one.setting
  }
  const own = alternativesOf(rule)
  return alternativesOf(than).some(one => !own.some(mine => takes(mine, one)))
}

/** The callers of a rule, whatever the rows: of a new one each row says it. */
export const callersOf = (rule: Rule): Rule => ({
  kind: 'any of',
  rules: alternativesOf(rule).map(({ before: _, after: __, byViewer, ...caller }) =>
    byViewer && caller.kind === 'anyone' ? signedIn : caller,
  ),
})

/** Whether a rule is for the row of an id alone. */
const isOfOwnId = (rule: Rule): boolean =>
  alternativesOf(rule).every(({ before }) => {
    const id = before?.id
    return (
      id !== undefined && !(typeof id === 'object' && id !== null && ('ne' in id || 'notIn' in id))
    )
  })

const ruleOf = { create: 'create', replace: 'update', update: 'update', delete: 'delete' } as const

/** Whether no caller of an API may give a field. */
export const isClosed = (field: Field, api: 'rest' | 'graphql'): boolean =>
  field.settableBy.kind === 'nobody' ||
  (api === 'graphql' ? field.graphql === 'hidden' : !field.rest && field.graphql === 'hidden')

/** Writes that can never succeed, and required fields that a create of an API cannot be given. */
const writeFaults = function* (checked: CheckedEntity): Faults {
  const { name, self } = checked
  const { rest, graphql, policy, fields } = self
  const writes = [
    ...rest.writes.map(write => ['rest.writes', write] as const),
    ...rest.nested.flatMap(kind => (kind === 'one' ? [] : [['rest.nested', kind] as const])),
    ...graphql.mutations.map(write => ['graphql.mutations', write] as const),
  ]
  for (const [member, write] of writes) {
    const operation = ruleOf[write]
    const subject = `${member} of ${name} has ${write}`
    if (policy[operation] === undefined)
      yield `${subject}, and its policy has no ${operation} rule: add the rule, or leave the write out`
    if (operation === 'update' && !own(fields, 'revision'))
      yield `${subject}, and ${name} has no revision: add revision: revision() to its fields`
    if (self.appendOnly && operation !== 'create')
      yield `${subject}, and ${name} is append-only: leave one of them out`
  }
  for (const [key, { references }] of Object.entries(fields))
    if (self.appendOnly && references && references.onDelete !== 'restrict')
      yield `${name}.${key} changes rows that are append-only when the ${references.entity} is deleted: choose onDelete: 'restrict'`

  // A path below a list gives the field that leads to its parent.
  const creates = writes.flatMap(([member, write]) => {
    if (write !== 'create') return []
    const above = member === 'rest.nested' ? nestedLists(checked).map(({ by }) => by) : [undefined]
    return above.map(given => ({ member, given }))
  })
  const [first] = creates
  if (first && Object.keys(fields).every(key => key === 'id'))
    yield `${first.member} of ${name} has create, and ${name} has no field but its id: add another one, or leave the create out`
  for (const { member, given } of creates)
    for (const [key, field] of Object.entries(fields)) {
      if (key === given || !isNeeded(key, field)) continue
      if (isClosed(field, member === 'graphql.mutations' ? 'graphql' : 'rest'))
        yield `${member} of ${name} has create, which needs ${key} and cannot be given it: give ${key} an initial value, or leave the create out`
      else if (policy.create && isStricter(callersOf(field.settableBy), policy.create))
        yield field.settableBy === field.readableBy
          ? `${member} of ${name} has create, which needs ${key}, and fewer may read it, and so may set it, than may create: say settableBy: anyone if they may, or give ${key} an initial value`
          : `${member} of ${name} has create, which needs ${key}, and fewer may set it than may create: give ${key} an initial value, or change one of the rules`
      else if (isOfOwnId(field.settableBy))
        yield `${member} of ${name} has create, which needs ${key}, and its settableBy names the id of the row, which a new one has not: say settableBy: anyone, or give ${key} an initial value`
    }
}

/** Types without fields, roots that nobody may read, inputs that take nothing, and reasons for deprecations of nothing. */
const graphqlFaults = function* ({ name, self }: CheckedEntity): Faults {
  const { type, roots, filters, mutations, deprecated } = self.graphql
  if (!type) return
  const known = [
    ...(roots ? [name, self.plural, ...filters] : []),
    ...mutations.map(kind => `${kind}${typeName(name)}`),
  ]
  for (const [what, reason] of Object.entries(deprecated))
    if (!known.includes(what))
      yield `graphql.deprecated of ${name} has ${what}, which is neither a root field nor a filter: name one of ${known.join(', ')}`
    else if (reason.trim() === '')
      yield `graphql.deprecated of ${name} has no reason for ${what}: say what to use in its place, like 'Use title.'`
  const fields = Object.values(self.fields)
  if (!fields.some(({ graphql }) => graphql === 'shown'))
    yield `${name} is a GraphQL type without fields: show one, or make it graphql: { type: false }`
  if (roots && self.policy.read === undefined && self.policy.enter === undefined)
    yield `${name} is in the GraphQL API, and nobody may read it: add a read rule, or make it graphql: { type: false }`
  for (const kind of mutations) {
    const takes = fields.some(
      field => !isClosed(field, 'graphql') && !(kind === 'update' && field.immutable),
    )
    if (kind !== 'delete' && !takes)
      yield `graphql.mutations of ${name} has ${kind}, and no field can be given: leave it out, or the ${kind} rule that it comes of`
  }
}

/** Callers who get whole objects, by their rule: their name in a sentence, and the remedy if they may not read all of it. */
type Getters = {
  readonly rule: Rule
  readonly called: string
  readonly remedy: string
  /** What they get is new, and has no rows of others in it. */
  readonly isNew?: boolean
}

const readersOf = (name: string, { policy }: Entity): readonly Getters[] => {
  const rule = policy.enter ?? policy.read
  const remedy = `give ${name} an enter rule that is as strict, or change`
  return rule ? [{ rule, called: name, remedy }] : []
}

/** Those who write by the REST API, and are answered with the object. */
const writersOf = (name: string, { rest, policy }: Entity): readonly Getters[] =>
  (['create', 'replace', 'update'] as const).flatMap(kind => {
    const isOffered =
      rest.writes.includes(kind) || (kind === 'create' && rest.nested.includes(kind))
    const rule = isOffered ? policy[ruleOf[kind]] : undefined
    if (!rule) return []
    const called = `may ${kind} ${withArticle(name)}`
    const isNew = kind === 'create'
    // Who creates without a token is answered as the one who is made by it.
    const isSignedIn = isNew && ['anyone', 'while'].includes(rule.kind)
    return [{ rule: isSignedIn ? signedIn : rule, called, remedy: 'or change', isNew }]
  })

/** The first of them whom a rule may stop. */
const stopped = (by: Rule, getters: readonly Getters[]): Getters | undefined =>
  getters.find(({ rule }) => isStricter(by, rule))

/** The faults of members that not all who get the object may read: the others would be refused all of it. */
const memberFaults = function* (name: string, self: Entity, getters: readonly Getters[]): Faults {
  for (const [key, { rest, readableBy }] of Object.entries(self.fields)) {
    const some = rest && !isByRow(readableBy) ? stopped(readableBy, getters) : undefined
    if (some)
      yield `${name}.${key} may be read by fewer than ${some.called}, whose answers have it: make it rest: false, ${some.remedy} the field's rule to one by row, which gives others null`
  }
}

/** What the answers of an entity have within them at any depth: the entities by their paths, each once in a path. */
const partsOf = function* (
  entities: CheckedEntity['entities'],
  from: Entity,
  above: readonly string[] = [],
  seen: readonly string[] = [],
): Generator<readonly [path: string, name: string, entity: Entity]> {
  for (const key of Object.keys(from.rest.embedded)) {
    const name = own(from.relations, key)?.to ?? ''
    const entity = own(entities, name)
    if (!entity || seen.includes(name)) continue
    const path = [...above, key]
    yield [path.join('.'), name, entity]
    yield* partsOf(entities, entity, path, [...seen, name])
  }
}

/**
 * The faults of embedded rows. Those that only some readers of the object may read are refused: others would be refused all of it,
 * or each be shown another one.
 */
const embeddedFaults = function* ({ entities, name, self }: CheckedEntity): Faults {
  const embedded = Object.entries(self.rest.embedded)
  for (const [key, { after }] of embedded) {
    const subject = `rest.embedded of ${name} has ${key}`
    const relation = own(self.relations, key)
    const target = own(entities, relation?.to ?? '')
    if (!relation) yield `${subject}, which is not a relation: name one`
    if (!own(self.fields, after)?.rest)
      yield `${subject} after ${after}, which is not a field that the REST API shows: name one`
    const by = own(target?.fields ?? {}, relation?.by ?? '')
    if (by && !isForAll(by.readableBy))
      yield `${subject} by ${relation?.by}, which not everybody may read: leave it out, or change the rule of ${relation?.by}`
    if (target && target.policy.read === undefined)
      yield `${subject}, and nobody may read ${target.plural}: give them a read rule`
  }
  const getters = [...readersOf(name, self), ...writersOf(name, self)]
  for (const [path, part, entity] of partsOf(entities, self, [], [name])) {
    const { read } = entity.policy
    if (!read) continue
    // Two rules about owners differ by their paths, and often lead to the same owner.
    const others = getters.filter(({ rule, isNew }) => !(isByRow(read) && (isByRow(rule) || isNew)))
    const some = stopped(read, others)
    if (some)
      yield `rest.embedded of ${name} has ${path}, and fewer may read ${entity.plural} than ${some.called}, whose answers have them: leave it out, ${some.remedy} the read rule of ${part}`
    yield* memberFaults(part, entity, getters)
  }
  if (partsOf(entities, self).some(([, part]) => part === name))
    yield `rest.embedded of ${name} leads back to ${name}: leave one of the relations out`
  for (const [key] of embedded)
    if (own(self.relations, key)?.kind === 'one')
      yield `rest.embedded of ${name} has ${key}, which leads to one row, and only lists are embedded: name a relation many('…', …), or leave it out`
}

const linkFaults = function* (name: string, self: Entity, { by, cases }: Links): Faults {
  if (by !== null) {
    const field = own(self.fields, by)
    const unknown = Object.keys(cases).find(value => !field?.values?.includes(value))
    if (!field?.values || field.nullable || !isForAll(field.readableBy))
      yield `the links of ${name} are by ${by}, which is not a choice that everybody may read: name one`
    else if (unknown !== undefined)
      yield `the links of ${name} have a case ${unknown}, which ${by} never is: name one of ${field.values.join(', ')}`
  }
  for (const named of Object.values(cases)) {
    for (const [key, link] of Object.entries(named))
      for (const part of pathFields(link)) {
        const field = own(self.fields, part)
        const subject = `the link ${key} of ${name} has {${part}}`
        if (!field)
          yield `${subject}, which is not a field: name one of ${Object.keys(self.fields).join(', ')}`
        else if (!['id', 'int', 'text'].includes(field.scalar))
          yield `${subject}, which is ${field.scalar}: name an id, a whole number or a text`
        else if (!isForAll(field.readableBy))
          yield `${subject}, which not everybody may read: name another field`
      }
    const [first] = Object.entries(named)
    if (first && pathFields(first[1]).some(key => own(self.fields, key)?.nullable))
      yield `the first link of ${name}, ${first[0]}, leads nowhere if its field is null: put one first that is always there, such as self`
  }
}

/** The field of a row, or of the one that a relation of it leads to: `owner.email`. */
const wantedField = ({ self, entities }: CheckedEntity, key: string): Field | undefined => {
  const [first = '', field] = key.split('.')
  if (field === undefined) return own(self.fields, first)
  const relation = own(self.relations, first)
  return relation?.kind === 'one' ? own(entities[relation.to]?.fields ?? {}, field) : undefined
}

/** The faults of an entity's routes, members and links. */
export const routeFaults = function* (checked: CheckedEntity): Faults {
  const { name, self } = checked
  const { rest } = self
  const isListed = nestedLists(checked).length > 0
  const readers = readersOf(name, self)
  if ((rest.list || rest.one) && readers.length === 0)
    yield `${name} is in the REST API, and nobody may read it: add a read rule, or make rest.list and rest.one false`
  const isRead = rest.list || rest.one || isListed
  yield* memberFaults(name, self, [...(isRead ? readers : []), ...writersOf(name, self)])
  if (rest.nested.length > 0 && !isListed)
    yield `rest.nested of ${name} has ${rest.nested.join(', ')}, and no list leads to it: give a relation many('${name}', …) to its parent`
  yield* writeFaults(checked)
  yield* graphqlFaults(checked)
  yield* embeddedFaults(checked)
  if (self.links) yield* linkFaults(name, self, self.links)
  for (const [occasion, after] of Object.entries(self.after)) {
    if (!/^[a-z][A-Za-z0-9]*$/.test(occasion))
      yield `after of ${name} has ${JSON.stringify(occasion)}, which is no name: begin with a small letter, then letters and digits`
    for (const key of after?.fields ?? []) {
      const wanted = wantedField(checked, key)
      if (!wanted)
        yield `after.${occasion} of ${name} wants ${key}, which is not a field: name one of ${Object.keys(self.fields).join(', ')}`
      else if (wanted.scalar === 'bytes')
        yield `after.${occasion} of ${name} wants ${key}, which are bytes: leave them out, and read them when they are wanted`
    }
  }
}

/** A rule, and the beginning of a sentence about it. */
export type PlacedRule = readonly [subject: string, rule: Rule | undefined]

/** The rules of the policies and the fields of all entities. */
export const rulesOf = (entities: CheckedEntity['entities']): readonly PlacedRule[] =>
  Object.entries(entities).flatMap(([name, { policy, fields }]) => [
    ...Object.entries(policy).map(
      ([operation, rule]): PlacedRule => [`the ${operation} rule of ${name}`, rule],
    ),
    ...Object.entries(fields).flatMap(([key, { readableBy, settableBy }]) =>
      [readableBy, settableBy].map((rule): PlacedRule => [`a rule of ${name}.${key}`, rule]),
    ),
  ])

/** The faults of rules that depend on a setting. */
export const switchFaults = function* (rules: readonly PlacedRule[], switches: Switches): Faults {
  for (const [subject, declared] of rules)
    for (const rule of declared ? alternativesOf(declared) : [])
      if (rule.kind === 'while' && !Object.hasOwn(switches, rule.setting))
        yield `${subject} holds while ${rule.setting} is open, which is not a switch: let the content's switches give it`
}

/** The faults of the roles, whose names stand in refusals and headers, and of the rules that name them. */
export const roleFaults = function* (roles: Roles, rules: readonly PlacedRule[]): Faults {
  const { names, default: usual, superuser } = roles
  const remedy = `name one of ${names.join(', ')}`
  for (const name of names)
    if (!/^[a-z][a-z0-9-]*$/i.test(name) || name === anonymous.role)
      yield `the role ${JSON.stringify(name)} has a name that tokens cannot give: use letters, digits and -, and not ${anonymous.role}`
  for (const [what, name] of Object.entries({ default: usual, superuser }))
    if (!names.includes(name)) yield `the ${what} role is ${name}, which is not a role: ${remedy}`
  for (const [subject, declared] of rules)
    for (const rule of declared ? alternativesOf(declared) : [])
      if (rule.kind === 'role' && !names.includes(rule.role))
        yield `${subject} is for the role ${rule.role}, which is not a role: ${remedy}`
}
