/** Who calls: customers, and keepers, who may do all that anybody may. */
import { defineRoles, withRole } from 'duet/model'

export const roles = defineRoles({
  names: ['customer', 'keeper'],
  default: 'customer',
  superuser: 'keeper',
})

export const keeper = withRole(roles, 'keeper')
