import { asPlanned } from '#test/nightly/planned.ts'

asPlanned([
  'content/test/store/former-kills.test.ts',
  'content/test/store/money.test.ts',
  'content/test/store/orders-model.test.ts',
])
