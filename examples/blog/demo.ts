/** A few rows for an empty development store. */
import type { RowsByEntity } from 'duet'

export const demo: RowsByEntity = {
  author: [
    { name: 'Ada Lovelace', email: 'ada@example.org', role: 'editor' },
    { name: 'Grace Hopper', email: 'grace@example.org' },
  ],
  tag: [{ name: 'Engines' }, { name: 'Crème brûlée' }],
  post: [
    {
      title: 'Notes on the Analytical Engine',
      body: 'It weaves algebraic patterns, as the loom weaves flowers and leaves.',
      status: 'published',
      authorId: 1,
      publishedAt: '2026-01-05T12:00:00.000Z',
    },
    {
      title: 'A moth in the relay',
      body: 'First actual case of a bug being found.',
      status: 'published',
      authorId: 2,
      publishedAt: '2026-01-06T12:00:00.000Z',
    },
    { title: 'What a compiler could do', body: 'To be continued.', authorId: 2 },
  ],
  postTag: [
    { postId: 1, tagId: 1 },
    { postId: 2, tagId: 1 },
    { postId: 3, tagId: 2 },
  ],
  comment: [
    { text: 'And the operator may itself be a number?', postId: 1, authorId: 2 },
    { text: 'Kept in the log book, I hope.', postId: 2, authorId: 1 },
  ],
}
