/** A content whose writes are steps and hooks of every kind; the examples of docs/actions.md are in it. Its migrations are drafted anew each time. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { defineContent } from '#content.ts'
import { ApiError, defineErrors } from '#errors.ts'
import { viewer as caller } from '#model/condition.ts'
import { entity, many, one } from '#model/entity.ts'
import {
  choice,
  created,
  date,
  decimal,
  fixed,
  flag,
  folded,
  id,
  int,
  list,
  money,
  reference,
  revision,
  text,
  time,
  updatedAt,
} from '#model/field.ts'
import { defineModel } from '#model/model.ts'
import { anyone, defineRoles, nobody, self, signedIn, withRole } from '#model/policy.ts'
import type { ExtraRoute } from '#rest/rest.ts'
import { type Sql, sql } from '#sql/sql.ts'
import { commandOf, result } from '#write/command.ts'
import { noMembers } from '#write/input.ts'
import type { Action } from '#write/steps/action.ts'
import { add, change, insert, remove, require } from '#write/steps/steps.ts'
import { historyFor } from '../generated/serve.ts'
import { ownFolder } from './folders.ts'

const roles = defineRoles({ names: ['writer', 'editor'], default: 'writer', superuser: 'editor' })

export const errors = defineErrors({
  NO_INGREDIENTS: { status: 409, title: 'A recipe without ingredients cannot be published' },
  NOT_ENOUGH: { status: 409, title: 'There are not so many left' },
  LOCKED: { status: 409, title: 'This recipe is published' },
})

/** What hooks and effects were told. */
export const told: unknown[] = []

const common = {
  description: '',
  rest: { list: true, one: true, listing: { paging: 'page', limit: 20 } },
} as const

const writer = entity({
  ...common,
  fields: {
    id: id(),
    name: text({ max: 40 }),
    state: choice(['in', 'out'], { initial: { value: 'in' } }),
    revision: revision(),
  },
  relations: { recipes: many('recipe', 'ownerId') },
  policy: { read: anyone, update: self('id'), delete: self('id') },
  rest: { ...common.rest, writes: ['update', 'delete'] },
})

const recipe = entity({
  ...common,
  fields: {
    id: id(),
    title: text({ max: 100 }),
    titleKey: folded('title'),
    status: choice(['draft', 'published', 'archived'], { ...fixed, initial: { value: 'draft' } }),
    ownerId: reference('writer', { onDelete: 'cascade', ...fixed, initial: 'viewer' }),
    servings: int({ min: 0, max: 99, initial: { value: 4 } }),
    price: money({ max: 1000, initial: { value: 0 } }),
    publishedAt: time({ ...fixed, nullable: true }),
    draftedAs: text({
      max: 100,
      nullable: true,
      settableBy: nobody,
      readableBy: { status: 'published' },
    }),
    changedAt: updatedAt(),
    revision: revision(),
  },
  relations: {
    owner: one('writer', 'ownerId'),
    ingredients: many('ingredient', 'recipeId'),
    favourites: many('favourite', 'recipeId'),
  },
  policy: {
    read: [anyone.where({ status: 'published' }), signedIn.where({ owner: caller })],
    create: signedIn,
    update: signedIn.where({ owner: caller }),
    delete: signedIn.where({ owner: caller }),
  },
  rest: { ...common.rest, writes: ['create', 'replace', 'update', 'delete'] },
  graphql: { mutations: ['create', 'update', 'delete'] },
  counted: ['status'],
  before: {
    errors: [errors.LOCKED],
    create: ({ input, viewer }) => {
      told.push(['create', input.title, viewer.id])
      if (input.title === 'Poison') return { error: errors.LOCKED, message: 'Nobody cooks poison' }
      return {
        values: { title: String(input.title).trim(), price: 1.25 },
        steps: [require('writer', { where: { id: viewer.id, state: 'in' } }, errors.LOCKED)],
      }
    },
    update: ({ id, input, now }) => {
      told.push(['update', id, Object.keys(input), now])
      return {
        ...(input.title !== undefined && { values: { draftedAs: String(input.title) } }),
        steps: [require('recipe', { where: { id, status: { ne: 'published' } } }, errors.LOCKED)],
      }
    },
    delete: ({ id }) => ({
      steps: [require('recipe', { where: { id, status: { ne: 'published' } } }, errors.LOCKED)],
    }),
  },
  after: {
    update: { fields: ['title', 'status'], run: row => void told.push(['updated', row]) },
    delete: { fields: ['title'], run: row => void told.push(['deleted', row]) },
  },
})

const ingredient = entity({
  ...common,
  fields: {
    id: id(),
    recipeId: reference('recipe', { onDelete: 'cascade' }),
    name: text({ max: 40, check: { 'must not be poison': name => name !== 'poison' } }),
    pickedById: reference('writer', { onDelete: 'cascade', ...fixed, nullable: true }),
  },
  relations: { recipe: one('recipe', 'recipeId') },
  policy: { read: anyone, create: anyone, delete: anyone },
  rest: { ...common.rest, writes: ['create', 'delete'], nested: ['create'] },
  graphql: { mutations: ['create'] },
  before: {
    // Two of them name their caller, in a step and in a value.
    create: ({ input: { name, recipeId }, viewer, now }) => {
      if (name === 'Herbs') return { values: { pickedById: viewer } }
      if (name !== 'Truffle') return {}
      const bought = { recipeId: Number(recipeId), what: 'bought', at: now, byId: viewer }
      return { steps: [insert('record', bought)] }
    },
  },
})

const favourite = entity({
  ...common,
  fields: {
    id: id(),
    writerId: reference('writer', { onDelete: 'cascade' }),
    recipeId: reference('recipe', { onDelete: 'cascade' }),
    createdAt: created(),
  },
  policy: { read: anyone },
  sets: [['writerId', 'recipeId']],
})

const record = entity({
  ...common,
  fields: {
    id: id(),
    recipeId: reference('recipe', { onDelete: 'cascade' }),
    what: text({ max: 100 }),
    at: time(),
    byId: reference('writer', { onDelete: 'cascade', nullable: true }),
  },
  policy: { read: anyone },
})

/** An action on a recipe, of whoever owns it. */
const onRecipe = (
  operationId: string,
  path: string,
  more: Partial<Action> & Pick<Action, 'steps'>,
): Action => ({
  method: 'POST',
  name: `${operationId} recipes`,
  rule: recipe.policy.update,
  path: `/recipes/:id/${path}`,
  about: 'recipe',
  answers: 'recipe',
  described: {
    operationId,
    summary: operationId,
    errors: [errors.NO_INGREDIENTS.code, errors.NOT_ENOUGH.code, errors.LOCKED.code],
  },
  ...more,
})

const publish: Action = {
  method: 'POST',
  name: 'publish recipes',
  path: '/recipes/:id/publish',
  about: 'recipe',
  answers: 'recipe',
  rule: signedIn.where({ owner: caller }),
  when: { status: 'draft', ingredients: { some: {} } },
  otherwise: errors.NO_INGREDIENTS,
  input: { note: text({ max: 100, initial: { value: 'published' } }) },
  graphql: true,
  described: {
    operationId: 'publishRecipe',
    summary: 'Publish a recipe',
    errors: [errors.NO_INGREDIENTS.code],
  },
  steps: ({ id, input, viewer, now }) => [
    change('recipe', id, { status: 'published', publishedAt: now }),
    insert('record', { recipeId: id, what: input.note, at: now, byId: viewer.id }),
  ],
}

const take = onRecipe('takeServings', 'take', {
  rule: signedIn,
  graphql: true,
  input: { count: int({ min: 1, max: 9 }), paid: money({ max: 10, initial: { value: 0 } }) },
  steps: ({ id, input }) => [
    change(
      'recipe',
      id,
      { servings: add(-Number(input.count)), price: add(Number(input.paid)) },
      {
        // Nine are refused by the range of the field alone.
        ...(input.count !== 9 && { where: { servings: { gte: input.count } } }),
        otherwise: {
          find: ['servings', 'price'],
          error: ({ servings, price }) =>
            new ApiError(errors.NOT_ENOUGH, `There are ${servings} left, at ${price}`),
        },
      },
    ),
  ],
})

const copy = onRecipe('copyRecipe', 'copy', {
  rule: signedIn,
  steps: ({ id, viewer, now }) => [
    require('recipe', id, undefined, { where: { servings: { gt: 0 } }, name: 'original' }),
    insert(
      'recipe',
      { title: 'A copy', servings: result('original', 'servings'), ownerId: viewer },
      { name: 'copy' },
    ),
    insert('ingredient', { recipeId: result('copy'), name: 'Salt' }),
    insert('record', { recipeId: result('copy', 'id'), what: result('copy', 'status'), at: now }),
    change('recipe', result('copy'), { price: 9 }),
  ],
})

const favour: Action = {
  method: 'PUT',
  name: 'favour recipes',
  rule: signedIn,
  path: '/recipes/:id/favourite',
  about: 'recipe',
  answers: 'favourite',
  described: {
    operationId: 'favourRecipe',
    summary: 'Keep a recipe among the favourites',
    success: { 200: 'It was one before.', 201: 'It is one.' },
  },
  steps: ({ id, viewer }) => [
    insert('favourite', { writerId: viewer, recipeId: id }, { once: true }),
  ],
}

const unfavour: Action = {
  method: 'DELETE',
  name: 'forget recipes',
  rule: signedIn,
  path: '/recipes/:id/favourite',
  about: 'recipe',
  answers: null,
  graphql: true,
  described: { operationId: 'forgetRecipe', summary: 'Take a recipe out of the favourites' },
  steps: ({ id, viewer }) => [remove('favourite', { where: { writerId: viewer, recipeId: id } })],
}

const archive = onRecipe('archiveRecipe', 'archive', {
  method: 'PUT',
  steps: ({ id, now }) => [
    change('recipe', id, { status: 'archived', publishedAt: now }, { once: true }),
  ],
})

const discard = onRecipe('discardRecipe', 'discard', {
  answers: null,
  steps: ({ id }) => [
    require('ingredient', { where: { recipe: { id } } }, {
      error: errors.NO_INGREDIENTS,
      message: 'It has none',
    }),
    remove('recipe', id, { where: { status: 'draft' }, otherwise: errors.LOCKED }),
  ],
})

const give = (operationId: string, rule: Action['rule']) =>
  onRecipe(operationId, operationId, {
    rule,
    input: { to: reference('writer') },
    steps: ({ id, input }) => [change('recipe', id, { ownerId: input.to })],
  })

const empty = onRecipe('emptyRecipe', 'empty', {
  steps: ({ id }) => [
    remove('ingredient', { where: { recipeId: id } }, { otherwise: errors.NO_INGREDIENTS }),
    {
      sql: sql`update recipes set servings = 0, revision = revision + 1 where id = ${id} returning id`,
    },
  ],
})

/** An input of every kind, shown in one text. */
const survey = onRecipe('surveyRecipe', 'survey', {
  graphql: true,
  input: {
    mood: choice(['good', 'bad']),
    score: decimal({ min: 0, max: 9, scale: 1 }),
    day: date({ nullable: true }),
    at: time({ nullable: true }),
    isSure: flag({ initial: { value: 1 } }),
    words: list(text({ max: 9 }), { max: 3, initial: { value: '[]' } }),
    about: reference('recipe', { onDelete: 'cascade', nullable: true }),
  },
  steps: ({ id, input, now }) => {
    const { mood, score, day, at, isSure, words, about } = input
    const when = at instanceof Date ? at.toISOString() : at
    const what = JSON.stringify([mood, score, day, when, isSure, words, about])
    return [insert('record', { recipeId: id, what, at: now })]
  },
})

/** All drafts of a title: they are put away, and those of the viewer go. */
const clear: Action = {
  method: 'POST',
  name: 'clear recipes',
  rule: signedIn,
  path: '/clearings',
  about: null,
  answers: null,
  input: { title: text({ max: 40 }) },
  described: { operationId: 'clearRecipes', summary: 'Clear the drafts of a title' },
  steps: ({ input: { title }, viewer }) => [
    change('recipe', { where: { title, status: 'draft' } }, { status: 'archived' }),
    remove('recipe', { where: { title, ownerId: viewer } }),
  ],
}

/** What commands by hand were asked for. */
export const asked: number[] = []

/** A command that does not ask for its rule. */
const byHand = (operationId: string, rule: Action['rule'], change: Sql): Action => ({
  method: 'POST',
  name: `${operationId} recipes`,
  rule,
  path: `/recipes/:id/${operationId}`,
  about: 'recipe',
  answers: null,
  graphql: true,
  described: { operationId, summary: operationId },
  command: (writing, { id, body }) => {
    asked.push(id)
    noMembers(body)
    const text = sql`update recipes set ${change}, revision = revision + 1 where id = ${id} returning id`
    return commandOf(writing, { name: operationId, status: 204, steps: [{ sql: text }] })
  },
})

export const actions: readonly Action[] = [
  publish,
  take,
  copy,
  favour,
  unfavour,
  archive,
  discard,
  give('give', signedIn.where({ owner: caller }).becoming({})),
  give('lend', signedIn.where({ owner: caller })),
  empty,
  survey,
  clear,
  byHand('spice', signedIn.where({ owner: caller }), sql`servings = servings + 1`),
  byHand(
    'handOver',
    signedIn.where({ owner: caller }).becoming({ ownerId: caller }),
    sql`owner_id = 3`,
  ),
  byHand('count', signedIn, sql`servings = servings`),
]

const entities = defineModel({ writer, recipe, ingredient, favourite, record })

const folder = ownFolder('cookery')
for (const engine of ['sqlite', 'postgres'] as const) {
  mkdirSync(join(folder, engine))
  const text = historyFor(engine, entities).at(-1)?.text ?? ''
  writeFileSync(join(folder, engine, '0001-first.sql'), text)
}

export const parts = {
  entities,
  viewers: { entity: 'writer', blocked: { field: 'state', value: 'out' }, roles },
  migrations: pathToFileURL(`${folder}/`),
  errors,
  examples: {
    graphql: '{ recipes { title } }',
    rest: '/recipes',
    withToken: { graphql: '{ recipes { title } }', rest: '/recipes' },
  },
} as const

/** A route by hand whose handler does not ask who calls. */
const kitchen = (path: string, rule: ExtraRoute['described']['rule']): ExtraRoute => ({
  method: 'GET',
  path,
  described: { rule, operationId: `get${path.slice(1)}`, summary: 'Look into the kitchen' },
  serve: () => async () => ({ status: 200, headers: {}, body: '{}' }),
})

export const cookery = defineContent({
  ...parts,
  actions,
  served: async () => ({
    routes: [
      kitchen('/kitchen', signedIn),
      kitchen('/pantry', [nobody, withRole(roles, 'editor')]),
      kitchen('/window', anyone),
      kitchen('/cellar', undefined),
    ],
    pages: [],
  }),
})
