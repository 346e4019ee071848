/** The currency of a store with amounts: another with other decimals would make each of them another amount. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { loadConfig } from '#config.ts'
import content from '#content/duet.config.ts'
import { prepare } from '#serve/prepare.ts'
import { command } from '#test/commands.ts'
import { folderOf } from '#test/duet.ts'

const { folder, freshStore } = folderOf('currency')
const file = join(folder, 'products.ndjson')
writeFileSync(file, '{"name":"Mug","category":"kitchen","price":5}\n')

test('a store with amounts is opened under no currency with other decimals, and keeps them', async () => {
  const { settings } = await freshStore()
  const under = (DUET_CURRENCY: string, ...args: readonly string[]) =>
    command(args, { ...settings, DUET_CURRENCY })
  const ada = ['user', 'add', '--name', 'Ada', '--email', 'ada@example.org']
  assert.equal((await under('USD', ...ada)).code, 0)
  // There is no amount yet.
  assert.equal((await under('KWD', 'import', 'products', file)).code, 0)
  for (const args of [['serve'], ['import', 'products', file], ['export', 'products']] as const) {
    const { code, stderr, stdout } = await under('USD', ...args)
    assert.deepEqual([code, stdout], [1, ''], args[0])
    assert.match(stderr, /amounts in KWD, with 3 decimals, and USD has 2: .* back to KWD, or/)
  }
  // Of as many decimals.
  assert.match((await under('BHD', 'export', 'products')).stdout, /"price":5,/)
})

test('amounts of a store that remembers no decimals have those with which they were made', async () => {
  const { settings, change } = await freshStore()
  const inForints = (...args: readonly string[]) =>
    command(args, { ...settings, DUET_CURRENCY: 'HUF' })
  assert.equal((await inForints('import', 'products', file)).code, 0)
  const refused = async () => {
    const { code, stderr } = await inForints('export', 'products')
    assert.equal(code, 1)
    assert.match(stderr, /in HUF with 0 decimals, and this release counts 2: .* export them with/)
  }
  const remembers = (text: string) =>
    change(`update secrets set value = ?1 where name = 'currency'`, new TextEncoder().encode(text))
  await remembers('HUF')
  await refused()
  await remembers('HUF 2')
  assert.match((await inForints('export', 'products')).stdout, /"price":5,/)
  await change(`delete from secrets where name = 'currency'`)
  await refused()
})

test('an empty store in development begins with the demo in any currency, its prices rounded to the decimals', async () => {
  for (const [DUET_CURRENCY, prices] of [
    ['USD', [7990, 1450, 995, 11900, 1825, 6400]],
    ['JPY', [80, 15, 10, 119, 18, 64]],
    ['KWD', [79900, 14500, 9950, 119000, 18250, 64000]],
  ] as const) {
    const { settings, rows } = await freshStore()
    const config = loadConfig({ ...settings, DUET_CURRENCY }, content.settings)
    const release = await prepare({ config, content }, true, () => {})
    release()
    const stored = await rows('select price from products order by id')
    assert.deepEqual(
      stored.map(([price]) => Number(price)),
      prices,
      DUET_CURRENCY,
    )
  }
})
