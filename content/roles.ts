/** The roles of tokens, and the rule for the one that may do everything. */
import { withRole } from '#model/policy.ts'
import { defineRoles } from '#model/viewer.ts'

export const roles = defineRoles({
  names: ['user', 'admin'],
  default: 'user',
  superuser: 'admin',
})

export const admin = withRole(roles, 'admin')
