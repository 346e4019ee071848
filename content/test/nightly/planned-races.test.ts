import { asPlanned } from '#test/nightly/planned.ts'

asPlanned([
  'content/test/store/race.test.ts',
  'content/test/contract/keys.test.ts',
  'content/test/contract/rest-preconditions.test.ts',
])
