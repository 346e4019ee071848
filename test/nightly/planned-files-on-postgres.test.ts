import { test } from 'node:test'
import { noDatabase } from '../postgres/tools/database.ts'

// It is read when their modules are loaded.
process.env.DUET_TEST_STORE = 'postgres'
const { asPlanned } = await import('./planned.ts')

if (noDatabase) test('files on PostgreSQL', { skip: noDatabase }, () => {})
else asPlanned(['test/store/file-services.test.ts', 'test/store/file-garbage.test.ts'])
