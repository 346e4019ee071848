/** Rows whose reference becomes null because its row was deleted: another revision, another ETag, no answer from before. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Entity, entity, one } from '#model/entity.ts'
import { choice, folded, id, reference, revision, text } from '#model/field.ts'
import { self, signedIn } from '#model/policy.ts'
import { connected } from '../postgres/tools/ask.ts'
import { changeIn } from '../stores.ts'
import { forAllTests } from '../support/fixture.ts'
import { until } from '../support/wait.ts'
import { engines } from './compare.ts'
import { allRoutes, bySignedIn, member } from './models.ts'
import { serveWithMembers } from './serve.ts'

const rest = {
  ...allRoutes,
  listing: { paging: 'page', limit: 5 },
}
const graphql = { mutations: ['create', 'update', 'delete'] }

/** An entity with these references beside its name and revision. */
const withReferences = (table: string, references: Entity['fields'], more: object = {}): Entity =>
  entity({
    table,
    plural: table,
    description: '',
    fields: {
      id: id(),
      name: text({ max: 9, nullable: true }),
      ...references,
      revision: revision(),
    },
    policy: bySignedIn,
    rest,
    graphql,
    ...more,
  } as never) as unknown as Entity

/** The same without updates, and so without a revision. */
const lasting = (table: string, references: Entity['fields']): Entity => {
  const fields = { id: id(), ...references }
  const writes = ['create', 'delete']
  return entity({
    table,
    plural: table,
    description: '',
    fields,
    policy: { read: signedIn, create: signedIn, delete: signedIn },
    rest: { ...rest, writes },
    graphql: { mutations: writes },
  } as never) as unknown as Entity
}

const loose = { immutable: false, nullable: true, onDelete: 'set null' } as const
const bound = { immutable: false, nullable: true, onDelete: 'cascade' } as const

/** A text that another field takes back, and its folded copy; one of what both references name. */
const takenBack = {
  label: text({ max: 9, initial: { value: 'Näw' }, resetBy: 'placeId' }),
  labelKey: folded('label'),
  checkedId: reference('thing', {
    ...loose,
    resetBy: 'placeId',
  }),
}

/** A place in another one, which goes with it; a thing goes with its place, an item names both and another item. */
const entities = {
  member,
  place: withReferences('places', {
    insideId: reference('place', bound),
    besideId: reference('place', bound),
  }),
  thing: withReferences('things', { placeId: reference('place', bound) }),
  part: withReferences('parts', { thingId: reference('thing', bound) }),
  mark: lasting('marks', {
    placeId: reference('place', loose),
    thingId: reference('thing', loose),
    partId: reference('part', loose),
  }),
  note: lasting('notes', { placeId: reference('place', loose), ...takenBack }),
  item: withReferences(
    'items',
    {
      placeId: reference('place', loose),
      thingId: reference('thing', loose),
      otherId: reference('item', loose),
      ownerId: reference('member', { onDelete: 'cascade', initial: 'viewer' }),
      state: choice(['new', 'checked'], { initial: { value: 'new' }, resetBy: 'thingId' }),
    },
    {
      relations: { other: one('item', 'otherId') },
      policy: { ...bySignedIn, delete: self('other.ownerId') },
    },
  ),
}

for (const on of engines)
  describe(`on ${on}`, () => {
    const service = forAllTests(() => serveWithMembers(entities, on, 'Ada', 'Ben'))

    const ask = async (
      line: string,
      { body, headers = {} }: { body?: unknown; headers?: Record<string, string> } = {},
    ) => {
      const answer = await service.ask({ line, as: 'admin', body, headers })
      const json = answer.text === '' ? undefined : JSON.parse(answer.text)
      return { status: answer.status, json, etag: answer.headers.get('etag') ?? '' }
    }
    const make = async (kind: string, body: object = {}): Promise<string> => {
      const { status, json } = await ask(`POST /api/${kind}`, { body })
      assert.equal(status, 201, JSON.stringify(json))
      return `/api/${kind}/${json.id}`
    }
    const idOf = (path: string) => Number(path.split('/').at(-1))
    const remove = async (path: string, headers = {}) => {
      const { status, json } = await ask(`DELETE ${path}`, { headers })
      assert.equal(status, 204, JSON.stringify(json))
    }

    /** Reads a row often enough that its answer is cached, does something, and gives the answers before and after. */
    const around = async (path: string, work: () => Promise<void>) => {
      for (let times = 0; times < 3; times++) await ask(`GET ${path}`)
      const then = await ask(`GET ${path}`)
      await work()
      return { then, now: await ask(`GET ${path}`) }
    }

    test('a reference that becomes null is a change: the ETag from before holds no more', async () => {
      const place = await make('places')
      const item = await make('items', { placeId: idOf(place) })
      const { then, now } = await around(item, () => remove(place))
      assert.deepEqual([then.json.placeId, now.json.placeId], [idOf(place), null])
      assert.notEqual(now.etag, then.etag)
      const again = await ask(`GET ${item}`, { headers: { 'If-None-Match': then.etag } })
      assert.equal(again.status, 200)
      const body = { name: 'late' }
      const lost = await ask(`PATCH ${item}`, { body, headers: { 'If-Match': then.etag } })
      assert.equal(lost.status, 412)
      const held = await ask(`PATCH ${item}`, { body, headers: { 'If-Match': now.etag } })
      assert.equal(held.status, 200)
    })

    /** The revision in the ETag of a row. */
    const revisionOf = async (path: string) =>
      Number(/^"[a-z]+-\d+-(\d+)-/.exec((await ask(`GET ${path}`)).etag)?.[1])

    test('a row whose references become null with rows that go too has one more revision', async () => {
      const top = await make('places')
      const inside = await make('places', { insideId: idOf(top) })
      const beside = await make('places', { besideId: idOf(inside) })
      const thing = await make('things', { placeId: idOf(beside) })
      const item = await make('items', { placeId: idOf(inside), thingId: idOf(thing) })
      const other = await make('items', {
        otherId: idOf(item),
        placeId: idOf(await make('places')),
      })
      const { then, now } = await around('/api/items', () => remove(top))
      const rowsOf = ({ json }: typeof now) =>
        json.data.filter(({ id }: { id: number }) => id === idOf(item))
      assert.equal(rowsOf(then)[0]?.thingId, idOf(thing))
      const { placeId, thingId } = rowsOf(now)[0] ?? {}
      assert.deepEqual([placeId, thingId], [null, null])
      assert.deepEqual([await revisionOf(item), await revisionOf(other)], [2, 1])
    })

    test('three references of a row without a revision become null with rows that go too, one after another', async () => {
      for (const depth of [0, 1, 2, 3]) {
        const top = idOf(await make('places'))
        let at = idOf(await make('places', { insideId: top }))
        const thingId = idOf(await make('things', { placeId: at }))
        for (let down = 0; down < depth; down++) at = idOf(await make('places', { insideId: at }))
        const below = idOf(await make('things', { placeId: at }))
        const partId = idOf(await make('parts', { thingId: below }))
        const mark = await make('marks', { placeId: top, thingId, partId })
        await remove(`/api/places/${top}`)
        const { json } = await ask(`GET ${mark}`)
        assert.deepEqual(json, { id: idOf(mark), placeId: null, thingId: null, partId: null })
      }
    })

    test('a row whose rule leads over a reference to itself is deleted by its ETag, and others that refer to it change', async () => {
      const item = await make('items')
      const body = { otherId: idOf(item) }
      const { etag } = await ask(`PATCH ${item}`, { body })
      const other = await make('items', body)
      await remove(item, { 'If-Match': etag })
      assert.equal(await revisionOf(other), 2)
    })

    test('what the change of a reference takes back is taken back where a delete makes it null', async () => {
      const place = await make('places')
      const [kept, gone] = [await make('things'), await make('things', { placeId: idOf(place) })]
      const item = await make('items', { thingId: idOf(gone), state: 'checked' })
      const other = await make('items', { thingId: idOf(kept), state: 'checked' })
      const given = { placeId: idOf(place), label: 'Mine' }
      const notes = [
        await make('notes', { ...given, checkedId: idOf(kept) }),
        await make('notes', { ...given, checkedId: idOf(gone) }),
      ]
      await remove(place)
      const shown = async (path: string) => (await ask(`GET ${path}`)).json
      assert.deepEqual([(await shown(item)).thingId, (await shown(item)).state], [null, 'new'])
      assert.equal((await shown(other)).state, 'checked')
      for (const note of notes) {
        const { placeId, label, checkedId } = await shown(note)
        assert.deepEqual([placeId, label, checkedId], [null, 'Näw', null])
      }
      const rows = await changeIn(service.store)('select label_key from notes')
      assert.deepEqual(rows, [['näw'], ['näw']])
    })

    test('a delete that is refused changes no row that refers to it', async () => {
      const place = await make('places')
      const { etag } = await ask(`GET ${place}`)
      const item = await make('items', { placeId: idOf(place) })
      await ask(`PATCH ${place}`, { body: { name: 'new' } })
      const { status } = await ask(`DELETE ${place}`, { headers: { 'If-Match': etag } })
      assert.equal(status, 412)
      assert.equal((await ask(`GET ${item}`)).json.placeId, idOf(place))
      assert.equal(await revisionOf(item), 1)
    })

    // On SQLite one write comes after another.
    const racing = on === 'postgres' ? test : () => {}
    racing(
      'a row that begins to refer during the delete has a revision of its own for that too',
      async () => {
        const place = await make('places')
        const item = await make('items')
        const other = await connected(service.url ?? '')
        await other.query('begin')
        await other.query('update items set place_id = $1, revision = 2 where id = $2', [
          idOf(place),
          idOf(item),
        ])
        const removed = remove(place)
        await until('the delete waits for the other transaction', async () => {
          const { rows } = await other.query(`select 1 from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`)
          return rows.length > 0
        })
        await other.query('commit')
        await removed
        await other.end()
        assert.equal((await ask(`GET ${item}`)).json.placeId, null)
        assert.equal(await revisionOf(item), 3)
      },
    )
  })
