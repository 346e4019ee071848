/** Everything the service knows about a comment. */
import {
  anyone,
  created,
  entity,
  fixed,
  id,
  many,
  one,
  reference,
  revision,
  self,
  signedIn,
  text,
} from 'duet/model'

export const comment = entity({
  description: 'What a user said below a post.',
  fields: {
    id: id(),
    text: text({ max: 10_000, description: 'Text, 1 to 10,000 characters.' }),
    postId: reference('post', {
      onDelete: 'cascade',
      graphql: 'hidden',
      description: 'The post it stands below.',
    }),
    authorId: reference('user', {
      onDelete: 'cascade',
      ...fixed,
      initial: 'viewer',
      graphql: 'hidden',
      description: 'The user who wrote it.',
    }),
    createdAt: created({ graphql: 'hidden' }),
    revision: revision(),
  },
  relations: {
    author: one('user', 'authorId', { description: 'The user who wrote it.' }),
    post: one('post', 'postId', { graphql: false }),
    likes: many('like', 'commentId', { graphql: false, description: 'Who likes it.' }),
  },
  policy: { read: anyone, create: signedIn, delete: self('authorId', 'post.authorId') },
  links: {
    self: '/comments/{id}',
    author: '/users/{authorId}',
    likes: '/comments/{id}/likes',
  },
  rest: {
    list: false,
    one: true,
    listing: { paging: 'cursor', limit: 20 },
    nested: ['one', 'create', 'delete'],
  },
  graphql: { roots: false },
})
