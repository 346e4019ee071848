/** Who may do what, as documents say it. */

import { entityOf, fieldOf, type Model } from '#model/model.ts'
import type { JsonSchema } from '#model/operation-docs.ts'
import { anonymous, judge, nobody, type Rule } from '#model/policy.ts'
import type { Resource } from '#model/resource.ts'

/** The rules that a read of an entity passes: its own, and those of the members it shows. */
export const readRules = (model: Model, { entity, members }: Resource): readonly Rule[] => [
  entity.policy.enter ?? entity.policy.read ?? nobody,
  ...members.flatMap(member => {
    if (member.kind === 'field') return [fieldOf(entity, member.field).readableBy]
    if (member.kind === 'links') return []
    return [entityOf(model, entity.relations[member.name]?.to ?? '').policy.read ?? nobody]
  }),
]

const admits = (model: Model, rule: Rule): boolean => judge(rule, anonymous, model) === 'yes'

/** The security of an operation under these rules: a token, or none where all of them admit anonymous. */
export const securityOf = (model: Model, rules: readonly Rule[]): readonly JsonSchema[] =>
  rules.every(rule => admits(model, rule)) ? [{}, { bearer: [] }] : [{ bearer: [] }]

/** Whether a token may lack the right by itself, whatever is stored. */
export const mayForbid = (model: Model, rules: readonly Rule[]): boolean =>
  rules.some(rule => judge(rule, { id: null, role: model.viewers.roles.default }, model) === 'no')
