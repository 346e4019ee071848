/** The errors that this content has of its own. */
import { defineErrors } from 'duet/actions'

export const errors = defineErrors({
  REVIEWED: { status: 409, title: 'You have reviewed this recipe before' },
  NO_INGREDIENTS: { status: 409, title: 'Only a draft with ingredients is published' },
})
