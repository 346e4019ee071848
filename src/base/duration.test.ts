import assert from 'node:assert/strict'
import { test } from 'node:test'
import { duration } from '#base/duration.ts'

test('a time is a whole number and its unit', () => {
  const times = { '0s': 0, '250ms': 250, '90s': 90_000, '15m': 900_000, '48h': 172_800_000 }
  for (const [text, milliseconds] of Object.entries(times))
    assert.equal(duration(text), milliseconds)
  for (const text of ['', '5', 's', '1.5s', '-1s', '1 s', '1S', '1d', '1234567s', '1h30m'])
    assert.equal(duration(text), undefined, text)
})
