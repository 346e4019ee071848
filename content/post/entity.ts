/** Everything the service knows about a post. */
import { anyone, created, entity, id, many, one, reference, revision, self, text } from 'duet/model'

export const post = entity({
  description: 'A text that a user published.',
  fields: {
    id: id(),
    title: text({ max: 200, trimmed: true, description: 'Title, 1 to 200 characters.' }),
    content: text({ max: 100_000, description: 'Text, 1 to 100,000 characters.' }),
    authorId: reference('user', {
      onDelete: 'cascade',
      graphql: 'input',
      description: 'The user who wrote it.',
    }),
    createdAt: created(),
    revision: revision(),
  },
  relations: {
    author: one('user', 'authorId', { description: 'The user who wrote it.' }),
    comments: many('comment', 'postId', { description: 'Its comments, newest first.' }),
  },
  policy: {
    read: anyone,
    create: self('authorId'),
    update: self('authorId'),
    delete: self('authorId'),
  },
  links: {
    self: '/posts/{id}',
    author: '/users/{authorId}',
    comments: '/posts/{id}/comments',
  },
  rest: {
    list: true,
    one: true,
    listing: { paging: 'cursor', limit: 20 },
    writes: ['update', 'delete'],
    nested: ['one', 'create'],
  },
  graphql: { filters: ['authorId'], mutations: ['create'] },
})
