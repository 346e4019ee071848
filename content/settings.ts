/** The settings of the content, beside those of the machine. */
import { z } from 'zod'
import { setting } from '#settings.ts'

export const settings = {
  DUET_SIGNUP: setting(
    z.enum(['open', 'closed'], 'must be open or closed'),
    'open',
    'Whether anonymous may create users',
  ),
  DUET_CURRENCY: setting(
    z.enum(Intl.supportedValuesOf('currency'), 'must be an ISO 4217 code, such as USD'),
    'USD',
    'Currency of all prices of the store',
  ),
} as const
