/** Who calls, as a content says it: whose rows tokens speak for, how these are found and made, and which roles tokens give. */
import { type JsonObject, mergePatch, own } from '#base/object.ts'
import { keys, must, type Shape } from '#base/shape.ts'
import type { Entity } from '#model/entity.ts'
import { type Faults, viewerFaults } from '#model/faults/relations.ts'
import { type PlacedRule, roleFaults, rulesOf } from '#model/faults/routes.ts'
import { type Field, isDerived, isNeeded } from '#model/field.ts'
import { withArticle, wrong } from '#model/names.ts'
import {
  alternativesOf,
  defineRoles,
  nobody,
  type Role,
  type Roles,
  rolesShape,
} from '#model/policy.ts'

/** A claim of a token: its name, or the names that lead to it through objects. */
export type ClaimPath = string | readonly string[]

/** Who calls: the entity whose rows tokens speak for, and the roles. */
export type Viewers = {
  /** The entity whose rows tokens speak for; without one tokens speak for services alone. */
  readonly entity?: string
  /** The value of a field that keeps a row of that entity from writing; without it none is blocked. */
  readonly blocked?: { readonly field: string; readonly value: string }
  /** The field that a token's `sub` is looked up in, made by `subject()`; without it `sub` is the id. */
  readonly by?: string
  /** Has the first write of an unknown subject make its row, with these fields from these claims. */
  readonly signUp?: Readonly<Record<string, ClaimPath>>
  /** Where tokens have roles: the claim, what its words mean (themselves, without a map), and the role of a token without any. */
  readonly roleFrom?: {
    readonly claim: ClaimPath
    readonly map?: Readonly<Record<string, Role>>
    readonly otherwise?: Role
  }
  /** The claim that names for whom a token is, if not `aud`. */
  readonly audienceClaim?: string
  readonly roles: Roles
}

/** What a content says of its viewers, and the entities that these are among. */
export type WithViewers = {
  readonly entities: Readonly<Record<string, Entity>>
  readonly viewers: Viewers
}

const claimShape: Shape = { either: ['text', { each: 'text' }] }

export const viewersShape = keys<Viewers>({
  entity: 'text',
  blocked: keys<NonNullable<Viewers['blocked']>>({ field: must('text'), value: must('text') }),
  by: 'text',
  signUp: { named: claimShape },
  roleFrom: keys<NonNullable<Viewers['roleFrom']>>({
    claim: must(claimShape),
    map: { named: 'text' },
    otherwise: 'text',
  }),
  audienceClaim: 'text',
  roles: must(rolesShape),
})

/** The roles of a content that names no viewers. */
export const serviceRoles = defineRoles({
  names: ['service', 'admin'],
  default: 'service',
  superuser: 'admin',
})

/** The names that lead to a claim. */
export const namesOf = (claim: ClaimPath): readonly string[] =>
  typeof claim === 'string' ? [claim] : claim

/** Whose token a service is tried with: the first row's, or a developer's with the claims that make its row. */
export const developerOf = ({ entities, viewers }: WithViewers) => {
  const { entity = '', by, signUp = {}, roleFrom, audienceClaim, roles } = viewers
  // A token has these from elsewhere.
  const others = ['sub', audienceClaim ?? 'aud', namesOf(roleFrom?.claim ?? 'role')[0]]
  const fields = entities[entity]?.fields as Readonly<Record<string, Field>>
  const claims = Object.entries(signUp).flatMap(([key, claim]) => {
    const { rule, values = [] } = fields[key] as Field
    const tried = [...values, 'Developer', 'developer@example.org', true, 1]
    const value = tried.find(one => 'value' in rule(one))
    const [first = '', ...rest] = namesOf(claim)
    if (value === undefined || others.includes(first)) return []
    return { [first]: rest.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value) }
  })
  return {
    sub: entity === '' || by !== undefined ? 'developer' : 1,
    role: roles.superuser,
    claims: claims.reduce<unknown>(mergePatch, {}) as JsonObject,
  }
}

/** Whether those for whom tokens are may write the claim themselves, as Supabase and Auth0 let them. */
const isEditable = (claim: ClaimPath): boolean =>
  namesOf(claim).some(name => /user_metadata$/i.test(name))

const isPath = (claim: ClaimPath): boolean =>
  namesOf(claim).length > 0 && !namesOf(claim).includes('')

const subjectFaults = function* (name: string, self: Entity, { by, signUp }: Viewers): Faults {
  const field = by === undefined ? undefined : own(self.fields, by)
  if (by !== undefined && field?.initial !== 'subject')
    yield `viewers are looked up by ${name}.${by}, which is not made by subject(): give ${name} a field ${by}: subject()`
  for (const [key, { initial }] of Object.entries(self.fields))
    if (initial === 'subject' && key !== by)
      yield `${name}.${key} is a subject(), and viewers are not looked up by it: say by: '${key}' in viewers`
  if (signUp === undefined) return
  if (by === undefined)
    yield `viewers have a signUp, and their rows are not looked up by a subject: add by, or leave signUp out`
  const rules = alternativesOf(self.policy.create ?? nobody)
  if (rules.every(({ kind, byViewer }) => kind === 'nobody' || byViewer))
    yield `viewers have a signUp, and the create rule of ${name} lets nobody make a row of its own: let it be signedIn, whileOpen('…') or withRole(…)`
  for (const [key, claim] of Object.entries(signUp)) {
    const given = own(self.fields, key)
    if (!given || key === by || key === 'id' || isDerived(given))
      yield `signUp of viewers gives ${key}, which is not a field of ${name} that can be given: name another one`
    else if (!isPath(claim))
      yield `signUp of viewers gives ${key} from no claim: name one, like 'name' or ['profile', 'name']`
    else if (
      isEditable(claim) &&
      !alternativesOf(given.settableBy).some(({ kind }) => ['anyone', 'signed in'].includes(kind))
    )
      yield `signUp of viewers gives ${key} from ${namesOf(claim).join('.')}, which its bearer may edit, and not everybody may set ${key}: name a claim that the identity provider alone writes`
  }
  for (const [key, field] of Object.entries(self.fields))
    if (isNeeded(key, field) && !own(signUp, key))
      yield `signUp of viewers makes ${withArticle(name)}, which needs ${key}: name the claim that gives it, or give ${key} an initial value`
}

const roleClaimFaults = function* ({ roleFrom: from, roles, audienceClaim }: Viewers): Faults {
  if (audienceClaim !== undefined && !isPath(audienceClaim))
    yield `audienceClaim of viewers is no claim: name one, like 'client_id'`
  if (from === undefined) return
  if (!isPath(from.claim))
    yield `roleFrom of viewers is read from no claim: name one, like 'role' or ['realm_access', 'roles']`
  else if (isEditable(from.claim))
    yield `roleFrom of viewers is read from ${namesOf(from.claim).join('.')}, which its bearer may edit: name a claim that the identity provider alone writes, such as one below app_metadata`
  const named = [...Object.values(from.map ?? {}), ...(from.otherwise ? [from.otherwise] : [])]
  for (const one of named)
    if (!roles.names.includes(one))
      yield `roleFrom of viewers names ${one}, which is not a role: name one of ${roles.names.join(', ')}`
}

/** The faults of the viewers among the entities and the rules of actions. */
const faultsOf = function* (
  entities: Readonly<Record<string, Entity>>,
  viewers: Viewers,
  actions: readonly PlacedRule[],
): Faults {
  const { entity, blocked, roles } = viewers
  const self = entity === undefined ? undefined : own(entities, entity)
  if (entity !== undefined && !self)
    yield `viewers are ${entity}, which is not an entity: name one of ${Object.keys(entities).join(', ')}`
  for (const option of ['blocked', 'by', 'signUp'] as const)
    if (entity === undefined && viewers[option] !== undefined)
      yield `viewers have ${option}, and no entity that it is about: name the entity`
  const field = blocked && self && own(self.fields, blocked.field)
  if (blocked && self && !field)
    yield `viewers are blocked by ${blocked.field}, which is not a field of ${entity}: name one of ${Object.keys(self.fields).join(', ')}`
  if (blocked && !field?.values?.includes(blocked.value))
    yield `viewers are blocked if ${entity}.${blocked.field} is ${blocked.value}, which is not one of its values: make it a choice that has it`
  for (const [name, { fields }] of Object.entries(entities))
    for (const [key, { initial }] of Object.entries(fields))
      if (initial === 'subject' && name !== entity)
        yield `${name}.${key} is a subject(), and viewers are not ${name}: leave it out`
  if (entity !== undefined && self) yield* subjectFaults(entity, self, viewers)
  yield* roleClaimFaults(viewers)
  yield* viewerFaults(entities, entity)
  yield* roleFaults(roles, [...rulesOf(entities), ...actions])
}

/**
 * The viewers, checked against the entities and the rules of actions; a plain Error with one sentence says what is
 * wrong.
 */
export const checkViewers = (
  entities: Readonly<Record<string, Entity>>,
  viewers: Viewers,
  actions: readonly PlacedRule[] = [],
): void => {
  for (const fault of faultsOf(entities, viewers, actions)) wrong(fault)
}
