import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addMonths, duration, isDay } from './dates.ts'

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
  const days = ['2026-01-31', '2024-02-29', '2000-02-29', '0000-02-29', '9999-12-31']
  const none = [
    ...['2026-02-29', '1900-02-29', '2026-02-30', '2026-04-31', '2026-13-01', '2026-00-10'],
    ...['2026-01-00', '2026-01-32', '2026-1-31', '26-01-31', '+002026-01-31', ' 2026-01-31'],
    ...['2026-01-31\n', '2026-01-31T00:00:00Z', '2026-11-22T00:00', '', 'today'],
  ]
  assert.deepEqual([...days, ...none].filter(isDay), days)
})

test('a time is a whole number and its unit', () => {
  const times = { '0s': 0, '250ms': 250, '90s': 90_000, '15m': 900_000, '48h': 172_800_000 }
  for (const [text, milliseconds] of Object.entries(times))
    assert.equal(duration(text), milliseconds)
  for (const text of ['', '5', 's', '1.5s', '-1s', '1 s', '1S', '1d', '1234567s', '1h30m'])
    assert.equal(duration(text), undefined, text)
})
