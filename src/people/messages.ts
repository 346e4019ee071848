/** What the thread of people and the thread that has the store tell each other. */
import { ApiError } from '#errors.ts'

/** The error where the thread of people does not answer. */
export const unavailable = () =>
  new ApiError('UNAVAILABLE', 'Sign-in is not available just now; try again in a moment', {
    retryAfter: 5,
  })

/** A row of a person as it crosses to the thread. */
export type Person = {
  readonly id: string
  readonly name: string
  readonly email: string
  readonly emailVerified: boolean
  readonly role: string
  readonly blocked: boolean
  readonly createdAt: number
  readonly revision: number
}

/** What is written into a row. */
export type PersonInput = Partial<Pick<Person, 'email' | 'name' | 'emailVerified'>>

/** Whose row is asked for: that of an id, or of an address. */
export type PersonKey = { readonly id?: string; readonly email?: string }

/** Headers of ours on a request to the library: the network of the caller, and the language of mails. */
export const callerHeader = 'x-duet-caller'
export const languageHeader = 'x-duet-language'

/** The languages of mails and pages. */
export type Language = 'en' | 'de'

/** What is mailed: a code, a link that sets a password, or the news that the address of a row is another one now. */
export type Mail = { readonly to: string; readonly language: Language } & (
  | { readonly kind: 'code'; readonly code: string }
  | { readonly kind: 'reset'; readonly token: string }
  | { readonly kind: 'moved' }
)

/** A request as it crosses to the thread, and its answer. */
export type AuthRequest = {
  readonly method: string
  readonly url: string
  readonly headers: readonly (readonly [string, string])[]
  readonly body: string | undefined
}
export type AuthAnswer = {
  readonly status: number
  readonly headers: readonly (readonly [string, string])[]
  readonly body: string
}

/** What the thread of people offers the one that has the store. */
export type ThreadCalls = {
  readonly answer: (request: AuthRequest) => Promise<AuthAnswer>
  /** Settles when nothing is under way any more, letters included. */
  readonly rest: () => Promise<void>
}
