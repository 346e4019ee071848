import { asPlanned } from './planned.ts'

asPlanned([
  'generated/operations.test.ts',
  'contract/rest-filters.test.ts',
  '../../test/generated/orders.test.ts',
])
