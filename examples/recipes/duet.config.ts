/** Recipes with reviews. An identity provider knows the cooks, and no line of SQL is written by hand. */
import { defineContent, defineModel } from 'duet'
import { publish } from './actions/publish.ts'
import { cook } from './entities/cook.ts'
import { ingredient, recipe } from './entities/recipe.ts'
import { review } from './entities/review.ts'
import { recipeTag, tag } from './entities/tag.ts'
import { errors } from './errors.ts'
import { roles } from './roles.ts'

export default defineContent({
  entities: defineModel({ cook, recipe, ingredient, tag, recipeTag, review }),
  viewers: {
    entity: 'cook',
    blocked: { field: 'state', value: 'out' },
    by: 'subject',
    signUp: { name: 'name' },
    roleFrom: { claim: ['realm_access', 'roles'], otherwise: 'cook' },
    roles,
  },
  actions: [publish],
  errors,
  migrations: new URL('./migrations/', import.meta.url),
  examples: {
    graphql: '{ recipes(limit: 3) { title cook { name } } }',
    rest: '/recipes?sort=-rating',
    withToken: { graphql: '{ recipes { title status } }', rest: '/recipes?status=draft' },
  },
})
