/** Everything the service knows about a like: that a user likes a comment, once. */
import { anyone, created, entity, fixed, id, internal, reference, self, signedIn } from 'duet/model'

export const like = entity({
  description: 'That a user likes a comment.',
  fields: {
    id: id(internal),
    userId: reference('user', {
      onDelete: 'cascade',
      ...fixed,
      initial: 'viewer',
      description: 'Who likes it.',
    }),
    commentId: reference('comment', { onDelete: 'cascade', description: 'What is liked.' }),
    createdAt: created(),
  },
  policy: { read: anyone, create: signedIn, delete: self('userId') },
  rest: { list: false, one: false, listing: { paging: 'cursor', limit: 20 } },
  graphql: { type: false },
  sets: [['userId', 'commentId']],
})
