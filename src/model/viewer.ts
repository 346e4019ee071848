/** The viewer: the caller of a request, with the facts that rules need. */

export type Role = 'anonymous' | 'user' | 'admin'

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
  if (id !== null) return `user ${id}`
  return service === undefined ? undefined : `service ${service}`
}

/** The role in which a viewer reads the whole of what it has just created, also where it signs up without a token. */
export const creatorRole = ({ role }: Viewer): Role => (role === 'anonymous' ? 'user' : role)
