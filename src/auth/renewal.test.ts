/** When a key set is read again, with a source that answers when the test says so. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { issuer, setOf } from '../../test/support/tokens.ts'
import { keysOf } from './keys.ts'
import { renewing } from './renewal.ts'

const ed = issuer('EdDSA', 'ed')
const name = { alg: 'EdDSA', kid: 'ed' }

/** Keys of a set that was read at 0, and is due at 100. */
const withSource = () => {
  const clock = { now: 0 }
  const state = { read: async () => setOf(ed) }
  const source = { read: () => state.read(), freshFor: 100, coolDown: 10 }
  return { clock, state, find: renewing(source, () => clock.now, setOf(ed)) }
}

const never = () => new Promise<string>(() => {})

test('a key is not trusted while its set is read again, as the set may lack it now', async () => {
  const { clock, state, find } = withSource()
  const key = await find(name)
  assert.equal(key.until, 100)
  state.read = never
  clock.now = 100
  void find(name)
  assert.equal(key.until, 100)
})

test('known keys are given at once while a source that was away is asked again', async () => {
  const { clock, state, find } = withSource()
  state.read = () => Promise.reject(new Error('away'))
  clock.now = 100
  await find(name)
  state.read = never
  clock.now += 5_000
  let isFound = false
  void find(name).then(() => {
    isFound = true
  })
  await turn()
  assert.equal(isFound, true)
})

test('a set is read again where the clock was set back, and a key that it lacks now counts no more', async () => {
  const { clock, state, find } = withSource()
  const key = await find(name)
  const next = issuer('EdDSA', 'next')
  state.read = async () => setOf(next)
  clock.now = -7_200_000
  const renewed = await find({ ...name, kid: 'next' })
  assert.deepEqual([renewed.from, renewed.until], [clock.now, clock.now + 100])
  assert.ok(key.until < clock.now)
  await assert.rejects(find(name), { code: 'UNAUTHENTICATED' })
})

test('a set that cannot be read where the clock was set back is known for an hour from then', async () => {
  const { clock, state, find } = withSource()
  state.read = () => Promise.reject(new Error('away'))
  clock.now = -7_200_000
  const key = await find(name)
  assert.equal(key.until, clock.now + 5_000)
  clock.now += 3_599_999
  assert.equal(await find(name), key)
  clock.now += 1
  await assert.rejects(find(name), { code: 'UNAVAILABLE' })
})

test('the key made of a secret cannot be taken out of it again', async () => {
  const keys = keysOf({ secret: 'kX9vQ2mT7pLwZ4rB8nYc5hJd1sGf6aEu3oNi0tRq' }, () => 0)
  const { key } = await keys.find({ alg: 'HS256', kid: undefined })
  assert.ok('extractable' in key && key.extractable === false)
})
