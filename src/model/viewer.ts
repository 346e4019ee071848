/** The viewer: the caller of a request, with the facts that rules need. */

export type Role = 'anonymous' | 'user' | 'admin'

export type Viewer = {
  /** The id that the token speaks for; null for anonymous. */
  readonly id: number | null
  readonly role: Role
}

export const anonymous: Viewer = { id: null, role: 'anonymous' }
