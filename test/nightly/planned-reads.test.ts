import { asPlanned } from './planned.ts'

asPlanned([
  'contract/differential.test.ts',
  'contract/one-read.test.ts',
  'contract/rest-filters.test.ts',
])
