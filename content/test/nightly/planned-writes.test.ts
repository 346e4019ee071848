import { asPlanned } from '#test/nightly/planned.ts'

asPlanned([
  'test/store/writer.test.ts',
  'test/store/group-commit.test.ts',
  'content/test/store/money.test.ts',
  'content/test/store/orders-model.test.ts',
])
