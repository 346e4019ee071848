/** What an imported row becomes: the values that are stored, or its faults. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { anonymous } from '#model/policy.ts'
import { check } from '../../test/support/inputs.ts'

test('an import that gives a field by two of its names is at fault', () => {
  const at = '2026-01-31T09:30:00.000Z'
  assert.deepEqual(
    check({ name: 'A', ownerId: 1, createdAt: at, created_at: at }, 'import').faults,
    {
      created_at: 'is the same as createdAt, which is given too',
    },
  )
})

test('an import must give a reference that would be to its viewer, and that may not be null', () => {
  assert.deepEqual(check({ name: 'A' }, 'import', { viewer: anonymous }).faults, {
    ownerId: 'is required',
  })
})

test('an import may give ids, times and what else the service sets, but nothing internal', () => {
  const row = {
    id: 5,
    name: 'A',
    done: true,
    state: 'old',
    ownerId: 9,
    created_at: '2026-01-31T09:30:00.000Z',
  }
  const { values, faults } = check(row, 'import', { viewer: anonymous })
  assert.deepEqual(faults, {})
  assert.equal(values.id, 5)
  assert.equal(values.done, 1)
  assert.equal(values.createdAt, Date.UTC(2026, 0, 31, 9, 30))
  assert.deepEqual(check({ name: 'A', ownerId: 1, revision: 3, nameKey: 'x' }, 'import').faults, {
    revision: 'is not a member of a thing',
    nameKey: 'is not a member of a thing',
  })
})
