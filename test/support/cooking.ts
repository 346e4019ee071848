/** A small content whose rules look at rows: recipes with ingredients, in groups whose members may write below them. */
import { mint } from '#auth/token.ts'
import type { HttpContext } from '#http/exchange.ts'
import { viewer } from '#model/condition.ts'
import { entity, many, one } from '#model/entity.ts'
import { choice, id, int, reference, revision, text } from '#model/field.ts'
import type { Entities } from '#model/model.ts'
import { anyone, nobody, signedIn } from '#model/policy.ts'
import { member } from '../generated/models.ts'
import {
  type ContentOptions,
  now,
  type Service,
  serveModel,
  withMembers,
} from '../generated/serve.ts'
import { secret } from '../world.ts'
import { editor } from './roles.ts'

const listing = { paging: 'page', limit: 50 } as const
const rest = { list: true, one: true, listing } as const
const all = ['create', 'update', 'delete'] as const
const common = { description: '' } as const

/** One is an owner of the recipe, or a member of its group. */
const ofOwner = { recipe: { owner: viewer } } as const

export const cooking: Entities = {
  member,
  team: entity({
    ...common,
    table: 'teams',
    plural: 'teams',
    fields: { id: id(), name: text({ max: 20 }), revision: revision() },
    relations: { seats: many('seat', 'teamId') },
    policy: { read: anyone, create: signedIn },
    rest: { ...rest, writes: ['create'] },
  }),
  seat: entity({
    ...common,
    table: 'seats',
    plural: 'seats',
    fields: {
      id: id(),
      memberId: reference('member', { onDelete: 'cascade' }),
      teamId: reference('team', { onDelete: 'cascade' }),
      rank: choice(['cook', 'guest']),
      revision: revision(),
    },
    relations: { member: one('member', 'memberId'), team: one('team', 'teamId') },
    policy: {
      read: anyone,
      // Nobody lets oneself in: the row that is made is not there yet.
      create: signedIn.where({ team: { seats: { some: { member: viewer } } } }),
      update: editor,
      delete: editor,
    },
    rest: { ...rest, writes: ['create', 'update', 'delete'] },
  }),
  recipe: entity({
    ...common,
    table: 'recipes',
    plural: 'recipes',
    fields: {
      id: id(),
      title: text({ max: 20, unique: 'CONFLICT' }),
      status: choice(['draft', 'published', 'archived'], { initial: { value: 'draft' } }),
      servings: int({ min: 1, max: 99, initial: { value: 2 } }),
      checked: choice(['yes', 'no'], { initial: { value: 'no' }, resetBy: 'title' }),
      ownerId: reference('member', { onDelete: 'cascade', initial: 'viewer', immutable: false }),
      teamId: reference('team', {
        onDelete: 'cascade',
        nullable: true,
        immutable: false,
      }),
      baseId: reference('recipe', {
        onDelete: 'cascade',
        nullable: true,
        immutable: false,
      }),
      revision: revision(),
    },
    relations: {
      owner: one('member', 'ownerId'),
      base: one('recipe', 'baseId'),
      team: one('team', 'teamId'),
      ingredients: many('ingredient', 'recipeId'),
    },
    policy: {
      read: [
        anyone.where({ status: 'published' }),
        signedIn.where({ owner: viewer }),
        signedIn.where({ team: { seats: { some: { member: viewer } } } }),
        editor,
      ],
      create: [
        signedIn.where({ owner: viewer, status: { ne: 'archived' } }),
        editor.where({ servings: { lte: 4 } }),
      ],
      update: [
        signedIn.where({ owner: viewer, status: 'draft' }).becoming({ owner: viewer }),
        signedIn.where({ team: { seats: { some: { member: viewer } } } }),
        signedIn.where({ base: { owner: viewer } }),
        signedIn
          .where({ checked: 'yes', status: 'published' })
          .becoming({ checked: 'no', status: 'published', revision: { gt: 1 } }),
        editor,
      ],
      delete: [signedIn.where({ owner: viewer }), editor],
    },
    rest: { ...rest, writes: [...all, 'replace'] },
    graphql: { mutations: all },
  }),
  ingredient: entity({
    ...common,
    table: 'ingredients',
    plural: 'ingredients',
    fields: {
      id: id(),
      name: text({ max: 20 }),
      recipeId: reference('recipe', { onDelete: 'cascade', immutable: false }),
      revision: revision(),
    },
    relations: { recipe: one('recipe', 'recipeId') },
    policy: {
      read: [anyone.where({ recipe: { status: 'published' } }), signedIn.where(ofOwner), editor],
      create: [
        signedIn.where({
          recipe: { owner: viewer, not: { status: 'archived' } },
          not: { ...ofOwner, name: 'poison' },
        }),
        signedIn.where({
          recipe: { team: { seats: { some: { member: viewer, rank: 'cook' } } } },
        }),
      ],
      update: signedIn.where(ofOwner),
      delete: signedIn.where(ofOwner),
    },
    rest: { ...rest, writes: all, nested: ['create'] },
    graphql: { mutations: all },
  }),
  /** What everybody says below a recipe that is published, and does not change. */
  remark: entity({
    ...common,
    table: 'remarks',
    plural: 'remarks',
    fields: {
      id: id(),
      text: text({ max: 20 }),
      recipeId: reference('recipe', { onDelete: 'cascade' }),
    },
    relations: { recipe: one('recipe', 'recipeId') },
    policy: {
      read: anyone,
      create: [
        anyone.where({ not: { recipe: { status: { in: ['draft', 'archived'] } } }, text: 'hello' }),
        signedIn.where({ recipe: { status: 'published' } }),
      ],
      delete: nobody,
    },
    rest: { ...rest, writes: ['create'] },
    graphql: { mutations: ['create'] },
  }),
  /** What keeps a recipe, and is seen by its maker only. */
  bookmark: entity({
    ...common,
    table: 'bookmarks',
    plural: 'bookmarks',
    fields: {
      id: id(),
      recipeId: reference('recipe', { onDelete: 'restrict' }),
      memberId: reference('member', { onDelete: 'cascade', initial: 'viewer' }),
    },
    relations: { member: one('member', 'memberId') },
    policy: {
      read: signedIn.where({ member: viewer }),
      create: signedIn.where({ member: viewer }),
    },
    rest: { ...rest, writes: ['create'] },
  }),
} as never

/** Who asks: the number of a member, whose role is another one for 2 and 5; null for nobody. */
export type Cook = number | null

export type Kitchen = Service & {
  /** Asks as a cook; gives the status and what came. */
  readonly say: (
    as: Cook,
    line: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ) => Promise<{
    readonly status: number
    readonly text: string
    readonly json: ReturnType<typeof JSON.parse>
    readonly headers: Headers
  }>
  /** The same by a document of GraphQL. */
  readonly run: (
    as: Cook,
    query: string,
  ) => Promise<{ readonly code?: string; readonly data: ReturnType<typeof JSON.parse> }>
}

/** A service of this content for five cooks: 1, 3 and 4 cook, 2 is an admin, 5 an editor. */
export const kitchenOn = async (
  on: 'sqlite' | 'postgres',
  entities: Entities = cooking,
  more: Partial<HttpContext> = {},
  has: ContentOptions = {},
): Promise<Kitchen> => {
  const names = ['Ann', 'Boss', 'Cleo', 'Dora', 'Edda']
  const served = await serveModel(entities, on, undefined, undefined, more, has)
  const service = await withMembers(served, names)
  const roleOf = (cook: number) => (cook === 2 ? 'admin' : cook === 5 ? 'editor' : 'user')
  const tokens = new Map<number, Promise<string>>()
  const tokenOf = (cook: number) =>
    tokens.getOrInsertComputed(cook, () =>
      mint({ sub: cook, role: roleOf(cook), ttl: 3600 }, secret, now),
    )
  const say: Kitchen['say'] = async (as, line, body, more = {}) => {
    const headers = {
      ...more,
      ...(as !== null && { Authorization: `Bearer ${await tokenOf(as)}` }),
    }
    const answer = await service.ask({ line, as: 'anonymous', body, headers })
    const json = answer.text.startsWith('{') ? JSON.parse(answer.text) : undefined
    return { ...answer, json }
  }
  const run: Kitchen['run'] = async (as, query) => {
    const { json } = await say(as, 'POST /graphql', { query })
    return { code: json.errors?.[0]?.extensions?.code, data: json.data }
  }
  return { ...service, say, run }
}
