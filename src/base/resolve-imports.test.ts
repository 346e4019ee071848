import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import '#base/resolve-imports.ts'

const root = new URL('../../', import.meta.url)

test('modules are found where package.json has them', () => {
  const { imports } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'))
  assert.deepEqual(imports, {
    '#content/*': './content/*',
    '#kit/*': './kit/*',
    '#test/*': './test/*',
    '#*': './src/*',
  })
  assert.equal(
    import.meta.resolve('#base/resolve-imports.ts'),
    new URL('resolve-imports.ts', import.meta.url).href,
  )
  assert.equal(
    import.meta.resolve('#content/duet.config.ts'),
    new URL('content/duet.config.ts', root).href,
  )
  assert.equal(import.meta.resolve('./cache.ts'), new URL('cache.ts', import.meta.url).href)
  assert.equal(import.meta.resolve('node:fs'), 'node:fs')
})

test('a module that is not there is told with the one that imports it', async () => {
  const missing = '#base/nothing.ts'
  await assert.rejects(import(missing), ({ code, message }) => {
    assert.equal(code, 'ERR_MODULE_NOT_FOUND')
    assert.match(message, /src\/base\/nothing\.ts' imported from .+resolve-imports\.test\.ts/)
    return true
  })
})
