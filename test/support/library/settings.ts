/** The library's own settings. */
import { z } from 'zod'
import { setting } from '#settings.ts'

export const settings = {
  DUET_JOINING: setting(
    z.enum(['open', 'closed'], 'must be open or closed'),
    'open',
    'Whether anybody may become a member',
  ),
  DUET_LOAN_DAYS: setting(
    z
      .string()
      .regex(/^[1-9]\d?$/, 'must be 1 to 99')
      .transform(Number),
    '28',
    'For how many days a book is lent',
  ),
} as const
