// Loaded before a program or a thread of commands that a test starts: it loads the files that were made of its modules (see scripts/test-threads.mjs).
process.env.DUET_TEST_THREADS_MADE = '1'
const { findMade } = await import('../../scripts/test-threads.mjs')
delete process.env.DUET_TEST_THREADS_MADE
await findMade()
