import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Entity, entity } from '#model/entity.ts'
import { choice, created, id, money, text } from '#model/field.ts'
import type { Model } from '#model/model.ts'
import { anyone } from '#model/policy.ts'
import { differencesOf } from '#versions/differences.ts'
import { versions } from '../../test/support/library/versions.ts'
import { roles } from '../../test/support/roles.ts'

const song: Entity = entity({
  table: 'songs',
  plural: 'songs',
  description: '',
  fields: {
    id: id(),
    title: text({ max: 10 }),
    mood: choice(['merry', 'sad'], { until: { 1: { form: { values: { merry: 'glad' } } } } }),
    fee: money({ max: 9, until: { 1: { name: 'price', form: 'as text' } } }),
    nick: text({ max: 10, last: 1, sunset: '2027-08-01' }),
    madeAt: created(),
  },
  policy: { read: anyone },
  links: { self: '/songs/{id}', cover: { href: '/songs/{id}/cover', since: 2 } },
  rest: {
    list: true,
    one: true,
    listing: {
      paging: 'page',
      limit: 10,
      sort: { style: 'signed list', fields: ['title', { by: '-madeAt', since: 2 }] },
      filters: {
        title: { kind: 'equals', field: 'title' },
        nick: { kind: 'equals', field: 'nick' },
      },
    },
  },
})

/** What version 1 has, and what all others have. */
const ways = (first: string, others: string) =>
  versions.all.map(version => (version === 1 ? first : others))

const modelWith = (entities: Model['entities']): Model => ({
  entities,
  viewers: { entity: 'song', blocked: { field: 'mood', value: 'sad' }, roles },
  versions,
  settings: { switches: {}, currency: { code: 'USD', digits: 2 }, values: {} },
})

const ofWhole = [
  'Lists',
  'Errors',
  'Unknown query parameters and values of `sort`',
  'Words in a filter that its field does not have',
]

test('the versions as a whole differ in lists, errors and what is unknown', () => {
  const found = differencesOf(modelWith({}), [])
  assert.deepEqual(
    found.map(({ what }) => what),
    ofWhole,
  )
  for (const { ways } of found) assert.equal(new Set(ways).size, 2)
})

test('the parts of a resource that versions have differently are told, and no others', () => {
  const found = differencesOf(modelWith({ song }), []).slice(ofWhole.length)
  assert.deepEqual(Object.fromEntries(found.map(({ what, ways }) => [what, ways])), {
    'Members of songs': ways(
      '`mood` with `glad` for `merry`, `price` as text, `nick`',
      '`mood`, `fee`',
    ),
    'Links of songs': ways('none of its own', '`cover`'),
    'Filters of songs': ways('`nick`', 'none of its own'),
    'Values of `sort` of songs': ways('none of its own', '`-madeAt`'),
  })
})

test('a request that one version takes is told, and one that all take is not', () => {
  const routes = [
    { method: 'GET', path: '/songs' },
    { method: 'POST', path: '/songs/:id/sing', since: 2 },
  ] as const
  const [found, ...others] = differencesOf(modelWith({}), routes).slice(ofWhole.length)
  assert.deepEqual(found, {
    what: 'Requests',
    ways: ways('none of its own', '`POST /songs/:id/sing`'),
  })
  assert.deepEqual(others, [])
})

test('an entity that nobody may read is left out', () => {
  const { read: _, ...policy } = song.policy
  assert.equal(differencesOf(modelWith({ song: { ...song, policy } }), []).length, ofWhole.length)
})
