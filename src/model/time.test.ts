import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isDay } from '#base/dates.ts'
import { isMoment } from '#model/time.ts'

const days = ['2026-01-31', '2024-02-29', '2000-02-29', '0000-02-29', '9999-12-31']
const none = [
  ...['2026-02-29', '1900-02-29', '2026-02-30', '2026-04-31', '2026-13-01', '2026-00-10'],
  ...['2026-01-00', '2026-01-32', '2026-1-31', '26-01-31', '+002026-01-31', ' 2026-01-31'],
  ...['2026-01-31\n', '2026-01-31T00:00:00Z', '', 'today'],
]

test('a day is one that the calendar has, leap days among them', () => {
  assert.deepEqual([...days, ...none].filter(isDay), days)
})

test('a moment is such a day with a time to the second or finer, in UTC', () => {
  const moments = ['T00:00:00Z', 'T23:59:59.999Z', 'T09:30:00.1Z', 'T09:30:00.123456789Z']
  const bad = [
    ...['', 'T09:30Z', 'T24:00:00Z', 'T09:60:00Z', 'T09:30:60Z', 'T09:30:00.Z', 'T09:30:00,1Z'],
    ...['T09:30:00', 'T09:30:00+00:00', 't09:30:00z', ' 09:30:00Z', 'T9:30:00Z', 'T09:30:00Z\n'],
  ]
  const all = [...moments, ...bad].map(time => `2024-02-29${time}`)
  assert.deepEqual(all.filter(isMoment), all.slice(0, moments.length))
  assert.equal(isMoment('2026-02-29T09:30:00Z'), false)
})
