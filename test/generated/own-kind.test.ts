/** Entities that refer to their own kind, once and twice, and rules that lead over them: the engines and a reference answer alike. */
import { test } from 'node:test'
import { type Entity, entity, many, one } from '#model/entity.ts'
import { id, reference, revision, text } from '#model/field.ts'
import { self, signedIn } from '#model/policy.ts'
import { compareModel, drawn, engines } from './compare.ts'
import { allRoutes, member } from './models.ts'
import { create, query, readBelow, readList, update } from './requests.ts'

const mine = self('ownerId', 'parent.parent.ownerId', 'about.parent.about.ownerId')

/** A folder in a folder, about another one. */
const folder = entity({
  table: 'folders',
  plural: 'folders',
  description: '',
  fields: {
    id: id(),
    name: text({ max: 10 }),
    parentId: reference('folder', { nullable: true, onDelete: 'set null' }),
    aboutId: reference('folder', { nullable: true, onDelete: 'set null' }),
    ownerId: reference('member', { onDelete: 'cascade', nullable: true }),
    revision: revision(),
  },
  relations: {
    parent: one('folder', 'parentId'),
    about: one('folder', 'aboutId'),
    owner: one('member', 'ownerId'),
    folders: many('folder', 'parentId'),
    mentions: many('folder', 'aboutId'),
    leaves: many('leaf', 'folderId'),
  },
  policy: { read: mine, create: signedIn, update: mine, delete: signedIn },
  links: { self: '/folders/{id}', parent: '/folders/{parentId}' },
  rest: {
    ...allRoutes,
    listing: {
      paging: 'page',
      limit: 5,
      sort: { style: 'field and order', fields: ['name', 'parentId'] },
      filters: {
        parent: { kind: 'equals', field: 'parentId' },
        about: { kind: 'equals', field: 'aboutId' },
      },
    },
  },
  graphql: { paged: true, filters: ['name'], mutations: ['create', 'update'] },
  counted: [],
}) as unknown as Entity

const leaf = entity({
  table: 'leaves',
  plural: 'leaves',
  description: '',
  fields: {
    id: id(),
    folderId: reference('folder', { onDelete: 'cascade' }),
    besideId: reference('leaf', { onDelete: 'cascade', nullable: true }),
  },
  relations: {
    folder: one('folder', 'folderId'),
    beside: one('leaf', 'besideId'),
    leaves: many('leaf', 'besideId'),
  },
  policy: {
    read: self('folder.parent.parent.ownerId', 'beside.beside.folder.ownerId'),
    create: signedIn,
    delete: signedIn,
  },
  rest: {
    list: true,
    one: true,
    writes: ['create', 'delete'],
    listing: { paging: 'cursor', limit: 4 },
  },
  graphql: { mutations: ['create'] },
}) as unknown as Entity

/** Creates with nothing that may be left out, and with all of it: most paths then lead somewhere. */
const bare: typeof create = (draw, reference, name) =>
  create({ ...draw, chance: () => false }, reference, name)
const whole: typeof create = (draw, reference, name) =>
  create({ ...draw, chance: percent => percent >= 50 }, reference, name)

const steps = (count: number, ...makers: (typeof create)[]) =>
  Array.from({ length: count }, () =>
    ['folder', 'leaf'].flatMap(name => makers.map(make => [make, name] as const)),
  ).flat()

test('rows of their own kind are read, listed, chosen and changed by their rules, at any depth', async () => {
  const writes = [...steps(2, bare), ...steps(15, whole)]
  const all = [...writes, ...steps(15, update, readList, readBelow, query, query)]
  await compareModel({ member, folder, leaf }, drawn(3), all, engines)
})
