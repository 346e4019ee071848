import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Histogram, Registry } from 'prom-client'
import { createHistogram } from '#metrics/histogram.ts'

const lines = async (registry: Registry): Promise<readonly string[]> =>
  (await registry.metrics())
    .split('\n')
    .filter(line => line !== '')
    .sort()

test('a histogram prints what that of prom-client prints for the same values', async () => {
  const shape = { name: 'tried_seconds', help: 'Tries.', buckets: [0.001, 0.5, 1, 10] }
  const [own, theirs] = [new Registry(), new Registry()]
  const mine = createHistogram(own, { ...shape, labels: ['method', 'route'] })
  const reference = new Histogram({
    ...shape,
    labelNames: ['method', 'route'],
    registers: [theirs],
  })
  const labels = [
    ['GET', '/a/:id'],
    ['GET', ''],
    ['POST', 'a "quoted" \\ one\nwith two lines'],
  ] as const
  for (const [method, route] of labels)
    for (const value of [0, 0.001, 0.0011, 0.5, 0.75, 3, 10, 10.5, 1e6]) {
      mine.series(method, route).observe(value)
      reference.observe({ method, route }, value)
    }
  assert.deepEqual(await lines(own), await lines(theirs))
})

test('the series of the same labels is the same one', () => {
  const histogram = createHistogram(new Registry(), {
    name: 'n',
    help: 'h',
    labels: ['one', 'two'],
    buckets: [1],
  })
  assert.equal(histogram.series('a', 'b'), histogram.series('a', 'b'))
  assert.notEqual(histogram.series('a', 'b'), histogram.series('b', 'a'))
})
