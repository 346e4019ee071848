import assert from 'node:assert/strict'
import { test } from 'node:test'
import { plan } from '#read/planner.ts'
import { laneOf } from '#read/prepare.ts'
import { comparing, type Item, type Root } from '#read/selection.ts'
import type { SqlValue } from '#sql/sql.ts'
import { field, relation, root } from '#test/goldens.ts'
import { usualModel } from '../world.ts'

const laneFor = (roots: readonly Root[], parameters: readonly SqlValue[], rows?: number) =>
  laneOf(plan({ encoding: 'rest', roots }, usualModel, 'user'), rows)(parameters)

const up = (name: string) => ({ field: name, descending: false })
const down = (name: string) => ({ field: name, descending: true })
const equals = (name: string) => comparing(name, 'eq', 3)
const products = (more: Partial<Root> = {}) => root('product', [field('id')], more)
const one = (entity: string, items: readonly Item[]): Root =>
  root(entity, items, {
    many: false,
    page: null,
    where: [comparing('id', 'eq', 1)],
  })
const tree = [
  root('user', [
    relation(
      'posts',
      [relation('comments', [relation('author', [field('name')], null)], [5, 2])],
      [4, 2],
    ),
  ]),
]

/** What is asked in each lane, and its parameters: viewer, limit, offset, then others. */
const reads: Readonly<
  Record<'quick' | 'slow', Record<string, readonly [readonly Root[], readonly SqlValue[]]>>
> = {
  quick: {
    'one row by its id': [[one('user', [field('name')])], [2, 2]],
    'one row with a long text': [[one('post', [field('content')])], [2, 2]],
    'one row with all that belongs to it': [
      [one('post', [relation('comments', [], null)])],
      [2, 2],
    ],
    'one row with a page of 999 below it': [
      [one('post', [relation('comments', [], [2, 3])])],
      [2, 2, 999, 0],
    ],
    'a page by id': [[products()], [2, 100, 0]],
    'a page by an indexed sort': [[products({ sort: [up('price')] })], [2, 20, 0]],
    'a page by the same sort downwards': [[products({ sort: [down('price')] })], [2, 20, 0]],
    'a page by a sort, then by id upwards': [
      [products({ sort: [up('price'), up('id')] })],
      [2, 20, 0],
    ],
    'a page of a filter and a sort with an index for both, and its kept total': [
      [products({ where: [equals('category')], sort: [up('price')], total: true })],
      [2, 20, 0, 'x'],
    ],
    'a page of what one user wrote': [
      [root('post', [field('id')], { where: [equals('authorId')] })],
      [2, 20, 0, 2],
    ],
    'what follows a cursor': [
      [
        root('post', [field('id')], {
          sort: [down('id')],
          where: [comparing('id', 'lt', 3)],
        }),
      ],
      [2, 20, 0, 99],
    ],
    'a page of the viewer’s own': [
      [root('order', [field('id')], { where: [equals('status')] })],
      [2, 20, 0, 'paid'],
    ],
    'a total that is kept': [[products({ total: true })], [2, 20, 0]],
    'a page after a place in the order of ids': [
      [products({ sort: [down('id')], keyset: { seal: 3, after: [4], backwards: false } })],
      [2, 20, 0, 'seal', 5],
    ],
    'the first page in an order that an index finds, with cursors': [
      [products({ sort: [up('price')], keyset: { seal: 3, backwards: true } })],
      [2, 20, 0, 'seal'],
    ],
    'an offset at the limit': [[products()], [2, 100, 900]],
    'a small tree': [tree, [2, 10, 0, null, 5, 4]],
    'short texts of a page of rows that have long ones': [
      [root('post', [field('title')])],
      [2, 100, 0],
    ],
    'some long texts': [[root('post', [field('content')])], [2, 80, 0]],
  },
  slow: {
    'one row with a page of 1,000 below it': [
      [one('post', [relation('comments', [], [2, 3])])],
      [2, 2, 1000, 0],
    ],
    'a page by two sorts': [[products({ sort: [down('price'), up('name')] })], [2, 20, 0]],
    'a page by a sort, then by id downwards': [
      [products({ sort: [up('price'), down('id')] })],
      [2, 20, 0],
    ],
    'a page of a filter and a sort with an index for each': [
      [products({ where: [equals('category')], sort: [up('name')] })],
      [2, 20, 0, 'x'],
    ],
    'a page of a filter without an index': [
      [products({ where: [equals('stock')] })],
      [2, 20, 0, 1],
    ],
    'a page of a range': [[products({ where: [comparing('price', 'gte', 3)] })], [2, 20, 0, 1]],
    'a search': [[products({ where: [comparing('nameKey', 'contains', 3)] })], [2, 20, 0, 'lamp']],
    'a total that must be counted': [
      [root('post', [field('id')], { where: [equals('authorId')], total: true })],
      [2, 20, 0, 2],
    ],
    'all rows': [[products({ page: null })], [2]],
    'a page by what no index serves': [[products({ sort: [up('stock')] })], [2, 20, 0]],
    'a page by a field of another row': [
      [root('post', [], { sort: [{ path: ['author'], field: 'name', descending: false }] })],
      [2, 20, 0],
    ],
    'a page after a place among rows that may be equal to it without end': [
      [products({ sort: [up('price')], keyset: { seal: 3, after: [4, 5], backwards: false } })],
      [2, 20, 0, 'seal', 5, 5],
    ],
    'a page below each row in an order that no index serves': [
      [
        root('user', [
          {
            ...relation('posts', [], [2, 3]),
            kind: 'relation',
            relation: 'posts',
            sort: [up('title')],
          } as Item,
        ]),
      ],
      [2, 20, 0, 5],
    ],
    'an offset above the limit beside a row by its id': [
      [one('user', [field('name')]), products()],
      [2, 100, 901],
    ],
    'an offset above the limit': [[products()], [2, 100, 901]],
    'offsets above the limit together': [
      [products(), products()],
      [2, 20, 490],
    ],
    'the same tree with larger pages': [tree, [2, 10, 0, null, 20, 4]],
    'many long texts': [[root('post', [field('content')])], [2, 100, 0]],
  },
}

for (const [lane, asked] of Object.entries(reads))
  for (const [title, [roots, parameters]] of Object.entries(asked)) {
    test(`${title}: a read of the ${lane} lane`, () => {
      assert.equal(laneFor(roots, parameters), lane)
    })
    test(`${title}: a slow read without any quick rows`, () => {
      assert.equal(laneFor(roots, parameters, 0), 'slow')
    })
  }
