/** The library's own error codes. */
import { defineErrors } from 'duet/actions'

export const errors = defineErrors({
  ISBN_KNOWN: { status: 409, title: 'A book with this number is in the library already' },
  ALREADY_BACK: { status: 409, title: 'The book was brought back before' },
})
