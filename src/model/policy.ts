/** Who asks, and who may do what, as data: the same rule guards a root, a nested level, a write and the printed table. */
import { keys, must, words } from '#base/shape.ts'
import { ApiError, type ErrorLocation } from '#errors.ts'
import { withArticle } from '#model/names.ts'

/** The name of one of the content's roles, or anonymous. */
export type Role = string

/** The roles of a content. */
export type Roles<Name extends string = string> = {
  /** What the claim `role` of a token may be. */
  readonly names: readonly Name[]
  /** The role of a token without that claim. */
  readonly default: Name
  /** The role that may do all that is not closed to everybody. */
  readonly superuser: Name
}

export const rolesShape = keys<Roles>({
  names: must({ each: 'text' }),
  default: must('text'),
  superuser: must('text'),
})

/** The roles of a content, whose names the compiler then knows. */
export const defineRoles = <const Name extends string>(
  roles: Roles<Name> & Roles<NoInfer<Name>>,
): Roles<Name> => roles

/** The caller of a request, with the facts that rules need. */
export type Viewer = {
  /** The id that the token speaks for; null for anonymous and for services. */
  readonly id: number | null
  /** The digest of the subject of a service's token, which is no id. */
  readonly service?: string
  readonly role: Role
}

export const anonymous: Viewer = { id: null, role: 'anonymous' }

/** The name under which requests of the viewer's tokens are counted and keyed; undefined without a token. */
export const callerOf = ({ id, service }: Viewer): string | undefined => {
  if (id !== null) return `viewer ${id}`
  return service === undefined ? undefined : `service ${service}`
}

/** The role in which a viewer of a role reads the row that it has just created, also if it signs up without a token. */
export const creatorRole = (role: Role, roles: Roles): Role =>
  role === anonymous.role ? roles.default : role

/** A condition on the caller, or on the caller and a row. */
export type Rule =
  /** No token is needed. */
  | { readonly kind: 'anyone' }
  /** Any valid token. */
  | { readonly kind: 'signed in' }
  /** The viewer is named by one of these fields (`parent.ownerId`: a field of a relation), or a superuser asks. */
  | { readonly kind: 'self'; readonly fields: readonly string[] }
  /** A token with this role, or a superuser. */
  | { readonly kind: 'role'; readonly role: string }
  | { readonly kind: 'superuser' }
  /** Anyone while the setting is on, else a superuser. */
  | { readonly kind: 'while'; readonly setting: string }
  /** Only the service itself. */
  | { readonly kind: 'nobody' }

export const ruleShape = keys<Rule>({
  kind: must(
    words<Rule['kind']>({
      anyone: 1,
      'signed in': 1,
      self: 1,
      role: 1,
      superuser: 1,
      while: 1,
      nobody: 1,
    }),
  ),
  fields: { each: 'text' },
  role: 'text',
  setting: 'text',
})

export const anyone: Rule = { kind: 'anyone' }
export const signedIn: Rule = { kind: 'signed in' }
export const nobody: Rule = { kind: 'nobody' }
/** The rule for the viewers that one of these fields names. */
export const self = (...fields: readonly string[]): Rule => ({ kind: 'self', fields })
/** The rule that holds for everybody while a switch of the settings is on. */
export const whileOpen = (setting: string): Rule => ({ kind: 'while', setting })

/** The rule for tokens with one of the content's roles; the compiler checks its name. */
export const withRole = <const R extends Roles>(roles: R, role: R['names'][number]): Rule =>
  role === roles.superuser ? { kind: 'superuser' } : { kind: 'role', role }

/** The rules for the operations of an entity. An operation without a rule is closed to all but the service. */
export type Policy = {
  /** Its rows, wherever they are read. */
  readonly read?: Rule
  /** Its rows as the root of a read: a list or one by id. `read` if it is left out. */
  readonly enter?: Rule
  readonly create?: Rule
  readonly update?: Rule
  readonly delete?: Rule
}

export const policyShape = keys<Policy>({
  read: ruleShape,
  enter: ruleShape,
  create: ruleShape,
  update: ruleShape,
  delete: ruleShape,
})

/** The switches that an operator's settings turn on or off, by the names that rules have for them. */
export type Switches = Readonly<Record<string, boolean>>

/** What rules depend on besides the viewer: the model has it. */
export type Conditions = {
  readonly settings: { readonly switches: Switches }
  readonly viewers: { readonly roles: Roles }
}

/**
 * The verdict of a rule for a viewer before any row is read:
 * `yes`, `no`, or `row` if it depends on the owner of the row.
 */
export const judge = (
  rule: Rule,
  viewer: Viewer,
  { settings, viewers }: Conditions,
): 'yes' | 'no' | 'row' => {
  if (rule.kind === 'nobody') return 'no'
  if (viewer.role === viewers.roles.superuser) return 'yes'
  switch (rule.kind) {
    case 'anyone':
      return 'yes'
    case 'signed in':
      return viewer.role === anonymous.role ? 'no' : 'yes'
    case 'self':
      return viewer.role === anonymous.role ? 'no' : 'row'
    case 'role':
      return viewer.role === rule.role ? 'yes' : 'no'
    case 'superuser':
      return 'no'
    case 'while':
      return settings.switches[rule.setting] ? 'yes' : 'no'
    default:
      return rule satisfies never
  }
}

/** The error for a viewer who lacks a right: without a token 401, with one 403. `what` is a verb phrase: `change things`. */
export const refusal = (viewer: Viewer, what: string, location?: ErrorLocation): ApiError =>
  viewer.role === anonymous.role
    ? new ApiError('UNAUTHENTICATED', `A token is needed to ${what}`, location && { location })
    : new ApiError('FORBIDDEN', `This token gives no right to ${what}`, location && { location })

/** The callers that a rule lets through besides those that own a row: `an admin`. */
export const holders = (rule: Rule, { superuser }: Roles): string => {
  if (rule.kind === 'signed in') return 'callers with a token'
  const either = rule.kind === 'role' ? `${withArticle(rule.role)} or ` : ''
  return `${either}${withArticle(superuser)}`
}

/** The rule in a person's words, for the documents; any token is named by the role of one that names none. */
export const inWords = (rule: Rule, { superuser, default: usual }: Roles): string => {
  switch (rule.kind) {
    case 'anyone':
      return 'anonymous'
    case 'signed in':
      return usual
    case 'self':
      return `self (${rule.fields.join(' or ')}), ${superuser}`
    case 'role':
      return `${rule.role}, ${superuser}`
    case 'superuser':
      return superuser
    case 'while':
      return `anonymous while ${rule.setting} is open, else ${superuser}`
    case 'nobody':
      return 'nobody'
    default:
      return rule satisfies never
  }
}

/** A sentence that says who may, for the documents of both APIs. */
export const mayBeDoneBy = (rule: Rule | undefined, { viewers }: Conditions): string =>
  `May be done by: ${inWords(rule ?? nobody, viewers.roles)}.`

/** A sentence that says who alone may give a field, if not everybody who writes the row may. */
export const givenOnlyBy = (rule: Rule, conditions: Conditions): string | undefined => {
  const { roles } = conditions.viewers
  const isOpen = judge(rule, { id: null, role: roles.default }, conditions) !== 'no'
  return isOpen ? undefined : `May be given by ${holders(rule, roles)} only.`
}
