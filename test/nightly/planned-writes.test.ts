import { asPlanned } from './planned.ts'

asPlanned([
  'test/store/writer.test.ts',
  'test/store/group-commit.test.ts',
  'test/generated/admin-edits.test.ts',
  'test/generated/admin-rights.test.ts',
  'test/generated/order-of-checks.test.ts',
  'test/pages/admin-crawl.test.ts',
])
