/** Comments, of published posts only. */
import { anyone, created, entity, fixed, one, reference, signedIn, text } from 'duet/model'
import { editor } from '../roles.ts'
import { own, published } from './post.ts'

export const comment = entity({
  fields: {
    text: text({ max: 5000, description: 'Text, 1 to 5,000 characters.' }),
    postId: reference('post', { onDelete: 'cascade', description: 'What it is about.' }),
    authorId: reference('author', { onDelete: 'cascade', ...fixed, initial: 'viewer' }),
    createdAt: created(),
  },
  relations: {
    post: one('post', 'postId', { description: 'What it is about.' }),
    author: one('author', 'authorId', { description: 'Who wrote it.' }),
  },
  policy: {
    read: [anyone.where({ post: published }), signedIn.where({ post: own }), editor],
    create: signedIn.where({ post: published }),
    update: signedIn.where(own),
    delete: signedIn.where({ or: [own, { post: own }] }),
  },
})
