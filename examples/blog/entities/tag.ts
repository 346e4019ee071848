/** Tags, and which posts have them. */
import { anyone, entity, many, one, reference, signedIn, slug, text } from 'duet/model'
import { editor } from '../roles.ts'
import { own, published } from './post.ts'

export const tag = entity({
  fields: {
    name: text({ max: 50, trimmed: true, unique: 'CONFLICT', description: 'One or a few words.' }),
    slug: slug({ from: 'name', description: 'Its words for addresses.' }),
  },
  relations: { posts: many('post', { through: 'postTag', description: 'What is about it.' }) },
  policy: { read: anyone, create: editor, update: editor, delete: editor },
})

const ofAuthor = signedIn.where({ post: own })

export const postTag = entity({
  description: 'That a post has a tag.',
  fields: {
    postId: reference('post', { onDelete: 'cascade' }),
    tagId: reference('tag', { onDelete: 'cascade' }),
  },
  relations: { post: one('post', 'postId'), tag: one('tag', 'tagId') },
  policy: {
    read: [anyone.where({ post: published }), ofAuthor, editor],
    create: ofAuthor,
    delete: ofAuthor,
  },
  sets: [['postId', 'tagId']],
})
