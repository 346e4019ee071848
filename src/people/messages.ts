/** What the thread of people and the thread that has the store tell each other. */
import { ApiError } from '#errors.ts'
import type { SqlValue } from '#sql/sql.ts'

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

/** A read or write of the row of a person. */
export type PersonRequest =
  | { readonly does: 'find'; readonly id?: string; readonly email?: string }
  | { readonly does: 'create'; readonly given: PersonInput }
  /** `revision`: that of the row when its address was proved; if it was changed since, nothing is. */
  | {
      readonly does: 'update'
      readonly id: string
      readonly given: PersonInput
      readonly revision?: number | undefined
    }

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

/** A statement for the store. */
export type StoreStatement = { readonly text: string; readonly values: readonly SqlValue[] }

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

/** An error as it crosses. */
export type Told = { readonly message: string; readonly code?: string; readonly status?: number }

/** What the thread asks of the one that has the store: rows of statements, a row of a person, a mail, a line of the log or of a developer's terminal. */
export type Wanted =
  | { readonly does: 'ask' | 'write'; readonly statement: StoreStatement }
  | { readonly does: 'person'; readonly request: PersonRequest }
  | { readonly does: 'mail'; readonly mail: Mail }
  | { readonly does: 'log' | 'show'; readonly message: string }

export type FromPeople =
  | { readonly kind: 'wanted'; readonly id: number; readonly wanted: Wanted }
  | { readonly kind: 'answer'; readonly id: number; readonly answer: AuthAnswer }

export type ToPeople =
  | { readonly kind: 'request'; readonly id: number; readonly request: AuthRequest }
  | { readonly kind: 'done'; readonly id: number; readonly result: unknown }
  | { readonly kind: 'failed'; readonly id: number; readonly error: Told }
