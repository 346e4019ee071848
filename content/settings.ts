/** The settings of the content, beside those of the machine. */
import { oneOf, setting } from '#settings.ts'

export const settings = {
  DUET_SIGNUP: setting(
    oneOf(['open', 'closed'], 'must be open or closed'),
    'open',
    'Whether anonymous may create users',
  ),
  DUET_CURRENCY: setting(
    oneOf(Intl.supportedValuesOf('currency'), 'must be an ISO 4217 code, such as USD'),
    'USD',
    'Currency of all prices of the store',
  ),
} as const
