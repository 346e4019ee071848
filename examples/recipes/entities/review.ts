/** Reviews of published recipes, by other cooks. */
import {
  anyone,
  created,
  entity,
  fixed,
  id,
  int,
  one,
  reference,
  revision,
  signedIn,
  text,
  viewer,
} from 'duet/model'
import { errors } from '../errors.ts'
import { editor } from '../roles.ts'
import { below, ofRecipe, own, published } from './recipe.ts'

export const review = entity({
  description: 'What a cook thinks of a recipe of another; one each.',
  fields: {
    id: id(),
    recipeId: reference('recipe', { onDelete: 'cascade', graphql: 'input' }),
    cookId: reference('cook', { onDelete: 'cascade', ...fixed, initial: 'viewer' }),
    stars: int({ min: 1, max: 5, description: '1 to 5.' }),
    text: text({ max: 2000, nullable: true, description: 'What they say of it.' }),
    createdAt: created(),
    revision: revision(),
  },
  relations: { recipe: ofRecipe, cook: one('cook', 'cookId', { description: 'Who wrote it.' }) },
  policy: {
    read: anyone,
    create: signedIn.where({ recipe: { ...published, cookId: { ne: viewer } } }),
    update: signedIn.where(own),
    delete: [signedIn.where(own), editor],
  },
  rest: below,
  graphql: { mutations: ['create', 'update', 'delete'] },
  sets: [{ fields: ['recipeId', 'cookId'], error: errors.REVIEWED }],
})
