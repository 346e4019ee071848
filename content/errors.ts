/** The error codes of the content, beside those of the machine. */
import { defineErrors } from 'duet/actions'

export const errors = defineErrors({
  EMAIL_TAKEN: {
    status: 409,
    title: 'The email address is in use',
    detail: 'This email is in use already',
  },
  INVALID_STATE: {
    status: 409,
    title: 'The thing is not in a state that allows this',
    example: 'Order 2 is pending, which allows pay or cancel; refund needs it to be paid',
  },
  OUT_OF_STOCK: { status: 409, title: 'There is not enough in stock' },
})
