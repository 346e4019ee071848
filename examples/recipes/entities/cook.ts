/** Cooks: the viewers' entity, whose rows the first write with an identity provider's token makes. */
import {
  anyone,
  choice,
  entity,
  id,
  many,
  revision,
  signedIn,
  subject,
  text,
  viewer,
} from 'duet/model'
import { editor } from '../roles.ts'

export const cook = entity({
  description: 'Somebody who cooks, as an identity provider knows them.',
  fields: {
    id: id(),
    name: text({ max: 100, trimmed: true, description: 'What they are called.' }),
    subject: subject(),
    state: choice(['in', 'out'], { settableBy: editor, initial: { value: 'in' } }),
    revision: revision(),
  },
  relations: { recipes: many('recipe', 'cookId', { description: 'What they wrote.' }) },
  policy: { read: anyone, create: signedIn, update: signedIn.where({ id: viewer }) },
  rest: { list: true, one: true, writes: ['update'] },
  graphql: { mutations: ['update'] },
})
