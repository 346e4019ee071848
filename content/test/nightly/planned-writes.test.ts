import { asPlanned } from './planned.ts'

asPlanned([
  'store/writer.test.ts',
  'store/group-commit.test.ts',
  'store/money.test.ts',
  'store/orders-model.test.ts',
])
