/** The settings of the content, beside those of the machine. */
import { oneOf, setting, whole } from '#settings.ts'

export const settings = {
  DUET_SIGNUP: setting(
    oneOf(['open', 'closed'], 'must be open or closed'),
    'open',
    'Whether anonymous may create users',
  ),
  DUET_SIGNUP_RATE: setting(
    whole(1, 1_000_000),
    '20',
    'Most sign-ups of one caller in a minute, refused and repeated ones too, those of an admin apart; off with DUET_RATE_LIMIT=0',
  ),
  DUET_CURRENCY: setting(
    oneOf(Intl.supportedValuesOf('currency'), 'must be an ISO 4217 code, such as USD'),
    'USD',
    'Currency of all prices of the store; once it has some, only one with as many decimals',
  ),
} as const
