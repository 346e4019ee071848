import { asPlanned } from './planned.ts'

asPlanned([
  'test/generated/orders.test.ts',
  'test/generic/check.test.ts',
  'test/generated/asking.test.ts',
  'test/generated/asking-rest.test.ts',
  'test/generated/both-apis.test.ts',
  'test/differences/generated.test.ts',
])
