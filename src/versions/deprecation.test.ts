import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type DeprecationDays, lifecycleOn, shortNotice } from '#versions/deprecation.ts'

const usual: DeprecationDays = {
  version: 1,
  from: '2027-01-01',
  sunset: '2027-08-01',
  header: 'true',
  holds: 'sunset',
}
const withNotice: DeprecationDays = { ...usual, holds: 'notice' }

/** The state and the end of a version on a day, announced first on another. */
const on = (deprecation: DeprecationDays, today: string, announced?: string) => {
  const { state, end } = lifecycleOn(deprecation, today, announced)
  return [state, end]
}

test('a version is offered the day before, deprecated from the day on, and withdrawn from its last day on', () => {
  for (const [today, state] of [
    ['2026-12-31', 'offered'],
    ['2027-01-01', 'deprecated'],
    ['2027-01-02', 'deprecated'],
    ['2027-07-31', 'deprecated'],
    ['2027-08-01', 'withdrawn'],
    ['2027-08-02', 'withdrawn'],
  ] as const)
    assert.deepEqual(on(usual, today), [state, '2027-08-01'])
  assert.deepEqual(on({ ...usual, sunset: undefined }, '2099-01-01'), ['deprecated', undefined])
})

test('where the notice holds, a version goes on until callers were told for six months', () => {
  for (const [today, announced, state, end] of [
    // Announced in time.
    ['2027-07-31', '2027-01-01', 'deprecated', '2027-08-01'],
    ['2027-08-01', '2027-02-01', 'withdrawn', '2027-08-01'],
    // Announced a month late.
    ['2027-08-01', '2027-03-01', 'deprecated', '2027-09-01'],
    ['2027-08-31', '2027-03-01', 'deprecated', '2027-09-01'],
    ['2027-09-01', '2027-03-01', 'withdrawn', '2027-09-01'],
    // Never announced before: today is the first day.
    ['2027-08-01', undefined, 'deprecated', '2028-02-01'],
    // The announcement of an earlier deprecation does not count for this one.
    ['2027-06-01', '2020-01-01', 'deprecated', '2027-08-01'],
    // The same day of a month that does not have it is the month's last.
    ['2027-08-01', '2027-08-31', 'deprecated', '2028-02-29'],
    ['2028-02-28', '2027-08-31', 'deprecated', '2028-02-29'],
    ['2028-02-29', '2027-08-31', 'withdrawn', '2028-02-29'],
    ['2028-08-28', '2028-02-29', 'deprecated', '2028-08-29'],
    ['2028-08-29', '2028-02-29', 'withdrawn', '2028-08-29'],
  ] as const)
    assert.deepEqual(
      on(withNotice, today, announced),
      [state, end],
      `${today} announced ${announced}`,
    )
  // Where the sunset holds, it holds however late it was announced.
  assert.deepEqual(on(usual, '2027-08-01', '2027-07-01'), ['withdrawn', '2027-08-01'])
})

test('an operator learns how many days of notice are missing, and what to do', () => {
  assert.equal(shortNotice(usual, '2027-07-20', '2027-01-01'), undefined)
  assert.equal(shortNotice(usual, '2026-12-01'), undefined)
  assert.equal(shortNotice(usual, '2027-02-01'), undefined)
  assert.equal(shortNotice({ ...usual, sunset: undefined }, '2027-07-01'), undefined)
  assert.equal(
    shortNotice(usual, '2027-07-20', '2027-07-01'),
    'version 1 ends on 2027-08-01, and callers will have been told for 31 days of the 184 that 6 months have: set DUET_V1_SUNSET to 2028-01-01 or a later day, or DUET_NOTICE to kept',
  )
  assert.match(shortNotice(usual, '2027-02-02') ?? '', /told for 180 days of the 181 .* 2027-08-02/)
  assert.equal(
    shortNotice(usual, '2027-08-01'),
    'version 1 ended on 2027-08-01, and callers had been told for 0 days of the 184 that 6 months have: set DUET_V1_SUNSET to 2028-02-01 or a later day, or DUET_NOTICE to kept',
  )
  assert.match(shortNotice(usual, '2027-09-01') ?? '', /told for 0 days of the 182 /)
  assert.equal(
    shortNotice(withNotice, '2027-07-20', '2027-07-01'),
    'version 1 was to end on 2027-08-01, when callers will have been told for 31 days of the 184 that 6 months have: it goes on until 2028-01-01, as DUET_NOTICE=kept says',
  )
  assert.match(
    shortNotice(withNotice, '2027-12-31', '2027-07-01') ?? '',
    /was to end on 2027-08-01, when callers had been told for 31 days .* it goes on until 2028-01-01,/,
  )
  assert.match(
    shortNotice(withNotice, '2028-01-01', '2027-07-01') ?? '',
    /when callers had been told for 31 days .* it went on until 2028-01-01,/,
  )
})
