/** Authors: the viewers' entity, so a token speaks for one of its rows. */
import { anyone, entity, many, signedIn, slug, text, viewer } from 'duet/model'
import { editor } from '../roles.ts'

export const author = entity({
  fields: {
    name: text({ max: 100, trimmed: true, description: 'What they are called.' }),
    slug: slug({ from: 'name', description: 'Their words for addresses.' }),
  },
  relations: { posts: many('post', 'authorId', { description: 'What they wrote, newest first.' }) },
  policy: { read: anyone, create: editor, update: signedIn.where({ id: viewer }) },
})
