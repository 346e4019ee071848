/** Who may do what, as data: the same rule guards a root, a nested level, a write and the printed table. */
import { ApiError, type ErrorLocation } from '#errors.ts'
import type { Viewer } from '#model/viewer.ts'

export type Rule =
  /** No token is needed. */
  | { readonly kind: 'anyone' }
  /** Any valid token. */
  | { readonly kind: 'user' }
  /** The viewer is named by one of these fields (`parent.ownerId`: a field of a relation), or an admin asks. */
  | { readonly kind: 'self'; readonly fields: readonly string[] }
  | { readonly kind: 'admin' }
  /** Anyone while the setting is on, else an admin. */
  | { readonly kind: 'while'; readonly setting: string }
  /** Only the service itself. */
  | { readonly kind: 'nobody' }

export const anyone: Rule = { kind: 'anyone' }
export const user: Rule = { kind: 'user' }
export const admin: Rule = { kind: 'admin' }
export const nobody: Rule = { kind: 'nobody' }
export const self = (...fields: readonly string[]): Rule => ({ kind: 'self', fields })
export const whileOpen = (setting: string): Rule => ({ kind: 'while', setting })

/** The rules for the operations of an entity. An operation without a rule is closed to all but the service. */
export type Policy = {
  /** Its rows, wherever they are read. */
  readonly read?: Rule
  /** Its rows as the root of a read: a list or one by id. `read` where it is left out. */
  readonly enter?: Rule
  readonly create?: Rule
  readonly update?: Rule
  readonly delete?: Rule
}

/** The switches that an operator's settings turn on or off, by the names that rules have for them. */
export type Switches = Readonly<Record<string, boolean>>

/**
 * The verdict of a rule for a viewer before any row is read:
 * `yes`, `no`, or `row` where it depends on the owner of the row.
 */
export const judge = (
  rule: Rule,
  viewer: Viewer,
  { switches }: { readonly switches: Switches },
): 'yes' | 'no' | 'row' => {
  switch (rule.kind) {
    case 'anyone':
      return 'yes'
    case 'user':
      return viewer.role === 'anonymous' ? 'no' : 'yes'
    case 'self':
      return viewer.role === 'admin' ? 'yes' : viewer.role === 'user' ? 'row' : 'no'
    case 'admin':
      return viewer.role === 'admin' ? 'yes' : 'no'
    case 'while':
      return switches[rule.setting] || viewer.role === 'admin' ? 'yes' : 'no'
    case 'nobody':
      return 'no'
    default:
      return rule satisfies never
  }
}

/** The error for a viewer who lacks a right: without a token 401, with one 403. `what` is a verb phrase: `change things`. */
export const refusal = (viewer: Viewer, what: string, location?: ErrorLocation): ApiError =>
  viewer.role === 'anonymous'
    ? new ApiError('UNAUTHENTICATED', `A token is needed to ${what}`, location && { location })
    : new ApiError('FORBIDDEN', `This token gives no right to ${what}`, location && { location })

/** The rule in a person's words, for the documents. */
export const inWords = (rule: Rule): string => {
  switch (rule.kind) {
    case 'anyone':
      return 'anonymous'
    case 'user':
      return 'user'
    case 'self':
      return `self (${rule.fields.join(' or ')}), admin`
    case 'admin':
      return 'admin'
    case 'while':
      return `anonymous while ${rule.setting} is open, else admin`
    case 'nobody':
      return 'nobody'
    default:
      return rule satisfies never
  }
}
