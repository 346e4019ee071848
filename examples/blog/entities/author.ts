/** Authors: the viewers' entity, so a token speaks for one of its rows, and they sign in. */
import {
  anyone,
  choice,
  email,
  entity,
  flag,
  folded,
  many,
  nobody,
  signedIn,
  slug,
  text,
  viewer,
} from 'duet/model'
import { editor, roles } from '../roles.ts'

const self = signedIn.where({ id: viewer })

export const author = entity({
  fields: {
    name: text({ max: 100, trimmed: true, description: 'What they are called.' }),
    slug: slug({ from: 'name', description: 'Their words for addresses.' }),
    email: email({
      readableBy: self,
      settableBy: anyone,
      description: 'Where a code to sign in is mailed.',
    }),
    emailKey: folded('email', { unique: 'CONFLICT' }),
    emailVerified: flag({
      initial: { value: 0 },
      resetBy: 'email',
      readableBy: self,
      settableBy: nobody,
      description: 'Whether the address was proved to be theirs.',
    }),
    role: choice(roles.names, {
      initial: { value: roles.default },
      readableBy: self,
      settableBy: editor,
      description: 'What they may do.',
    }),
  },
  relations: { posts: many('post', 'authorId', { description: 'What they wrote, newest first.' }) },
  policy: { read: anyone, create: editor, update: self },
})
