/** The library's own settings. */
import { oneOf, setting, whole } from 'duet'

export const settings = {
  DUET_JOINING: setting(
    oneOf(['open', 'closed'], 'must be open or closed'),
    'open',
    'Whether anybody may become a member',
  ),
  DUET_LOAN_DAYS: setting(whole(1, 99), '28', 'For how many days a book is lent'),
} as const
