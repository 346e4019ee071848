/** The roles of the library: the role that may do everything is no admin here, and there is one in between. */
import { defineRoles, withRole } from 'duet/model'

export const roles = defineRoles({
  names: ['reader', 'shelver', 'librarian'],
  default: 'reader',
  superuser: 'librarian',
})

export const librarian = withRole(roles, 'librarian')
export const shelver = withRole(roles, 'shelver')
