/** The roles of tokens, and the rule for the one that may do everything. */
import { defineRoles, withRole } from 'duet/model'

export const roles = defineRoles({
  names: ['user', 'admin'],
  default: 'user',
  superuser: 'admin',
})

export const admin = withRole(roles, 'admin')
