/** All entities together, checked: relation names and keys by the compiler, and again at boot in one sentence. */
import { ApiError } from '#errors.ts'
import type { Entity, Relation } from '#model/entity.ts'
import type { Field } from '#model/field.ts'
import type { Rule, Switches } from '#model/policy.ts'

/** The store's currency: its ISO 4217 code and how many decimals it has. */
export type Currency = { readonly code: string; readonly digits: number }

/** What an operator's settings decide about the model. */
export type Settings = {
  readonly switches: Switches
  readonly currency: Currency
  /** The values of the content's own settings, by their names, for its actions; absent where a test gives none. */
  readonly values?: Readonly<Record<string, unknown>>
}

export type Entities = Readonly<Record<string, Entity>>

/** Which entity a token's `sub` names, and what its row must not say for the token to write. */
export type Viewers = {
  readonly entity: string
  readonly barred: { readonly field: string; readonly value: string }
}

export type Model = {
  readonly entities: Entities
  readonly viewers: Viewers
  readonly settings: Settings
}

/** The names a relation may key on: this entity's fields for `one`, the target's for `many`. */
type KeyOf<M extends Entities, Self extends Entity, R> = R extends { kind: 'one' }
  ? keyof Self['fields']
  : R extends { kind: 'many'; to: infer To extends keyof M }
    ? keyof M[To]['fields']
    : never

/** Relations name their target, so no resource imports another; here the names are checked. */
type Checked<M extends Entities> = {
  [E in keyof M]: {
    relations: {
      [R in keyof M[E]['relations']]: { to: keyof M; by: KeyOf<M, M[E], M[E]['relations'][R]> }
    }
  }
}

const wrong = (sentence: string): never => {
  throw new Error(`the model is wrong: ${sentence}`)
}

const checkRelation = (entities: Entities, where: string, self: Entity, relation: Relation) => {
  const target =
    entities[relation.to] ?? wrong(`${where} leads to ${relation.to}, which is not an entity`)
  const holder = relation.kind === 'one' ? self : target
  if (!holder.fields[relation.by])
    wrong(`${where} keys on ${relation.by}, which is not a field there`)
}

/** Whether a path of names leads over relations to a field. */
const leadsToField = (
  entities: Entities,
  from: Entity | undefined,
  [head = '', ...rest]: readonly string[],
): boolean =>
  rest.length === 0
    ? from?.fields[head] !== undefined
    : leadsToField(entities, entities[from?.relations[head]?.to ?? ''], rest)

const checkRule = (entities: Entities, where: string, self: Entity, rule: Rule | undefined) => {
  if (rule?.kind !== 'self') return
  for (const path of rule.fields)
    if (!leadsToField(entities, self, path.split('.')))
      wrong(`${where} names ${path}, which is not a field`)
}

const checkEntity = (entities: Entities, name: string, self: Entity) => {
  for (const [key, relation] of Object.entries(self.relations))
    checkRelation(entities, `${name}.${key}`, self, relation)
  for (const [operation, rule] of Object.entries(self.policy))
    checkRule(entities, `the ${operation} rule of ${name}`, self, rule)
  for (const [key, field] of Object.entries(self.fields)) {
    const { references, foldedFrom } = field
    if (references && !entities[references.entity])
      wrong(`${name}.${key} refers to ${references.entity}, which is not an entity`)
    if (foldedFrom !== undefined && !self.fields[foldedFrom])
      wrong(`${name}.${key} is folded from ${foldedFrom}, which is not a field`)
  }
}

/** The entities, checked against each other; a plain Error with one sentence says what is wrong. */
export const defineModel = <const M extends Entities>(entities: M & Checked<M>): M => {
  for (const [name, self] of Object.entries(entities)) checkEntity(entities, name, self)
  return entities
}

/** The entities by name, in an order in which their tables can be made and filled: what others refer to comes first. */
export const dependenciesFirst = (entities: Entities): readonly (readonly [string, Entity])[] => {
  const sorted = new Map<string, Entity>()
  const waiting = new Set<string>()
  const add = (name: string) => {
    const entity = entities[name]
    if (!entity || sorted.has(name) || waiting.has(name)) return
    waiting.add(name)
    for (const { references } of Object.values(entity.fields))
      if (references) add(references.entity)
    sorted.set(name, entity)
  }
  for (const name of Object.keys(entities)) add(name)
  return [...sorted]
}

/** The entity of that name; a bug where there is none. */
export const entityOf = (model: Model, name: string): Entity =>
  model.entities[name] ?? wrong(`${name} is not an entity`)

/** The field of that name; a bug where there is none. */
export const fieldOf = (entity: Entity, name: string): Field =>
  entity.fields[name] ?? wrong(`${entity.plural} have no field ${name}`)

/** `emailVerified` as SQL writes it: `email_verified`. */
export const columnName = (field: string): string =>
  field.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)

/** `user` as a type and a sentence write it: `User`. */
export const typeName = (entity: string): string => entity.charAt(0).toUpperCase() + entity.slice(1)

/** The error for a thing that does not exist; its message contains "not found". */
export const notFound = (entity: string, id: unknown, place?: ApiError['place']): ApiError =>
  new ApiError('NOT_FOUND', `${typeName(entity)} ${String(id)} not found`, place && { place })
