/** Who calls, and who may do what, as data: the same rule guards a root, a nested level, a write and the printed table. */
import { isDeepStrictEqual } from 'node:util'
import { faultIn, keys, must, type Shape, words } from '#base/shape.ts'
import { ApiError, type ErrorLocation } from '#errors.ts'
import {
  allOf,
  type ComparedEntity,
  type Condition,
  conditionInWords,
  isOfViewer,
  isViewerNegated,
  namesViewer,
  type Predicate,
  resolveCondition,
  viewer as viewerValue,
} from '#model/condition.ts'
import type { Currency } from '#model/money.ts'
import { withArticle, wrong } from '#model/names.ts'

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
  /** The id that the token speaks for; null for anonymous and for services, and before its row is looked up by the subject. */
  readonly id: number | null
  /** The digest of the subject of a token, if that is no id. */
  readonly service?: string
  readonly role: Role
  /** The subject by which the row of the token is found, if the content says so; reads have it in the slot of the viewer. */
  readonly subject?: string
  /** The values of the claims from which that row is made, by field. */
  readonly claims?: Readonly<Record<string, unknown>>
  /** The session that our own token is of, which a write looks for; absent for tokens of others. */
  readonly session?: string
  /** When that session began, in seconds since 1970. */
  readonly since?: number
}

export const anonymous: Viewer = { id: null, role: 'anonymous' }

/** The name under which requests of the viewer's tokens are counted and keyed; undefined without a token. */
export const callerOf = ({ id, service, subject }: Viewer): string | undefined => {
  // The subject names the caller before its row is looked up or made, and afterwards.
  if (service !== undefined) return `${subject === undefined ? 'service' : 'subject'} ${service}`
  return id === null ? undefined : `viewer ${id}`
}

/** The role in which a viewer of a role reads the row that it has just created, also if it signs up without a token. */
export const creatorRole = (role: Role, roles: Roles): Role =>
  role === anonymous.role ? roles.default : role

/** Who a caller must be. A superuser passes all but the last. */
type CallerRule =
  /** No token is needed. */
  | { readonly kind: 'anyone' }
  /** Any valid token. */
  | { readonly kind: 'signed in' }
  /** A token with this role, or a superuser. */
  | { readonly kind: 'role'; readonly role: string }
  | { readonly kind: 'superuser' }
  /** Anyone while the setting is on, else a superuser. */
  | { readonly kind: 'while'; readonly setting: string }
  /** Only the service itself. */
  | { readonly kind: 'nobody' }

/** What a row must be for a rule to let a caller through. */
type RowTerms = {
  /** The condition of the row: of a new one as it will be, of others as they are. */
  readonly before?: Condition
  /** The condition of the row as an update leaves it; `before` if it is left out. */
  readonly after?: Condition
  /** Whether one of them names the viewer, so that the rule is for no caller without a row. */
  readonly byViewer?: boolean
}

/** A rule for a kind of caller, for some rows or for all. */
export type SimpleRule = CallerRule & RowTerms

/** A condition on the caller, or on the caller and a row. */
export type Rule =
  | SimpleRule
  /** The viewer is named by one of these fields (`parent.ownerId`: a field of a relation), or a superuser calls. */
  | { readonly kind: 'self'; readonly fields: readonly string[] }
  /** One of these lets the caller through. */
  | { readonly kind: 'any of'; readonly rules: readonly Rule[] }

/** The keys of rules, with those of the functions that made them. */
const ruleKind = words<Rule['kind']>({
  anyone: 1,
  'signed in': 1,
  self: 1,
  role: 1,
  superuser: 1,
  while: 1,
  nobody: 1,
  'any of': 1,
})

export const ruleShape = keys<Rule | CallerWord | (CallerRule & { becoming?: unknown })>(
  {
    kind: must(ruleKind),
    fields: { each: 'text' },
    role: 'text',
    setting: 'text',
    rules: { each: 'anything' },
    before: 'anything',
    after: 'anything',
    byViewer: 'flag',
    where: 'function',
    becoming: 'function',
  },
  'a rule, imported from duet/model: anyone, signedIn, nobody, self(…), role(…), withRole(…), whileOpen(…)',
)

/** A rule for callers, which a condition may narrow to some rows. */
type CallerWord = CallerRule & {
  /** The same rule for the rows that fit a condition; with `becoming`, which an update must leave so. */
  readonly where: <const C extends Condition>(condition: C) => NarrowRule<C>
}

// The conditions have their own types, so that an entity can check what they name.
type NarrowRule<C> = CallerRule & {
  readonly before: C
  readonly byViewer: boolean
  readonly becoming: <const After extends Condition>(
    condition: After,
  ) => CallerRule & { readonly before: C; readonly after: After; readonly byViewer: boolean }
}

const callerWord = (caller: CallerRule): CallerWord => ({
  ...caller,
  where: before => {
    // Without one, as where an import has another name, it would hold for each row.
    if (before === undefined)
      throw new Error('where() takes a condition, such as signedIn.where({ authorId: viewer })')
    const narrow = { ...caller, before, byViewer: namesViewer(before) }
    const becoming: NarrowRule<typeof before>['becoming'] = after => ({
      ...narrow,
      after,
      byViewer: narrow.byViewer || namesViewer(after),
    })
    return { ...narrow, becoming }
  },
})

export const anyone = callerWord({ kind: 'anyone' })
export const signedIn = callerWord({ kind: 'signed in' })
export const nobody: Rule = callerWord({ kind: 'nobody' })
/** The rule for the viewers that one of these fields names: short for a condition that compares them with the viewer. */
export const self = (...fields: readonly string[]): Rule => ({ kind: 'self', fields })
/** The rule that holds for everybody while a switch of the settings is on. */
export const whileOpen = (setting: string): CallerWord => callerWord({ kind: 'while', setting })
/** The rule for tokens with a role. */
export const role = (name: string): CallerWord => callerWord({ kind: 'role', role: name })

/** The rule for tokens with one of the content's roles; the compiler checks its name. */
export const withRole = <const R extends Roles>(roles: R, name: R['names'][number]): CallerWord => {
  if (typeof roles?.superuser !== 'string')
    throw new Error("withRole() takes the roles first, such as withRole(roles, 'editor')")
  return name === roles.superuser ? callerWord({ kind: 'superuser' }) : role(name)
}

/** A rule as it is declared: a list of rules lets through whom one of them does. */
export type DeclaredRule = Rule | readonly Rule[]

/** The rule that a declared one is. */
export const ruleOf = (declared: DeclaredRule): Rule =>
  Array.isArray(declared) ? { kind: 'any of', rules: declared } : (declared as Rule)

export const declaredShape: Shape = { either: [ruleShape, { each: ruleShape }] }

// A condition on a field called `kind` compares it with `eq` if its value is the word of a rule.
const isDeclaredRule = (declared: unknown): declared is DeclaredRule =>
  Array.isArray(declared) ||
  faultIn(ruleKind, (declared as Rule | null)?.kind, '') === undefined ||
  Object.values(declared ?? {}).some(value => typeof value === 'function')

/** The rule of a field, which may also be a condition alone: that of the rows in which anyone may read it. */
export const fieldRule = (declared: DeclaredRule | Condition): Rule =>
  isDeclaredRule(declared) ? ruleOf(declared) : anyone.where(declared)

/** What may say who reads a field, or sets it. */
export const readerShape: Shape = {
  by: given =>
    typeof given !== 'object' || isDeclaredRule(given) ? declaredShape : { named: 'anything' },
}

/** The condition that the field at the end of a path is the viewer. */
const pathCondition = ([head = '', ...rest]: readonly string[]): Condition => ({
  [head]: rest.length === 0 ? viewerValue : pathCondition(rest),
})

const selfRules = new WeakMap<Rule, SimpleRule>()

/** The rules one of which must let a caller through, each of one kind of caller and its rows. */
export const alternativesOf = (rule: Rule): readonly SimpleRule[] => {
  if (rule.kind === 'any of') return rule.rules.flatMap(alternativesOf)
  if (rule.kind !== 'self') return [rule]
  const made = selfRules.getOrInsertComputed(rule, () => {
    const or = rule.fields.map(path => pathCondition(path.split('.')))
    const [only] = or
    return { kind: 'signed in', before: only && or.length === 1 ? only : { or }, byViewer: true }
  })
  return [made]
}

/** Whether a rule lets everybody through, whatever the row. */
export const isForAll = (rule: Rule): boolean => rule.kind === 'anyone' && rule.before === undefined

/** Whether a rule lets some callers through for some rows only. */
export const isByRow = (rule: Rule | undefined): boolean =>
  rule !== undefined && alternativesOf(rule).some(({ before }) => before !== undefined)

/** Whether two rules say the same; each has functions of its own. */
export const isSameRule = (one: Rule, other: Rule): boolean => {
  const [first, second] = [one, other].map(rule =>
    alternativesOf(rule).map(mine =>
      Object.entries(mine).filter(([, said]) => typeof said !== 'function'),
    ),
  )
  return isDeepStrictEqual(first, second)
}

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

/** The rules of an entity as they are declared. */
export type DeclaredPolicy = { readonly [Operation in keyof Policy]: DeclaredRule }

export const policyShape = keys<DeclaredPolicy>({
  read: declaredShape,
  enter: declaredShape,
  create: declaredShape,
  update: declaredShape,
  delete: declaredShape,
})

/** The switches that an operator's settings turn on or off, by the names that rules have for them. */
export type Switches = Readonly<Record<string, boolean>>

/** What rules depend on besides the viewer: the model has it. */
export type Conditions = {
  readonly settings: { readonly switches: Switches }
  readonly viewers: {
    readonly entity?: string
    /** The field in which the subjects of tokens are looked up. */
    readonly by?: string
    readonly roles: Roles
  }
}

/**
 * The verdict of a rule for a viewer before any row is read:
 * `yes`, `no`, or `row` if it depends on the row.
 */
export const judge = (rule: Rule, viewer: Viewer, conditions: Conditions): 'yes' | 'no' | 'row' => {
  const { settings, viewers } = conditions
  if (rule.kind === 'nobody') return 'no'
  if (viewer.role === viewers.roles.superuser) return 'yes'
  const isAnonymous = viewer.role === anonymous.role
  switch (rule.kind) {
    case 'anyone':
      break
    case 'signed in':
      if (isAnonymous) return 'no'
      break
    case 'self':
      return isAnonymous ? 'no' : 'row'
    case 'role':
      if (viewer.role !== rule.role) return 'no'
      break
    case 'superuser':
      return 'no'
    case 'while':
      if (!settings.switches[rule.setting]) return 'no'
      break
    case 'any of': {
      const verdicts = rule.rules.map(one => judge(one, viewer, conditions))
      return verdicts.includes('yes') ? 'yes' : verdicts.includes('row') ? 'row' : 'no'
    }
    default:
      rule satisfies never
      return 'no'
  }
  if (rule.before === undefined) return 'yes'
  return rule.byViewer && isAnonymous ? 'no' : 'row'
}

/** The model, as far as the conditions of its rules are resolved against it. */
type RuledModel = Conditions & {
  readonly entities: Readonly<Record<string, ComparedEntity>>
  readonly settings: { readonly currency: Currency }
}

/** What the conditions of rules and steps are resolved against: also where the row of a token's subject is found, if a token has one. */
export const resolvingIn = ({ entities, viewers: { entity, by }, settings }: RuledModel) => {
  const table = entity === undefined ? undefined : entities[entity]?.table
  const from = table !== undefined && by !== undefined ? { table, by } : undefined
  return { entities, digits: settings.currency.digits, from, table }
}

/** What a rule demands of a row before and after a change, for callers of one kind. */
export type RowRight = { readonly before: Predicate; readonly after: Predicate }

const rights = new WeakMap<RuledModel, Map<string, Map<SimpleRule, RowRight>>>()

/** The rights that a rule gives to the rows of an entity, of which a caller needs one; for a viewer whose verdict is `row`. */
export const rowRights = (
  model: RuledModel,
  entityName: string,
  rule: Rule,
  viewer: Viewer,
): readonly RowRight[] => {
  const known = rights
    .getOrInsertComputed(model, () => new Map())
    .getOrInsertComputed(entityName, () => new Map<SimpleRule, RowRight>())
  return alternativesOf(rule)
    .filter(one => judge(one, viewer, model) !== 'no')
    .map(one =>
      known.getOrInsertComputed(one, () => {
        const context = resolvingIn(model)
        const { table, from } = context
        const resolved = (condition: Condition): Predicate => {
          const { predicate, faults } = resolveCondition(context, entityName, condition)
          const [fault] = faults
          if (fault) wrong(`a rule of ${entityName} has ${fault.path}, which ${fault.message}`)
          if (!one.byViewer || isOfViewer(predicate)) return predicate
          // Where the condition may hold of rows of others, a caller without a row is kept from them; a token may outlive its row,
          // and then a negation holds of what was its own.
          const byId = table !== undefined && isViewerNegated(predicate) && { table, by: 'id' }
          const found = from ?? (byId || undefined)
          return allOf([predicate, { kind: 'has viewer', ...(found && { from: found }) }])
        }
        const before = resolved(one.before ?? {})
        return { before, after: one.after === undefined ? before : resolved(one.after) }
      }),
    )
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

/** The callers whom a rule lets through, in a person's words, for the documents. */
export const inWords = (rule: Rule, roles: Roles): string => {
  const superuser = withArticle(roles.superuser)
  const callers = (one: Rule): string => {
    if (one.kind === 'self')
      return one.fields.join() === 'id'
        ? 'whoever has that id'
        : `whoever ${one.fields.join(' or ')} names`
    if (one.kind === 'role') return withArticle(one.role)
    if (one.kind === 'while') return `anybody while ${one.setting} is open`
    if (one.kind === 'any of') return [...new Set(one.rules.map(whom))].join(', or ')
    return { anyone: 'anybody', 'signed in': 'callers with a token', superuser, nobody: 'nobody' }[
      one.kind
    ]
  }
  const whom = (one: Rule): string => {
    const who = callers(one)
    if (!('before' in one) || one.before === undefined) return who
    const row = `${who} where ${conditionInWords(one.before)}`
    return one.after === undefined ? row : `${row}, and then ${conditionInWords(one.after)}`
  }
  const words = whom(rule)
  const isOfAll = rule.kind === 'anyone' || rule.kind === 'signed in'
  if (
    (isOfAll && rule.before === undefined) ||
    words.split(', or ').includes(superuser) ||
    rule.kind === 'nobody'
  )
    return words
  return rule.kind === 'while' && rule.before === undefined
    ? `${words}, else ${superuser}`
    : `${words}, or ${superuser}`
}

/** Who may do what by a policy, in words; `enter` is the read of a root. */
export const rightsInWords = (policy: Policy, roles: Roles) =>
  (['read', 'enter', 'create', 'update', 'delete'] as const).map(operation => {
    const rule = policy[operation] ?? (operation === 'enter' ? policy.read : undefined)
    return { operation, who: inWords(rule ?? nobody, roles) }
  })

/** A sentence that says who may, for the documents of both APIs. */
export const mayBeDoneBy = (rule: Rule | undefined, { viewers }: Conditions): string =>
  `May be done by ${inWords(rule ?? nobody, viewers.roles)}.`

/** A sentence that says who alone may give a field, if not everybody who writes the row may. */
export const givenOnlyBy = (rule: Rule, conditions: Conditions): string | undefined => {
  const { roles } = conditions.viewers
  if (isByRow(rule)) return `May be given by ${inWords(rule, roles)}.`
  const isOpen = judge(rule, { id: null, role: roles.default }, conditions) !== 'no'
  return isOpen ? undefined : `May be given by ${holders(rule, roles)} only.`
}
