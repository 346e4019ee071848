// The program of a service that a test starts, whose threads load the files that were made of theirs (see scripts/test-threads.mjs).
process.env.DUET_TEST_THREADS_MADE = '1'
await import('../../scripts/test-threads.mjs')
delete process.env.DUET_TEST_THREADS_MADE
await import('../../bin/duet')
