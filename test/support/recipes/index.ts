/** A third content, for tests: recipes, which are drafts until their cooks publish them. It has no SQL but its drafted migrations. */
import { defineContent } from '#content.ts'
import { defineErrors } from '#errors.ts'
import { viewer } from '#model/condition.ts'
import { entity, many, one } from '#model/entity.ts'
import {
  avg,
  choice,
  count,
  created,
  decimal,
  fixed,
  folded,
  id,
  int,
  reference,
  revision,
  slug,
  subject,
  text,
  time,
  updatedAt,
} from '#model/field.ts'
import { defineModel } from '#model/model.ts'
import { anyone, defineRoles, signedIn, withRole } from '#model/policy.ts'
import type { Action } from '#write/action.ts'
import { change } from '#write/steps.ts'

const roles = defineRoles({ names: ['cook', 'editor', 'chef'], default: 'cook', superuser: 'chef' })
const editor = withRole(roles, 'editor')

const errors = defineErrors({
  REVIEWED: { status: 409, title: 'You have reviewed this recipe before' },
  NO_INGREDIENTS: { status: 409, title: 'Only a draft with ingredients is published' },
})

const named = (plural: string, description: string) => ({ table: plural, plural, description })

const cook = entity({
  ...named('cooks', 'Somebody who cooks, as an identity provider knows them.'),
  fields: {
    id: id(),
    name: text({ max: 100, trimmed: true, description: 'What they are called.' }),
    subject: subject(),
    state: choice(['in', 'out'], { settableBy: editor, initial: { value: 'in' } }),
    revision: revision(),
  },
  relations: { recipes: many('recipe', 'cookId', { description: 'What they wrote.' }) },
  policy: { read: anyone, create: signedIn, update: signedIn.where({ id: viewer }) },
  rest: { list: true, one: true, writes: ['update'], listing: { paging: 'page', limit: 20 } },
  graphql: { mutations: ['update'] },
})

const published = { status: 'published' } as const
const own = { cookId: viewer } as const

const recipe = entity({
  ...named('recipes', 'A recipe; while it is a draft its cook and editors see it.'),
  fields: {
    id: id(),
    title: text({ max: 200, trimmed: true, description: 'Title, 1 to 200 characters.' }),
    slug: slug({ from: 'title', description: 'Its words for addresses.' }),
    steps: text({ max: 20_000, description: 'What to do.' }),
    servings: int({ min: 1, max: 100, description: 'For how many.' }),
    notes: text({ max: 1000, nullable: true, readableBy: own, description: 'For the cook alone.' }),
    status: choice(['draft', 'published', 'archived'], { ...fixed, initial: { value: 'draft' } }),
    cookId: reference('cook', { ...fixed, initial: 'viewer' }),
    rating: avg('reviews.stars', { description: 'The mean of its reviews.' }),
    reviewCount: count('reviews', { description: 'How many reviews it has.' }),
    publishedAt: time({ ...fixed, nullable: true, description: 'When it was published.' }),
    createdAt: created(),
    updatedAt: updatedAt(),
    titleKey: folded('title', { accents: 'ignored' }),
    revision: revision(),
  },
  relations: {
    cook: one('cook', 'cookId', { description: 'Who wrote it.' }),
    ingredients: many('ingredient', 'recipeId', { description: 'Its parts.' }),
    tags: many('tag', { through: 'recipeTag', description: 'Words that it is found by.' }),
    reviews: many('review', 'recipeId', { description: 'What others think.' }),
  },
  policy: {
    read: [anyone.where(published), signedIn.where(own), editor],
    create: signedIn,
    update: [signedIn.where(own), editor],
    delete: signedIn.where({ ...own, status: 'draft' }),
  },
  links: { self: '/recipes/{id}', cook: '/cooks/{cookId}' },
  rest: {
    list: true,
    one: true,
    writes: ['create', 'replace', 'update', 'delete'],
    listing: {
      paging: 'page',
      limit: 20,
      sort: { style: 'signed list', fields: ['title', '-rating', '-createdAt'] },
      filters: {
        status: { kind: 'equals', field: 'status' },
        min_rating: { kind: 'at least', field: 'rating' },
        q: { kind: 'contains', field: 'titleKey' },
      },
    },
  },
  graphql: { filters: ['cookId'], mutations: ['create', 'update', 'delete'] },
})

/** What belongs to a recipe is seen with it, and written by its cook. */
const ofCook = signedIn.where({ recipe: own })
const seen = [anyone.where({ recipe: published }), ofCook, editor]
const part = { read: seen, create: ofCook, delete: ofCook }
const ofRecipe = one('recipe', 'recipeId', { description: 'What it belongs to.' })
const below = {
  list: false,
  one: true,
  writes: ['update', 'delete'],
  nested: ['one', 'create', 'delete'],
  listing: { paging: 'cursor', limit: 50 },
} as const
const words = { paging: 'page', limit: 50 } as const
const all = { mutations: ['create', 'update', 'delete'] } as const

const ingredient = entity({
  ...named('ingredients', 'A part of a recipe.'),
  fields: {
    id: id(),
    recipeId: reference('recipe', { graphql: 'input' }),
    name: text({ max: 100, trimmed: true, description: 'What it is.' }),
    amount: decimal({ scale: 3, min: 0, max: 1_000_000, description: 'How much of it.' }),
    unit: choice(['g', 'ml', 'piece'], { initial: { value: 'g' } }),
    revision: revision(),
  },
  relations: { recipe: ofRecipe },
  policy: { ...part, update: ofCook },
  rest: below,
  graphql: all,
})

const tag = entity({
  ...named('tags', 'A word that recipes are found by.'),
  fields: { id: id(), name: text({ max: 50, trimmed: true }), slug: slug({ from: 'name' }) },
  policy: { read: anyone, create: editor, delete: editor },
  rest: { list: true, one: true, writes: ['create', 'delete'], listing: words },
  graphql: { mutations: ['create'] },
})

const recipeTag = entity({
  table: 'recipe_tags',
  plural: 'recipeTags',
  description: 'That a recipe has a tag.',
  fields: { id: id(), recipeId: reference('recipe'), tagId: reference('tag') },
  relations: { recipe: ofRecipe },
  policy: part,
  rest: { list: false, one: true, writes: ['create', 'delete'], listing: words },
  graphql: { mutations: ['create', 'delete'] },
  sets: [['recipeId', 'tagId']],
})

const review = entity({
  ...named('reviews', 'What a cook thinks of a recipe of another; one each.'),
  fields: {
    id: id(),
    recipeId: reference('recipe', { graphql: 'input' }),
    cookId: reference('cook', { ...fixed, initial: 'viewer' }),
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
  graphql: all,
  sets: [{ fields: ['recipeId', 'cookId'], error: errors.REVIEWED }],
})

const ready = {
  where: { status: 'draft', ingredients: { some: {} } },
  otherwise: errors.NO_INGREDIENTS,
} as const
const publish: Action = {
  method: 'POST',
  name: 'publish recipes',
  path: '/recipes/:id/publish',
  about: 'recipe',
  answers: 'recipe',
  rule: signedIn.where(own),
  graphql: true,
  described: { operationId: 'publishRecipe', summary: 'Publish it', errors: ['NO_INGREDIENTS'] },
  steps: ({ id, now }) => [change('recipe', id, { status: 'published', publishedAt: now }, ready)],
}

export const recipes = defineContent({
  entities: defineModel({ cook, recipe, ingredient, tag, recipeTag, review }),
  viewers: {
    entity: 'cook',
    barred: { field: 'state', value: 'out' },
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
