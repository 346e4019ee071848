/** Imported rows that refer to later rows of their kind by a unique field, or in a kind that is never changed, and files of embedded rows, on each engine. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { describe, test } from 'node:test'
import { exporting, hasFiles, importing } from '#cli/transfer/files.ts'
import { kindsOf } from '#cli/transfer/kinds.ts'
import { plainRows } from '#cli/transfer/rows-in.ts'
import { pagesOf } from '#cli/transfer/rows-out.ts'
import type { Content, InputRow } from '#content.ts'
import { folderStore } from '#files/folder.ts'
import { type Entity, entity, many } from '#model/entity.ts'
import { file, id, reference } from '#model/field.ts'
import { entityOf } from '#model/model.ts'
import { anonymous, signedIn } from '#model/policy.ts'
import { filling } from '../stores.ts'
import { forAllTests } from '../support/fixture.ts'
import { ownFolder } from '../support/folders.ts'
import { engines } from './compare.ts'
import { member } from './models.ts'
import { modelFor, serveModel } from './serve.ts'

const kind = (table: string, nextId: object, more: object = {}): Entity =>
  entity({
    table,
    plural: table,
    description: '',
    fields: { id: id(), nextId },
    policy: { read: signedIn, create: signedIn },
    rest: { list: true, one: true, listing: { paging: 'page', limit: 5 } },
    ...more,
  } as never) as unknown as Entity

const entities = {
  member,
  stage: kind(
    'stages',
    reference('stage', { onDelete: 'cascade', nullable: true, unique: 'CONFLICT' }),
  ),
  event: kind('events', reference('event', { nullable: true, onDelete: 'restrict' }), {
    appendOnly: true,
  }),
  crate: kind('crates', reference('crate', { nullable: true, onDelete: 'restrict' }), {
    relations: { labels: many('label', 'nextId') },
    rest: {
      ...{ list: true, one: true, listing: { paging: 'page', limit: 5 } },
      embedded: { labels: { after: 'nextId' } },
    },
  }),
  label: kind('labels', reference('crate', { onDelete: 'cascade' }), {
    fields: {
      id: id(),
      nextId: reference('crate', { onDelete: 'cascade' }),
      paper: file({ accept: ['application/pdf'], max: '1 kB' }),
    },
  }),
}
const model = modelFor(entities)

for (const on of engines)
  describe(`on ${on}`, () => {
    const service = forAllTests(() => serveModel(entities, on))

    /** Puts rows in as an import does; gives the faults of its lines, and the rows that are there then. */
    const imported = (what: 'stage' | 'event', list: readonly InputRow[]) =>
      filling(service.store, async line => {
        const own = entityOf(model, what)
        const use = { mode: 'import', viewer: anonymous, now: 0, model, what } as const
        const { put, settle } = plainRows({ ...line, model }, own, use)
        const faults: string[] = []
        const tell = (at: number, found: readonly { field: string; message: string }[]) => {
          for (const { field, message } of found) faults.push(`${at}: ${field} ${message}`)
        }
        for (const [index, row] of list.entries()) tell(index + 1, await put(row, index + 1))
        for (const late of await settle()) tell(late.line, late.faults)
        const text = `select id, next_id from ${own.table} order by id`
        const rows = await line.session.query({ text, values: [] })
        return { faults, rows: rows.map(row => row.map(value => value && Number(value))) }
      })

    test('of two rows with one reference to a later row the second is at fault, and so is what leads to it', async () => {
      const { faults, rows } = await imported('stage', [
        { id: 1, nextId: 4 },
        { id: 2, nextId: 4 },
        { id: 3, nextId: 2 },
        { id: 4 },
      ])
      assert.deepEqual(faults, [
        '2: nextId is in use already',
        '3: nextId names stage 2, which does not exist',
      ])
      assert.deepEqual(rows, [
        [1, 4],
        [4, null],
      ])
    })

    test('embedded rows are a kind of their own, unless the content imports them with their row', async () => {
      const kinds = (transfer: Content['transfer']) =>
        kindsOf({ entities: model.entities, transfer } as Content)
      assert.ok(!('labels' in kinds({ crate: { rows: () => async () => [] } })))
      const { labels, crates = assert.fail() } = kinds({})
      assert.equal(labels?.entity, 'label')
      await filling(service.store, async line => {
        assert.deepEqual((await pagesOf({ ...line, model }, crates)).header, ['id', 'nextId'])
      })
    })

    test('files of embedded rows go along with the row that they are embedded in', async () => {
      const crate = entityOf(model, 'crate')
      const kind = { entity: 'crate', also: [], foreign: {} }
      assert.ok(hasFiles(model, { ...kind, rows: () => async () => [] }) && !hasFiles(model, kind))
      const folder = ownFolder('embedded-files')
      const [path, other] = [join(folder, 'crates.ndjson'), folderStore(join(folder, 'other'))]
      const { store: from } = service.core.files ?? assert.fail()
      const raw = Buffer.from('%PDF-1.7\nof a crate\n')
      const { digest, bytes } = await from.put(Readable.from([raw]))
      const kept = {
        digest,
        name: 'a.pdf',
        type: 'application/pdf',
        bytes,
        width: null,
        height: null,
      }
      const row = (paper: unknown) => ({ id: 1, labels: [{ id: 3, paper }] })
      const shown = await exporting(from, model, crate, path)(row(kept))
      const beside = { path: `crates.files/${digest}`, name: 'a.pdf', type: 'application/pdf' }
      assert.deepEqual(shown, row(beside))
      await filling(service.store, async line => {
        const take = importing(other, { ...line, model }, crate, path)
        assert.deepEqual(await take(shown), { row: row(JSON.stringify(kept)), faults: [] })
        const { faults } = await take(row('none.pdf'))
        assert.deepEqual(faults, [
          { field: 'labels.0.paper', message: 'names none.pdf, where no file is' },
        ])
      })
      assert.equal(await other.size(digest), bytes)
    })

    test('rows that are never changed may refer to themselves and to earlier ones', async () => {
      const { faults, rows } = await imported('event', [
        { id: 5, nextId: 5 },
        { id: 3, nextId: 5 },
        { id: 6, nextId: 7 },
        { id: 7 },
      ])
      assert.deepEqual(faults, ['3: nextId names event 7, which does not exist'])
      assert.deepEqual(rows, [
        [3, 5],
        [5, 5],
        [7, null],
      ])
    })
  })
