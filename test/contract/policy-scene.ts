/** Who asks in the tests of the policy, and the things that they ask for. */
import assert from 'node:assert/strict'
import type { Answered, World } from '../world.ts'

/** `self` owns the scene, `ghost` is a token whose user is gone, `suspended` owns the scene and may not write. */
export const viewers = ['anonymous', 'self', 'other', 'admin', 'ghost', 'suspended'] as const
export type ViewerName = (typeof viewers)[number]

/** The things of a case, which all belong to the same user. */
export type Scene = {
  readonly user: number
  readonly post: number
  readonly comment: number
  readonly product: number
  readonly order: number
  readonly customer: number
}

/** The first bytes of a PNG, enough to recognise it. */
export const picture = new Uint8Array(Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1'))

/** The users by which viewers ask that own nothing of the scene. */
export const ids = { admin: 1, other: 3, ghost: 999_999 }
let count = 0

/** Makes a scene in the world. */
export const sceneIn = async (
  world: World,
  isSuspended: boolean,
  isPaid = false,
): Promise<Scene> => {
  const make = async (as: number, path: string, body: unknown): Promise<number> => {
    const { status, json } = await world.ask(`POST /api${path}`, { as, body })
    assert.equal(status, 201)
    return json.id
  }
  const email = `owner${++count}@example.org`
  const user = await make(1, '/users', { name: 'Owner', email })
  const post = await make(user, `/users/${user}/posts`, { title: 't', content: 'c' })
  const comment = await make(user, `/posts/${post}/comments`, { text: 't' })
  const product = await make(1, '/products', { name: 'p', category: 'c', price: 1, stock: 9 })
  const order = await make(user, '/orders', { items: [{ productId: product, quantity: 1 }] })
  const { customerId: customer } = (await world.ask(`GET /api/orders/${order}`, { as: 1 })).json
  if (isPaid) await world.ask(`POST /api/orders/${order}/pay`, { as: 1 })
  await world.ask(`PUT /api/users/${user}/avatar`, { as: 1, raw: picture })
  if (isSuspended)
    await world.ask(`PATCH /api/users/${user}`, { as: 1, body: { status: 'suspended' } })
  return { user, post, comment, product, order, customer }
}

/** An address that no user has. */
export const newEmail = () => `new${++count}@example.org`
/** The body of a product. */
export const product = () => ({ name: 'p', category: 'c', price: 2 })

/** What GraphQL says of an operation. */
export type Code = 'ok' | 'UNAUTHENTICATED' | 'FORBIDDEN'

/** The code of the error that GraphQL answers, `ok` where there is none. */
export const codeOf = ({ json }: Answered): Code => json.errors?.[0].extensions.code ?? 'ok'

/** The whole content of the store, to check that a refusal changed nothing. */
export const contentOf = async (world: World, { user, post, comment, product }: Scene) =>
  Promise.all(
    [
      `/users/${user}`,
      '/users?limit=1',
      `/users/${user}/posts?limit=100`,
      `/posts/${post}`,
      `/posts/${post}/comments`,
      `/comments/${comment}/likes`,
      `/products/${product}`,
      '/products?limit=1',
    ].map(async path => (await world.ask(`GET /api${path}`, { as: 1 })).text),
  )
