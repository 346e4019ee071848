/** Recipes, which are drafts until their cooks publish them. */
import {
  anyone,
  avg,
  choice,
  count,
  created,
  decimal,
  entity,
  file,
  fixed,
  folded,
  id,
  int,
  many,
  one,
  reference,
  revision,
  signedIn,
  slug,
  text,
  time,
  updatedAt,
  viewer,
} from 'duet/model'
import { editor } from '../roles.ts'

export const published = { status: 'published' } as const
export const own = { cookId: viewer } as const

export const recipe = entity({
  description: 'A recipe; while it is a draft its cook and editors see it.',
  fields: {
    id: id(),
    title: text({ max: 200, trimmed: true, description: 'Title, 1 to 200 characters.' }),
    slug: slug({ from: 'title', description: 'Its words for addresses.' }),
    steps: text({ max: 20_000, description: 'What to do.' }),
    // Without exif: 'kept' pictures lose the place and camera that are written in them, by sharp: npm install sharp.
    cover: file({
      accept: ['image/png', 'image/jpeg', 'image/webp'],
      max: '5 MB',
      exif: 'kept',
      nullable: true,
      description: 'How it looks.',
    }),
    servings: int({ min: 1, max: 100, description: 'For how many.' }),
    notes: text({ max: 1000, nullable: true, readableBy: own, description: 'For the cook alone.' }),
    status: choice(['draft', 'published', 'archived'], { ...fixed, initial: { value: 'draft' } }),
    cookId: reference('cook', { onDelete: 'cascade', ...fixed, initial: 'viewer' }),
    rating: avg('reviews.stars', { description: 'The mean of its reviews.' }),
    reviewCount: count('reviews', { description: 'How many reviews it has.' }),
    publishedAt: time({ ...fixed, nullable: true, description: 'When it was published.' }),
    createdAt: created(),
    updatedAt: updatedAt(),
    titleKey: folded('title', { accents: 'ignored', indexed: true }),
    revision: revision(),
  },
  relations: {
    cook: one('cook', 'cookId', { description: 'Who wrote it.' }),
    ingredients: many('ingredient', 'recipeId', {
      description: 'Its parts, as they were added.',
      oldestFirst: true,
      nestedWrites: true,
    }),
    tags: many('tag', {
      through: 'recipeTag',
      description: 'Words that it is found by.',
      nestedWrites: true,
    }),
    reviews: many('review', 'recipeId', { description: 'What others think.' }),
  },
  bulk: true,
  admin: {
    columns: ['title', 'cookId', 'status', 'servings', 'rating', 'publishedAt'],
    fields: { slug: { place: 'side' }, reviewCount: { label: 'Reviews' } },
    charts: [{ group: 'createdAt' }, { group: 'status' }],
  },
  // Words of steps count less for the order by relevance.
  search: { title: 3, steps: 1 },
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
export const part = {
  read: [anyone.where({ recipe: published }), ofCook, editor],
  create: ofCook,
  delete: ofCook,
}
export const ofRecipe = one('recipe', 'recipeId', { description: 'What it belongs to.' })
/** Its list is the nested one alone, and rows are made there. */
export const below = {
  list: false,
  one: true,
  writes: ['update', 'delete'],
  nested: ['one', 'create', 'delete'],
  listing: { paging: 'cursor', limit: 50 },
} as const

export const ingredient = entity({
  description: 'A part of a recipe.',
  fields: {
    id: id(),
    recipeId: reference('recipe', { onDelete: 'cascade', graphql: 'input' }),
    name: text({ max: 100, trimmed: true, description: 'What it is.' }),
    amount: decimal({ scale: 3, min: 0, max: 1_000_000, description: 'How much of it.' }),
    unit: choice(['g', 'ml', 'piece'], { initial: { value: 'g' } }),
    revision: revision(),
  },
  relations: { recipe: ofRecipe },
  policy: { ...part, update: ofCook },
  // All parts of a recipe, in their order.
  rest: { ...below, listing: { paging: 'page', limit: 100 } },
  graphql: { mutations: ['create', 'update', 'delete'] },
})
