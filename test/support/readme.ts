/** The model that README shows. */
import { defineModel } from 'duet'
import { anyone, entity, many, one, reference, signedIn, text, viewer } from 'duet/model'

const author = entity({
  fields: { name: text({ max: 100 }) },
  relations: { books: many('book', 'authorId') },
  policy: { read: anyone },
})
const book = entity({
  fields: { title: text({ max: 200 }), authorId: reference('author', { initial: 'viewer' }) },
  relations: { author: one('author', 'authorId') },
  policy: { read: anyone, create: signedIn, update: signedIn.where({ authorId: viewer }) },
})
export const entities = defineModel({ author, book })
