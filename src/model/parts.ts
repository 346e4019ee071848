/** The relations whose rows are written in one input with the row that they belong to. */
import { own } from '#base/object.ts'
import type { Entity, Relation } from '#model/entity.ts'
import type { CheckedEntity, Faults } from '#model/faults/relations.ts'
import { isClosed } from '#model/faults/routes.ts'
import { isNeeded } from '#model/field.ts'
import { entityOf, linkOf } from '#model/names.ts'
import type { Rule } from '#model/policy.ts'

type ManyEntities = { readonly entities: Readonly<Record<string, Entity>> }

/** The words of what may be done: to rows that belong to one, and to the links of many-to-many. */
export type PartWord = 'create' | 'update' | 'delete' | 'set' | 'add' | 'remove'

/** A relation that an input of its entity takes as a member. */
export type PartRelation = {
  readonly key: string
  readonly relation: Relation
  /** The entity whose rows are written: that of the children, or the one that links. */
  readonly entity: string
  /** Its reference to the row of the input. */
  readonly by: string
  /** The reference of a link to the other row; undefined for children. */
  readonly of: string | undefined
  /** What an input may say, by the rules that the entity has at all. */
  readonly words: readonly PartWord[]
}

const isOpen = (rule: Rule | undefined): boolean => rule !== undefined && rule.kind !== 'nobody'

/** What a write of many rows of an entity may do, by the rules that it has at all; nothing if it has no such writes. */
export const bulkKinds = ({ bulk, policy }: Pick<Entity, 'bulk' | 'policy'>) =>
  bulk ? (['create', 'update', 'delete'] as const).filter(kind => isOpen(policy[kind])) : []

const known = new WeakMap<Entity, Map<string, readonly PartRelation[]>>()

/** The relations of an entity that the input of a create or an update may name. */
export const partRelations = (
  model: ManyEntities,
  name: string,
  mode: 'create' | 'update',
): readonly PartRelation[] =>
  known
    .getOrInsertComputed(entityOf(model, name), () => new Map())
    .getOrInsertComputed(`${mode} ${name}`, () => derived(model, name, mode))

const derived = (
  model: ManyEntities,
  name: string,
  mode: 'create' | 'update',
): readonly PartRelation[] =>
  Object.entries(entityOf(model, name).relations).flatMap(([key, relation]) => {
    if (!relation.nestedWrites) return []
    const { through } = relation
    const link = through === undefined ? undefined : linkOf(model.entities, name, relation)
    const entity = through ?? relation.to
    const { policy } = entityOf(model, entity)
    const [makes, changes, ends] = [policy.create, policy.update, policy.delete].map(isOpen)
    const isNew = mode === 'create'
    const words: readonly (readonly [PartWord, boolean | undefined])[] = link
      ? [
          ['set', makes && (isNew || ends)],
          ['add', makes && !isNew],
          ['remove', ends && !isNew],
        ]
      : [
          ['create', makes],
          ['update', changes && !isNew],
          ['delete', ends && !isNew],
        ]
    const taken = words.flatMap(([word, isTaken]) => (isTaken ? [word] : []))
    const by = link?.by ?? relation.by
    return taken.length > 0 ? [{ key, relation, entity, by, of: link?.of, words: taken }] : []
  })

/** The faults of relations that inputs take. */
export const partFaults = function* ({ entities, name, self }: CheckedEntity): Faults {
  for (const [key, relation] of Object.entries(self.relations)) {
    if (!relation.nestedWrites) continue
    const subject = `${name}.${key} has nestedWrites`
    const { through } = relation
    const target = own(entities, through ?? relation.to)
    const link = through === undefined ? undefined : linkOf(entities, name, relation)
    const by = link?.by ?? relation.by
    const field = target && own(target.fields, by)
    // Relations that lead nowhere have a fault of their own.
    if (!target || !field || (through !== undefined && !link)) continue
    if (relation.kind === 'one') yield `${subject}, and leads to one row: leave nestedWrites out`
    if (field.nullable)
      yield `${subject}, and ${by} may be null, so that they belong to no row: leave nestedWrites out, or make ${by} required`
    if (target.view || target.appendOnly)
      yield `${subject}, whose rows are not changed: leave nestedWrites out`
    if (![target.policy.create, target.policy.update, target.policy.delete].some(isOpen))
      yield `${subject}, and nobody may write ${target.plural}: give them a rule, or leave nestedWrites out`
    const given = [by, link?.of]
    const lacking = Object.entries(target.fields).find(
      ([other, one]) =>
        isNeeded(other, one) &&
        !given.includes(other) &&
        (link !== undefined || isClosed(one, 'rest')),
    )
    if (isOpen(target.policy.create) && lacking)
      yield `${subject}, which need ${lacking[0]} and cannot be given it: give ${lacking[0]} an initial value, or leave nestedWrites out`
    if (!link) continue
    const isPair = ({ fields }: Entity['sets'][number]) =>
      fields.length === 2 && fields.includes(link.by) && fields.includes(link.of)
    if (!target.sets.some(isPair))
      yield `${subject}, and two ${target.plural} may link the same rows: add sets: [['${link.by}', '${link.of}']] to ${through}`
    if (target.before.create || target.before.delete)
      yield `${subject}, and ${through} has before.create or before.delete, which are for one row: leave one of them out`
  }
  if (self.bulk && bulkKinds(self).length === 0)
    yield `${name} has bulk, and nobody may write ${self.plural}: give its policy a rule, or leave bulk out`
  if (self.bulk && self.plural === name)
    yield `${name} has bulk, and is called as its plural is: give it another plural`
}
