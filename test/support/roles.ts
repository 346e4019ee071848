/** Roles for tests of the machine, and rules by them. */
import { defineRoles, withRole } from '#model/policy.ts'

export const roles = defineRoles({
  names: ['user', 'editor', 'admin'],
  default: 'user',
  superuser: 'admin',
})

export const admin = withRole(roles, 'admin')
export const editor = withRole(roles, 'editor')
