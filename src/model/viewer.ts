/** The viewer: the caller of a request, with the facts that rules need; and the roles that a content gives tokens. */

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

/** The roles of a content, whose names the compiler then knows. */
export const defineRoles = <const Name extends string>(
  roles: Roles<Name> & Roles<NoInfer<Name>>,
): Roles<Name> => roles

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

/** The role in which a viewer of a role reads the row that it has just created, also where it signs up without a token. */
export const creatorRole = (role: Role, roles: Roles): Role =>
  role === anonymous.role ? roles.default : role
