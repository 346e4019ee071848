import { asPlanned } from './planned.ts'

asPlanned([
  'test/store/file-services.test.ts',
  'test/store/file-garbage.test.ts',
  'test/store/file-kills.test.ts',
])
