import { asPlanned } from '#test/nightly/planned.ts'

asPlanned([
  'content/test/generated/operations.test.ts',
  'content/test/contract/rest-filters.test.ts',
])
