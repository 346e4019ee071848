/** Who is asking, as far as policy cares. */

export type Role = 'anonymous' | 'user' | 'admin'

export type Viewer = {
  /** The id that the token speaks for; null for anonymous. */
  readonly id: number | null
  readonly role: Role
}

export const anonymous: Viewer = { id: null, role: 'anonymous' }
