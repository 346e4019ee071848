/** Faults of rules: the roles and switches that they name, and which of two is stricter. */
import type { Checked, Faults } from '#model/check/checked.ts'
import type { Rule, Switches } from '#model/policy.ts'
import { anonymous, type Roles } from '#model/viewer.ts'

/** The kinds of rules that let nobody through whom a rule of this kind stops. */
const within = {
  anyone: ['anyone', 'while', 'signed in', 'self', 'role', 'superuser', 'nobody'],
  'signed in': ['signed in', 'self', 'role', 'superuser', 'nobody'],
  self: ['self', 'superuser', 'nobody'],
  role: ['superuser', 'nobody'],
  while: ['superuser', 'nobody'],
  superuser: ['superuser', 'nobody'],
  nobody: ['nobody'],
} satisfies Record<Rule['kind'], readonly Rule['kind'][]>

/** Whether a rule may stop somebody whom another lets through. */
export const isStricter = (rule: Rule, than: Rule): boolean =>
  JSON.stringify(rule) !== JSON.stringify(than) &&
  !(within[rule.kind] as readonly string[]).includes(than.kind)

/** A rule, and what a sentence about it begins with. */
export type PlacedRule = readonly [subject: string, rule: Rule | undefined]

/** The rules of the policies and the fields of all entities. */
export const rulesOf = (entities: Checked['entities']): readonly PlacedRule[] =>
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
  for (const [subject, rule] of rules)
    if (rule?.kind === 'while' && !Object.hasOwn(switches, rule.setting))
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
  for (const [subject, rule] of rules)
    if (rule?.kind === 'role' && !names.includes(rule.role))
      yield `${subject} is for the role ${rule.role}, which is not a role: ${remedy}`
}
