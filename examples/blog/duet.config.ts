/** A blog: authors write posts with tags, and comment on them. */
import { defineContent, defineModel } from 'duet'
import { archive, errors, publish } from './actions/publish.ts'
import { author } from './entities/author.ts'
import { comment } from './entities/comment.ts'
import { post } from './entities/post.ts'
import { postTag, tag } from './entities/tag.ts'
import { roles } from './roles.ts'

export default defineContent({
  title: 'Blog',
  description: 'Authors write posts with tags, and comment on them.',
  entities: defineModel({ author, tag, post, postTag, comment }),
  viewers: { entity: 'author', roles },
  people: true,
  actions: [publish, archive],
  errors,
  demo: async () => (await import('./demo.ts')).demo,
  migrations: new URL('./migrations/', import.meta.url),
  examples: {
    graphql: '{ posts(limit: 3) { title author { name } tags { name } } }',
    rest: '/posts?sort=-createdAt',
    withToken: { graphql: '{ posts { title status } }', rest: '/posts?status=draft' },
  },
})
