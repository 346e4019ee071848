/** Tags, and which recipes have them. */
import { anyone, entity, id, reference, slug, text } from 'duet/model'
import { editor } from '../roles.ts'
import { ofRecipe, part } from './recipe.ts'

const listing = { paging: 'page', limit: 50 } as const

export const tag = entity({
  description: 'A word that recipes are found by.',
  fields: { id: id(), name: text({ max: 50, trimmed: true }), slug: slug({ from: 'name' }) },
  policy: { read: anyone, create: editor, delete: editor },
  rest: { list: true, one: true, writes: ['create', 'delete'], listing },
  graphql: { mutations: ['create'] },
})

export const recipeTag = entity({
  description: 'That a recipe has a tag.',
  fields: {
    id: id(),
    recipeId: reference('recipe', { onDelete: 'cascade' }),
    tagId: reference('tag', { onDelete: 'cascade' }),
  },
  relations: { recipe: ofRecipe },
  policy: part,
  rest: { list: false, one: true, writes: ['create', 'delete'], listing },
  graphql: { mutations: ['create', 'delete'] },
  sets: [['recipeId', 'tagId']],
})
