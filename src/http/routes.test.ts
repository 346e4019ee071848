import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRouter } from './routes.ts'

const routed = (routes: readonly (readonly [string, string])[]) => {
  const router = createRouter<string>()
  for (const [method, path] of routes) router.add(method, path, `${method} ${path}`)
  const handlersOf = (method: string, path: string) => {
    const [handlers] = router.match(method, path)
    return handlers.map(([handler]) => handler)
  }
  return { router, handlersOf }
}

test('a path that is written out goes before one with parameters, whichever is named first', () => {
  const { handlersOf } = routed([
    ['GET', '/posts/:id'],
    ['GET', '/posts/aggregate'],
    ['POST', '/posts/bulk'],
  ])
  assert.deepEqual(handlersOf('GET', '/posts/aggregate'), ['GET /posts/aggregate'])
  assert.deepEqual(handlersOf('GET', '/posts/1'), ['GET /posts/:id'])
  assert.deepEqual(handlersOf('GET', '/posts/bulk'), ['GET /posts/:id'])
  assert.deepEqual(handlersOf('DELETE', '/posts/1'), [])
  assert.deepEqual(handlersOf('GET', '/posts'), [])
})

test('paths written out beside parameters leave the fast router to all routes', () => {
  const { router, handlersOf } = routed([
    ['GET', '/posts/aggregate'],
    ['GET', '/posts/:id'],
    ['GET', '/posts/:id/comments'],
  ])
  handlersOf('GET', '/posts/1')
  assert.equal(router.name, 'SmartRouter + RegExpRouter')
})

test('a route for all methods, or with a wildcard, which would pass by the others, is refused', () => {
  const { router } = routed([])
  for (const [method, path] of [
    ['ALL', '/posts'],
    ['GET', '/posts/*'],
  ] as const)
    assert.throws(() => router.add(method, path, ''), TypeError)
})
