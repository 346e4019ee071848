/** Who calls: authors, and editors, who may do all that anybody may. */
import { defineRoles, withRole } from 'duet/model'

export const roles = defineRoles({
  names: ['author', 'editor'],
  default: 'author',
  superuser: 'editor',
})

export const editor = withRole(roles, 'editor')
