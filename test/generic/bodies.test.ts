/** Bodies for sets that the service completes: one review of a thing by each viewer. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bodyIfAny } from '#check/bodies.ts'
import type { RowsReference } from '#check/reference.ts'
import { rowCount } from '#check/rows.ts'
import { type Entity, entity } from '#model/entity.ts'
import { fixed, id, reference } from '#model/field.ts'
import { defineModel } from '#model/model.ts'
import { anyone, signedIn } from '#model/policy.ts'
import { member } from '../generated/models.ts'
import { modelFor } from '../generated/serve.ts'
import { thing } from '../generated/thing.ts'

const review: Entity = entity({
  table: 'reviews',
  plural: 'reviews',
  description: '',
  fields: {
    id: id(),
    thingId: reference('thing'),
    authorId: reference('member', { ...fixed, initial: 'viewer' }),
  },
  sets: [['thingId', 'authorId']],
  policy: { read: anyone, create: signedIn },
  rest: { list: true, one: true, listing: { paging: 'page', limit: 10 }, writes: ['create'] },
})

test('a body leaves out what the viewer has with others already, though it does not name the viewer', () => {
  const model = modelFor(defineModel({ member, thing, review } as never))
  const viewer = { id: 3, role: 'user' }
  const reviewed = Array.from({ length: rowCount - 3 }, (_, n) => ({ thingId: n + 1, authorId: 3 }))
  const rows = { rowsIn: () => reviewed } as unknown as RowsReference
  const given = { model, entity: 'review', version: undefined, mode: 'create', viewer } as const
  for (let n = 0; n < rowCount; n++)
    assert.deepEqual(bodyIfAny({ ...given, reference: rows, n }), { thingId: rowCount - 2 })
})
