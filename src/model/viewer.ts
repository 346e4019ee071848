/** The viewer: the caller of a request, with the facts that rules need. */

export type Role = 'anonymous' | 'user' | 'admin'

export type Viewer = {
  /** The id that the token speaks for; null for anonymous. */
  readonly id: number | null
  readonly role: Role
}

export const anonymous: Viewer = { id: null, role: 'anonymous' }

/** The role in which a viewer reads the whole of what it has just created, also where it signs up without a token. */
export const creatorRole = ({ role }: Viewer): Role => (role === 'anonymous' ? 'user' : role)
