/** What tests share: made before them, closed after them. */
import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach } from 'node:test'

type Closable = { readonly close: () => unknown } | { readonly end: () => unknown }

/** What the hooks `begin` and `end` make and close; until a test runs there is nothing to ask it for. */
const between = <Made extends Closable>(
  begin: typeof before,
  end: typeof after,
  make: () => Promise<Made>,
): Made => {
  let made: Made | undefined
  begin(async () => {
    made = await make()
  })
  end(() => made && ('close' in made ? made.close() : made.end()))
  const get = (_: object, name: string | symbol) => {
    assert.ok(made, 'it is made before the tests run: ask for its members in them')
    return Reflect.get(made, name)
  }
  return new Proxy({}, { get }) as Made
}

/** One for all tests of the file or suite that it is called in. */
export const forAllTests = <Made extends Closable>(make: () => Promise<Made>): Made =>
  between(before, after, make)

/** A new one for each test of the file or suite that it is called in. */
export const forEachTest = <Made extends Closable>(make: () => Promise<Made>): Made =>
  between(beforeEach, afterEach, make)
