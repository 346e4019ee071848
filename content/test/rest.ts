/** What the tests of this service's REST API share: what asks a world of it, and paths to read. */
import type { World } from './world.ts'

export * from '#test/rest.ts'

/** Paths of things and lists that the user 2 reads. */
export const reads = [
  '/api/users',
  '/api/users/2',
  '/api/users/2/posts',
  '/api/users/2/posts/3',
  '/api/users/2/avatar',
  '/api/posts',
  '/api/posts/1',
  '/api/posts/1/comments',
  '/api/posts/1/comments/1',
  '/api/comments/1',
  '/api/comments/1/likes',
  '/api/products?search=%C3%A9',
  '/api/products/4',
]

type As = number | 'anonymous'

/** What asks a world, as its admin unless another does. */
export const requestsTo = (world: World) => ({
  post: (path: string, body: unknown, as: As = 1) => world.ask(`POST ${path}`, { as, body }),
  put: (path: string, body: unknown, as: As = 1) => world.ask(`PUT ${path}`, { as, body }),
  patch: (path: string, body: unknown, as: As = 1) => world.ask(`PATCH ${path}`, { as, body }),
  remove: (path: string, as: As = 1) => world.ask(`DELETE ${path}`, { as }),
  get: (path: string, as: As = 1) => world.ask(`GET ${path}`, { as }),
})

/** What reads of a world with headers, as its user 2 unless another does. */
export const readsOf =
  (world: World) =>
  (path: string, headers: Record<string, string> = {}, as: As = 2) =>
    world.ask(`GET ${path}`, { as, headers })
