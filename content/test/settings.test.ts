import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadConfig } from '#config.ts'
import content from '#content/duet.config.ts'
import { ConfigError } from '#settings.ts'

for (const [name, value, message] of [
  ['DUET_SIGNUP', 'yes', 'must be open or closed'],
  ['DUET_CURRENCY', 'euro', 'must be an ISO 4217 code, such as USD'],
  ['DUET_CURRENCY', 'usd', 'must be an ISO 4217 code, such as USD'],
  ['DUET_CURRENCY', 'XYZ', 'must be an ISO 4217 code, such as USD'],
] as const)
  test(`${name}=${value} is refused by name, without its value`, () => {
    assert.throws(
      () => loadConfig({ [name]: value }, content.settings),
      new ConfigError(`${name} ${message}`),
    )
  })
