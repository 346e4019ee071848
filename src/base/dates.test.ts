import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addMonths, isDay } from '#base/dates.ts'

test('six months later is the same day, or the last day of a month that is too short for it', () => {
  for (const [day, later] of [
    ['2026-11-22', '2027-05-22'],
    ['2026-08-31', '2027-02-28'],
    ['2027-08-31', '2028-02-29'],
    ['2027-08-29', '2028-02-29'],
    ['2026-12-31', '2027-06-30'],
    ['2028-02-29', '2028-08-29'],
    ['2026-07-01', '2027-01-01'],
  ] as const)
    assert.equal(addMonths(day, 6), later, day)
})

test('a day is one that the calendar has, written as YYYY-MM-DD', () => {
  for (const text of ['2026-11-22', '2028-02-29', '2026-12-31']) assert.ok(isDay(text), text)
  for (const text of ['2027-02-29', '2026-13-01', '2026-1-1', '2026-11-22T00:00', '', 'soon'])
    assert.ok(!isDay(text), text)
})
