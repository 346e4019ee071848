/** A cook publishes a draft once it has ingredients. */
import { type Action, change } from 'duet/actions'
import { signedIn } from 'duet/model'
import { own } from '../entities/recipe.ts'
import { errors } from '../errors.ts'

export const publish: Action = {
  method: 'POST',
  name: 'publish recipes',
  path: '/recipes/:id/publish',
  about: 'recipe',
  answers: 'recipe',
  rule: signedIn.where(own),
  when: { status: 'draft', ingredients: { some: {} } },
  otherwise: errors.NO_INGREDIENTS,
  admin: { label: 'Publish' },
  graphql: true,
  described: { operationId: 'publishRecipe', summary: 'Publish it', errors: ['NO_INGREDIENTS'] },
  steps: ({ id, now }) => [change('recipe', id, { status: 'published', publishedAt: now })],
}
