/** The end of a service and the start of the next, as its callers see them. */
import { test } from 'node:test'
import { folderOf } from '#test/duet.ts'
import { endedUnderLoad } from './term-rounds.ts'

const { freshStore } = folderOf('restart')

test('SIGTERM cuts none of 16 busy keep-alive clients: they are told that an answer is the last [H8]', async () => {
  const store = await freshStore()
  for (const thinks of [0, 100]) await endedUnderLoad(`t${thinks}`, store, thinks)
})
