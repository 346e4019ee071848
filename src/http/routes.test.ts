import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ExactFirst } from './routes.ts'

const routed = (routes: readonly (readonly [string, string])[]) => {
  const router = new ExactFirst<string>()
  for (const [method, path] of routes) router.add(method, path, `${method} ${path}`)
  const handlersOf = (method: string, path: string) => {
    const [handlers] = router.match(method, path)
    return handlers.map(([handler]) => handler)
  }
  return { router, handlersOf }
}

test('a path that is written out goes before one with parameters, whichever is named first', () => {
  const { handlersOf } = routed([
    ['GET', '/things/:id'],
    ['GET', '/things/aggregate'],
    ['POST', '/things/bulk'],
  ])
  assert.deepEqual(handlersOf('GET', '/things/aggregate'), ['GET /things/aggregate'])
  assert.deepEqual(handlersOf('GET', '/things/1'), ['GET /things/:id'])
  assert.deepEqual(handlersOf('GET', '/things/bulk'), ['GET /things/:id'])
  assert.deepEqual(handlersOf('DELETE', '/things/1'), [])
  assert.deepEqual(handlersOf('GET', '/things'), [])
})

test('paths written out beside parameters leave the fast router to all routes', () => {
  const { router, handlersOf } = routed([
    ['GET', '/things/aggregate'],
    ['GET', '/things/:id'],
    ['GET', '/things/:id/parts'],
  ])
  handlersOf('GET', '/things/1')
  assert.equal(router.name, 'SmartRouter + RegExpRouter')
})

test('the slower router, where a name beside a parameter needs it, has the same order, and no route comes late', () => {
  const { router, handlersOf } = routed([
    ['GET', '/things/:id'],
    ['GET', '/things/by/:name'],
    ['GET', '/things/aggregate'],
  ])
  assert.equal(handlersOf('GET', '/things/aggregate')[0], 'GET /things/aggregate')
  assert.deepEqual(handlersOf('GET', '/things/by/me'), ['GET /things/by/:name'])
  assert.equal(router.name, 'SmartRouter + TrieRouter')
  for (const path of ['/others', '/others/:id'])
    assert.throws(() => router.add('GET', path, ''), /matcher is already built/)
})

test('a route for all methods, or with a wildcard, which would pass by the others, is refused', () => {
  const { router } = routed([])
  for (const [method, path] of [
    ['ALL', '/things'],
    ['GET', '/things/*'],
  ] as const)
    assert.throws(() => router.add(method, path, ''), TypeError)
})
