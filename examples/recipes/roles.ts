/** Who calls: cooks, editors, who see drafts, and chefs, who may do all that anybody may. */
import { defineRoles, withRole } from 'duet/model'

export const roles = defineRoles({
  names: ['cook', 'editor', 'chef'],
  default: 'cook',
  superuser: 'chef',
})

export const editor = withRole(roles, 'editor')
